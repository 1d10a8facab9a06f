//! The list of skills.

use maud::{Markup, html};

use crate::catalog::{File, Skill};
use crate::finding::{Finding, Severity};
use crate::report::{count, size};
use crate::skill::SKILL_MD;
use crate::uri;

use super::frame::{self, Part, filter, frame};
use super::pager::Pager;
use super::{Search, Site, finding, href, text, visible};

/// The most skills on a page: more than anybody reads, and at 1 kB of description each about 200 kB.
const SKILLS_MAX: usize = 100;
/// The most errors that stand above the list: enough to see what is wrong, few enough to see the list.
const ERRORS_MAX: usize = 3;

/// The skills that are served and fit the filter: first those whose path fits by itself, else in the order of listing.
pub fn skills(site: Site<'_>, search: &Search) -> String {
    let (mut found, mut further) = (Vec::new(), Vec::new());
    for skill in site.standing.snapshot.skills() {
        match search.rank(&skill.path, &skill.frontmatter.description()) {
            Some(0) => found.push(skill),
            Some(_) => further.push(skill),
            None => {}
        }
    }
    found.append(&mut further);
    let pager = Pager::new(search, found.len(), SKILLS_MAX);
    let shown = found.get(pager.range()).unwrap_or_default();
    let content = html! {
        div.title {
            h1 { "Skills" }
            p #totals data-live="" { (totals(site)) }
        }
        (filter(href::SKILLS, "Filter by name and description", search.typed()))
        div #results data-live="" {
            @if search.is_empty() && pager.range().start == 0 { (errors(site)) }
            p.found #found { (found_words(site, search, &pager, found.len())) }
            @if !shown.is_empty() {
                ul.skills { @for skill in shown { (row(site, skill)) } }
            }
            (pager.links(href::SKILLS, "Pages of skills"))
        }
    };
    frame(site, Some(Part::Skills), "Skills", &content)
}

fn totals(site: Site<'_>) -> String {
    let totals = site.standing.snapshot.totals();
    format!("{}, {}", count(totals.files, "file"), size(totals.bytes))
}

/// What the list holds, in words.
fn found_words(site: Site<'_>, search: &Search, pager: &Pager<'_>, found: usize) -> String {
    let all = site.standing.snapshot.totals().skills;
    let what = match (search.is_empty(), found) {
        (true, 0) => "No skill is served".to_owned(),
        (true, _) => count(all, "skill"),
        (false, 0) => format!("None of {} fits the filter", count(all, "skill")),
        (false, _) => format!(
            "{found} of {} {} the filter",
            count(all, "skill"),
            if found == 1 { "fits" } else { "fit" }
        ),
    };
    pager.part().map_or(what.clone(), |part| format!("{what}, {part} shown"))
}

/// The first errors, because who looks at this page wants to know first what is missing from it.
fn errors(site: Site<'_>) -> Markup {
    let findings = &site.standing.findings;
    let errors: Vec<&Finding> = findings.iter().filter(|found| found.severity == Severity::Error).collect();
    html! {
        @if !errors.is_empty() {
            section.errors aria-labelledby="not-served" {
                h2 #not-served { "Not served" }
                ul.findings { @for error in errors.iter().take(ERRORS_MAX) { (finding::item(site, error)) } }
                p { a href=(href::PROBLEMS) { "All problems: " (frame::cost(site)) } }
            }
        }
    }
}

fn row(site: Site<'_>, skill: &Skill) -> Markup {
    let (parent, name) = uri::split(&skill.path);
    let files = site.standing.snapshot.files(skill);
    let (number, bytes) = files.fold((0, 0), |(n, bytes), (_, file)| (n + 1, bytes + file.size()));
    html! {
        li data-key=(uri::escaped(&skill.path)) {
            h2 {
                a href=(href::skill(&skill.path)) {
                    @if !parent.is_empty() { span.parent { (visible::name(parent)) "/" } }
                    (visible::name(name))
                }
            }
            p.description { (visible::words(&skill.frontmatter.description())) }
            p.amount {
                span { (count(number, "file")) } " "
                span { (size(bytes)) } " "
                @if let Some(file) = skill_md(site, skill) { (text::short_digest(file)) }
            }
        }
    }
}

/// The `SKILL.md` of a skill.
pub(super) fn skill_md<'a>(site: Site<'a>, skill: &Skill) -> Option<&'a File> {
    site.standing.snapshot.node(&format!("{}/{SKILL_MD}", skill.path))?.file
}
