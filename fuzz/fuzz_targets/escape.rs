//! A text is escaped as serde_json does it.

#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| skillserve::fuzzing::escape(text));
