//! Any bytes are read or refused, and every place that is told lies in the file.

#![no_main]

use skillserve::finding::Place;
use skillserve::{format, frontmatter, fuzzing};

libfuzzer_sys::fuzz_target!(|file: &[u8]| {
    let mut spans: Vec<_> = match frontmatter::parse(file) {
        Ok(read) => format::judge(&read).1.into_iter().map(|problem| problem.span).collect(),
        Err(problem) => vec![problem.span],
    };
    spans.extend(fuzzing::problems(file));
    for span in spans {
        assert!(span.start <= span.end && span.end <= file.len());
        Place::of(file, &span);
    }
});
