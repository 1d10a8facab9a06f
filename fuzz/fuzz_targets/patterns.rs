//! Any `.skillignore` is read, and its faults are told where they are.

#![no_main]

libfuzzer_sys::fuzz_target!(|file: &[u8]| skillserve::fuzzing::patterns(file));
