//! A finding as a compiler shows it: the source line with a mark under the place.

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet, Title};

use crate::finding::{Finding, Place, Severity};

use super::{Report, escape};

/// Every finding, the notes and the sum, with terminal colours if `coloured`.
pub fn text(report: &Report<'_>, coloured: bool) -> String {
    let mut text: String =
        report.findings.iter().map(|finding| annotated(finding, coloured) + "\n\n").collect();
    text.extend(report.notes.iter().map(|note| format!("note: {note}\n")));
    text + &report.summary() + "\n"
}

/// The finding over several lines.
fn annotated(finding: &Finding, coloured: bool) -> String {
    let renderer = if coloured { Renderer::styled() } else { Renderer::plain() };
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let path = escape::path(&finding.path);
    let group = level.primary_title(escape::text(&finding.message)).id(finding.code.as_str());
    let group = match &finding.place {
        None => group.element(Origin::path(path)),
        Some(place) => source_line(group, path, place),
    };
    let group = group.element(Level::HELP.message(escape::text(&finding.help)));
    let notes = finding.elsewhere.iter().map(|elsewhere| Level::NOTE.message(elsewhere.sentence()));
    renderer.render(&[group.elements(notes)])
}

fn source_line<'a>(title: Title<'a>, path: String, place: &Place) -> Group<'a> {
    let part = |range| escape::text(place.excerpt.get(range).unwrap_or_default());
    let mark = place.mark.clone();
    let (before, marked, after) =
        (part(0..mark.start), part(mark.clone()), part(mark.end..place.excerpt.len()));
    let span = before.len()..before.len() + marked.len();
    let (line, column) = (place.line as usize, place.column as usize);
    let is_whole = before.chars().count() + 1 == column;
    let snippet = Snippet::source(format!("{before}{marked}{after}"))
        .line_start(line)
        .annotation(AnnotationKind::Primary.span(span));
    if is_whole {
        title.element(snippet.path(path))
    } else {
        // A long line is cut, and an escape is longer than what it stands for: then the snippet cannot count columns.
        title.element(Origin::path(path).line(line).char_column(column)).element(snippet)
    }
}

#[cfg(test)]
mod tests {
    use crate::finding::Code;

    use super::*;

    fn finding(place: Option<Place>) -> Finding {
        let message = "a value cannot hold \": \" unquoted";
        let finding =
            Finding::new(Code::YamlSyntax, Severity::Error, "skills/a/SKILL.md", message, "quote the value");
        Finding { place, ..finding }
    }

    #[test]
    fn a_source_line_is_marked() {
        let text = b"---\nname: a\ndescription: Use when: now\n---\n";
        let place = Place::of(text, &(33..34));
        insta::assert_snapshot!(annotated(&finding(Some(place)), false), @r#"
        error[yaml-syntax]: a value cannot hold ": " unquoted
         --> skills/a/SKILL.md:3:22
          |
        3 | description: Use when: now
          |                      ^
          |
          = help: quote the value
        "#);
    }

    #[test]
    fn a_long_line_is_cut_and_its_column_is_kept() {
        let text = format!("---\nname: a\ndescription: {}: \u{202e}now\n---\n", "x".repeat(500));
        let at = text.find(": \u{202e}").unwrap();
        let place = Place::of(text.as_bytes(), &(at..at + 2));
        insta::assert_snapshot!(annotated(&finding(Some(place)), false), @r#"
        error[yaml-syntax]: a value cannot hold ": " unquoted
         --> skills/a/SKILL.md:3:514
          |
         ::: 
        3 | xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx: \u{202e}now
          |                                                                                 ^^
          |
          = help: quote the value
        "#);
    }

    #[test]
    fn a_finding_without_a_place_names_the_file() {
        insta::assert_snapshot!(annotated(&finding(None), false), @r#"
        error[yaml-syntax]: a value cannot hold ": " unquoted
        --> skills/a/SKILL.md
         = help: quote the value
        "#);
    }
}
