//! Relative links in a `SKILL.md` that lead to no served file. A host reads only what a skill's entry lists (H3).

use std::borrow::Cow;
use std::ops::Range;

use percent_encoding::percent_decode_str;
use pulldown_cmark::{Event, Options, Parser, Tag};

use crate::finding::{Code, Problem};
use crate::problem::{problem, shorten};
use crate::tree::Directory;

/// The most links of one file that are told.
const TOLD_MAX: usize = 20;

/// A problem for each relative link in the Markdown from `body` on that leads to nothing served from `dir`.
pub(super) fn not_served(file: &str, body: usize, dir: &Directory) -> Vec<Problem> {
    let text = file.get(body..).unwrap_or("");
    if !text.contains("](") && !text.contains("]:") {
        return Vec::new();
    }
    let mut told: Vec<String> = Vec::new();
    let mut problems = Vec::new();
    for (target, span) in links(text) {
        let Some(path) = relative(&target) else { continue };
        if told.len() == TOLD_MAX {
            break;
        }
        let Err(missing) = find(dir, &path) else { continue };
        if told.contains(&path) {
            continue;
        }
        let (what, help) = match missing {
            Missing::Outside => (
                "leaves the skill, whose own files are all that a host reads",
                "put a copy of the file into the skill, and link to that".to_owned(),
            ),
            Missing::Inside(help) => ("leads to no served file", help),
        };
        let message = format!("the link to `{}` {what}", shorten(&path));
        problems.push(problem(Code::LinkNotServed, body + span.start..body + span.end, message, help));
        told.push(path);
    }
    problems
}

/// The targets of links and images, and where they stand.
fn links(text: &str) -> impl Iterator<Item = (String, Range<usize>)> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES | Options::ENABLE_STRIKETHROUGH;
    Parser::new_ext(text, options).into_offset_iter().filter_map(move |(event, span)| match event {
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
            // The mark is on the target if it is written there.
            let whole = text.get(span.clone()).unwrap_or("");
            let at = whole.rfind(&*dest_url).filter(|_| !dest_url.is_empty());
            let span = at.map_or(span.clone(), |at| span.start + at..span.start + at + dest_url.len());
            Some((dest_url.into_string(), span))
        }
        _ => None,
    })
}

/// The path of a relative link, without query and fragment; none for a link to elsewhere, a heading, or a placeholder.
fn relative(target: &str) -> Option<String> {
    let path = target.split(['#', '?']).next().unwrap_or("");
    let has_scheme = path.split('/').next().is_some_and(|first| first.contains(':'));
    if path.is_empty() || path.starts_with('/') || has_scheme || path.contains(['{', '}', '<', '>', '$', '*'])
    {
        return None;
    }
    let decoded: Cow<'_, str> = percent_decode_str(path).decode_utf8().ok()?;
    Some(decoded.into_owned())
}

/// Why a path is not among what is served.
enum Missing {
    /// It is not in the skill.
    Outside,
    /// It would be. This is what to do about it.
    Inside(String),
}

/// Looks a path up in what is served.
fn find(dir: &Directory, path: &str) -> Result<(), Missing> {
    let mut names: Vec<&str> = Vec::new();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => {
                if names.pop().is_none() {
                    return Err(Missing::Outside);
                }
            }
            name => names.push(name),
        }
    }
    let mut dir = dir;
    for (nth, name) in names.iter().enumerate() {
        let is_last = nth + 1 == names.len();
        let is = |other: &str| other == *name;
        if is_last && dir.file(name).is_some() {
            return Ok(());
        }
        match dir.dirs.iter().find(|child| is(child.name())) {
            Some(child) => dir = child,
            None => return Err(Missing::Inside(help(dir, name))),
        }
    }
    Ok(())
}

fn help(dir: &Directory, name: &str) -> String {
    let names = dir.files().map(|file| file.name()).chain(dir.dirs.iter().map(|child| child.name()));
    let mut similar = names.filter(|other| other.eq_ignore_ascii_case(name));
    match similar.next() {
        Some(other) => format!("write `{}`, as the name is spelt", shorten(other)),
        None if name.starts_with('.') => {
            "correct the link; what begins with a dot is only served with --include-hidden".to_owned()
        }
        None => "correct the link, or add the file; it may be excluded, or another finding may say why it is withheld"
            .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_relative_links_are_looked_up() {
        let check = |target: &str, expected: Option<&str>| {
            assert_eq!(relative(target).as_deref(), expected, "{target}")
        };
        check("a/b%20c.md#top", Some("a/b c.md"));
        check("./x?y", Some("./x"));
        check("../x", Some("../x"));
        for other in [
            "https://a.example/b",
            "mailto:a@b.example",
            "/etc",
            "#top",
            "",
            "//a.example",
            "{path}",
            "a/<name>",
            "%FF",
        ] {
            check(other, None);
        }
    }

    #[test]
    fn a_link_is_marked_where_its_target_stands() {
        let found = |text: &str| {
            links(text).map(|(target, span)| (target, text[span].to_owned())).collect::<Vec<_>>()
        };
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(
            found("see [a](x.md) and ![b](<y z.png> \"t\")"),
            [pair("x.md", "x.md"), pair("y z.png", "y z.png")]
        );
        assert_eq!(found("`[a](x.md)` \\[a](b)"), []);
        assert_eq!(found("[a]\n\n[a]: x.md"), [pair("x.md", "[a]")]);
        assert_eq!(found("```\n[a](x.md)\n```\n"), []);
    }
}
