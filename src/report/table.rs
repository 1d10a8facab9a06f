//! The catalog as a table.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::catalog::{Skill, Snapshot};
use crate::uri;

use super::escape;
use super::summary::size;

/// The least room, in columns, that a description is given however narrow the terminal is.
const DESCRIPTION_MIN_COLUMNS: usize = 20;

/// What would be served, a line a skill under a line of headings, in at most `columns` columns where that can be.
pub fn table(snapshot: &Snapshot, columns: usize) -> String {
    let heading = ["NAME", "URI", "FILES", "BYTES", "DESCRIPTION"].map(str::to_owned);
    let rows: Vec<[String; 5]> =
        std::iter::once(heading).chain(snapshot.skills().map(|skill| row(snapshot, skill))).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].width()).max().unwrap_or(0);
    let widths = [width(0), width(1), width(2), width(3)];
    let room =
        columns.saturating_sub(widths.iter().sum::<usize>() + 2 * widths.len()).max(DESCRIPTION_MIN_COLUMNS);

    let mut table = String::new();
    for [name, uri, files, bytes, description] in &rows {
        let line = [
            pad(name, widths[0], false),
            pad(uri, widths[1], false),
            pad(files, widths[2], true),
            pad(bytes, widths[3], true),
            cut(description, room),
        ];
        table.push_str(line.join("  ").trim_end());
        table.push('\n');
    }
    table
}

fn row(snapshot: &Snapshot, skill: &Skill) -> [String; 5] {
    let (files, bytes) = snapshot
        .files(skill)
        .fold((0_usize, 0), |(files, bytes), (_, file)| (files + 1, bytes + file.size()));
    let fields = skill.frontmatter.to_map();
    let field = |name: &str| fields.get(name).and_then(|value| value.as_str()).unwrap_or_default();
    let uri = uri::from_path(&format!("{}/{}", skill.path, crate::skill::SKILL_MD));
    let description = field("description").split_whitespace().collect::<Vec<_>>().join(" ");
    [escape::text(field("name")), uri, files.to_string(), size(bytes), escape::text(&description)]
}

fn pad(text: &str, width: usize, to_the_right: bool) -> String {
    let blanks = " ".repeat(width.saturating_sub(text.width()));
    if to_the_right { format!("{blanks}{text}") } else { format!("{text}{blanks}") }
}

fn cut(text: &str, room: usize) -> String {
    if text.width() <= room {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut width = 1;
    for c in text.chars() {
        width += c.width().unwrap_or(0);
        if width > room {
            break;
        }
        kept.push(c);
    }
    kept.push('…');
    kept
}
