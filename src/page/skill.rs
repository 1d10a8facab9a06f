//! A skill: what its frontmatter says, its files, and its `SKILL.md`.

use std::path::PathBuf;

use maud::{Markup, html};
use serde_json::Value;

use crate::catalog::{File, Skill};
use crate::finding::Finding;
use crate::media_type;
use crate::report::{count, size};
use crate::skill::SKILL_MD;
use crate::uri;

use super::file::{Shown, rendered};
use super::frame::{Part, frame};
use super::pager::Pager;
use super::visible::{self, Text};
use super::{Search, Site, finding, href, text};

/// The most files on a page. A skill has no more unless an option says so.
const FILES_MAX: usize = 512;
/// The most findings about one skill that its page shows; the page of problems has all.
const FINDINGS_MAX: usize = 20;

/// The page of the skill at a served path; nothing if there is none. `skill_md` is its `SKILL.md`, read.
pub fn skill(site: Site<'_>, path: &str, search: &Search, skill_md: Option<&Shown<'_>>) -> Option<String> {
    let skill = site.standing.snapshot.skill(path)?;
    let (parent, name) = uri::split(path);
    let content = html! {
        nav.crumbs aria-label="Where this is" {
            a href=(href::SKILLS) { "Skills" } " / "
            @if !parent.is_empty() { (visible::name(parent)) " / " }
            span { (visible::name(name)) }
        }
        div #skill data-live="" {
            h1 { (visible::name(name)) }
            p.lead { (visible::words(&skill.frontmatter.description())) }
            p.uri { code { (uri::from_path(path)) "/" (SKILL_MD) } }
            (findings(site, path))
            (frontmatter(skill))
            (files(site, skill, search))
            (text_of(site, path, skill_md))
        }
    };
    Some(frame(site, Some(Part::Skills), name, &content))
}

fn findings(site: Site<'_>, path: &str) -> Markup {
    let dirs = directories(site, path);
    let about = |finding: &&Finding| dirs.iter().any(|dir| finding.path.starts_with(dir));
    let shown: Vec<_> = site.standing.findings.iter().filter(about).take(FINDINGS_MAX).collect();
    html! {
        @if !shown.is_empty() {
            section aria-labelledby="findings" {
                h2 #findings { "Problems" }
                ul.findings { @for finding in shown { (finding::item(site, finding)) } }
            }
        }
    }
}

/// Where the skill at a served path may lie, as findings name it.
fn directories(site: Site<'_>, path: &str) -> Vec<PathBuf> {
    let below = |prefix: &str| match path.strip_prefix(prefix) {
        rest if prefix.is_empty() => rest,
        Some("") => Some(""),
        rest => rest?.strip_prefix('/'),
    };
    site.standing.roots.iter().filter_map(|root| Some(root.shown.join(below(&root.prefix)?))).collect()
}

/// All fields but the name and the description, which stand above.
fn frontmatter(skill: &Skill) -> Markup {
    let mut fields = skill.frontmatter.to_map();
    fields.retain(|key, _| !matches!(key.as_str(), "name" | "description"));
    html! {
        @if !fields.is_empty() {
            section aria-labelledby="frontmatter" {
                h2 #frontmatter { "Frontmatter" }
                dl.fields { @for (key, value) in &fields { dt { (visible::name(key)) } dd { (field(value)) } } }
            }
        }
    }
}

/// A field's value; what is no plain value is written as JSON.
fn field(value: &Value) -> Markup {
    match value {
        Value::String(text) => visible::words(text),
        Value::Null | Value::Bool(_) | Value::Number(_) => html! { code { (value.to_string()) } },
        Value::Array(_) | Value::Object(_) => {
            let json = serde_json::to_string_pretty(value).unwrap_or_default();
            html! { pre { code { (Text(&json)) } } }
        }
    }
}

fn files(site: Site<'_>, skill: &Skill, search: &Search) -> Markup {
    let files: Vec<(&str, &File)> = site.standing.snapshot.files(skill).collect();
    let bytes: u64 = files.iter().map(|(_, file)| file.size()).sum();
    let pager = Pager::new(search, files.len(), FILES_MAX);
    html! {
        section aria-labelledby="files" {
            h2 #files { "Files" }
            p.found { (count(files.len(), "file")) ", " (size(bytes)) @if let Some(part) = pager.part() { ", " (part) " shown" } }
            table.files {
                thead { tr {
                    th scope="col" { "Path" } th scope="col" { "Type" } th.amount scope="col" { "Size" }
                    th scope="col" { "SHA-256" }
                } }
                tbody { @for (path, file) in files.get(pager.range()).unwrap_or_default() { (row(skill, path, file)) } }
            }
            (pager.links(&href::skill(&skill.path), "Pages of files"))
        }
    }
}

fn row(skill: &Skill, path: &str, file: &File) -> Markup {
    let below = path.strip_prefix(&*skill.path).map_or(path, |rest| rest.trim_start_matches('/'));
    html! {
        tr data-key=(uri::escaped(path)) {
            th scope="row" { a href=(href::file(path)) { (visible::name(below)) } }
            td.type { (media_type::of(uri::split(path).1, file.content())) }
            td.amount { (size(file.size())) }
            td.sum { code.digest title=(text::hex(file)) { (text::hex(file)) } }
        }
    }
}

fn text_of(site: Site<'_>, path: &str, skill_md: Option<&Shown<'_>>) -> Markup {
    let at = format!("{path}/{SKILL_MD}");
    html! {
        section aria-labelledby="text" {
            div.title {
                h2 #text { (SKILL_MD) }
                p { a href=(href::source(&at)) { "Source" } " " a href=(href::download(&at)) { "Download" } }
            }
            @match skill_md.and_then(|shown| rendered(site, shown, 2)) {
                Some(text) => article.markdown { (text) },
                None => p { "It is not shown here: it is too long, or it is changing right now." },
            }
        }
    }
}
