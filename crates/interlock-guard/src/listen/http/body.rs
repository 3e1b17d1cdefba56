//! Bodies, in and out.

use std::{
    convert::Infallible,
    pin::{Pin, pin},
    sync::Arc,
};

use bytes::{Bytes, BytesMut};
use futures_util::Stream;
use http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use http_body_util::{BodyExt, Either, Full, Limited, StreamBody};
use hyper::body::{Frame, Incoming};
use tokio::sync::OwnedSemaphorePermit;

use super::Desk;
use crate::{
    message::{Code, failure},
    within::within,
};

/// The body of a response: whole, or events as they come.
pub(crate) type Body = Either<Full<Bytes>, Events>;

/// Events as they come.
pub(super) type Events = StreamBody<Pin<Box<dyn Stream<Item = Result<Frame<Bytes>, Infallible>> + Send>>>;

/// What somebody gets who is not served.
pub(super) type Refusal = Box<Response<Body>>;

/// Reads a request's body. The permit is for as long as its bytes are held.
pub(super) async fn read(
    desk: &Arc<Desk>,
    headers: &HeaderMap,
    body: Incoming,
) -> Result<(Bytes, OwnedSemaphorePermit), Refusal> {
    let longest = desk.options.limits.body;
    let stated =
        headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    if stated.is_some_and(|stated| stated > longest) {
        return Err(Box::new(too_long(longest)));
    }
    let room = || Arc::clone(&desk.room);
    let Ok(mut permit) = room().try_acquire_many_owned(1) else { return Err(Box::new(busy())) };
    let mut reading = pin!(async {
        let (mut body, mut bytes) = (Limited::new(body, longest), BytesMut::new());
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(Broken::Body)?;
            let Some(data) = frame.data_ref() else { continue };
            // Room is for what has come and not for what was announced: who announces much and sends nothing takes none away.
            let wanted = (bytes.len() + data.len()) / UNIT + 1;
            let more = u32::try_from(wanted.saturating_sub(permit.num_permits())).unwrap_or(u32::MAX);
            permit.merge(room().try_acquire_many_owned(more).map_err(|_| Broken::NoRoom)?);
            bytes.extend_from_slice(data);
        }
        Ok::<_, Broken>((bytes.freeze(), permit))
    });
    match within(desk.options.limits.slow, &mut reading).await {
        None => Err(Box::new(closing(plain(StatusCode::REQUEST_TIMEOUT, "the body took too long")))),
        Some(Ok(read)) => Ok(read),
        Some(Err(Broken::NoRoom)) => Err(Box::new(busy())),
        Some(Err(Broken::Body(error))) if error.is::<http_body_util::LengthLimitError>() => {
            Err(Box::new(too_long(longest)))
        }
        Some(Err(Broken::Body(_))) => {
            Err(Box::new(closing(plain(StatusCode::BAD_REQUEST, "the body broke off"))))
        }
    }
}

/// Why a body was not read to its end.
enum Broken {
    NoRoom,
    Body(Box<dyn std::error::Error + Send + Sync>),
}

/// A permit is for so many bytes.
const UNIT: usize = 1024;

/// There is no room for another request.
pub(super) fn busy() -> Response<Body> {
    let mut response = plain(StatusCode::TOO_MANY_REQUESTS, "the guard holds too many requests already");
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    closing(response)
}

/// No session begins any more.
pub(super) fn ending() -> Response<Body> {
    let mut response =
        plain(StatusCode::SERVICE_UNAVAILABLE, "the guard is closing and takes no new sessions");
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
    closing(response)
}

fn too_long(longest: usize) -> Response<Body> {
    closing(plain(StatusCode::PAYLOAD_TOO_LARGE, &format!("a body may have {longest} bytes")))
}

/// The rest of the request is not read, so the connection is of no use any more.
fn closing(mut response: Response<Body>) -> Response<Body> {
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

/// A JSON-RPC message.
pub(super) fn json(status: StatusCode, bytes: Bytes) -> Response<Body> {
    let mut response = Response::new(Either::Left(Full::new(bytes)));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// An error in JSON-RPC's words.
pub(super) fn refused(status: StatusCode, id: Option<&[u8]>, code: Code, why: &str) -> Response<Body> {
    json(status, failure(id, code, why))
}

/// A few words for people.
pub(super) fn plain(status: StatusCode, words: &str) -> Response<Body> {
    let mut response = Response::new(Either::Left(Full::new(Bytes::from(format!("{words}\n")))));
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}

/// Nothing but a status.
pub(super) fn bare(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Either::Left(Full::default()));
    *response.status_mut() = status;
    response
}

/// Only these methods.
pub(super) fn only(methods: &'static str) -> Response<Body> {
    let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, "this method is not for this address");
    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(methods));
    response
}
