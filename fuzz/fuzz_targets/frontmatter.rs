//! Any bytes are read or refused, and every place that is told lies in the file: `cargo +nightly fuzz run frontmatter`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use skillserve::finding::Place;
use skillserve::{format, frontmatter};

fuzz_target!(|file: &[u8]| {
    let spans = match frontmatter::parse(file) {
        Ok(read) => format::judge(&read).1.into_iter().map(|problem| problem.span).collect(),
        Err(problem) => vec![problem.span],
    };
    for span in spans {
        assert!(span.start <= span.end && span.end <= file.len());
        Place::of(file, &span);
    }
});
