//! What YAML says is read again from another spelling.

#![no_main]

libfuzzer_sys::fuzz_target!(|yaml: &str| skillserve::fuzzing::values(yaml));
