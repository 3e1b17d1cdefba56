//! The stream that belongs to no request, streams that are taken up again, and the end of a session.

use std::sync::Arc;

use http::{Response, StatusCode, request::Parts};

use super::{
    Desk,
    body::{Body, Refusal, bare, only, plain},
    check, events,
};
use crate::{
    call::Caller,
    headers,
    manage::Phase,
    session::{Session, revision},
};

/// The session that a request names.
pub(super) fn session(desk: &Desk, parts: &Parts, caller: &Caller) -> Result<Arc<Session>, Refusal> {
    let Some(id) = parts.headers.get(&headers::SESSION) else {
        return Err(Box::new(plain(StatusCode::BAD_REQUEST, "the header Mcp-Session-Id is missing")));
    };
    let session = id
        .to_str()
        .ok()
        .and_then(|id| desk.engine.sessions.find(id, caller).or_else(|| resumed(desk, parts, id, caller)));
    session.ok_or_else(|| Box::new(plain(StatusCode::NOT_FOUND, "there is no such session")))
}

/// The session that another replica began under this id.
fn resumed(desk: &Desk, parts: &Parts, id: &str, caller: &Caller) -> Option<Arc<Session>> {
    let known = desk.passes.as_ref()?.read(id, caller)?;
    if desk.engine.phases().now() >= Phase::Closing {
        return None;
    }
    let stated = parts.headers.get(&headers::VERSION).and_then(|version| version.to_str().ok());
    // The first revisions did not have the header.
    let version = revision::WITH_HANDSHAKE.iter().find(|known| stated == Some(**known));
    let version = (*version.unwrap_or(&revision::BATCHES)).to_owned();
    desk.engine.sessions.resume(Session::resumed(&desk.engine, caller.clone(), id, known, version))
}

pub(super) fn answer(desk: &Desk, parts: &Parts, caller: &Caller) -> Response<Body> {
    if is_stateless(parts) {
        return only("POST");
    }
    if !check::takes_events(&parts.headers) {
        return plain(StatusCode::NOT_ACCEPTABLE, "this stream is text/event-stream");
    }
    let session = match session(desk, parts, caller) {
        Ok(session) => session,
        Err(refusal) => return *refusal,
    };
    session.touch();
    session.listen();
    let primes = session.comes_back();
    let last = parts.headers.get("last-event-id").and_then(|value| value.to_str().ok()).and_then(event);
    let (stream, behind) = match last {
        Some((stream, behind)) => (stream, Some(behind)),
        None => (0, None),
    };
    if let (1.., Some(behind)) = (stream, behind) {
        return match session.streams.resume(stream, behind) {
            Some(reader) => events::remembered(reader, stream, primes),
            None => plain(StatusCode::NOT_FOUND, "that stream is not remembered any more"),
        };
    }
    session.out.remember();
    events::remembered(session.out.reader(behind), 0, primes)
}

pub(super) fn end(desk: &Desk, parts: &Parts, caller: &Caller) -> Response<Body> {
    if is_stateless(parts) {
        return only("POST");
    }
    match session(desk, parts, caller) {
        Ok(session) => {
            desk.engine.sessions.end_for_good(&session.id);
            bare(StatusCode::OK)
        }
        Err(refusal) => *refusal,
    }
}

fn is_stateless(parts: &Parts) -> bool {
    let version = parts.headers.get(&headers::VERSION);
    version.is_some_and(|version| revision::is_stateless(version.as_bytes()))
}

/// The stream and the number of an event's id.
fn event(id: &str) -> Option<(u64, u64)> {
    let (stream, number) = id.split_once('-')?;
    Some((stream.parse().ok()?, number.parse().ok()?))
}
