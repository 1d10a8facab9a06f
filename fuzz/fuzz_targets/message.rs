//! Any bytes are a message or refused.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| skillserve::fuzzing::message(bytes));
