//! A skill's entry in `skills/list` and `skills/get` (E1–E6).

use rmcp::model::{Skill as Entry, SkillFrontmatter, SkillResource, SkillResources};
use serde_json::{Map, Value};

use crate::catalog::{Listed, Skill, Snapshot};
use crate::skill::SKILL_MD;
use crate::uri;

/// The served path of a skill's `SKILL.md`.
pub(super) fn skill_md_path(skill: &Skill) -> String {
    [&*skill.path, "/", SKILL_MD].concat()
}

/// The skill whose `SKILL.md` is at `uri`, spelled as the listing spells it: the entry that goes out must have the URI that
/// was asked for.
pub(super) fn find<'a>(snapshot: &'a Snapshot, uri: &str) -> Option<Listed<'a>> {
    let path = uri::to_path(uri).ok().filter(|path| uri::is_of_path(uri, path))?;
    snapshot.listed(path.strip_suffix(SKILL_MD)?.strip_suffix('/')?)
}

/// The entry of a skill: its `SKILL.md`'s URI, its whole frontmatter, and every file with digest and size.
pub(super) fn entry(snapshot: &Snapshot, skill: &Skill) -> Entry {
    let file = |(path, file): (&str, &crate::catalog::File)| {
        SkillResource::new(uri::from_path(path), file.digest().to_string(), file.size())
    };
    let files = snapshot.files(skill).map(file).collect();
    Entry::new(
        uri::from_path(&skill_md_path(skill)),
        frontmatter(&skill.frontmatter.to_map()),
        SkillResources::Files(files),
    )
}

/// The frontmatter with the two fields that every skill has (N2, N3) apart from the others, as rmcp holds it.
fn frontmatter(fields: &Map<String, Value>) -> SkillFrontmatter {
    let is_extra = |field: &(&String, &Value)| !matches!(field.0.as_str(), "name" | "description");
    let mut frontmatter = SkillFrontmatter::new(text(fields, "name"), text(fields, "description"));
    frontmatter.extra =
        fields.iter().filter(is_extra).map(|(key, value)| (key.clone(), value.clone())).collect();
    frontmatter
}

/// A field of a frontmatter that is text; empty if it is not, which no served skill's is.
pub(super) fn text<'a>(frontmatter: &'a Map<String, Value>, field: &str) -> &'a str {
    frontmatter.get(field).and_then(Value::as_str).unwrap_or_default()
}
