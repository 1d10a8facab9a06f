//! The protocol: **the only room that knows rmcp**.

use crate::catalog::{Catalog, Skill, Snapshot};

/// What every answer says of the server and of how long it may be kept.
#[derive(Clone, Debug)]
pub struct Options {
    /// The server's name and title.
    pub name: String,
    /// How long an answer may be taken as current, in milliseconds (K1).
    pub ttl_ms: u64,
    /// Who may share a kept answer (K1).
    pub cache_scope: CacheScope,
}

/// Who may share a kept answer (K1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CacheScope {
    /// Anybody.
    Public,
    /// One user.
    #[default]
    Private,
}

/// Answers the protocol's requests from the catalog. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Handler {
    catalog: Catalog,
    options: std::sync::Arc<Options>,
}

impl Handler {
    /// A handler over `catalog`.
    pub fn new(catalog: Catalog, options: Options) -> Self {
        Self { catalog, options: std::sync::Arc::new(options) }
    }
}

/// A skill's entry, exactly as `skills/list` and `skills/get` give it (E1), as JSON.
pub fn entry_json(snapshot: &Snapshot, skill: &Skill) -> serde_json::Value {
    let _ = (snapshot, skill);
    serde_json::Value::Null
}
