//! stub
use crate::mcp;
/// stub
pub async fn serve(handler: mcp::Handler, shutdown: impl Future<Output = ()>) -> anyhow::Result<()> {
    let _ = handler;
    shutdown.await;
    Ok(())
}
