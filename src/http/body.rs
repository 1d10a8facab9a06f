//! Reading a request's body within bounds of size and time.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::StatusCode;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};

use crate::mcp::REQUEST_MAX_BYTES;

use super::refusal::Refused;

/// How long a client may take to send a request's body.
const READ_MAX: Duration = Duration::from_secs(20);

/// Reads a whole body.
pub(super) async fn read(body: Body) -> Result<Bytes, Refused> {
    let read = Limited::new(body, REQUEST_MAX_BYTES).collect();
    match tokio::time::timeout(READ_MAX, read).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            Err(Refused::new(StatusCode::PAYLOAD_TOO_LARGE, "the request is larger than 256 KiB"))
        }
        Ok(Err(_)) => Err(Refused::new(StatusCode::BAD_REQUEST, "the request broke off")),
        Err(_) => Err(Refused::new(StatusCode::REQUEST_TIMEOUT, "the request took too long to arrive")),
    }
}
