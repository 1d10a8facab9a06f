//! Untrusted text as people can read it: escaped, with a mark for each character that nobody would see or that changes the
//! order of its neighbours.

use std::fmt::Write as _;

use maud::{Escaper, Markup, Render, html};

use crate::hidden;
use crate::report::escape::is_deceptive;

/// One line of text: a name, a path, a message. Line feeds and tabs are marked too.
pub(super) struct Line<'a>(pub &'a str);

/// Text of any number of lines.
pub(super) struct Text<'a>(pub &'a str);

impl Render for Line<'_> {
    fn render_to(&self, html: &mut String) {
        mark(self.0, |_| false, html);
    }
}

impl Render for Text<'_> {
    fn render_to(&self, html: &mut String) {
        mark(self.0, |c| matches!(c, '\n' | '\t'), html);
    }
}

/// A name or a path, which changes the order of nothing around it.
pub(super) fn name(text: &str) -> Markup {
    html! { bdi { (Line(text)) } }
}

/// A text of some words, whose direction is its own.
pub(super) fn words(text: &str) -> Markup {
    html! { bdi dir="auto" { (Text(text)) } }
}

/// Writes `text` with marks for all that needs one, except what `is_plain` says.
fn mark(text: &str, is_plain: impl Fn(char) -> bool, html: &mut String) {
    let mut rest = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let is_marked = |at, c| {
            !(' '..='~').contains(&c)
                && !is_plain(c)
                && (is_deceptive(c) || hidden::is_hidden(c))
                && !hidden::is_harmless(text, at, c)
        };
        if !is_marked(at, c) {
            continue;
        }
        escape(&text[rest..at], html);
        rest = at + c.len_utf8();
        let mut times = 1;
        while chars.next_if(|(at, next)| *next == c && is_marked(*at, c)).is_some() {
            rest += c.len_utf8();
            times += 1;
        }
        // Writing to a String cannot fail.
        let _ = write!(html, "<span class=\"cp\">U+{:04X}", u32::from(c));
        if times > 1 {
            let _ = write!(html, " ×{times}");
        }
        html.push_str("</span>");
    }
    escape(&text[rest..], html);
}

fn escape(text: &str, html: &mut String) {
    let _ = Escaper::new(html).write_str(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, line: &str) {
        assert_eq!(Line(text).render().into_string(), line);
    }

    #[test]
    fn what_nobody_sees_is_marked() {
        check("plain é <b>&\"", "plain é &lt;b&gt;&amp;&quot;");
        check("a\u{202e}b", "a<span class=\"cp\">U+202E</span>b");
        check("a\nb\x1b", "a<span class=\"cp\">U+000A</span>b<span class=\"cp\">U+001B</span>");
        check("a\0\0\0b", "a<span class=\"cp\">U+0000 ×3</span>b");
        check("\u{3164}\u{e0041}", "<span class=\"cp\">U+3164</span><span class=\"cp\">U+E0041</span>");
        // What writing needs stays, but never what sets a direction.
        check("❤\u{fe0f} 👩\u{200d}👧", "❤\u{fe0f} 👩\u{200d}👧");
        check("עברית\u{202e}", "עברית<span class=\"cp\">U+202E</span>");
        assert_eq!(Text("a\n\tb\r").render().into_string(), "a\n\tb<span class=\"cp\">U+000D</span>");
    }
}
