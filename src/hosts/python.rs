//! What PyYAML, or the Python hosts around it, cannot read.

use std::ops::Range;

use crate::finding::{Code, Elsewhere, Host, Loss, Problem};
use crate::frontmatter::Frontmatter;
use crate::problem::problem;
use crate::yaml;
use crate::yaml::outline::{Form, Written};

use super::Text;
use super::yaml_1_1::Meaning;

const BOTH: &[Host] = &[Host::FastMcp, Host::FastAgent];
/// The names of fields that fast-agent's reader of frontmatters keeps for itself.
const TAKEN_NAMES: [&str; 3] = ["content", "handler", "self"];

/// What stands around the YAML: a byte-order mark, and blanks behind the fences.
pub(super) fn around(file: &str, frontmatter: &Frontmatter) -> Vec<Problem> {
    let fences = &frontmatter.fences;
    let skill = |code, span: Range<usize>, message: &str, help: &str, hosts: &[Host]| Problem {
        elsewhere: Elsewhere::each(Loss::Skill, hosts),
        ..problem(code, span, message, help)
    };
    let mut problems = Vec::new();
    let mark = file.len() - file.trim_start_matches('\u{feff}').len();
    if mark > 0 {
        let message = "a byte-order mark stands before the frontmatter";
        problems.push(skill(
            Code::ByteOrderMark,
            0..mark,
            message,
            "save the file as UTF-8 without a mark",
            &[Host::FastAgent],
        ));
    }
    let blanks = |line: &str| line.trim_end_matches(['\r', '\n']).len() - line.trim_end().len();
    let opening = file.get(mark..fences.yaml.start).unwrap_or("");
    let closing = file.get(fences.closing..fences.body).unwrap_or("");
    // One blank line each, told once, with all who do not take it.
    let (line, at, hosts): (&str, usize, &[Host]) = if blanks(opening) > 0 {
        (opening, mark, &[Host::TypeScript, Host::FastMcp])
    } else {
        (closing, fences.closing, &[Host::FastMcp])
    };
    if blanks(line) > 0 {
        let span = at..at + line.trim_end_matches(['\r', '\n']).len();
        problems.push(skill(
            Code::FenceBlanks,
            span,
            "blanks follow the line `---`",
            "remove the blanks",
            hosts,
        ));
    }
    problems
}

/// One problem for the first construct that each of the hosts cannot read, those for both before those for one.
pub(super) fn unreadable(text: &Text<'_>, frontmatter: &Frontmatter) -> Vec<Problem> {
    let mut faults: Vec<(Range<usize>, String, &str, &[Host])> = Vec::new();
    let mut add = |at: Option<Range<usize>>, message: &str, help: &'static str, hosts: &'static [Host]| {
        faults.extend(at.map(|at| (at, message.to_owned(), help, hosts)));
    };
    let written = || text.outline.written.iter();
    let separator = find(text.text, |c| matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}'));
    add(
        separator,
        "a line separator stands in the text, which PyYAML takes for a line end",
        "remove it",
        BOTH,
    );
    let surrogate = written().find_map(|at| surrogate(text, at));
    add(
        surrogate,
        "PyYAML does not put two surrogates together",
        "write the character itself",
        &[Host::FastAgent],
    );
    let start =
        written().find(|at| at.is_in_brackets && starts_with(at, &["?", ":"])).map(|at| at.span.clone());
    add(
        start,
        "a value between brackets begins with `?` or `:`, which PyYAML reads as a mark",
        "put it in quotes",
        BOTH,
    );
    let is_bare = |at: &&Written| at.properties.tag.as_deref() == Some("!");
    let nothing =
        written().filter(is_bare).find(|at| matches!(&at.form, Form::Plain(plain) if plain.is_empty()));
    add(
        nothing.map(|at| at.span.clone()),
        "the tag `!` stands before nothing",
        "remove the tag",
        &[Host::FastMcp],
    );
    let block = written().find(|at| matches!(at.form, Form::Block(_)) && begins_with_tab(text, at));
    add(
        block.map(|at| at.span.start..at.span.start + 1),
        "a tab begins a block of text, which PyYAML refuses",
        "begin the text without it",
        &[Host::FastAgent],
    );
    let tag = written().find(|at| at.properties.tag.as_deref().is_some_and(is_of_the_authors_own));
    add(tag.map(|at| at.span.clone()), "a value has a tag that PyYAML does not know", "remove the tag", BOTH);
    let anchor = anchored_twice(text);
    add(
        anchor,
        "two values have the same anchor, which PyYAML refuses",
        "name the anchors differently",
        BOTH,
    );
    let adjacent = written().find(|at| at.is_in_brackets && at.is_key && opens_at_once(text, at));
    add(
        adjacent.map(|at| at.span.clone()),
        "a bracket follows a colon without a blank between brackets",
        "put a blank behind the colon",
        &[Host::FastAgent],
    );
    let key = written().find(|at| at.is_key && is_no_text(at)).map(|at| at.span.clone());
    add(key, "a key is no text", "put it in quotes", BOTH);
    let dash = text.text.match_indices("-\t").map(|(at, _)| at + 1).find(|at| is_after_dash(text, *at));
    add(dash.map(|at| at..at + 1), "a tab follows a dash, which PyYAML refuses", "use spaces", BOTH);
    let tab = text.text.match_indices('\t').map(|(at, _)| at).find(|at| !is_in_text(text, *at));
    add(
        tab.map(|at| at..at + 1),
        "a tab stands outside quotes, which PyYAML refuses",
        "use spaces",
        &[Host::FastMcp],
    );
    let mark = written()
        .find(|at| at.is_in_brackets && matches!(&at.form, Form::Plain(plain) if plain.contains('?')));
    let mark = mark.map(|at| at.span.clone());
    add(
        mark,
        "a value between brackets has a `?`, which PyYAML reads as a mark",
        "put it in quotes",
        &[Host::FastMcp],
    );
    let alias = written().find(|at| at.form == Form::Alias).map(|at| at.span.clone());
    add(alias, "an alias is used", "write the value out", &[Host::FastMcp]);
    let taken = TAKEN_NAMES.iter().find_map(|name| frontmatter.spans.get(*name));
    let taken = taken.map(|at| at.key.start - text.start..at.key.end - text.start);
    add(
        taken,
        "a field has a name that the host keeps for itself",
        "name it otherwise, or move it below `metadata:`",
        &[Host::FastAgent],
    );
    // Each host is told its first fault; a second one would be told once that is cured.
    let mut told: Vec<Host> = Vec::new();
    let mut problems = Vec::new();
    for (at, message, help, hosts) in faults {
        let news: Vec<Host> = hosts.iter().copied().filter(|host| !told.contains(host)).collect();
        if !news.is_empty() {
            problems.push(text.skill(Code::YamlPython, &at, message, help, hosts));
            told.extend(news);
        }
    }
    problems
}

fn find(text: &str, is: impl Fn(char) -> bool) -> Option<Range<usize>> {
    text.char_indices().find(|(_, c)| !c.is_ascii_graphic() && is(*c)).map(|(at, c)| at..at + c.len_utf8())
}

fn starts_with(written: &Written, starts: &[&str]) -> bool {
    matches!(&written.form, Form::Plain(plain) if starts.iter().any(|start| plain.starts_with(start)))
}

/// Whether the first line of a block has a tab behind its indentation.
fn begins_with_tab(text: &Text<'_>, block: &Written) -> bool {
    let before = text.text.get(..block.span.start).unwrap_or("");
    let (header, indentation) = before.rsplit_once('\n').unwrap_or(("", before));
    // With an indentation indicator it is text.
    let mark = header.trim_end().rsplit([' ', '\t']).next().unwrap_or("");
    if mark.starts_with(['|', '>']) && mark.bytes().any(|byte| byte.is_ascii_digit()) {
        return false;
    }
    indentation.contains('\t') || text.slice(&block.span).trim_start_matches(' ').starts_with('\t')
}

/// `!name`, as opposed to `!` and to the tags of YAML itself.
fn is_of_the_authors_own(tag: &str) -> bool {
    tag != "!" && !tag.starts_with("tag:yaml.org,2002:")
}

/// The second of two nodes with one anchor.
fn anchored_twice(text: &Text<'_>) -> Option<Range<usize>> {
    let mut names: Vec<&str> = Vec::new();
    for written in text.outline.written.iter().filter(|written| written.properties.anchor.is_some()) {
        let before = text.text.get(..written.span.start).unwrap_or("");
        let name = before.rfind('&').and_then(|at| before.get(at + 1..)?.split_whitespace().next())?;
        if names.contains(&name) {
            return Some(written.span.clone());
        }
        names.push(name);
    }
    None
}

/// Whether `:[` or `:{` follows a key.
fn opens_at_once(text: &Text<'_>, key: &Written) -> bool {
    let rest = text.text.get(key.span.end..).unwrap_or("");
    matches!(key.form, Form::Plain(_)) && (rest.starts_with(":[") || rest.starts_with(":{"))
}

/// Whether the tab at `at` follows a dash that begins an item.
fn is_after_dash(text: &Text<'_>, at: usize) -> bool {
    let line = text.text.get(..at - 1).unwrap_or("").rsplit('\n').next().unwrap_or("");
    let goes_on = |written: &Written| {
        matches!(written.form, Form::Plain(_)) && written.span.start < at && at < written.span.end
    };
    line.chars().all(|c| matches!(c, ' ' | '-' | '\t'))
        && !is_in_text(text, at)
        && !text.outline.written.iter().any(goes_on)
}

/// Whether a key is no text in both versions of YAML.
fn is_no_text(written: &Written) -> bool {
    let Form::Plain(plain) = &written.form else { return false };
    // A tag decides for itself.
    written.properties.tag.is_none()
        && yaml::plain_value(plain).is_none_or(|value| !value.is_string())
        && Meaning::of(plain) != Meaning::Text
}

/// A pair of `\uD83D`-like escapes in double quotes.
fn surrogate(text: &Text<'_>, written: &Written) -> Option<Range<usize>> {
    let slice = text.slice(&written.span);
    if written.form != Form::Quoted || !slice.starts_with('"') {
        return None;
    }
    let is_high = |rest: &str| {
        matches!(rest.as_bytes(), [_, _, b'd' | b'D', b'8'..=b'9' | b'a'..=b'b' | b'A'..=b'B', ..])
    };
    let (at, _) = slice.match_indices("\\u").find(|(at, _)| slice.get(*at..).is_some_and(is_high))?;
    let start = written.span.start + at;
    Some(start..(start + 12).min(written.span.end))
}

/// Whether a tab stands in quotes, in a block or in a comment.
fn is_in_text(text: &Text<'_>, at: usize) -> bool {
    let is_around = |span: &Range<usize>| span.start <= at && at < span.end;
    let is_text =
        |written: &Written| matches!(written.form, Form::Quoted | Form::Block(_)) && is_around(&written.span);
    text.outline.comments.iter().any(is_around) || text.outline.written.iter().any(is_text)
}
