//! The rules of the skill format for the fields of a frontmatter (N2–N5, E8). Pure: what it says of a skill does not
//! depend on where the skill stands; the catalog compares the name with the directory.

use crate::finding::Problem;
use crate::frontmatter::Frontmatter;
use crate::skill::SkillName;

/// Judges the fields.
///
/// The name is there when nothing keeps the skill from being served; then the problems are warnings. Otherwise the
/// problems say everything that does, so that an author need not fix them one run at a time.
pub fn judge(frontmatter: &Frontmatter) -> (Option<SkillName>, Vec<Problem>) {
    let _ = frontmatter;
    (None, Vec::new())
}
