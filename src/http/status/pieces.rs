//! The object in pieces: its head, the findings, the skills.

use std::convert::Infallible;

use axum::body::Bytes;
use futures::Stream;
use std::borrow::Cow;

use serde::Serialize;

use crate::catalog::{Skill, Snapshot, Standing};
use crate::report::{self, Names, escape};
use crate::skill::SKILL_MD;
use crate::uri;

/// The size from which a piece is handed on. Making one takes a fraction of a millisecond.
const PIECE_MIN_BYTES: usize = 32 * 1024;

/// What is still to be written.
pub(super) struct Pieces {
    standing: Option<Standing>,
    names: Names,
    next: Next,
}

enum Next {
    /// All of it. This is the object without lists.
    Head(String),
    /// From the finding of this number on.
    Finding(usize),
    /// The skills after this path; all for `None`.
    Skill(Option<Box<str>>),
    Nothing,
}

#[derive(Serialize)]
struct SkillItem<'a> {
    path: &'a str,
    uri: String,
    name: &'a str,
    description: Cow<'a, str>,
    files: usize,
    bytes: u64,
    digest: Option<String>,
}

impl Pieces {
    /// Those of the object `head` with the lists of `standing`.
    pub(super) fn new(head: String, standing: Option<Standing>, names: Names) -> Self {
        Self { standing, names, next: Next::Head(head) }
    }

    /// All of them, one when it is asked for. Between two of them others have their turn.
    pub(super) fn stream(self) -> impl Stream<Item = Result<Bytes, Infallible>> {
        futures::stream::unfold(self, async |mut pieces| {
            tokio::task::yield_now().await;
            let piece = pieces.piece()?;
            Some((Ok(escape::json(&piece).into()), pieces))
        })
    }

    fn piece(&mut self) -> Option<String> {
        let mut piece = String::new();
        while piece.len() < PIECE_MIN_BYTES {
            self.next = match std::mem::replace(&mut self.next, Next::Nothing) {
                Next::Head(head) => {
                    piece.push_str(head.strip_suffix('}').unwrap_or(&head));
                    piece.push_str(",\"findings\":[");
                    Next::Finding(0)
                }
                Next::Finding(number) => self.write_finding(&mut piece, number),
                Next::Skill(after) => self.write_skills(&mut piece, after.as_deref()),
                Next::Nothing => break,
            };
        }
        (!piece.is_empty()).then_some(piece)
    }

    fn write_finding(&self, piece: &mut String, number: usize) -> Next {
        let finding = self.standing.as_ref().and_then(|standing| standing.findings.get(number));
        let Some(finding) = finding else {
            piece.push_str("],\"skills\":[");
            return Next::Skill(None);
        };
        let path = self.names.below(&finding.path);
        item(piece, number == 0, &report::finding_item(finding, &path));
        Next::Finding(number + 1)
    }

    fn write_skills(&self, piece: &mut String, after: Option<&str>) -> Next {
        if let Some(Standing { snapshot, .. }) = &self.standing {
            let mut is_first = after.is_none();
            for skill in snapshot.skills_after(after) {
                item(piece, is_first, &skill_item(snapshot, skill));
                is_first = false;
                if piece.len() >= PIECE_MIN_BYTES {
                    return Next::Skill(Some(skill.path.clone()));
                }
            }
        }
        piece.push_str("]}\n");
        Next::Nothing
    }
}

fn item(piece: &mut String, is_first: bool, item: &impl Serialize) {
    if !is_first {
        piece.push(',');
    }
    // Every item has a JSON form.
    piece.push_str(&serde_json::to_string(item).unwrap_or_else(|_| "null".to_owned()));
}

fn skill_item<'a>(snapshot: &Snapshot, skill: &'a Skill) -> SkillItem<'a> {
    let skill_md = format!("{}/{SKILL_MD}", skill.path);
    let (mut files, mut bytes, mut digest) = (0, 0, None);
    for (path, file) in snapshot.files(skill) {
        files += 1;
        bytes += file.size();
        if path == skill_md {
            digest = Some(file.digest().to_string());
        }
    }
    SkillItem {
        path: &skill.path,
        uri: uri::from_path(&skill_md),
        name: skill.name(),
        description: skill.frontmatter.description(),
        files,
        bytes,
        digest,
    }
}
