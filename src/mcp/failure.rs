//! Why a request fails, and which JSON-RPC error says so (G2, R1, D2, X1).

use rmcp::model::{ErrorCode, ErrorData};
use serde_json::json;

use crate::catalog::ReadError;
use crate::uri::UriError;

use super::cursor::NoCursor;

/// The code for a request that is well, but one too many. It is of the range that the protocol leaves to servers.
pub(crate) const TOO_MANY: ErrorCode = ErrorCode(-32000);

/// Why a request fails. The message goes to the client as it stands.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// No skill has its `SKILL.md` at that URI, spelled as the listing spells it (G2).
    #[error("no skill is served at {0}")]
    NoSkill(String),
    /// No file is served at that URI (R1).
    #[error("no resource is served at {0}")]
    NoResource(String),
    /// No directory is served at that URI (D2).
    #[error("no directory is served at {0}")]
    NoDirectory(String),
    /// Nothing can be served at that URI, whatever the method.
    #[error("no resource is served at {uri}: the URI {error}")]
    Uri {
        /// As it was asked for.
        uri: String,
        /// What is wrong with it.
        error: UriError,
    },
    /// A cursor that this listing did not give out.
    #[error("the cursor is not one of this listing")]
    Cursor,
    /// Parameters that the method does not take.
    #[error("the parameters of {0} are missing or malformed")]
    Params(String),
    /// No such method.
    #[error("there is no method {0:?}")]
    Method(String),
    /// A tool or a prompt, of which there are none.
    #[error("there is no {kind} {name:?}")]
    Unknown {
        /// Tool or prompt.
        kind: &'static str,
        /// As it was asked for.
        name: String,
    },
    /// As many resources or streams are subscribed to as may be.
    #[error("there are as many subscriptions as there may be; end another one first")]
    TooManySubscriptions,
    /// The catalog cannot answer right now.
    #[error("{0}")]
    Catalog(ReadError),
    /// Nobody waits for the answer any more.
    #[error("the request was cancelled")]
    Cancelled,
    /// A fault of this program. What happened is in its log.
    #[error("something went wrong here; the server's log says what")]
    Panicked,
}

impl From<NoCursor> for Failure {
    fn from(_: NoCursor) -> Self {
        Self::Cursor
    }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        Self::Catalog(error)
    }
}

impl From<Failure> for ErrorData {
    fn from(failure: Failure) -> Self {
        let message = failure.to_string();
        match failure {
            // Until 2025-11-25 an unknown resource had a code of its own. The protocol's newer peers are given the
            // code for invalid parameters, into which rmcp turns it.
            Failure::NoResource(uri) => ErrorData::resource_not_found(message, Some(json!({ "uri": uri }))),
            Failure::NoSkill(uri) | Failure::NoDirectory(uri) | Failure::Uri { uri, .. } => {
                ErrorData::invalid_params(message, Some(json!({ "uri": uri })))
            }
            Failure::Cursor | Failure::Params(_) | Failure::Unknown { .. } => {
                ErrorData::invalid_params(message, None)
            }
            Failure::Method(_) => ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None),
            Failure::TooManySubscriptions => ErrorData::new(TOO_MANY, message, None),
            Failure::Catalog(_) | Failure::Cancelled | Failure::Panicked => {
                ErrorData::internal_error(message, None)
            }
        }
    }
}
