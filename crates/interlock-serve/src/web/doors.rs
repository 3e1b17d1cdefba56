//! Who may ask: not a page of another site, nobody who reached this listener under a name that is not its own, and with a token if there is
//! one.

use std::{net::IpAddr, sync::Arc};

use axum::{
    Extension,
    extract::State,
    middleware::Next,
    response::{IntoResponse, Response},
};
use base64::{Engine, engine::general_purpose::STANDARD};
use http::{HeaderMap, HeaderName, HeaderValue, Request, StatusCode, header, uri::Authority};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::{Caller, Peer, Web, failure};
use crate::tally::Tally;

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");

/// A secret and whose it is.
#[derive(Clone)]
pub struct Token {
    name: String,
    digest: [u8; 32],
}

/// What is asked of every request.
#[derive(Debug, Clone, Default)]
pub struct Doors {
    /// Whether only this machine can reach the listener.
    pub is_loopback: bool,
    /// The names that it goes by, besides addresses and `localhost`.
    pub hosts: Vec<String>,
    /// The tokens; without any, everybody may ask who can.
    pub tokens: Vec<Token>,
}

impl Token {
    /// A token.
    #[must_use]
    pub fn new(name: &str, secret: &str) -> Self {
        Self { name: name.to_owned(), digest: Sha256::digest(secret).into() }
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Token").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Lets a request in, with the name of its caller, or says why not.
pub(super) async fn check(
    State(web): State<Arc<Web>>,
    Extension(Peer(peer)): Extension<Peer>,
    mut request: Request<axum::body::Body>,
    next: Next,
) -> Response {
    Tally::count(&web.tally.requests);
    let headers = request.headers();
    let is_badge = request.uri().path().starts_with("/badges/") || request.uri().path() == "/api/badge.svg";
    if let Err(why) = web.doors.site(headers, is_badge) {
        Tally::count(&web.tally.denied);
        return failure(StatusCode::FORBIDDEN, why);
    }
    let caller = match web.doors.caller(headers) {
        Some(name) => name,
        None if web.doors.tokens.is_empty() => peer.ip().to_canonical().to_string(),
        None => {
            Tally::count(&web.tally.denied);
            let mut response =
                failure(StatusCode::UNAUTHORIZED, "a token is needed: as a bearer token, or as the password");
            let challenge = HeaderValue::from_static("Basic realm=\"interlock\", charset=\"UTF-8\"");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
            return response;
        }
    };
    let Some(permit) = web.limits.requests.try_acquire_owned(&caller).granted() else {
        Tally::count(&web.tally.limited);
        let answer = failure(
            StatusCode::TOO_MANY_REQUESTS,
            "too many requests are under way; wait for some to be answered",
        );
        return ([(header::RETRY_AFTER, "1")], answer).into_response();
    };
    request.extensions_mut().insert(Caller(caller));
    let response = next.run(request).await;
    // A stream is under way as long as its body is.
    let (parts, body) = response.into_parts();
    let body = axum::body::Body::new(super::limits::Held::new(body, permit));
    Response::from_parts(parts, body)
}

impl Doors {
    /// Whether the request comes to one of our names, and not from a page of another site; a badge may be shown anywhere.
    fn site(&self, headers: &HeaderMap, is_badge: bool) -> Result<(), &'static str> {
        let mut hosts = headers.get_all(header::HOST).iter();
        let (host, more) = (hosts.next(), hosts.next());
        let host = host.filter(|_| more.is_none()).and_then(|host| host.as_bytes().try_into().ok());
        let Some(host): Option<Authority> = host else { return Err("the request says no host") };
        if !self.is_known(host.host()) {
            return Err("this server does not go by that name; start it with --host NAME if it should");
        }
        if let Some(origin) = headers.get(header::ORIGIN) {
            let ours = [format!("http://{host}"), format!("https://{host}")];
            if !ours.iter().any(|ours| origin.as_bytes().eq_ignore_ascii_case(ours.as_bytes())) {
                return Err("the request comes from another site");
            }
        }
        // A link from somewhere else may be followed; what the page there cannot do is read the answer. That a form posts is no link: it has
        // an origin.
        let is =
            |name, value: &str| headers.get(name).is_some_and(|there| there.as_bytes() == value.as_bytes());
        if !is_badge
            && (is(FETCH_SITE, "cross-site") || is(FETCH_SITE, "same-site"))
            && !is(FETCH_MODE, "navigate")
        {
            return Err("the request comes from another site");
        }
        Ok(())
    }

    fn is_known(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
        // An address is no name that somebody could make point elsewhere.
        address.is_ok()
            || host == "localhost"
            || self.hosts.iter().any(|known| known.eq_ignore_ascii_case(&host))
            || (!self.is_loopback && self.hosts.is_empty())
    }

    /// Whose token the request carries.
    fn caller(&self, headers: &HeaderMap) -> Option<String> {
        let given = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
        let (scheme, value) = given.split_once(' ')?;
        let secret = if scheme.eq_ignore_ascii_case("bearer") {
            value.trim().to_owned()
        } else if scheme.eq_ignore_ascii_case("basic") {
            let login = String::from_utf8(STANDARD.decode(value.trim()).ok()?).ok()?;
            login.split_once(':')?.1.to_owned()
        } else {
            return None;
        };
        let digest: [u8; 32] = Sha256::digest(secret).into();
        // All of them are compared, each in the same time.
        let mut found = None;
        for token in &self.tokens {
            if bool::from(token.digest.ct_eq(&digest)) {
                found = Some(token.name.clone());
            }
        }
        found
    }
}
