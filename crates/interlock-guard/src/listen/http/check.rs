//! What a request's head must and must not say.

use http::{HeaderMap, HeaderValue, Request, StatusCode, Uri, Version, header, uri::Authority};

use super::{
    body::{Refusal, plain, refused},
    options::Options,
};
use crate::{
    message::{Code, Message},
    session::revision::{self, Named},
    upstream::decoded,
};

/// Why a request is turned away, in a word, and what its sender gets.
type TurnedAway = (&'static str, Refusal);

/// Who is asked is said once: of two hosts somebody on the way may have taken the other one.
pub(super) fn host<B>(request: &Request<B>) -> Result<(), TurnedAway> {
    let bad = |why: &str| Err(("host", Box::new(plain(StatusCode::BAD_REQUEST, why))));
    match only(request.headers(), "host") {
        Ok(Some(host)) if Authority::try_from(host.as_bytes()).is_ok() => Ok(()),
        Ok(Some(_)) => bad("the header Host names no host"),
        // The first version of HTTP did not have it.
        Ok(None) if request.version() == Version::HTTP_10 => Ok(()),
        Ok(None) => bad("the header Host is missing"),
        Err(why) => bad(&why),
    }
}

/// A web page may only call from this machine, or from where the options say. Gives the origin that may.
pub(super) fn origin<'a>(
    options: &Options,
    headers: &'a HeaderMap,
) -> Result<Option<&'a HeaderValue>, TurnedAway> {
    let origin = match only(headers, "origin") {
        Ok(None) => return Ok(None),
        Ok(Some(origin)) => origin,
        Err(why) => return Err(("origin", Box::new(plain(StatusCode::BAD_REQUEST, &why)))),
    };
    let is_allowed = origin.to_str().is_ok_and(|origin| match &options.origins {
        None => is_here(origin),
        Some(allowed) => allowed.iter().any(|allowed| allowed.eq_ignore_ascii_case(origin)),
    });
    if is_allowed {
        Ok(Some(origin))
    } else {
        Err(("origin", Box::new(plain(StatusCode::FORBIDDEN, "pages of this origin may not call"))))
    }
}

fn is_here(origin: &str) -> bool {
    let Ok(uri) = origin.parse::<Uri>() else { return false };
    matches!(uri.host(), Some("localhost" | "127.0.0.1" | "[::1]"))
}

/// Whether the client takes events.
pub(super) fn takes_events(headers: &HeaderMap) -> bool {
    let is_one = |kind: &[u8]| {
        [&b"text/event-stream"[..], b"text/*", b"*/*"]
            .iter()
            .any(|known| kind.trim_ascii().eq_ignore_ascii_case(known))
    };
    let values = headers.get_all(header::ACCEPT).iter();
    // What stands behind a semicolon is no kind, and is not equal to any.
    values.flat_map(|value| value.as_bytes().split(|byte| matches!(byte, b',' | b';'))).any(is_one)
}

/// Whether the body is said to be JSON.
pub(super) fn is_json(headers: &HeaderMap) -> bool {
    headers.get(header::CONTENT_TYPE).is_some_and(|value| {
        let kind = value.as_bytes().split(|byte| *byte == b';').next().unwrap_or_default();
        kind.trim_ascii().eq_ignore_ascii_case(b"application/json")
    })
}

/// Without a handshake, headers repeat what the body says; somebody on the way may have decided by them.
pub(super) fn repeats(headers: &HeaderMap, message: &Message) -> Result<(), Refusal> {
    let id = message.id();
    let mismatch =
        |why: &str| Err(Box::new(refused(StatusCode::BAD_REQUEST, Some(&id), Code::HEADER_MISMATCH, why)));
    let parts = message.parts();
    let Some(stated) = message.stated_version() else {
        return Err(missing(message, "io.modelcontextprotocol/protocolVersion"));
    };
    if parts.client_capabilities.is_none() {
        return Err(missing(message, "io.modelcontextprotocol/clientCapabilities"));
    }
    match only(headers, "mcp-protocol-version") {
        Ok(Some(value)) if value.as_bytes() == stated.as_bytes() => {}
        Ok(Some(_)) => {
            return mismatch("the header MCP-Protocol-Version and the body state different revisions");
        }
        Ok(None) => return mismatch("the header MCP-Protocol-Version is missing"),
        Err(why) => return mismatch(&why),
    }
    let method = message.method();
    match only(headers, "mcp-method") {
        Ok(Some(value)) if value.as_bytes() == method.as_bytes() => {}
        Ok(Some(_)) => return mismatch("the header Mcp-Method is not the method in the body"),
        Ok(None) => return mismatch("the header Mcp-Method is missing"),
        Err(why) => return mismatch(&why),
    }
    let named = revision::named_by(&method);
    let name = match named {
        Some(Named::Name) => parts.name,
        Some(Named::Uri) => parts.uri,
        Some(Named::Task) => parts.task_id,
        None => None,
    };
    let Some(name) = name.and_then(|span| message.text(span)) else { return Ok(()) };
    match only(headers, "mcp-name") {
        Ok(Some(value)) if decoded(value).as_deref() == Some(&*name) => Ok(()),
        Ok(Some(_)) => mismatch("the header Mcp-Name is not the name in the body"),
        // Tasks are an extension, whose clients may not know the header.
        Ok(None) if named == Some(Named::Task) => Ok(()),
        Ok(None) => mismatch("the header Mcp-Name is missing"),
        Err(why) => mismatch(&why),
    }
}

fn missing(message: &Message, key: &str) -> Refusal {
    let why = format!("_meta lacks {key}");
    Box::new(refused(StatusCode::BAD_REQUEST, Some(&message.id()), Code::INVALID_PARAMS, &why))
}

/// A header that must not be there twice: two readers could each take another one.
fn only<'a>(headers: &'a HeaderMap, name: &str) -> Result<Option<&'a HeaderValue>, String> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (value, None) => Ok(value),
        _ => Err(format!("the header {name} is there twice")),
    }
}
