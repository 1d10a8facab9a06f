//! Who asks: from what a request says to a name, or to a refusal that says what to send.

mod credentials;
mod file;
#[cfg(fuzzing)]
pub(super) mod fuzzing;
mod holders;
mod token;

use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;

use axum::extract::Request;
use axum::http::header::{self, HeaderValue};
use axum::http::{Method, StatusCode};

use super::caller::{Caller, Network};
use super::guard::FromPage;
use super::rate::Rates;
use super::refusal::Refused;

use credentials::Credentials;
use holders::{Holders, Stranger};

pub(super) use file::is_open_to_all;

/// Where standards put what is for everybody. Clients that are refused look there for how to get a token, and must be told
/// that nothing is there.
const WELL_KNOWN: &str = "/.well-known/";

/// How it is known who asks. Another way is another variant.
#[derive(Debug)]
pub(super) enum Authenticator {
    /// Nobody has to say who they are.
    Anonymous,
    /// By tokens that the one who runs this server has given out.
    Tokens(Box<Holders>),
}

impl Authenticator {
    /// By the tokens in a file, if there is one.
    ///
    /// # Errors
    /// A sentence that says what is wrong with the file.
    pub(super) fn new(token_file: Option<PathBuf>) -> anyhow::Result<Self> {
        Ok(match token_file {
            Some(path) => Self::Tokens(Box::new(Holders::read(path)?)),
            None => Self::Anonymous,
        })
    }

    /// Keeps up with what changes, for ever.
    pub(super) async fn follow(&self) -> Infallible {
        match self {
            Self::Anonymous => std::future::pending().await,
            Self::Tokens(holders) => holders.follow().await,
        }
    }

    /// Makes room.
    pub(super) fn sweep(&self) {
        if let Self::Tokens(holders) = self {
            holders.sweep();
        }
    }

    /// The name of whoever asks from `place`, if one has to be known.
    fn identify(&self, credentials: &Credentials, place: Network) -> Result<Option<Arc<str>>, Denied> {
        let Self::Tokens(holders) = self else { return Ok(None) };
        match credentials {
            Credentials::Missing => Err(Denied::Missing),
            Credentials::Malformed => Err(Denied::Malformed),
            Credentials::Given(token) => holders.name(token, place).map(Some).map_err(Denied::Stranger),
        }
    }
}

/// Why a request is not let through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Denied {
    Missing,
    Malformed,
    Stranger(Stranger),
}

impl Denied {
    /// The refusal in the words of RFC 6750. A browser that goes to a page is told to ask its user for a password.
    fn refuse(self, to_navigation: bool) -> Refused {
        let (status, why, challenge) = match self {
            Self::Missing if to_navigation => (
                StatusCode::UNAUTHORIZED,
                "a token is needed: reload this page and give it as the password when the browser asks, with any user name; whoever runs this server has one for you",
                "Bearer realm=\"skillserve\"",
            ),
            Self::Missing => (
                StatusCode::UNAUTHORIZED,
                "a token is needed: send it as `Authorization: Bearer TOKEN`",
                "Bearer realm=\"skillserve\"",
            ),
            Self::Malformed => (
                StatusCode::BAD_REQUEST,
                "the Authorization header is malformed: send `Bearer TOKEN`, once",
                "Bearer realm=\"skillserve\", error=\"invalid_request\", error_description=\"malformed Authorization header\"",
            ),
            Self::Stranger(Stranger::Wrong) => (
                StatusCode::UNAUTHORIZED,
                "the token is not known here, or no longer; ask whoever runs this server for one",
                "Bearer realm=\"skillserve\", error=\"invalid_token\", error_description=\"unknown token\"",
            ),
            Self::Stranger(Stranger::Tried(wait)) => {
                let why = "too many tokens have been tried from this address; wait a moment";
                return Refused::too_often(why, wait);
            }
        };
        let refused = Refused::new(status, why);
        // Whatever a user has typed wrongly, they can type again.
        let refused = match to_navigation {
            true => refused.for_reading().with(header::WWW_AUTHENTICATE, PASSWORD),
            false => refused,
        };
        refused.with(header::WWW_AUTHENTICATE, HeaderValue::from_static(challenge))
    }
}

/// How a browser is told to ask its user.
const PASSWORD: HeaderValue =
    HeaderValue::from_static("Basic realm=\"skillserve: the token is the password\", charset=\"UTF-8\"");

/// Checks who asks, and how often.
#[derive(Clone, Debug)]
pub(super) struct CallerCheck {
    pub(super) authenticator: Arc<Authenticator>,
    pub(super) rates: Arc<Rates>,
}

impl CallerCheck {
    /// Lets those through who are known and do not ask too often. At the endpoint only programs ask.
    ///
    /// # Errors
    /// The refusal.
    pub(super) fn admit(
        &self,
        request: &mut Request,
        is_of_endpoint: bool,
        caller: &mut Caller,
    ) -> Result<(), Refused> {
        self.identify(request, is_of_endpoint, caller)?;
        self.rates.count(caller)
    }

    /// Lets those through who are known, and says in `caller` who they are. What they have said of themselves goes no
    /// further.
    ///
    /// # Errors
    /// The refusal of somebody who is not known. It counts as a request.
    fn identify(
        &self,
        request: &mut Request,
        is_of_endpoint: bool,
        caller: &mut Caller,
    ) -> Result<(), Refused> {
        // A browser that knows a password sends it unasked, whatever page has led there, so that it counts only where a page
        // or a part of one is asked for.
        let for_reading = !is_of_endpoint && matches!(*request.method(), Method::GET | Method::HEAD);
        let credentials = Credentials::take(request.headers_mut(), for_reading);
        if is_for_everybody(request) {
            return Ok(());
        }
        match self.authenticator.identify(&credentials, caller.network()) {
            Ok(name) => {
                caller.name = name;
                Ok(())
            }
            Err(denied) => {
                self.rates.count(caller)?;
                Err(denied.refuse(for_reading && is_navigation(request)))
            }
        }
    }
}

/// Whether a person goes to a page, and not a program, or a script of a page whose user must not be disturbed.
fn is_navigation(request: &Request) -> bool {
    let header = |name| request.headers().get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let is_html = || header("accept").is_some_and(|accept| accept.contains("text/html"));
    header("sec-fetch-mode").map_or_else(is_html, |mode| mode == "navigate")
}

/// Whether no token can be expected: a browser asks for a page whether it may ask, or there is nothing to be had.
fn is_for_everybody(request: &Request) -> bool {
    let is_preflight = *request.method() == Method::OPTIONS
        && request.extensions().get::<FromPage>().is_some()
        && request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    // The endpoint is never there.
    is_preflight || request.uri().path().starts_with(WELL_KNOWN)
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::response::Response;

    use super::*;

    const TOKEN: &str = "0123456789abcdef";

    /// The name of who sends a request, and what goes on of it, or how it is refused.
    fn identify(request: axum::http::request::Builder) -> (Option<Arc<str>>, Request, Option<Response>) {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), format!("alice:{TOKEN}\n")).unwrap();
        let authenticator = Arc::new(Authenticator::new(Some(file.path().to_owned())).unwrap());
        let callers = CallerCheck { authenticator, rates: Arc::new(Rates::new(None)) };
        let mut request = request.body(Body::empty()).unwrap();
        let (mut caller, is_of_endpoint) = (Caller::default(), request.uri().path() == "/mcp");
        let refused = callers.identify(&mut request, is_of_endpoint, &mut caller).err();
        (caller.name, request, refused.map(Response::from))
    }

    #[test]
    fn a_name_goes_on_and_a_token_does_not() {
        let request = Request::post("/mcp").header("Authorization", format!("Bearer {TOKEN}"));
        let (name, request, refused) = identify(request);
        assert!(name.as_deref() == Some("alice") && refused.is_none());
        assert!(!request.headers().contains_key("authorization"));
    }

    /// The challenges that a request without a token is answered with.
    #[track_caller]
    fn check(method: &str, path: &str, headers: &[(&str, &str)], expected: &[&str]) {
        let request = headers.iter().fold(Request::builder().method(method).uri(path), |request, header| {
            request.header(header.0, header.1)
        });
        let response = identify(request).2.unwrap_or_default();
        let challenges = response.headers().get_all("www-authenticate").iter();
        let schemes: Vec<_> =
            challenges.map(|value| value.to_str().unwrap().split(' ').next().unwrap()).collect();
        assert_eq!(schemes, expected, "{method} {path} {headers:?}");
    }

    #[test]
    fn only_a_person_is_asked_for_a_password() {
        let navigate = [("Sec-Fetch-Mode", "navigate"), ("Accept", "text/html")];
        check("GET", "/", &navigate, &["Basic", "Bearer"]);
        check("GET", "/skills/x", &[("Accept", "text/html,*/*")], &["Basic", "Bearer"]);
        check("GET", "/", &[("Sec-Fetch-Mode", "cors"), ("Accept", "text/html")], &["Bearer"]);
        check("GET", "/status.json", &[("Accept", "*/*")], &["Bearer"]);
        check("GET", "/mcp", &navigate, &["Bearer"]);
        check("POST", "/", &navigate, &["Bearer"]);
        check("POST", "/mcp", &navigate, &["Bearer"]);
        check("OPTIONS", "/mcp", &[("Access-Control-Request-Method", "POST")], &["Bearer"]);
        check("GET", "/.well-known/oauth-protected-resource", &[], &[]);
    }
}
