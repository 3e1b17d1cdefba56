//! A server behind a URL: Streamable HTTP, on connections that are kept.

mod answer;
mod client;
mod head;
pub(crate) mod listen;
mod sse;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode, Uri, header};
use http_body_util::BodyExt;
use tokio::task::JoinHandle;

use self::client::{Written, lines, with_body};
pub(crate) use self::{client::Client, head::decoded};
use super::{
    link::Link,
    parcel::Parcel,
    pending::{About, Lost, Reply},
};
use crate::headers;

/// A conversation over HTTP. Clones are the same conversation.
#[derive(Clone)]
pub(crate) struct Http {
    client: Client,
    place: Arc<Place>,
    terms: Arc<Mutex<Terms>>,
}

/// Where the server is.
#[derive(Debug)]
pub(crate) struct Place {
    /// Its address.
    pub(crate) uri: Uri,
    /// What every request carries besides.
    pub(crate) headers: HeaderMap,
}

/// What was agreed on.
#[derive(Debug, Clone, Default)]
struct Terms {
    session: Option<HeaderValue>,
    version: Option<HeaderValue>,
    /// How a message begins on these terms, once one was sent.
    lines: Option<Bytes>,
}

/// Longer answers are not taken.
const LONGEST: usize = 64 << 20;

impl Http {
    pub(crate) fn new(client: Client, place: Arc<Place>) -> Self {
        Self { client, place, terms: Arc::default() }
    }

    /// Notes the revision that was agreed on.
    pub(crate) fn speak(&self, version: &str) {
        let mut terms = self.terms();
        terms.version = HeaderValue::from_str(version).ok();
        terms.lines = None;
    }

    /// Sends a request and waits for its answer.
    pub(super) async fn call(&self, link: &Arc<Link>, parcel: &Parcel, number: u64, about: &About) -> Reply {
        let terms = if parcel.is_greeting { Terms::default() } else { self.terms().clone() };
        let request = self.written(parcel, number, &terms);
        let response = match self.client.send_written(&self.place.uri, request).await {
            Ok(response) => response,
            Err(error) => return Reply::Lost(error),
        };
        if parcel.is_greeting {
            let mut terms = self.terms();
            terms.session = response.headers().get(&headers::SESSION).cloned();
            terms.lines = None;
        }
        let status = response.status();
        if status == StatusCode::NOT_FOUND && terms.session.is_some() {
            let reason = "it does not know the session any more (HTTP 404)".to_owned();
            return Reply::Lost(Lost { is_session_gone: true, ..Lost::before(reason) });
        }
        answer::wait(self, link, response, number, about).await
    }

    /// Sends a notification or an answer.
    pub(super) async fn tell(&self, bytes: Bytes) -> Result<(), Lost> {
        let terms = self.terms().clone();
        let request = self.request(Method::POST, &terms, bytes);
        let response = self.client.send(request).await?;
        let status = response.status();
        // Read to its end, so that the connection can be used again.
        let _ = http_body_util::Limited::new(response.into_body(), 64 << 10).collect().await;
        if status.is_success() {
            Ok(())
        } else {
            Err(Lost::before(format!("it answered with HTTP {status}")))
        }
    }

    /// Tells the server that the session is over, if there is one. Nobody has to wait for it.
    pub(crate) fn leave(&self) -> Option<JoinHandle<()>> {
        let terms = std::mem::take(&mut *self.terms());
        terms.session.as_ref()?;
        let request = self.request(Method::DELETE, &terms, Bytes::new());
        let client = self.client.clone();
        Some(tokio::spawn(async move { drop(client.send(request).await) }))
    }

    /// A message as it goes over a connection. Almost all of a conversation begin with the same lines.
    fn written(&self, parcel: &Parcel, number: u64, terms: &Terms) -> Written {
        let (own, body) = (head::repeated(parcel, terms.version.as_ref()), parcel.addressed(number));
        if let (true, Some(lines)) = (own.is_empty(), &terms.lines) {
            return with_body(lines, &body, true);
        }
        let mut request = self.request(Method::POST, terms, Bytes::new());
        let is_like_others = own.is_empty() && !parcel.is_greeting;
        for (name, value) in &own {
            request.headers_mut().insert(name.clone(), value.clone());
        }
        let lines = lines(&request);
        if is_like_others {
            let mut now = self.terms();
            // They may have changed meanwhile.
            if (&now.session, &now.version) == (&terms.session, &terms.version) {
                now.lines = Some(lines.clone());
            }
        }
        with_body(&lines, &body, true)
    }

    fn request(&self, method: Method, terms: &Terms, body: Bytes) -> Request<Bytes> {
        let mut request = Request::new(body);
        let is_post = method == Method::POST;
        *request.method_mut() = method;
        *request.uri_mut() = self.place.uri.clone();
        let headers = request.headers_mut();
        headers.clone_from(&self.place.headers);
        let accept = if is_post { "application/json, text/event-stream" } else { "text/event-stream" };
        headers.insert(header::ACCEPT, HeaderValue::from_static(accept));
        if is_post {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        if let Some(session) = &terms.session {
            headers.insert(headers::SESSION.clone(), session.clone());
        }
        if let Some(version) = &terms.version {
            headers.insert(headers::VERSION.clone(), version.clone());
        }
        request
    }

    fn terms(&self) -> MutexGuard<'_, Terms> {
        self.terms.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
