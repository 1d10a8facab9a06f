//! Keeps a server busy and says how it did, as one line of JSON. An answer that is no result ends it with an error.
//!
//! usage: load http ADDRESS MESSAGES CONNECTIONS SECONDS    each connection has one request in flight
//!        load pages ADDRESS MESSAGES SECONDS               follows the pages that the first message begins, again and again
//!        load stdio MESSAGES WINDOW SECONDS COMMAND…       so many requests are in flight on one pipe
//!        load first MESSAGES TIMES COMMAND…                from spawn to the answer of the first message
//!
//! MESSAGES is a file of JSON-RPC requests, one a line, which are sent in turn. The time begins after a tenth of it.

mod http;
mod message;
mod pages;
mod stdio;
mod tally;

use anyhow::{Context as _, bail};

fn main() -> anyhow::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let report = match &*words {
        ["http", address, messages, connections, seconds] => {
            http::run(address, &message::read(messages)?, connections.parse()?, seconds.parse()?)?
        }
        ["pages", address, messages, seconds] => {
            let messages = message::read(messages)?;
            let first = messages.first().context("a message")?;
            pages::run(address, first, seconds.parse()?)?
        }
        ["stdio", messages, window, seconds, command @ ..] => {
            stdio::run(&message::read(messages)?, window.parse()?, seconds.parse()?, command)?
        }
        ["first", messages, times, command @ ..] => {
            stdio::first(&message::read(messages)?, times.parse()?, command)?
        }
        _ => bail!("usage: load http | pages | stdio | first …"),
    };
    println!("{report}");
    Ok(())
}
