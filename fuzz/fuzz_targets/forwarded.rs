//! What a client says hides nothing of what its proxy says.

#![no_main]

libfuzzer_sys::fuzz_target!(|lines: &[u8]| skillserve::fuzzing::forwarded(lines));
