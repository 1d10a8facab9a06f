//! Large pages of listings among what is held for clients.

use serde_json::json;

use crate::testing::{Skills, skill_md};

use super::super::asker::Asker;
use super::super::endpoint::Endpoint;
use super::super::turns::Turns;
use super::{ask, routed};

/// A page of a listing that is large waits for its turn like a large file, whoever makes it.
async fn check_pages(with: impl FnOnce(Endpoint) -> Endpoint, is_modern: bool) {
    let file = |number| (format!("a/{number:0100}.txt"), Vec::new());
    let document = ("a/SKILL.md".to_owned(), skill_md("a", "d").into_bytes());
    let skills = Skills::of((0..400).map(file).chain([document])).await;
    let turns = Turns::default();
    let endpoint = routed(&skills, turns.clone(), with);
    let mut headers = vec![("Mcp-Method", "skills/list")];
    let mut message = json!({"jsonrpc": "2.0", "id": 1, "method": "skills/list", "params": {}});
    if is_modern {
        headers.push(("MCP-Protocol-Version", "2026-07-28"));
        message["params"]["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
    }
    let held = turns.next(&Asker::default(), u64::MAX).await.ok().unwrap();
    assert_eq!(ask(&endpoint, "POST", &headers, &message).await.status(), 503);
    drop(held);
    assert_eq!(ask(&endpoint, "POST", &headers, &message).await.status(), 200);
}

#[tokio::test(start_paused = true)]
async fn a_large_page_takes_its_turn() {
    check_pages(|endpoint| endpoint, true).await;
    check_pages(Endpoint::without_direct, true).await;
    check_pages(|endpoint| endpoint, false).await;
}
