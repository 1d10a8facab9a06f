//! What a finding's code means.

use maud::html;

use crate::finding::Code;

use super::frame::{Part, frame};
use super::{Site, href, markdown};

/// The published page of a code.
pub fn explain(site: Site<'_>, code: Code) -> String {
    let content = html! {
        nav.crumbs aria-label="Where this is" { a href=(href::PROBLEMS) { "Problems" } " / " span { (code.as_str()) } }
        article.markdown { (markdown::render(code.page(), 0, &|_| None).unwrap_or_default()) }
    };
    frame(site, Some(Part::Problems), code.as_str(), &content)
}
