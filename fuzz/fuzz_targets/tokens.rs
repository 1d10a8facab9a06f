//! Any file of tokens is read or refused.

#![no_main]

libfuzzer_sys::fuzz_target!(|file: &[u8]| skillserve::fuzzing::tokens(file));
