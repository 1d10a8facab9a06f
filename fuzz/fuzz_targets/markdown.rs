//! Rendered Markdown is harmless and whole.

#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| skillserve::fuzzing::markdown(text));
