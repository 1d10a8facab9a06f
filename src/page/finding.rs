//! A finding: what is wrong, where, and the cure.

use maud::{Markup, html};

use crate::finding::{Finding, Place};

use super::visible::Line;
use super::{Site, href, place};

/// A finding in a list.
pub(super) fn item(site: Site<'_>, finding: &Finding) -> Markup {
    let code = finding.code.as_str();
    let severity = finding.severity.as_str();
    html! {
        li class={"finding " (severity)} {
            p.what {
                span.severity { (severity) } " "
                (sentence(&finding.message))
            }
            p.where {
                span { (location(site, finding)) } " "
                a.code href=(href::explain(code)) title="What this means" { (code) }
            }
            @if let Some(place) = &finding.place { (excerpt(place)) }
            p.cure { span { "Cure" } " " (sentence(&finding.help)) }
            @for elsewhere in &finding.elsewhere { p.elsewhere { (elsewhere.sentence()) } }
        }
    }
}

/// A sentence, in which what stands between backticks is code.
fn sentence(text: &str) -> Markup {
    let text = place::message(text);
    let is_paired = text.matches('`').count().is_multiple_of(2);
    html! {
        bdi {
            @if is_paired {
                @for (nth, part) in text.split('`').enumerate() {
                    @if nth % 2 == 1 { code { (Line(part)) } } @else { (Line(part)) }
                }
            } @else { (Line(&text)) }
        }
    }
}

/// Where it is, with a link to the line of a file that is served.
fn location(site: Site<'_>, finding: &Finding) -> Markup {
    let path = place::path(site.names, &finding.path);
    let line = finding.place.as_ref().map_or(1, |place| place.line);
    let source = place::served(site.standing, &finding.path);
    let source = source.map(|path| format!("{}#L{line}", href::source(&path)));
    let location = html! {
        bdi { (path) }
        @if let Some(place) = &finding.place { ":" (place.line) ":" (place.column) }
    };
    html! {
        @match source {
            Some(href) => a href=(href) { (location) },
            None => (location),
        }
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
