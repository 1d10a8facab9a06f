//! What is not served and why, what else is wrong, and what was looked at.

use maud::{Markup, html};

use crate::catalog::Mounted;
use crate::finding::{Finding, Severity};
use crate::report::{count, left_out};

use super::frame::{self, Part, filter, frame};
use super::pager::Pager;
use super::{Search, Site, finding, href, place, visible};

/// The most findings on a page, at about 1 kB each.
const FINDINGS_MAX: usize = 100;

/// The findings that fit the filter, errors first.
pub fn problems(site: Site<'_>, search: &Search) -> String {
    let fits = |finding: &&Finding| {
        let path = place::path(site.names, &finding.path);
        search.rank(&path, &format!("{} {}", finding.message, finding.code.as_str())).is_some()
    };
    let mut found: Vec<&Finding> = site.standing.findings.iter().filter(fits).collect();
    found.sort_by_key(|finding| finding.severity != Severity::Error);
    let pager = Pager::new(search, found.len(), FINDINGS_MAX);
    let shown = found.get(pager.range()).unwrap_or_default();
    let errors = shown.partition_point(|finding| finding.severity == Severity::Error);
    let content = html! {
        div.title {
            h1 { "Problems" }
            p #totals data-live="" { (frame::cost(site)) }
        }
        (filter(href::PROBLEMS, "Filter by path, code and message", search.typed()))
        div #results data-live="" {
            p.found #found { (found_words(site, search, &pager, found.len())) }
            (list("errors", "Not served", &shown[..errors], site))
            (list("warnings", "Warnings", &shown[errors..], site))
            (pager.links(href::PROBLEMS, "Pages of problems"))
            (roots(site))
        }
    };
    frame(site, Some(Part::Problems), "Problems", &content)
}

fn found_words(site: Site<'_>, search: &Search, pager: &Pager<'_>, found: usize) -> String {
    let all = site.standing.findings.len();
    let what = match (search.is_empty(), found) {
        (true, 0) => "Nothing is wrong: every skill that was found is served".to_owned(),
        (true, _) => count(all, "problem"),
        (false, _) => format!("{found} of {} with these words", count(all, "problem")),
    };
    pager.part().map_or(what.clone(), |part| format!("{what}, {part} shown"))
}

fn list(id: &str, title: &str, findings: &[&Finding], site: Site<'_>) -> Markup {
    html! {
        @if !findings.is_empty() {
            section aria-labelledby=(id) {
                h2 id=(id) { (title) }
                ul.findings { @for finding in findings { (finding::item(site, finding)) } }
            }
        }
    }
}

/// The directories that were looked at, and what was passed over in them on purpose.
fn roots(site: Site<'_>) -> Markup {
    let row = |(mounted, name): (&Mounted, &str)| {
        let prefix = format!("skill://{}", mounted.prefix);
        html! {
            tr {
                th scope="row" { bdi { (visible::name(name)) } }
                td { code { (visible::name(&prefix)) } }
                td {
                    @if mounted.is_lost { strong.lost { "cannot be opened" } }
                    @else { (left_out(mounted.left_out).unwrap_or_else(|| "nothing left out".to_owned())) }
                }
            }
        }
    };
    html! {
        section aria-labelledby="roots" {
            h2 #roots { "Looked at" }
            table {
                thead { tr {
                    th scope="col" { "Directory" } th scope="col" { "Served at" } th scope="col" { "Passed over" }
                } }
                tbody { @for root in site.standing.roots.iter().zip(site.names.all()) { (row(root)) } }
            }
        }
    }
}
