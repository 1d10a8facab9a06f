//! A file: what is known of it, and its text if it has one.

use std::borrow::Cow;

use maud::{Markup, html};
use percent_encoding::percent_decode_str;

use crate::catalog::File;
use crate::frontmatter;
use crate::media_type;
use crate::report::size;
use crate::skill::{Content, SKILL_MD};
use crate::uri;

use super::frame::{Part, frame};
use super::visible::{self, Text};
use super::{Site, href, markdown, text, when};

/// The most of a text that is shown: 128 KiB. Escaped it may be many times as long, and a page is held as a whole.
const SHOWN_MAX_BYTES: usize = 128 * 1024;
/// The most lines that are shown, each of which is an element of the page.
const SHOWN_MAX_LINES: usize = 5000;

/// A file that was read.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    /// Its served path.
    pub path: &'a str,
    /// What is known of it.
    pub file: &'a File,
    /// What it holds.
    pub bytes: &'a [u8],
}

/// The page of a file. Markdown is rendered unless its source is asked for.
pub fn file(site: Site<'_>, shown: &Shown<'_>, as_source: bool) -> String {
    let name = uri::split(shown.path).1;
    let rendered = if as_source { None } else { rendered(site, shown, 1) };
    let is_markdown = is_markdown(shown);
    let content = html! {
        (crumbs(site, shown.path))
        div #file data-live="" {
            div.title {
                h1 { (visible::name(name)) }
                p {
                    @if is_markdown && rendered.is_some() { a href=(href::source(shown.path)) { "Source" } " " }
                    @if is_markdown && as_source { a href=(href::file(shown.path)) { "Rendered" } " " }
                    a href=(href::download(shown.path)) { "Download" }
                }
            }
            (facts(shown, name))
            @match rendered {
                Some(text) => article.markdown { (text) },
                None => (source(shown)),
            }
        }
    };
    frame(site, Some(Part::Skills), name, &content)
}

/// The way down to the file, by the nearest skill around it.
fn crumbs(site: Site<'_>, path: &str) -> Markup {
    let ends = path.match_indices('/').map(|(at, _)| at).rev();
    let skill = ends.map(|end| &path[..end]).find(|dir| site.standing.snapshot.skill(dir).is_some());
    let below = skill.map_or(path, |skill| path[skill.len()..].trim_start_matches('/'));
    html! {
        nav.crumbs aria-label="Where this is" {
            a href=(href::SKILLS) { "Skills" } " / "
            @if let Some(skill) = skill { a href=(href::skill(skill)) { (visible::name(skill)) } " / " }
            span { (visible::name(below)) }
        }
    }
}

fn facts(shown: &Shown<'_>, name: &str) -> Markup {
    let file = shown.file;
    html! {
        dl.facts {
            div { dt { "Size" } dd { (size(file.size())) } }
            div { dt { "Type" } dd { (media_type::of(name, file.content())) } }
            @if let Some(modified) = file.modified() { div { dt { "Modified" } dd { (when::time(modified)) } } }
            div.long { dt { "SHA-256" } dd { code { (text::hex(file)) } } }
        }
    }
}

/// The lines of a text, with their numbers. A file that is no text has none.
fn source(shown: &Shown<'_>) -> Markup {
    let text = std::str::from_utf8(shown.bytes).ok().filter(|_| shown.file.content() == Content::Text);
    let Some(text) = text else {
        return html! { p.note { "This file is not text, so it can only be downloaded." } };
    };
    let (begin, is_cut) = text::cut(text, SHOWN_MAX_BYTES, SHOWN_MAX_LINES);
    let lines = begin.split_inclusive('\n').map(|line| line.strip_suffix('\n').unwrap_or(line));
    html! {
        @if text.is_empty() { p.note { "This file is empty." } }
        @else { pre.source { @for (nth, line) in (1..).zip(lines) {
            span.line id={"L" (nth)} data-n=(nth) { (Text(line.strip_suffix('\r').unwrap_or(line))) "\n" }
        } } }
        @if is_cut { p.note { "Only the beginning is shown, " (size(begin.len() as u64)) " of it. "
            a href=(href::download(shown.path)) { "Download all of it" } } }
    }
}

fn is_markdown(shown: &Shown<'_>) -> bool {
    media_type::of(uri::split(shown.path).1, shown.file.content()) == media_type::MARKDOWN
}

/// A Markdown file as HTML, without its frontmatter; nothing if it is no Markdown or too long.
pub(super) fn rendered(site: Site<'_>, shown: &Shown<'_>, deeper: u8) -> Option<Markup> {
    if !is_markdown(shown) || shown.bytes.len() > SHOWN_MAX_BYTES {
        return None;
    }
    let (dir, name) = uri::split(shown.path);
    let body = if name == SKILL_MD {
        frontmatter::parse(shown.bytes).map_or(0, |found| found.fences.body)
    } else {
        0
    };
    let text = std::str::from_utf8(shown.bytes).ok()?.trim_start_matches('\u{feff}');
    let text = text.get(body.saturating_sub(shown.bytes.len() - text.len())..)?;
    markdown::render(text, deeper, &|target| linked(site, dir, target))
}

/// The page of the file to which a relative link in the directory `dir` leads.
fn linked(site: Site<'_>, dir: &str, target: &str) -> Option<String> {
    let path = target.split(['#', '?']).next().filter(|path| !path.is_empty() && !path.starts_with('/'))?;
    let path: Cow<'_, str> = percent_decode_str(path).decode_utf8().ok()?;
    let mut names: Vec<&str> = dir.split('/').collect();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => drop(names.pop()?),
            name => names.push(name),
        }
    }
    let path = names.join("/");
    let node = site.standing.snapshot.node(&path)?;
    if node.file.is_some() {
        return Some(href::file(&path));
    }
    site.standing.snapshot.skill(&path).map(|_| href::skill(&path))
}
