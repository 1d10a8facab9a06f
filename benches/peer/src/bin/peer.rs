//! The nearest peer: rmcp's own `SkillCatalog`, set up as well as it can be. No session, JSON instead of a stream for each
//! answer, packets that are not held back, pipes that are read without a thread pool.
//!
//! usage: peer stdio DIR | peer http DIR

use std::sync::Arc;

use anyhow::{Context as _, bail};
use axum::Router;
use axum::serve::ListenerExt as _;
use rmcp::handler::server::skill_catalog::SkillCatalog;
use rmcp::model::*;
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService, stdio_pipes};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt as _};
use tokio::net::TcpListener;

#[derive(Clone)]
struct Peer(Arc<SkillCatalog>);

impl ServerHandler for Peer {
    fn get_info(&self) -> ServerConfig {
        let capabilities =
            ServerCapabilities::builder().enable_resources().enable_skills_with_directory_read().build();
        ServerConfig::new(capabilities)
    }

    async fn list_skills(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListSkillsResult, ErrorData> {
        Ok(self.0.list_skills())
    }

    async fn get_skill(
        &self,
        request: GetSkillRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetSkillResult, ErrorData> {
        self.0.get_skill(&request.uri)
    }

    async fn read_resource_directory(
        &self,
        request: ReadResourceDirectoryRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceDirectoryResult, ErrorData> {
        self.0.read_resource_directory(&request.uri)
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(self.0.resources()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let read = self.0.read_resource(&request.uri).map(Into::into);
        read.ok_or_else(|| ErrorData::resource_not_found(request.uri, None))
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut words = std::env::args().skip(1);
    let transport = words.next().context("a transport")?;
    let directory = words.next().context("a directory")?;
    let catalog = tokio::task::spawn_blocking(|| SkillCatalog::from_dir(directory)).await??;
    let peer = Peer(Arc::new(catalog));
    match &*transport {
        "stdio" => {
            peer.serve(stdio_pipes()).await?.waiting().await?;
            Ok(())
        }
        "http" => http(peer).await,
        _ => bail!("no transport: {transport}"),
    }
}

async fn http(peer: Peer) -> anyhow::Result<()> {
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_sse_retry(None);
    let service: StreamableHttpService<Peer, NeverSessionManager> =
        StreamableHttpService::new(move || Ok(peer.clone()), Arc::default(), config);
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    eprintln!("listening on http://{}/mcp", listener.local_addr()?);
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    axum::serve(listener, Router::new().route_service("/mcp", service)).await?;
    Ok(())
}
