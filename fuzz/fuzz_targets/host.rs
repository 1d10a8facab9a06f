//! Hosts and origins are read as a library reads them.

#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| skillserve::fuzzing::host(text));
