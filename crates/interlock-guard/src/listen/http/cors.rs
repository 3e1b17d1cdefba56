//! What a browser has to be told, so that pages of the origins that may call can.

use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, header};

use super::body::{Body, bare, json};

/// What a page may read of an answer besides its body.
const EXPOSED: HeaderValue =
    HeaderValue::from_static("Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate, Retry-After");
/// What a page may do.
const METHODS: HeaderValue = HeaderValue::from_static("GET, POST, DELETE");
/// How long a browser need not ask again, in seconds.
const MAX_AGE: HeaderValue = HeaderValue::from_static("600");

const ASKS_PRIVATE: HeaderName = HeaderName::from_static("access-control-request-private-network");
const ALLOWS_PRIVATE: HeaderName = HeaderName::from_static("access-control-allow-private-network");

/// The answer to a browser that asks whether a page of this origin may send a request; `None` for any other request. Headers may be whatever
/// the page wants: arguments that are repeated in headers have names of the server's own.
pub(super) fn preflight<B>(request: &Request<B>, origin: &HeaderValue) -> Option<Response<Body>> {
    let asked = request.headers();
    if request.method() != Method::OPTIONS || !asked.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD) {
        return None;
    }
    let mut response = bare(StatusCode::NO_CONTENT);
    let headers = response.headers_mut();
    share(headers, origin.clone());
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, MAX_AGE);
    headers.append(header::VARY, HeaderValue::from_static("Access-Control-Request-Headers"));
    for wanted in asked.get_all(header::ACCESS_CONTROL_REQUEST_HEADERS) {
        headers.append(header::ACCESS_CONTROL_ALLOW_HEADERS, wanted.clone());
    }
    if asked.get(ASKS_PRIVATE).is_some_and(|wanted| wanted == "true") {
        headers.insert(ALLOWS_PRIVATE, HeaderValue::from_static("true"));
    }
    Some(response)
}

/// A document for everybody, also for pages of any origin.
pub(super) fn public(document: String) -> Response<Body> {
    let mut response = json(StatusCode::OK, document.into());
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("max-age=600"));
    response
}

/// Lets pages of this origin, which may call, read an answer.
pub(super) fn share(headers: &mut HeaderMap, origin: HeaderValue) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
    headers.append(header::VARY, HeaderValue::from_static("Origin"));
}
