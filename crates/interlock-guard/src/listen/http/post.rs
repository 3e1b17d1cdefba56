//! Messages of clients.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Response, StatusCode, header, request::Parts};
use hyper::body::Incoming as HttpBody;

use super::{
    Desk,
    body::{self, Body, bare, json, plain, refused},
    check,
    crowd::Begun,
    events, get,
};
use crate::{
    call::Caller,
    headers,
    listen::Steps,
    manage::Phase,
    message::{Code, Incoming, Kind, Message},
    session::{Outbox, Said, Session, Style, Who, revision},
    traceparent,
};

/// How long a call takes that takes long.
const PRIME_AFTER: Duration = Duration::from_secs(2);

pub(super) async fn answer(
    desk: &Arc<Desk>,
    parts: &Parts,
    body: HttpBody,
    caller: Caller,
    begun: &Begun,
) -> Response<Body> {
    if !check::is_json(&parts.headers) {
        return plain(StatusCode::UNSUPPORTED_MEDIA_TYPE, "a message is application/json");
    }
    // Before the body is taken: what was taken is answered in the protocol's own words.
    let Ok(_place) = desk.places.try_acquire() else { return body::busy() };
    let (bytes, room) = match body::read(desk, &parts.headers, body).await {
        Ok(read) => read,
        Err(refusal) => return *refusal,
    };
    if !begun.is_under_way() {
        return body::busy();
    }
    let response = match Message::incoming(bytes) {
        Err(fault) => refused(StatusCode::BAD_REQUEST, None, fault.code(), &fault.to_string()),
        Ok(Incoming::Batch(messages)) => Box::pin(batch(desk, parts, messages, &caller)).await,
        Ok(Incoming::One(message)) => {
            let header = parts.headers.get(&headers::VERSION);
            let is_stateless = message.parts().stated_version.is_some()
                || header.is_some_and(|version| revision::is_stateless(version.as_bytes()));
            if is_stateless {
                stateless(desk, parts, message, caller).await
            } else if message.kind() == Kind::Request && message.method() == "initialize" {
                Box::pin(open(desk, parts, message, caller)).await
            } else {
                in_session(desk, parts, message, caller).await
            }
        }
    };
    drop(room);
    response
}

/// A message that stands for itself.
async fn stateless(desk: &Arc<Desk>, parts: &Parts, message: Message, caller: Caller) -> Response<Body> {
    let session = desk.engine.stateless();
    if message.kind() != Kind::Request {
        return told(&session, &caller, &message).await;
    }
    if let Err(refusal) = check::repeats(&parts.headers, &message) {
        return *refusal;
    }
    // Nobody reads for all strangers together.
    let reader = (caller != Caller::anonymous()).then(|| caller.as_str().into());
    let who = Who { caller, reader, headers: concerning(parts, true) };
    let out = Arc::<Outbox>::default();
    let reader = out.reader(None);
    let step = session.take(who, message, out).await;
    let mut answer = Box::pin(step.finish());
    let takes_events = check::takes_events(&parts.headers);
    let said = tokio::select! {
        biased;
        said = &mut answer => said,
        () = reader.filled(), if takes_events => {
            return events::until(reader, async move { answer.await.bytes() });
        }
    };
    if takes_events && reader.has_some() {
        return events::until(reader, std::future::ready(said.bytes()));
    }
    whole(desk, said, true)
}

/// The beginning of a session.
async fn open(desk: &Arc<Desk>, parts: &Parts, message: Message, caller: Caller) -> Response<Body> {
    // Calls would be refused; another replica may take them.
    if desk.engine.phases().now() >= Phase::Closing {
        return body::ending();
    }
    let pass = desk.passes.as_ref().and_then(|passes| passes.issue(&caller, &message));
    let session = match pass {
        Some((id, name)) => Session::with_pass(&desk.engine, caller.clone(), &id, name),
        None => Session::new(&desk.engine, caller.clone(), Style::Session),
    };
    session.out.remember();
    let step = session.take(who(&session, &caller, parts), message, Arc::default()).await;
    let said = step.finish().await;
    let is_open = matches!(said, Said::Answer(_));
    let mut response = whole(desk, said, false);
    if is_open {
        let Ok(id) = HeaderValue::from_str(&session.id) else { return response };
        if desk.engine.sessions.open(session).is_err() {
            return plain(StatusCode::SERVICE_UNAVAILABLE, "there are too many sessions");
        }
        response.headers_mut().insert(headers::SESSION.clone(), id);
    }
    response
}

/// A message of a client that is known.
async fn in_session(desk: &Arc<Desk>, parts: &Parts, message: Message, caller: Caller) -> Response<Body> {
    let session = match get::session(desk, parts, &caller) {
        Ok(session) => session,
        Err(refusal) => return *refusal,
    };
    session.touch();
    if let Some(version) = parts.headers.get(&headers::VERSION)
        && !revision::WITH_HANDSHAKE.iter().any(|known| known.as_bytes() == version.as_bytes())
        && session.version.get().is_none_or(|agreed| agreed.as_bytes() != version.as_bytes())
    {
        let why = "this revision was not agreed on";
        return refused(StatusCode::BAD_REQUEST, None, Code::INVALID_REQUEST, why);
    }
    if message.kind() != Kind::Request {
        return told(&session, &caller, &message).await;
    }
    let out = Arc::<Outbox>::default();
    let reader = out.reader(None);
    let step = session.take(who(&session, &caller, parts), message, Arc::clone(&out)).await;
    let mut answer = Box::pin(step.finish());
    let takes_events = check::takes_events(&parts.headers);
    let filled = async {
        tokio::select! {
            () = reader.filled() => {}
            () = prime(&session, &out) => {}
        }
    };
    let said = tokio::select! {
        biased;
        said = &mut answer => said,
        () = filled, if takes_events => {
            // From here on the client may come back, so the answer is waited for without it.
            let stream = session.streams.keep(&out);
            tokio::spawn(async move {
                if let Some(bytes) = answer.await.bytes() {
                    let _ = out.put(bytes).await;
                }
                out.close();
            });
            return events::remembered(reader, stream, session.comes_back());
        }
    };
    if matches!(said, Said::SessionGone) {
        desk.engine.sessions.end(&session.id);
    }
    if takes_events && reader.has_some() {
        let stream = session.streams.keep(&out);
        let _ = out.put(said.bytes().unwrap_or_default()).await;
        out.close();
        return events::remembered(reader, stream, session.comes_back());
    }
    whole(desk, said, false)
}

/// What comes of a message that wants no answer.
async fn told(session: &Session, caller: &Caller, message: &Message) -> Response<Body> {
    match session.tell(caller, message).await {
        Ok(()) => bare(StatusCode::ACCEPTED),
        Err(unheard) => refused(StatusCode::BAD_REQUEST, None, Code::INVALID_REQUEST, unheard.why),
    }
}

/// For a call that takes long, a client of a revision that knows how gets an id under which it can come back.
async fn prime(session: &Session, out: &Outbox) {
    if !session.comes_back() {
        return std::future::pending().await;
    }
    tokio::time::sleep(PRIME_AFTER).await;
    let _ = out.offer(Bytes::new());
}

async fn batch(desk: &Arc<Desk>, parts: &Parts, messages: Vec<Message>, caller: &Caller) -> Response<Body> {
    let session = match get::session(desk, parts, caller) {
        Ok(session) => session,
        Err(refusal) => return *refusal,
    };
    if session.version.get().is_none_or(|version| version != revision::BATCHES) {
        let why = "batches exist in the revision 2025-03-26 only";
        return refused(StatusCode::BAD_REQUEST, None, Code::INVALID_REQUEST, why);
    }
    let mut steps = Steps::default();
    for message in messages {
        if message.kind() == Kind::Request {
            steps.taken.push(session.take(who(&session, caller, parts), message, Arc::default()).await);
        } else if let Err(unheard) = session.tell(caller, &message).await {
            steps.refuse(unheard);
        }
    }
    match steps.finish().await {
        Some(bytes) => json(StatusCode::OK, bytes),
        None => bare(StatusCode::ACCEPTED),
    }
}

/// The caller of the session, with the token of this request: another one may say more of it, or less.
fn who(session: &Session, caller: &Caller, parts: &Parts) -> Who {
    Who { caller: caller.clone(), reader: Some(Arc::clone(&session.name)), headers: concerning(parts, false) }
}

/// Headers that go on to the server: which trace the request belongs to, and those that repeat arguments where its revision has them.
fn concerning(parts: &Parts, repeats_arguments: bool) -> Arc<[(HeaderName, HeaderValue)]> {
    let is_wanted = |name: &HeaderName| {
        [traceparent::HEADER, traceparent::STATE_HEADER].contains(&name.as_str())
            || repeats_arguments && name.as_str().starts_with("mcp-param-")
    };
    let mut wanted = parts.headers.iter().filter(|(name, _)| is_wanted(name)).peekable();
    // Most requests have none, and nothing is made for those.
    if wanted.peek().is_none() {
        return Arc::default();
    }
    wanted.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// An answer that is there as a whole.
fn whole(desk: &Desk, said: Said, is_stateless: bool) -> Response<Body> {
    match said {
        Said::Lacks(bytes, scope) => lacking(desk, bytes, &scope),
        Said::Answer(bytes) => json(StatusCode::OK, bytes),
        Said::Failed(bytes, code) if is_stateless => json(status(code), bytes),
        Said::Failed(bytes, _) => json(StatusCode::OK, bytes),
        Said::Nothing => bare(StatusCode::ACCEPTED),
        Said::SessionGone => plain(StatusCode::NOT_FOUND, "the server ended this session"),
    }
}

/// The refusal of a call whose token lacks a scope. Where clients are told how to get tokens, it is a 403 with a challenge to get another token; else it
/// is an answer like other refusals, which the model sees.
fn lacking(desk: &Desk, bytes: Bytes, scope: &str) -> Response<Body> {
    let challenge = desk.options.identify.insufficient(scope);
    let Some(challenge) = challenge.and_then(|text| HeaderValue::from_str(&text).ok()) else {
        return json(StatusCode::OK, bytes);
    };
    let mut response = json(StatusCode::FORBIDDEN, bytes);
    response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
    response
}

/// The status that goes with an error of the protocol itself.
fn status(code: i32) -> StatusCode {
    match Code(code) {
        Code::METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
        Code(-32099..=-32020) => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    }
}
