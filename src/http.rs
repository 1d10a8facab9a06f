//! stub
use crate::mcp;
/// stub
pub const ENDPOINT: &str = "/mcp";
/// Who may ask.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// stub
    pub allow_hosts: Vec<String>,
    /// stub
    pub allow_origins: Vec<String>,
}
/// stub
pub async fn serve(
    listener: tokio::net::TcpListener,
    handler: mcp::Handler,
    options: Options,
    shutdown: impl Future<Output = ()>,
) -> anyhow::Result<()> {
    let _ = (listener, handler, options);
    shutdown.await;
    Ok(())
}
