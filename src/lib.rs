//! skillserve serves Agent Skills from directories to MCP hosts.
//!
//! ```text
//! directory ─ tree ─▶ Tree (names, sizes, sources; what was refused and why)
//!    ▲                 └─ catalog::build ─▶ Snapshot (immutable)  +  Findings ─▶ report, log ─▶ stderr · check
//!    │ look again                              │ held in one cell, swapped whole
//!  watch (events, polling, SIGHUP)             ▼
//!                                            mcp ─▶ stdio | http ─▶ the host
//!                                            page ─▶ http ─▶ a browser
//! ```
//!
//! `check`, `list` and the serving commands run the same build: what `check` passes of a directory is what is served with the
//! same options.
//!
//! Ids in brackets, such as (N2), are of rules of the skill format and of the MCP extension: `docs/rules.md` lists them.
//!
//! Imports point one way: `main → commands → cli → stdio, http → mcp, page, log → report, progress → catalog, watch → index →
//! tree, format → hosts, hidden, rules → frontmatter → yaml, problem, media_type, uri, timestamp → skill, finding, nearest`.
//! `fuzzing`, which is compiled for fuzzing alone, may import all of them.
//! What does *not* happen is as much a part of the design:
//!
//! - A bad file is a [`finding::Finding`], never an error that stops a neighbour.
//! - No byte leaves with another size or digest than the current [`catalog::Snapshot`] states for its URI, also while files
//!   are being rewritten.
//! - A frontmatter is what YAML 1.2 core says it is, or refused with its line and column; never a third thing.
//! - Nothing outside the roots is ever read, whatever links, names or races say; only [`tree`] opens skills' files.
//! - Nothing of a skill is executed, and no connection is opened.
//! - stdout belongs to the protocol or to a command's result; everything else goes to stderr.
//! - What comes from a skill is untrusted: it is escaped before it reaches a terminal or a page.
//! - Only `mcp` and the two transports know rmcp; [`catalog`] knows neither it nor a transport.

pub mod catalog;
pub mod cli;
pub mod commands;
pub mod finding;
pub mod format;
pub mod frontmatter;
#[cfg(fuzzing)]
pub mod fuzzing;
mod hidden;
mod hosts;
mod http;
pub mod index;
pub mod log;
mod mcp;
mod media_type;
mod nearest;
mod page;
mod problem;
mod progress;
mod report;
pub mod rules;
mod skill;
mod stdio;
#[cfg(test)]
mod testing;
mod timestamp;
pub mod tree;
mod uri;
mod watch;
mod yaml;
