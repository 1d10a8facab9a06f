//! The protocol: **the only room that knows rmcp's model**. The transports hand bytes to it and messages on.
//!
//! Both eras are spoken, by whichever way a client begins: `server/discover` and self-contained requests since
//! 2026-07-28, the `initialize` handshake before.

mod answer;
mod cursor;
mod entry;
mod failure;
mod handler;
mod instructions;
mod page;
mod resource;
pub(crate) mod wire;

use std::sync::Arc;

use rmcp::model::{Implementation, MetaObject, ServerCapabilities, ServerConfig};

use crate::catalog::{Catalog, Skill, Snapshot};

use answer::Stamp;
#[cfg(test)]
pub(crate) use answer::finish;

/// The most bytes of one message from a client: a line of input, or the body of a request.
pub const REQUEST_MAX_BYTES: usize = 256 * 1024;

/// The key under which a result's `_meta` says who gave it.
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

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
    config: Arc<ServerConfig>,
    stamp: Arc<Stamp>,
}

impl Handler {
    /// A handler over `catalog`. It can say what the server is before the catalog is built.
    pub fn new(catalog: Catalog, options: Options) -> Self {
        let server = Implementation::new(&*options.name, env!("CARGO_PKG_VERSION")).with_title(options.name);
        let mut meta = MetaObject::new();
        meta.0.insert(SERVER_INFO.to_owned(), serde_json::to_value(&server).unwrap_or_default());
        let cache_scope = match options.cache_scope {
            CacheScope::Public => rmcp::model::CacheScope::Public,
            CacheScope::Private => rmcp::model::CacheScope::Private,
        };
        // Tools and prompts are declared though there are none: some clients ask for them whatever is declared.
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .enable_resources()
            .enable_skills_with_directory_read()
            .build();
        let config = ServerConfig::new(capabilities)
            .with_server_info(server)
            .with_instructions(instructions::INSTRUCTIONS);
        let stamp = Stamp { ttl_ms: options.ttl_ms, cache_scope, meta };
        Self { catalog, config: Arc::new(config), stamp: Arc::new(stamp) }
    }
}

/// A skill's entry, exactly as `skills/list` and `skills/get` give it (E1), as JSON.
pub fn entry_json(snapshot: &Snapshot, skill: &Skill) -> serde_json::Value {
    serde_json::to_value(entry::entry(snapshot, skill)).unwrap_or_default()
}
