//! What stands around every page: the head of the document, the way from page to page, and how things stand.

use maud::{DOCTYPE, Markup, html};

use crate::finding::Severity;
use crate::report::{Skipped, count, size};

use super::{Site, asset, href, visible, when};

/// How soon a page that has nothing to show yet asks again.
const STARTING_RETRY_SECONDS: u32 = 2;

/// The part of the site that a page belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Skills,
    Problems,
}

/// A whole page. What is in `content` with an `id` and `data-live` is swapped for its like when something has changed.
pub(super) fn frame(site: Site<'_>, part: Option<Part>, title: &str, content: &Markup) -> String {
    let totals = site.standing.snapshot.totals();
    let look = site.standing.look;
    let body = html! {
        header.bar {
            (brand(site.name))
            nav #parts data-live="" aria-label="Pages" { (parts(site, part)) }
        }
        main #main tabindex="-1" { (content) }
        footer {
            div #standing data-live="" {
                span { (count(totals.skills, "skill")) ", " (count(totals.files, "file")) ", " (size(totals.bytes)) }
                span { "Looked at last " (when::time(look.at)) ", which took " (when::duration(look.took)) }
                span { "skillserve " (env!("CARGO_PKG_VERSION")) }
            }
            span #live {}
        }
        p #said .unseen role="status" {}
    };
    document(site.name, title, &html! {}, &body)
}

/// The page for what is not there.
pub fn nothing(site: Site<'_>) -> String {
    let content = html! {
        h1 { "Nothing is served here" }
        p { "It may have been removed or renamed. " a href=(href::SKILLS) { "All skills" } }
    };
    frame(site, None, "Nothing here", &content)
}

/// The page for the time before the first look at the directories has ended. It asks again by itself.
pub fn starting(name: &str) -> String {
    let again = html! { meta http-equiv="refresh" content=(STARTING_RETRY_SECONDS); };
    let body = html! {
        header.bar { (brand(name)) }
        main #main tabindex="-1" {
            h1 { "The skills are being read" }
            p role="status" { "This page shows them as soon as the first look has ended." }
        }
    };
    document(name, "Starting", &again, &body)
}

fn document(name: &str, title: &str, more: &Markup, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                (more)
                // No element may stand in a title, so no mark either; it is escaped as for a terminal.
                title { (plain(title)) " · " (plain(name)) }
                link rel="icon" type="image/svg+xml" href=(asset::ICON.href());
                link rel="stylesheet" href=(asset::STYLE.href());
                script src=(asset::SCRIPT.href()) defer {}
            }
            body {
                a.skip href="#main" { "Skip to the content" }
                (body)
            }
        }
    };
    page.into_string()
}

fn plain(text: &str) -> String {
    crate::report::escape::text(text)
}

fn brand(name: &str) -> Markup {
    html! {
        a.brand href=(href::SKILLS) {
            img src=(asset::ICON.href()) alt="" width="24" height="24";
            (visible::name(name))
        }
    }
}

fn parts(site: Site<'_>, here: Option<Part>) -> Markup {
    let findings = &site.standing.findings;
    let has_errors = findings.iter().any(|finding| finding.severity == Severity::Error);
    let link = |part: Part, href: &str, label: &str, number: usize, class: &str| {
        let current = (here == Some(part)).then_some("page");
        html! {
            a href=(href) aria-current=[current] { (label) " " span class={"number " (class)} { (number) } }
        }
    };
    let tone = match (has_errors, findings.is_empty()) {
        (true, _) => "error",
        (false, false) => "warning",
        (false, true) => "",
    };
    html! {
        (link(Part::Skills, href::SKILLS, "Skills", site.standing.snapshot.totals().skills, ""))
        (link(Part::Problems, href::PROBLEMS, "Problems", findings.len(), tone))
    }
}

/// How many skills are not served and how many warnings there are, in words; nothing if there are none.
pub(super) fn cost(site: Site<'_>) -> String {
    let Skipped { skills, warnings } = Skipped::of(&site.standing.findings);
    let parts = [(skills, count(skills, "skill") + " not served"), (warnings, count(warnings, "warning"))];
    let told: Vec<_> = parts.into_iter().filter(|(n, _)| *n > 0).map(|(_, words)| words).collect();
    told.join(", ")
}

/// The form that filters a list. It works without a script, which only makes it answer at once.
pub(super) fn filter(action: &str, label: &str, typed: &str) -> Markup {
    html! {
        form.filter role="search" action=(action) method="get" {
            label.unseen for="filter" { (label) }
            input #filter type="search" name="q" value=(typed) placeholder=(label) autocomplete="off"
                spellcheck="false" autocapitalize="off" aria-keyshortcuts="/" enterkeyhint="search";
            kbd aria-hidden="true" { "/" }
            button { "Filter" }
        }
    }
}
