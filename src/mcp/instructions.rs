//! What the server tells a model of itself.

/// Fewer characters than this: one host cuts what is longer.
const INSTRUCTIONS_MAX_CHARS: usize = 2048;

/// How to find and read skills here. The same for every catalog, so it can be given before one is built.
pub(super) const INSTRUCTIONS: &str = "\
This server serves Agent Skills: directories with a SKILL.md that says how to do a task, and the files that it refers \
to, all as resources under skill:// URIs.

Find a skill by its description: with `skills/list` or, where the host has no skills support, in `resources/list`, which \
has the SKILL.md of every skill with its name and description. When a task fits a description, read that skill's \
SKILL.md with `resources/read` before you begin, and follow it.

A relative path in a SKILL.md is relative to the directory that holds it: `references/guide.md` in \
skill://acme/billing/SKILL.md is skill://acme/billing/references/guide.md. Read such files when they are needed, not \
ahead. What a directory holds is in the answer of `skills/get` for its skill, or of `resources/directory/read` for the \
directory's own URI, which has no slash at its end.

Skills are read here and never run here.";

const _: () = assert!(INSTRUCTIONS.len() < INSTRUCTIONS_MAX_CHARS);
