//! A property of what strangers write and browsers show.

use super::markdown::render;

/// The elements without an attribute that rendered Markdown is made of.
const PLAIN: &str =
    "p h2 h3 h4 h5 h6 ul ol li pre code blockquote em strong del table thead tbody tr th td a span div br hr";

/// What may stand before a link's target.
const LINKS: [&str; 2] = ["a href=\"file?path=", "a rel=\"noopener noreferrer nofollow\" href=\"http"];

/// The other elements with attributes.
const OTHERS: [&str; 3] = [
    "span class=\"cp\"",
    "code class=\"target\"",
    "div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Table\"",
];

/// Whatever Markdown says, its HTML is made of harmless elements, each of which ends in the one where it began.
pub fn markdown(text: &str) {
    let file = |target: &str| (target.len() < 8).then(|| super::href::file(target));
    let Some(html) = render(text, 1, &file) else { return };
    let html = html.into_string();
    let mut open = Vec::new();
    for part in html.split('<').skip(1) {
        let (tag, rest) = part.split_once('>').expect("an end");
        assert!(!rest.contains('>'), "{html}");
        let tag = tag.trim_end_matches(" /");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "{html}");
            continue;
        }
        let name = tag.split(' ').next().unwrap_or(tag);
        let lower = tag.to_ascii_lowercase();
        let is_link = LINKS
            .iter()
            .filter_map(|link| lower.strip_prefix(link))
            .any(|target| target.strip_suffix('"').is_some_and(|target| !target.contains('"')));
        let starts = tag.strip_prefix("ol start=\"").and_then(|rest| rest.strip_suffix('"'));
        let is_list = starts.is_some_and(|number| number.parse::<u64>().is_ok());
        assert!(
            is_link || is_list || OTHERS.contains(&tag) || PLAIN.split(' ').any(|plain| plain == tag),
            "{tag}: {html}"
        );
        if !["br", "hr"].contains(&name) {
            open.push(name);
        }
    }
    assert_eq!(open, [""; 0], "{html}");
}
