//! A listing that is followed through all of its pages, again and again.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::http::Connection;
use super::message;

const NEXT: &[u8] = br#""nextCursor":""#;

/// Follows the listing that `first` begins over one connection, for so many seconds and at least twice: the first time
/// warms up.
pub fn run(address: &str, first: &Value, seconds: f64) -> anyhow::Result<Value> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut connection = Connection::open(address).await?;
        let mut whole = follow(&mut connection, address, first).await?;
        let (mut times, mut bytes) = (Vec::new(), 0);
        let end = Instant::now() + Duration::from_secs_f64(seconds);
        while times.is_empty() || Instant::now() < end {
            let began = Instant::now();
            whole = follow(&mut connection, address, first).await?;
            times.push(began.elapsed().as_secs_f64());
            bytes += whole.bytes;
        }
        times.sort_unstable_by(f64::total_cmp);
        Ok(json!({
            "mb_per_second": bytes as f64 / 1e6 / times.iter().sum::<f64>(),
            "whole_ms": times[times.len() / 2] * 1e3,
            "pages": whole.pages,
            "largest_bytes": whole.largest,
        }))
    })
}

#[derive(Default)]
struct Whole {
    pages: usize,
    bytes: usize,
    largest: usize,
}

async fn follow(connection: &mut Connection, address: &str, first: &Value) -> anyhow::Result<Whole> {
    let mut whole = Whole::default();
    let mut message = first.clone();
    loop {
        let page = connection.ask(&message::request(address, &message)).await?;
        whole.pages += 1;
        whole.bytes += page.len();
        whole.largest = whole.largest.max(page.len());
        let Some(cursor) = next(page) else { return Ok(whole) };
        message["params"]["cursor"] = cursor.into();
    }
}

/// The cursor that a page names, which is plain text. It stands near the beginning or the end.
fn next(page: &[u8]) -> Option<String> {
    let end = page.len().min(64 * 1024);
    let begin = memchr::memmem::find(&page[..end], NEXT)
        .or_else(|| memchr::memmem::rfind(page, NEXT))
        .map(|at| at + NEXT.len())?;
    let length = memchr::memchr(b'"', &page[begin..])?;
    String::from_utf8(page[begin..begin + length].to_vec()).ok()
}
