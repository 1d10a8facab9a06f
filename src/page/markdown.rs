//! Markdown from strangers as HTML that does nothing: no HTML of theirs, no pictures, no links but to the web and to files
//! that are served here.
//!
//! The library writes the elements. What it is given to write are only events of the kinds below; whatever else there is
//! becomes text.

use std::fmt;

use maud::{Markup, PreEscaped, html};
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html as writer};

use super::visible::Text;

/// The most bytes of HTML: what a long `SKILL.md` takes, and a bound for texts that are made to grow.
const HTML_MAX_BYTES: usize = 1024 * 1024;

/// Renders a text whose top headings become headings `deeper` by so many levels. `file` says where the page of a file is to
/// which a relative link leads. Nothing if it would be too long.
pub(super) fn render(text: &str, deeper: u8, file: &dyn Fn(&str) -> Option<String>) -> Option<Markup> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut tamer = Tamer { deeper, file, open: Vec::new() };
    let events = Parser::new_ext(text, options).flat_map(|event| tamer.tame(event));
    let mut bounded = Bounded(String::new());
    writer::write_html_fmt(&mut bounded, events).ok()?;
    Some(PreEscaped(bounded.0))
}

/// Lets through what is harmless and makes text of the rest.
struct Tamer<'f> {
    deeper: u8,
    file: &'f dyn Fn(&str) -> Option<String>,
    /// What closes each open link or picture.
    open: Vec<Markup>,
}

impl Tamer<'_> {
    fn tame<'e>(&mut self, event: Event<'e>) -> Vec<Event<'e>> {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => {
                vec![own(html! { (Text(&text)) })]
            }
            Event::Code(code) => vec![own(html! { code { (Text(&code)) } })],
            Event::TaskListMarker(is_done) => vec![Event::Text(if is_done { "☑ " } else { "☐ " }.into())],
            plain @ (Event::SoftBreak | Event::HardBreak | Event::Rule) => vec![plain],
            Event::FootnoteReference(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                vec![own(html! { (Text(&text)) })]
            }
        }
    }

    fn start<'e>(&mut self, tag: Tag<'e>) -> Vec<Event<'e>> {
        let plain = match tag {
            Tag::Link { dest_url, .. } => return vec![self.link(&dest_url)],
            Tag::Image { dest_url, .. } => {
                self.open.push(html! { " " code.target { (Text(&dest_url)) } "]" });
                return vec![own(html! { "[picture: " })];
            }
            // Alignment would be written as a style, and what is wide scrolls by itself.
            Tag::Table(columns) => {
                let open = PreEscaped(
                    r#"<div class="wide" tabindex="0" role="region" aria-label="Table">"#.to_owned(),
                );
                return vec![
                    own(open),
                    Event::Start(Tag::Table(vec![pulldown_cmark::Alignment::None; columns.len()])),
                ];
            }
            Tag::Heading { level, .. } => {
                Tag::Heading { level: self.level(level), id: None, classes: Vec::new(), attrs: Vec::new() }
            }
            // The language would become a class.
            Tag::CodeBlock(_) | Tag::HtmlBlock => Tag::CodeBlock(CodeBlockKind::Indented),
            Tag::BlockQuote(_) => Tag::BlockQuote(None),
            Tag::Paragraph
            | Tag::List(_)
            | Tag::Item
            | Tag::TableHead
            | Tag::TableRow
            | Tag::TableCell
            | Tag::Emphasis
            | Tag::Strong
            | Tag::Strikethrough => tag,
            _ => return Vec::new(),
        };
        vec![Event::Start(plain)]
    }

    fn end<'e>(&mut self, tag: TagEnd) -> Vec<Event<'e>> {
        let plain = match tag {
            TagEnd::Link | TagEnd::Image => return self.open.pop().map(own).into_iter().collect(),
            TagEnd::Table => return vec![Event::End(tag), own(PreEscaped("</div>".to_owned()))],
            TagEnd::Heading(level) => TagEnd::Heading(self.level(level)),
            TagEnd::HtmlBlock => TagEnd::CodeBlock,
            TagEnd::BlockQuote(_) => TagEnd::BlockQuote(None),
            TagEnd::Paragraph
            | TagEnd::CodeBlock
            | TagEnd::List(_)
            | TagEnd::Item
            | TagEnd::TableHead
            | TagEnd::TableRow
            | TagEnd::TableCell
            | TagEnd::Emphasis
            | TagEnd::Strong
            | TagEnd::Strikethrough => tag,
            _ => return Vec::new(),
        };
        vec![Event::End(plain)]
    }

    /// A link to the web or to a file that is served here. Of any other, the target is text too.
    fn link<'e>(&mut self, target: &str) -> Event<'e> {
        let scheme = target.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
        let (begin, end) = match scheme.as_deref() {
            Some("http" | "https") => (
                Some(
                    html! { (PreEscaped("<a rel=\"noopener noreferrer nofollow\" href=\"")) (target) (PreEscaped("\">")) },
                ),
                "</a>",
            ),
            _ => match (self.file)(target) {
                Some(href) => (Some(html! { (PreEscaped("<a href=\"")) (href) (PreEscaped("\">")) }), "</a>"),
                None => (None, ""),
            },
        };
        self.open.push(match begin {
            Some(_) => PreEscaped(end.to_owned()),
            None => html! { " " code.target { (Text(target)) } },
        });
        own(begin.unwrap_or_default())
    }

    fn level(&self, level: HeadingLevel) -> HeadingLevel {
        HeadingLevel::try_from((level as usize + usize::from(self.deeper)).min(6)).unwrap_or(HeadingLevel::H6)
    }
}

/// HTML of ours.
fn own<'e>(html: Markup) -> Event<'e> {
    Event::InlineHtml(html.into_string().into())
}

/// A text that refuses to grow beyond a bound.
struct Bounded(String);

impl fmt::Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len() + text.len() > HTML_MAX_BYTES {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn html(text: &str) -> String {
        let file = |target: &str| (target == "a.md").then(|| "file?path=x/a.md".to_owned());
        render(text, 1, &file).unwrap().into_string()
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(html(text).trim(), expected);
    }

    #[test]
    fn what_is_harmless_is_rendered() {
        check("# A *b* `c`", "<h2>A <em>b</em> <code>c</code></h2>");
        check("###### A", "<h6>A</h6>");
        check("- [x] a\n- [ ] b", "<ul>\n<li>☑ a</li>\n<li>☐ b</li>\n</ul>");
        check("```sh\"><b>\na<b\n```", "<pre><code>a&lt;b\n</code></pre>");
        check("> [!NOTE]\n> a", "<blockquote>\n<p>[!NOTE]\na</p>\n</blockquote>");
        let table = html("|a|b|\n|:-:|-|\n|1|2|");
        assert!(table.contains("<td>1</td>") && !table.contains("style"), "{table}");
    }

    #[test]
    fn nothing_of_a_stranger_runs_or_loads() {
        check("a <b onclick=x>c</b>", "<p>a &lt;b onclick=x&gt;c&lt;/b&gt;</p>");
        check("<script>x</script>", "<pre><code>&lt;script&gt;x&lt;/script&gt;</code></pre>");
        check(
            "![a <b>](https://x.example/p.png)",
            "<p>[picture: a &lt;b&gt; <code class=\"target\">https://x.example/p.png</code>]</p>",
        );
        check("[a](javascript:x)", "<p>a <code class=\"target\">javascript:x</code></p>");
        check("[a](data:text/html,x)", "<p>a <code class=\"target\">data:text/html,x</code></p>");
        check("[a](//x.example)", "<p>a <code class=\"target\">//x.example</code></p>");
        check("[a](JavaScript://x%0aalert)", "<p>a <code class=\"target\">JavaScript://x%0aalert</code></p>");
        check("&lt;b&gt; \u{202e}x", "<p>&lt;b&gt; <span class=\"cp\">U+202E</span>x</p>");
    }

    #[test]
    fn links_lead_to_the_web_or_to_served_files() {
        let rel = "rel=\"noopener noreferrer nofollow\"";
        check(
            "[a](https://x.example/?a&b \"t\")",
            &format!("<p><a {rel} href=\"https://x.example/?a&amp;b\">a</a></p>"),
        );
        check(
            "[a](HTTP://x/\"><b>)",
            &format!("<p><a {rel} href=\"HTTP://x/&quot;&gt;&lt;b&gt;\">a</a></p>"),
        );
        check(
            "<https://x.example>",
            &format!("<p><a {rel} href=\"https://x.example\">https://x.example</a></p>"),
        );
        check("[a](a.md)", "<p><a href=\"file?path=x/a.md\">a</a></p>");
        check("[a](b.md)", "<p>a <code class=\"target\">b.md</code></p>");
        check(
            "[![a](p.png)](a.md)",
            "<p><a href=\"file?path=x/a.md\">[picture: a <code class=\"target\">p.png</code>]</a></p>",
        );
    }

    #[test]
    fn what_grows_too_long_is_not_rendered() {
        let none = |_: &str| None;
        assert!(render(&"&".repeat(HTML_MAX_BYTES / 4), 0, &none).is_none());
        assert!(
            render(&">".repeat(100_000), 0, &none)
                .is_none_or(|html| html.into_string().len() <= HTML_MAX_BYTES)
        );
    }
}
