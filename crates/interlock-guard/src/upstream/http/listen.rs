//! The stream on which a server of the handshake era says what belongs to no request.

use std::{sync::Weak, time::Duration};

use bytes::Bytes;
use http::{Method, StatusCode};
use http_body_util::BodyExt;

use super::{LONGEST, answer::is_stream, sse::Events};
use crate::{message::Message, upstream::link::Link};

/// Between two attempts.
const PAUSE: Duration = Duration::from_secs(1);
/// After so many in a row the server is left alone.
const TRIES: u32 = 10;

/// Opens the stream and passes on what comes, as long as the conversation lasts.
pub(crate) async fn listen(link: Weak<Link>) {
    let mut last: Option<String> = None;
    let mut failures = 0;
    while failures < TRIES {
        let Some(held) = link.upgrade() else { return };
        let Some(http) = held.http().cloned() else { return };
        drop(held);
        let terms = http.terms().clone();
        let mut request = http.request(Method::GET, &terms, Bytes::new());
        if let Some(value) = last.as_ref().and_then(|id| id.parse().ok()) {
            request.headers_mut().insert("last-event-id", value);
        }
        if let Ok(response) = http.client.send(request).await {
            match response.status() {
                StatusCode::OK if is_stream(&response) => {}
                status if status.is_server_error() => {}
                // It has no such stream, or no such session.
                _ => return,
            }
            let mut body = response.into_body();
            let mut events = Events::default();
            while let Some(Ok(frame)) = body.frame().await {
                let Some(chunk) = frame.data_ref() else { continue };
                failures = 0;
                events.feed(chunk);
                while let Some(event) = events.next() {
                    last = event.id.or(last);
                    let Some(held) = link.upgrade() else { return };
                    if let Ok(message) = Message::read(event.data) {
                        held.take(&message, None);
                    }
                }
                if events.waiting() > LONGEST {
                    return;
                }
            }
        }
        failures += 1;
        tokio::time::sleep(PAUSE).await;
    }
}
