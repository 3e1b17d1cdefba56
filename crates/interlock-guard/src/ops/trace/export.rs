//! Spans on their way to the collector, and the collector, which takes counters as well. What it does not take after a few tries is dropped and counted.

use std::{future::Future, pin::pin, sync::atomic::Ordering, time::Duration};

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Request, StatusCode, Uri, header};
use http_body_util::{BodyExt, Limited};
use interlock_sync::retry::{Dice, Retry};
use tokio::time;

use super::{super::options::OpsError, Traces, otlp::request, span::Span};
use crate::upstream::Client;

/// How long spans are collected.
const PERIOD: Duration = Duration::from_secs(1);
/// How long the collector may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// How much of its answer is read.
const ANSWER: usize = 64 << 10;

/// Where spans and counters go.
#[derive(Debug)]
pub(in crate::ops) struct Collector {
    uri: Uri,
    headers: Vec<(HeaderName, HeaderValue)>,
    client: Client,
}

/// Why a batch was not taken.
#[derive(Debug, thiserror::Error)]
enum SendError {
    /// It may be, later.
    #[error("it may work later")]
    Later,
    /// It never will.
    #[error("it will not work")]
    Never,
}

impl Collector {
    /// The collector at this address, which takes one kind of thing at this path below it.
    pub(in crate::ops) fn new(
        endpoint: &str,
        below: &str,
        headers: &[(String, String)],
    ) -> Result<Self, OpsError> {
        let wrong =
            |reason: &str| OpsError::Endpoint { endpoint: endpoint.to_owned(), reason: reason.to_owned() };
        let uri: Uri = endpoint.parse().map_err(|error: http::uri::InvalidUri| wrong(&error.to_string()))?;
        if uri.host().is_none_or(str::is_empty) {
            return Err(wrong("it names no host"));
        }
        let is_secure = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => return Err(wrong("it has to begin with http:// or https://")),
        };
        let path = uri.path().trim_end_matches('/');
        let path = if path.ends_with(below) { path.to_owned() } else { format!("{path}{below}") };
        let mut parts = uri.clone().into_parts();
        parts.path_and_query = path.parse().ok();
        let uri = Uri::from_parts(parts).map_err(|error| wrong(&error.to_string()))?;
        let headers = headers
            .iter()
            .map(|(name, value)| Some((name.parse().ok()?, value.parse().ok()?)))
            .collect::<Option<_>>()
            .ok_or_else(|| wrong("one of its headers is none"))?;
        let client = Client::new(is_secure).map_err(|error| wrong(&error.to_string()))?;
        Ok(Self { uri, headers, client })
    }

    /// Sends this, again if that may help. Says whether the collector has taken it.
    pub(in crate::ops) async fn deliver(&self, body: Bytes, retry: &Retry) -> bool {
        let mut pauses = retry.delays(Dice::fresh());
        loop {
            let sent = time::timeout(PATIENCE, self.send(body.clone())).await;
            match sent.unwrap_or(Err(SendError::Later)) {
                Ok(()) => return true,
                Err(SendError::Never) => return false,
                Err(SendError::Later) => match pauses.next() {
                    Some(pause) => time::sleep(pause).await,
                    None => return false,
                },
            }
        }
    }

    async fn send(&self, body: Bytes) -> Result<(), SendError> {
        let mut request = Request::post(self.uri.clone())
            .header(header::CONTENT_TYPE, "application/json")
            .body(body)
            .map_err(|_| SendError::Never)?;
        for (name, value) in &self.headers {
            request.headers_mut().insert(name, value.clone());
        }
        let answer = self.client.send(request).await.map_err(|_| SendError::Later)?;
        let status = answer.status();
        // Read to its end, so that the connection can be used again; what the collector says beside its status changes nothing.
        let _ = Limited::new(answer.into_body(), ANSWER).collect().await;
        match status {
            status if status.is_success() => Ok(()),
            StatusCode::TOO_MANY_REQUESTS
            | StatusCode::BAD_GATEWAY
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT => Err(SendError::Later),
            _ => Err(SendError::Never),
        }
    }
}

impl Traces {
    /// Sends spans until told to stop, then what is left, once.
    pub(in crate::ops) async fn export(&self, stop: impl Future<Output = ()>) {
        let mut stop = pin!(stop);
        let retry = Retry::times(5).first(Duration::from_secs(1)).cap(Duration::from_secs(15));
        loop {
            tokio::select! {
                () = &mut stop => break,
                () = time::sleep(PERIOD) => {}
                () = self.full.notified() => {}
            }
            tokio::select! {
                () = &mut stop => break,
                () = self.send_all(&retry) => {}
            }
        }
        self.send_all(&Retry::never()).await;
    }

    /// Sends all there is. Cut short, it gives the batch that was under way back: the collector may then get it twice, which says less
    /// wrong than not at all.
    pub(in crate::ops) async fn send_all(&self, retry: &Retry) {
        loop {
            let batch = Batch { traces: self, spans: self.take() };
            if batch.spans.is_empty() {
                return;
            }
            let body = Bytes::from(request(&self.service, &batch.spans).to_string());
            let rejected =
                if self.collector.deliver(body, retry).await { 0 } else { batch.spans.len() as u64 };
            batch.finish();
            self.dropped.fetch_add(rejected, Ordering::Relaxed);
        }
    }
}

/// Spans that are being sent.
struct Batch<'a> {
    traces: &'a Traces,
    spans: Vec<Span>,
}

impl Batch<'_> {
    fn finish(mut self) {
        self.spans.clear();
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        self.traces.give_back(&mut self.spans);
    }
}
