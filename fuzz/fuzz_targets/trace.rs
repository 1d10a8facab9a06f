//! A trace context is read again from its ids.

#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| skillserve::fuzzing::trace(text));
