//! A text is the one cursor of its page, or none.

#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| skillserve::fuzzing::cursor(text));
