//! A finding: what is wrong, where, and the cure.

use maud::{Markup, html};

use crate::finding::{Finding, Place};

use super::visible::{self, Line};
use super::{Site, href, place};

/// A finding in a list.
pub(super) fn item(site: Site<'_>, finding: &Finding) -> Markup {
    let code = finding.code.as_str();
    let severity = finding.severity.as_str();
    html! {
        li class={"finding " (severity)} {
            p.what {
                span.severity { (severity) } " "
                (visible::name(&place::message(&finding.message)))
            }
            p.where {
                (location(site, finding)) " "
                a.code href=(href::explain(code)) title="What this means" { (code) }
            }
            @if let Some(place) = &finding.place { (excerpt(place)) }
            p.cure { span { "Cure" } " " (visible::name(&place::message(&finding.help))) }
            @for elsewhere in &finding.elsewhere { p.elsewhere { (elsewhere.sentence()) } }
        }
    }
}

fn location(site: Site<'_>, finding: &Finding) -> Markup {
    let path = place::path(site.standing, &finding.path);
    html! {
        bdi.path { (path) }
        @if let Some(place) = &finding.place { ":" (place.line) ":" (place.column) }
    }
}

/// The source line with a mark on what the finding is about.
fn excerpt(place: &Place) -> Markup {
    let part = |range| Line(place.excerpt.get(range).unwrap_or_default());
    let mark = place.mark.clone();
    html! {
        @if !place.excerpt.trim().is_empty() {
            pre.excerpt { span.line data-n=(place.line) {
                (part(0..mark.start)) mark { (part(mark.clone())) } (part(mark.end..place.excerpt.len()))
            } }
        }
    }
}
