//! The answer to a request: one JSON object, or a stream in which it comes last.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Method, Response, StatusCode, header};
use http_body_util::{BodyExt, Limited};

use super::{Http, LONGEST, client::Arriving, sse::Events};
use crate::{
    message::{Id, Kind, Message},
    upstream::{
        link::Link,
        pending::{About, Lost, Reply},
    },
};

/// How often in a row a stream is asked for again without bringing anything.
const TRIES: u32 = 5;
/// Before it is asked for again, if the server does not say.
const PAUSE: Duration = Duration::from_millis(500);
/// The longest that a server can make us wait.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Waits for the answer to the request with this number.
pub(super) async fn wait(
    http: &Http,
    link: &Arc<Link>,
    response: Response<Arriving>,
    number: u64,
    about: &About,
) -> Reply {
    let status = response.status();
    if is_stream(&response) && status.is_success() {
        return Box::pin(from_stream(http, link, response, number, about)).await;
    }
    let may_have_run = !status.is_client_error();
    let body = match Limited::new(response.into_body(), LONGEST).collect().await {
        Ok(body) => body.to_bytes(),
        Err(error) => return Reply::Lost(Lost::after(format!("its answer broke off: {error}"))),
    };
    match Message::read(body) {
        Ok(message) if message.kind() == Kind::Response && is_ours(&message, number) => {
            Reply::Answer(message)
        }
        _ if status.is_success() => Reply::Lost(Lost::after("its answer has no reply in it".to_owned())),
        _ => {
            let reason = format!("it answered with HTTP {status}");
            Reply::Lost(Lost { may_have_run, ..Lost::before(reason) })
        }
    }
}

/// Reads events until the answer comes. A stream that breaks off is taken up where it was left, if the server gave its events ids.
async fn from_stream(
    http: &Http,
    link: &Arc<Link>,
    response: Response<Arriving>,
    number: u64,
    about: &About,
) -> Reply {
    let mut body = response.into_body();
    let mut last = None;
    let mut pause = PAUSE;
    let mut failures = 0;
    loop {
        let mut events = Events::default();
        while let Some(Ok(frame)) = body.frame().await {
            let Some(chunk) = frame.data_ref() else { continue };
            events.feed(chunk);
            while let Some(event) = events.next() {
                failures = 0;
                if event.data.is_empty()
                    && event.id.is_some()
                    && let Some(out) = &about.out
                {
                    // The server wants its client to be able to come back; so will ours.
                    let _ = out.offer(Bytes::new());
                }
                last = event.id.or(last);
                if let Some(retry) = event.retry {
                    pause = Duration::from_millis(retry).min(LONGEST_PAUSE);
                }
                if let Some(answer) = take(link, event.data, number, about) {
                    return Reply::Answer(answer);
                }
            }
            if events.waiting() > LONGEST {
                return Reply::Lost(Lost::after(format!("an event is longer than {LONGEST} bytes")));
            }
        }
        let Some(id) = last.as_deref() else {
            return Reply::Lost(Lost::after("its stream ended without an answer".to_owned()));
        };
        body = loop {
            failures += 1;
            if failures > TRIES {
                return Reply::Lost(Lost::after(
                    "its stream broke off and cannot be taken up again".to_owned(),
                ));
            }
            tokio::time::sleep(pause).await;
            match resume(http, id).await {
                Ok(body) => break body,
                Err(Refusal::ForGood(reason)) => return Reply::Lost(Lost::after(reason)),
                Err(Refusal::ForNow) => {}
            }
        };
    }
}

enum Refusal {
    ForNow,
    ForGood(String),
}

async fn resume(http: &Http, last: &str) -> Result<Arriving, Refusal> {
    let terms = http.terms().clone();
    let mut request = http.request(Method::GET, &terms, Bytes::new());
    let value = last.parse().map_err(|_| Refusal::ForGood("its event id is no header".to_owned()))?;
    request.headers_mut().insert("last-event-id", value);
    let response = http.client.send(request).await.map_err(|_| Refusal::ForNow)?;
    match response.status() {
        StatusCode::OK if is_stream(&response) => Ok(response.into_body()),
        status if status.is_server_error() => Err(Refusal::ForNow),
        status => {
            Err(Refusal::ForGood(format!("its stream broke off and is not taken up again (HTTP {status})")))
        }
    }
}

/// Takes in a message of a stream, and gives it back if it is the answer.
pub(super) fn take(link: &Arc<Link>, data: Bytes, number: u64, about: &About) -> Option<Message> {
    let message = Message::read(data).ok()?;
    if message.kind() == Kind::Response {
        return is_ours(&message, number).then_some(message);
    }
    link.take(&message, Some(about));
    None
}

pub(super) fn is_stream(response: &Response<Arriving>) -> bool {
    let kind = response.headers().get(header::CONTENT_TYPE);
    let stream = b"text/event-stream";
    kind.and_then(|kind| kind.as_bytes().get(..stream.len()))
        .is_some_and(|start| start.eq_ignore_ascii_case(stream))
}

fn is_ours(message: &Message, number: u64) -> bool {
    // A server that could not read the request answers without an id; on its own connection it still is the answer.
    let id = message.id();
    Id::number(&id) == Some(number) || (message.error().is_some() && (id.is_empty() || id == "null"))
}
