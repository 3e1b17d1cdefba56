//! Messages as server-sent events.

use std::{convert::Infallible, future::Future, pin::Pin, time::Duration};

use bytes::{BufMut, Bytes, BytesMut};
use futures_util::stream;
use http::{HeaderValue, Response, header};
use http_body_util::{Either, StreamBody};
use hyper::body::Frame;
use tokio::time::timeout;

use super::body::{Body, Events};
use crate::{message::one_line, session::Reader};

/// After so long without an event a comment is sent: who does not take it is gone.
const SIGN_OF_LIFE: Duration = Duration::from_secs(15);

/// After how many ms a client whose stream broke off may come back.
const RETRY: u32 = 500;

/// A stream of what a reader gets, each with an id under which the client can come back. An empty message only carries such an id, for
/// clients that know what that means.
pub(super) fn remembered(reader: Reader, stream: u64, primes: bool) -> Response<Body> {
    let events = stream::unfold(reader, move |reader| async move {
        let bytes = match timeout(SIGN_OF_LIFE, reader.next()).await {
            Err(_) => Bytes::from_static(b":\n\n"),
            Ok(Some((number, message))) if message.is_empty() => {
                let event = format!("id: {stream}-{number}\nretry: {RETRY}\ndata: \n\n");
                if primes { event.into() } else { Bytes::from_static(b":\n\n") }
            }
            Ok(Some((number, message))) => event(Some(&format!("{stream}-{number}")), message),
            Ok(None) => return None,
        };
        Some((Ok(Frame::data(bytes)), reader))
    });
    response(StreamBody::new(Box::pin(events)))
}

/// A stream of what a reader gets until an answer comes, which is the last event. Whoever drops the stream drops the answer.
pub(super) fn until<F>(reader: Reader, answer: F) -> Response<Body>
where
    F: Future<Output = Option<Bytes>> + Send + 'static,
{
    let start = State::Open(reader, Box::pin(answer));
    let events = stream::unfold(start, |state| async move {
        match state {
            State::Over => None,
            State::Last(reader, answer) => match reader.take() {
                Some((_, message)) => Some((frame(event(None, message)), State::Last(reader, answer))),
                None => Some((frame(event(None, answer?)), State::Over)),
            },
            State::Open(reader, mut answer) => tokio::select! {
                biased;
                Some((_, message)) = reader.next() => Some((frame(event(None, message)), State::Open(reader, answer))),
                said = &mut answer => match reader.take() {
                    Some((_, message)) => Some((frame(event(None, message)), State::Last(reader, said))),
                    None => Some((frame(event(None, said?)), State::Over)),
                },
                () = tokio::time::sleep(SIGN_OF_LIFE) => {
                    Some((frame(Bytes::from_static(b":\n\n")), State::Open(reader, answer)))
                }
            },
        }
    });
    response(StreamBody::new(Box::pin(events)))
}

enum State {
    Open(Reader, Pin<Box<dyn Future<Output = Option<Bytes>> + Send>>),
    Last(Reader, Option<Bytes>),
    Over,
}

fn frame(bytes: Bytes) -> Result<Frame<Bytes>, Infallible> {
    Ok(Frame::data(bytes))
}

fn event(id: Option<&str>, message: Bytes) -> Bytes {
    if message.is_empty() {
        return Bytes::from_static(b":\n\n");
    }
    let message = one_line(message);
    let mut bytes = BytesMut::with_capacity(message.len() + 48);
    if let Some(id) = id {
        bytes.put_slice(b"id: ");
        bytes.put_slice(id.as_bytes());
        bytes.put_u8(b'\n');
    }
    bytes.put_slice(b"data: ");
    bytes.put_slice(&message);
    bytes.put_slice(b"\n\n");
    bytes.freeze()
}

fn response(body: Events) -> Response<Body> {
    let mut response = Response::new(Either::Right(body));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}
