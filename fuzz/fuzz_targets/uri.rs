//! A URI and its path say the same.

#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| skillserve::fuzzing::uri(text));
