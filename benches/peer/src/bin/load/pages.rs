//! A listing that is followed through all of its pages, again and again.

use std::time::Instant;

use serde_json::Value;

use super::http::{Connection, each};
use super::message;
use super::tally::{Span, Tally};

const NEXT: &[u8] = br#""nextCursor":""#;

/// Follows the listing that `first` begins over so many connections. A page counts as an answer. `whole_us` is how long
/// the whole listing took at best, and `pages` how many there are.
pub fn run(address: &str, first: &Value, connections: usize, seconds: f64) -> anyhow::Result<Value> {
    let (address, first) = (address.to_owned(), first.clone());
    let best = std::rc::Rc::new(std::cell::Cell::new((f64::INFINITY, 0)));
    let told = best.clone();
    let tally = each(connections, Span::new(seconds), move |span| {
        let (address, first, best) = (address.clone(), first.clone(), best.clone());
        async move {
            let mut connection = Connection::open(&address).await?;
            let mut tally = Tally::new(span);
            while !span.is_over() {
                let began = Instant::now();
                let mut pages = 0;
                let mut message = first.clone();
                loop {
                    let request = message::request(&address, &message);
                    let asked = Instant::now();
                    let page = connection.ask(&request).await?;
                    tally.add(asked, page.len());
                    pages += 1;
                    let Some(cursor) = next(page) else { break };
                    message["params"]["cursor"] = cursor.into();
                }
                let took = began.elapsed().as_secs_f64() * 1e6;
                if took < best.get().0 {
                    best.set((took, pages));
                }
            }
            Ok(tally)
        }
    })?;
    let mut report = tally.report();
    (report["whole_us"], report["pages"]) = (told.get().0.into(), told.get().1.into());
    Ok(report)
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
