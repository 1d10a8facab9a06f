//! The protocol: **the only room that knows rmcp's model**. The transports hand bytes to it and messages on.
//!
//! Both eras are spoken, by whichever way a client begins: `server/discover` and self-contained requests since
//! 2026-07-28, the `initialize` handshake before.
//!
//! Whoever subscribes is told of changes. The catalog can change in every mode of operation, if only because a read finds
//! that a file is another one, so this is declared to every peer that can be reached.

mod answer;
mod changes;
mod cursor;
pub(crate) mod direct;
mod entry;
mod failure;
mod filter;
pub(crate) mod gate;
mod handler;
mod instructions;
mod listen;
pub(crate) mod method;
mod page;
mod resource;
pub(crate) mod session;
pub(crate) mod wire;

use std::sync::Arc;
use std::time::Duration;

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
    /// How long an answer may be taken as current (K1). If it is not given, until the directories are looked at next where
    /// they are polled, and no time at all where changes are seen as they happen.
    pub ttl: Option<Duration>,
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
    ttl: Option<Duration>,
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
            .enable_resources_list_changed()
            .enable_resources_subscribe()
            .enable_skills_with_directory_read()
            .build();
        let config = ServerConfig::new(capabilities)
            .with_server_info(server)
            .with_instructions(instructions::INSTRUCTIONS);
        let stamp = Stamp { cache_scope, meta };
        Self { catalog, config: Arc::new(config), ttl: options.ttl, stamp: Arc::new(stamp) }
    }

    /// The catalog that answers are given from.
    pub(crate) fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// The server's name.
    pub(crate) fn name(&self) -> &str {
        &self.config.server_info.name
    }

    /// How long an answer that is given now may be taken as current, in milliseconds.
    fn ttl_ms(&self) -> u64 {
        let ttl = self.ttl.or_else(|| self.catalog.until_next_look()).unwrap_or_default();
        u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX)
    }
}

/// A skill's entry, exactly as `skills/list` and `skills/get` give it (E1), as JSON.
pub fn entry_json(snapshot: &Snapshot, skill: &Skill) -> serde_json::Value {
    serde_json::to_value(entry::entry(snapshot, skill)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use crate::testing::Skills;

    use super::*;

    #[tokio::test]
    async fn an_answer_may_be_kept_until_something_else_can_be_said() {
        let skills = Skills::new().await;
        let handler = |ttl| {
            Handler::new(
                skills.catalog.clone(),
                Options { name: "test".into(), ttl, cache_scope: CacheScope::Private },
            )
        };
        assert_eq!(handler(None).ttl_ms(), 0);
        assert_eq!(handler(Some(Duration::from_secs(60))).ttl_ms(), 60_000);
        skills.catalog.set_next_look(Some(Instant::now() + Duration::from_secs(10)));
        assert!((9_000..=10_000).contains(&handler(None).ttl_ms()));
        assert_eq!(handler(Some(Duration::ZERO)).ttl_ms(), 0);
        // A look that is late can happen at any time.
        skills.catalog.set_next_look(Some(Instant::now()));
        assert_eq!(handler(None).ttl_ms(), 0);
    }
}
