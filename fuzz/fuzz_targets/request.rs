//! A plain request is what every reader makes of it. The bytes are a message, and what stands in one in three places.

#![no_main]

use skillserve::fuzzing::request;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    request(bytes);
    let meta = br#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}"#;
    let around = |before: &[u8], after: &[u8]| {
        request(&[br#"{"jsonrpc":"2.0","method":"skills/list",""#, before, bytes, after].concat());
    };
    around(br#"id":"#, &[br#","params":{"_meta":{"#, &meta[..], b"}}}"].concat());
    around(&[br#"id":1,"params":{"_meta":{"#, &meta[..], br#","x":"#].concat(), b"}}}");
    around(&[br#"id":1,"params":{"_meta":{"#, &meta[..], br#"},"cursor":"#].concat(), b"}}");
});
