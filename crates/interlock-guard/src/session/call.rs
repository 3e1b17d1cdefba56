//! A request of a client: where it goes, and what the client gets.

use std::{
    pin::pin,
    sync::{Arc, OnceLock},
};

use bytes::Bytes;
use http::{HeaderName, HeaderValue};

use super::{
    cancel::{cancelled, outcome},
    client::{Session, Style},
    flights::{Flight, NoPlace, Place},
    greeting::{Bridge, completed},
    merge,
    outbox::Outbox,
    revision, tasks,
};
use crate::{
    call::{Answer, Caller, ToolCall},
    desk::{Carried, OnCancel},
    message::{Code, Edit, Message, answer, failure, splice},
    traceparent::Traceparent,
    upstream::{Begun, Link, Lost, Parcel, Reply, STATED, disagreement},
};

/// Who asks.
#[derive(Debug, Clone)]
pub(crate) struct Who {
    pub(crate) caller: Caller,
    /// Who reads, for stale-write protection.
    pub(crate) reader: Option<Arc<str>>,
    /// Headers that concern the server.
    pub(crate) headers: Arc<[(HeaderName, HeaderValue)]>,
}

/// What a client gets for its request.
#[derive(Debug)]
pub(crate) enum Said {
    /// An answer.
    Answer(Bytes),
    /// An answer that is an error with this code.
    Failed(Bytes, i32),
    /// An answer that refuses what a token with this scope would have been let do.
    Lacks(Bytes, Arc<str>),
    /// Nothing: it has cancelled the request.
    Nothing,
    /// Its session is over, as that with the server is.
    SessionGone,
}

/// A request that was taken in. What must keep its order has been sent.
pub(crate) struct Step {
    session: Arc<Session>,
    message: Message,
    place: Place,
    work: Work,
}

enum Work {
    Said(Said),
    Passing { link: Arc<Link>, number: u64, begun: Begun, teaches: Option<Caller>, bridge: Bridge },
    Asking { who: Who, out: Arc<Outbox> },
    Calling { who: Who, out: Arc<Outbox> },
}

impl Session {
    /// Takes a request in. What is only passed on is on its way when this returns; tool calls go to the desk first.
    pub(crate) async fn take(self: &Arc<Self>, who: Who, message: Message, out: Arc<Outbox>) -> Step {
        let place = match self.style {
            Style::Stateless => Ok(Place::alone()),
            _ => message.id_key().ok_or(NoPlace::Taken).and_then(|id| self.flights.enter(id)),
        };
        let (place, work) = match place {
            Ok(place) => {
                let work = self.work(who, &message, &place, out).await;
                (place, work)
            }
            Err(NoPlace::Taken) => {
                let why = "a request with this id is still in flight";
                (Place::alone(), Work::Said(failed(&message, Code::INVALID_REQUEST, why)))
            }
            Err(NoPlace::Full) => {
                (Place::alone(), Work::Said(failed(&message, Code::BUSY, "too many requests are in flight")))
            }
        };
        Step { session: Arc::clone(self), message, place, work }
    }

    async fn work(&self, who: Who, message: &Message, place: &Place, out: Arc<Outbox>) -> Work {
        if let Some(said) = self.refuse_request(&who.caller, message) {
            return Work::Said(said);
        }
        if (self.style == Style::Stateless || self.is_merged())
            && let Some(said) = removed(message)
        {
            return Work::Said(said);
        }
        match &*message.method() {
            "tools/call" => return Work::Calling { who, out },
            "initialize" if self.style != Style::Stateless => {
                return Work::Said(Box::pin(self.greeting(message)).await);
            }
            "server/discover" => {
                if let Some(said) = Box::pin(self.discovery(message)).await {
                    return Work::Said(said);
                }
            }
            "ping" if self.is_merged() => return Work::Said(done(message)),
            "subscriptions/listen" if self.is_merged() => {
                let why = "with several servers behind it, the guard cannot listen to all of them for you";
                return Work::Said(failed(message, Code::METHOD_NOT_FOUND, why));
            }
            "prompts/get" => {}
            "resources/unsubscribe" if self.is_wanted_by_others(message) => return Work::Said(done(message)),
            _ if self.is_merged() => return Work::Asking { who, out },
            _ => {}
        }
        self.pass(&who, message, place, out).await
    }

    /// Sends a request on as it is.
    async fn pass(&self, who: &Who, message: &Message, place: &Place, out: Arc<Outbox>) -> Work {
        let Some(target) = self.target(message) else {
            return Work::Said(failed(message, Code::METHOD_NOT_FOUND, "no upstream has this"));
        };
        let link = match self.link_for(target.upstream, &who.caller, message).await {
            Ok(link) => link,
            Err(lost) => return Work::Said(unavailable(message, &lost)),
        };
        let bridge = self.bridge(&link, message);
        if let Some(said) = self.unspoken(&link, bridge, message) {
            return Work::Said(said);
        }
        // What the server's era does not have any more, the guard does for it.
        if bridge == Bridge::States && matches!(&*message.method(), "ping" | "logging/setLevel") {
            return Work::Said(done(message));
        }
        let parcel = Box::new(Parcel {
            name: target.name,
            headers: Arc::clone(&who.headers),
            meta: bridge.meta().into(),
            is_bridged: bridge == Bridge::Completes,
            ..Parcel::new(message.clone())
        });
        let number = link.pending.number();
        place.flight.leaves(&link, number, true);
        let begun = link.begin(parcel, number, Some(out)).await;
        let teaches = (message.method() == "tools/list").then(|| who.caller.clone());
        Work::Passing { link, number, begun, teaches, bridge }
    }

    /// Requests to several servers.
    async fn asked(&self, message: &Message, who: &Who, out: &Arc<Outbox>) -> Said {
        let method = message.method();
        match merge::list(&method) {
            Some(key) => self.gather(&who.caller, message, key).await,
            None if method == "logging/setLevel" => self.ask_all(message).await,
            None => self.ask_around(who, message, out).await,
        }
    }

    /// A tool call, past the desk.
    async fn call(&self, message: &Message, place: &Place, who: Who, out: Arc<Outbox>) -> Said {
        let Some(tool) = message.name() else {
            let why = "a tool call names its tool";
            return failed(message, Code::INVALID_PARAMS, why);
        };
        let Some(target) = self.target(message) else {
            let why = format!("no upstream has the tool {tool:?}");
            return failed(message, Code::INVALID_PARAMS, &why);
        };
        let link = match self.link(target.upstream, &who.caller).await {
            Ok(link) => link,
            Err(lost) => return unavailable(message, &lost),
        };
        let Some(upstream) = self.engine.upstreams.get(target.upstream) else { return Said::Nothing };
        let bridge = self.bridge(&link, message);
        if let Some(said) = self.unspoken(&link, bridge, message) {
            return said;
        }
        let parts = message.parts();
        // What the guard asks by itself must state what requests of the server's era do. A server that nobody has greeted is of its client's.
        let is_stateless =
            link.is_stateless() || (link.handshake().is_none() && parts.stated_version.is_some());
        let meta = if is_stateless { STATED } else { "" };
        let own_name = target.name.as_deref().unwrap_or(&tool);
        let is_read_only = upstream.tools.reads_only(&link, own_name, meta).await;
        // Whoever takes the body in compares it with the headers; nobody behind a pipe, and no older server, can.
        if self.style == Style::Stateless && (link.process().is_some() || bridge == Bridge::Completes) {
            let arguments = parts.arguments.map(|span| message.raw(span)).unwrap_or_default();
            if let Some(why) = disagreement(&upstream.tools.mirrored(own_name), &arguments, &who.headers) {
                return failed(message, Code::HEADER_MISMATCH, &why);
            }
        }
        let carried = Traceparent::in_headers(&who.headers);
        let call = ToolCall {
            caller: who.caller,
            reader: who.reader,
            upstream: Arc::clone(&upstream.name),
            tool: (&*tool).into(),
            is_read_only,
            arguments: parts.arguments.map(|span| message.raw(span)).unwrap_or_default(),
            meta: parts.meta.map(|span| message.raw(span)).unwrap_or_default(),
            traceparent: parts
                .traceparent
                .and_then(|span| Traceparent::read(&message.text(span)?))
                .or(carried),
        };
        // What came in a header goes on in one, or in `_meta` where there are no headers.
        let carried = carried.filter(|_| parts.traceparent.is_none() && link.process().is_some());
        let mut parcel = Box::new(Parcel {
            name: target.name,
            headers: who.headers,
            meta: bridge.meta().into(),
            is_bridged: bridge == Bridge::Completes,
            ..Parcel::new(message.clone())
        });
        let (whole, went) = (Arc::new(OnceLock::new()), Arc::new(OnceLock::new()));
        let (engine, flight, kept) =
            (Arc::clone(&self.engine), Arc::clone(&place.flight), Arc::clone(&whole));
        let (upstream, to) = (Arc::clone(upstream), Arc::clone(&went));
        let has_handshake = self.style != Style::Stateless;
        let forward = move |stamp: crate::desk::Stamp| async move {
            // Only now: while the call waited for its turn, others have begun and ended.
            let link = upstream.for_call(&link, has_handshake);
            let _ = to.set(Arc::downgrade(&link));
            parcel.fence = stamp.fence;
            parcel.traceparent = stamp.traceparent.or(carried);
            let number = link.pending.number();
            flight.leaves(&link, number, stamp.on_cancel != OnCancel::Held);
            let begun = link.begin(parcel, number, Some(out)).await;
            match outcome(&engine, &flight, &link, (number, begun), stamp.on_cancel).await {
                None => Answer::Cancelled,
                Some(Reply::Answer(answer)) => {
                    let said = judged(&link, &answer, is_stateless);
                    let _ = kept.set(answer);
                    said
                }
                Some(Reply::Lost(Lost { reason, may_have_run, .. })) => Answer::Lost { reason, may_have_run },
            }
        };
        let left = Left::new(self, &place.flight);
        let carried = self.engine.desk.carry(call, forward).await;
        left.answered();
        if let Carried::Answer(Answer::Result { task: Some(task), .. }) = &carried {
            self.note_task(&task.id, went.get());
            self.remember(task.id.clone(), target.upstream);
        }
        written(message, carried, whole.get(), bridge)
    }
}

impl Step {
    /// Waits for what the client gets.
    pub(crate) async fn finish(self) -> Said {
        let Self { session, message, place, work } = self;
        let flight = Arc::clone(&place.flight);
        let work = async {
            match work {
                Work::Said(said) => said,
                Work::Asking { who, out } => Box::pin(session.asked(&message, &who, &out)).await,
                Work::Calling { who, out } => session.call(&message, &place, who, out).await,
                Work::Passing { link, number, begun, teaches, bridge } => {
                    let left = Left::new(&session, &place.flight);
                    let listens = message.method() == "subscriptions/listen";
                    let finish = pin!(link.finish(begun));
                    let reply = tokio::select! {
                        biased;
                        reply = session.engine.answered(&link, number, finish) => reply,
                        // It would stay open by itself for ever.
                        () = session.engine.closed(), if listens => return over(&message),
                    };
                    left.answered();
                    match reply {
                        Reply::Answer(answer) => {
                            session.learn(&message, &answer, teaches.is_some());
                            let hiding = teaches.and_then(|caller| session.hiding(&caller, &answer));
                            returned_with(&message, &answer, bridge, hiding)
                        }
                        Reply::Lost(lost) if lost.is_session_gone => Said::SessionGone,
                        Reply::Lost(lost) => unavailable(&message, &lost),
                    }
                }
            }
        };
        tokio::select! {
            biased;
            said = work => said,
            () = flight.cancelled() => Said::Nothing,
        }
    }
}

/// A request that was sent. If its client goes before the answer, and has no other way to say so, it has cancelled it.
struct Left<'a>(Option<&'a Flight>);

impl<'a> Left<'a> {
    fn new(session: &Session, flight: &'a Flight) -> Self {
        Self((session.style == Style::Stateless).then_some(flight))
    }

    fn answered(mut self) {
        self.0 = None;
    }
}

impl Drop for Left<'_> {
    fn drop(&mut self) {
        if let Some((link, number)) = self.0.and_then(Flight::abandon)
            && link.process().is_some()
        {
            link.tell_soon(cancelled(number));
        }
    }
}

/// An answer with the client's own id in it.
pub(super) fn returned(request: &Message, answer: &Message, bridge: Bridge) -> Said {
    returned_with(request, answer, bridge, None)
}

/// The same with one more change.
fn returned_with(request: &Message, answer: &Message, bridge: Bridge, edit: Option<Edit<'_>>) -> Said {
    let id = request.id();
    let error = answer.error();
    let Some(at) = answer.id_span() else { return refused(request, &error.unwrap_or_default()) };
    let mut edits = vec![Edit::new(at, &*id)];
    edits.extend(edit);
    if let Some(at) = answer.parts().subscription {
        edits.push(Edit::new(at, &*id));
    }
    if bridge == Bridge::Completes {
        edits.extend(completed(answer, &request.method()));
    }
    let bytes = splice(answer.bytes(), &mut edits);
    match error {
        None => Said::Answer(bytes),
        Some(error) => Said::Failed(bytes, code(&error)),
    }
}

/// The end of what a client listened to, in good order.
fn over(request: &Message) -> Said {
    let id = request.id();
    let text = format!(
        r#"{{"resultType":"complete","_meta":{{"io.modelcontextprotocol/subscriptionId":{}}}}}"#,
        String::from_utf8_lossy(&id)
    );
    Said::Answer(answer(&id, text.as_bytes()))
}

/// What a client without a handshake gets for a method that its revision does not have any more. Later revisions may have it again.
fn removed(request: &Message) -> Option<Said> {
    let is_removed =
        revision::is_removed(&request.method()) && request.stated_version()? == revision::STATELESS;
    is_removed.then(|| failed(request, Code::METHOD_NOT_FOUND, "this revision does not have this method"))
}

/// Nothing but that it is done.
fn done(request: &Message) -> Said {
    Said::Answer(answer(&request.id(), b"{}"))
}

/// An error of the server around which there is no answer.
pub(super) fn refused(request: &Message, error: &[u8]) -> Said {
    Said::Failed(crate::message::answer_error(&request.id(), error), code(error))
}

/// An error in the guard's own words.
pub(super) fn failed(request: &Message, code: Code, why: &str) -> Said {
    Said::Failed(failure(Some(&request.id()), code, why), code.0)
}

fn code(error: &[u8]) -> i32 {
    #[derive(serde::Deserialize)]
    struct Told {
        code: i32,
    }
    serde_json::from_slice::<Told>(error).map_or(Code::INTERNAL.0, |told| told.code)
}

/// What an answer means for whoever holds locks for it.
fn judged(link: &Arc<Link>, answer: &Message, is_stateless: bool) -> Answer {
    let parts = answer.parts();
    match (answer.result(), answer.error()) {
        (Some(result), _) => {
            if parts.result_type.is_some_and(|at| answer.text(at).as_deref() == Some("input_required")) {
                return Answer::Asks { result };
            }
            let is_error = parts.is_error.is_some_and(|at| answer.raw(at) == "true");
            Answer::Result { result, is_error, task: tasks::of(link, answer, is_stateless) }
        }
        (None, error) => Answer::Error { error: error.unwrap_or_default() },
    }
}

/// What the desk brought, as the client gets it.
fn written(request: &Message, carried: Carried, whole: Option<&Message>, bridge: Bridge) -> Said {
    let id = request.id();
    match (carried, whole) {
        (
            Carried::Answer(Answer::Result { .. } | Answer::Asks { .. } | Answer::Error { .. }),
            Some(whole),
        ) => returned(request, whole, bridge),
        (Carried::Answer(Answer::Error { error }), None) => refused(request, &error),
        // Whoever cancelled does not read.
        (Carried::Answer(Answer::Cancelled), _) => Said::Nothing,
        (Carried::Answer(Answer::Lost { reason, may_have_run }), _) => {
            unavailable(request, &Lost { may_have_run, ..Lost::before(reason) })
        }
        (Carried::Answer(Answer::Result { result, .. } | Answer::Asks { result }), None)
        | (Carried::Said(result) | Carried::Again(result), _) => {
            Said::Answer(typed(request, answer(&id, &result)))
        }
        (Carried::Lacks { said, scope }, _) => Said::Lacks(typed(request, answer(&id, &said)), scope),
    }
}

/// An answer that is not the server's own, with the type that a client without a handshake must find in it. What was kept may come from a
/// server with a handshake, and what the guard says itself is the same for all.
fn typed(request: &Message, answer: Bytes) -> Bytes {
    if request.parts().stated_version.is_none() {
        return answer;
    }
    let Ok(read) = Message::read(answer.clone()) else { return answer };
    match completed(&read, &request.method()) {
        Some(edit) => splice(&answer, &mut [edit]),
        None => answer,
    }
}

/// An error for a request that nobody answers.
pub(super) fn unavailable(request: &Message, lost: &Lost) -> Said {
    let run = if lost.may_have_run {
        "; whether it was carried out is not known"
    } else {
        "; it was not carried out"
    };
    let why = format!("the server did not answer: {}{run}", lost.reason);
    failed(request, Code::UNAVAILABLE, &why)
}

impl Said {
    /// The bytes for the client, if there are any.
    pub(crate) fn bytes(self) -> Option<Bytes> {
        match self {
            Self::Answer(bytes) | Self::Failed(bytes, _) | Self::Lacks(bytes, _) => Some(bytes),
            Self::Nothing | Self::SessionGone => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(meta: &str) -> Message {
        let text = format!(
            r#"{{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{{"name":"pay","_meta":{{{meta}}}}}}}"#
        );
        Message::read(text.into()).unwrap()
    }

    fn said(meta: &str, carried: Carried) -> String {
        let Said::Answer(bytes) = written(&request(meta), carried, None, Bridge::None) else {
            panic!("it was no answer")
        };
        String::from_utf8(bytes.to_vec()).unwrap()
    }

    #[test]
    fn what_the_guard_says_itself_has_a_type_for_clients_without_a_handshake() {
        let stated = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28""#;
        let plain = || Carried::Said(Bytes::from_static(br#"{"isError":true}"#));
        let kept = || Carried::Again(Bytes::from_static(br#"{"resultType":"complete","isError":true}"#));
        let typed = r#"{"jsonrpc":"2.0","id":"a","result":{"resultType":"complete","isError":true}}"#;
        assert_eq!(said(stated, plain()), typed);
        assert_eq!(said(stated, kept()), typed, "what has a type keeps it");
        assert_eq!(said("", plain()), r#"{"jsonrpc":"2.0","id":"a","result":{"isError":true}}"#);
    }
}
