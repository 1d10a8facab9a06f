//! Reads files from stdin, each as its length in decimal, a line feed, and its bytes, and prints for each a line of JSON:
//! `{"value": …}` or `{"code": …, "line": …, "column": …, "message": …, "help": …}`.

use std::io::{BufRead, Read, Write};

use serde_json::json;
use skillserve::finding::Place;
use skillserve::frontmatter;

fn main() -> std::io::Result<()> {
    let mut input = std::io::stdin().lock();
    let mut output = std::io::BufWriter::new(std::io::stdout().lock());
    let mut length = String::new();
    while input.read_line(&mut length)? > 0 {
        let bytes = length.trim().parse().map_err(std::io::Error::other)?;
        let mut file = vec![0; bytes];
        input.read_exact(&mut file)?;
        let answer = match frontmatter::parse(&file) {
            Ok(frontmatter) => json!({ "value": frontmatter.fields }),
            Err(problem) => {
                let place = Place::of(&file, &problem.span);
                json!({
                    "code": problem.code.as_str(),
                    "line": place.line,
                    "column": place.column,
                    "message": problem.message,
                    "help": problem.help,
                })
            }
        };
        writeln!(output, "{answer}")?;
        length.clear();
    }
    output.flush()
}
