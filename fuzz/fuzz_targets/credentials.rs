//! Any header is read, and every token understood.

#![no_main]

libfuzzer_sys::fuzz_target!(|text: &[u8]| skillserve::fuzzing::credentials(text));
