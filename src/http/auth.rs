//! Who asks: from what a request says to a name, or to a refusal that says what to send.

mod credentials;
mod file;
mod holders;
mod token;

use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{self, HeaderValue};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;

use super::caller::{Caller, Network};
use super::guard::Page;
use super::rate::Rates;
use super::refusal::Refused;

use credentials::Credentials;
use holders::{Holders, Stranger};

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
            true => refused.with(header::WWW_AUTHENTICATE, PASSWORD),
            false => refused,
        };
        refused.with(header::WWW_AUTHENTICATE, HeaderValue::from_static(challenge))
    }
}

/// How a browser is told to ask its user.
const PASSWORD: HeaderValue =
    HeaderValue::from_static("Basic realm=\"skillserve: the token is the password\", charset=\"UTF-8\"");

/// Who is asked, and how often they may be wrong.
#[derive(Clone, Debug)]
pub(super) struct Desk {
    pub(super) authenticator: Arc<Authenticator>,
    pub(super) rates: Arc<Rates>,
    /// The path of the endpoint, where only programs ask.
    pub(super) endpoint: Arc<str>,
}

/// Lets those through who are known, and says who they are: to what stands behind in the request, to what stands before in the answer.
/// What they have said of themselves goes no further.
pub(super) async fn layer(State(desk): State<Desk>, mut request: Request, next: Next) -> Response {
    let with_password = desk.is_for_reading(&request);
    let credentials = Credentials::take(request.headers_mut(), with_password);
    if is_for_everybody(&request, &desk.endpoint) {
        return next.run(request).await;
    }
    let mut caller = request.extensions().get::<Caller>().cloned().unwrap_or_default();
    let mut response = match desk.authenticator.identify(&credentials, caller.network()) {
        Ok(name) => {
            caller.name = name;
            request.extensions_mut().insert(caller.clone());
            next.run(request).await
        }
        Err(denied) => {
            let refused = desk.rates.count(&caller).err();
            refused.unwrap_or_else(|| denied.refuse(desk.is_navigation(&request))).into()
        }
    };
    response.extensions_mut().insert(caller);
    response
}

impl Desk {
    /// Whether a page or a part of one is asked for, as a browser does that knows a password. It sends that unasked,
    /// whatever page has led there, so that it counts nowhere else.
    fn is_for_reading(&self, request: &Request) -> bool {
        matches!(*request.method(), Method::GET | Method::HEAD) && request.uri().path() != &*self.endpoint
    }

    /// Whether a person goes to a page, and not a program, or a script of a page whose user must not be disturbed.
    fn is_navigation(&self, request: &Request) -> bool {
        let header = |name| request.headers().get(name).and_then(|value: &HeaderValue| value.to_str().ok());
        let is_html = || header("accept").is_some_and(|accept| accept.contains("text/html"));
        self.is_for_reading(request)
            && header("sec-fetch-mode").map_or_else(is_html, |mode| mode == "navigate")
    }
}

/// Whether no token can be expected: a browser asks for a page whether it may ask, or there is nothing to be had.
fn is_for_everybody(request: &Request, endpoint: &str) -> bool {
    let is_preflight = *request.method() == Method::OPTIONS
        && request.extensions().get::<Page>().is_some()
        && request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    let path = request.uri().path();
    is_preflight || path.starts_with(WELL_KNOWN) && path != endpoint
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::body::Body;
    use axum::middleware::from_fn_with_state;
    use tower::ServiceExt as _;

    use super::*;

    const TOKEN: &str = "0123456789abcdef";

    async fn answer(request: axum::http::request::Builder) -> Response {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), format!("alice:{TOKEN}\n")).unwrap();
        let authenticator = Arc::new(Authenticator::new(Some(file.path().to_owned())).unwrap());
        let desk = Desk { authenticator, rates: Arc::new(Rates::new(None)), endpoint: "/mcp".into() };
        let seen = async |request: Request| {
            let name = request.extensions().get::<Caller>().and_then(|caller| caller.name.clone());
            format!("{name:?} {}", request.headers().contains_key("authorization"))
        };
        let router = Router::new().fallback(seen).layer(from_fn_with_state(desk, layer));
        router.oneshot(request.body(Body::empty()).unwrap()).await.unwrap()
    }

    #[tokio::test]
    async fn a_name_goes_on_and_a_token_does_not() {
        let request = Request::post("/mcp").header("Authorization", format!("Bearer {TOKEN}"));
        let response = answer(request).await;
        let caller = response.extensions().get::<Caller>().cloned();
        assert_eq!(caller.and_then(|caller| caller.name).as_deref(), Some("alice"));
        let body = axum::body::to_bytes(response.into_body(), 1000).await.unwrap();
        assert_eq!(body, "Some(\"alice\") false");
    }

    /// The challenges that a request without a token is answered with.
    async fn check(method: &str, path: &str, headers: &[(&str, &str)], expected: &[&str]) {
        let request = headers.iter().fold(Request::builder().method(method).uri(path), |request, header| {
            request.header(header.0, header.1)
        });
        let response = answer(request).await;
        let challenges = response.headers().get_all("www-authenticate").iter();
        let schemes: Vec<_> =
            challenges.map(|value| value.to_str().unwrap().split(' ').next().unwrap()).collect();
        assert_eq!(schemes, expected, "{method} {path} {headers:?}");
    }

    #[tokio::test]
    async fn only_a_person_is_asked_for_a_password() {
        let navigate = [("Sec-Fetch-Mode", "navigate"), ("Accept", "text/html")];
        check("GET", "/", &navigate, &["Basic", "Bearer"]).await;
        check("GET", "/skills/x", &[("Accept", "text/html,*/*")], &["Basic", "Bearer"]).await;
        check("GET", "/", &[("Sec-Fetch-Mode", "cors"), ("Accept", "text/html")], &["Bearer"]).await;
        check("GET", "/status.json", &[("Accept", "*/*")], &["Bearer"]).await;
        check("GET", "/mcp", &navigate, &["Bearer"]).await;
        check("POST", "/", &navigate, &["Bearer"]).await;
        check("POST", "/mcp", &navigate, &["Bearer"]).await;
        check("OPTIONS", "/mcp", &[("Access-Control-Request-Method", "POST")], &["Bearer"]).await;
        check("GET", "/.well-known/oauth-protected-resource", &[], &[]).await;
    }
}
