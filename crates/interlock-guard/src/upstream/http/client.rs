//! Connections to a server, kept for the next request.
//!
//! A connection has no task of its own: whoever waits for its answer drives it. So a call that goes out and comes back wakes one task, not
//! three in turn. Of HTTP it speaks what a request with a whole body and its answer need, and nothing that the guard never says.

mod body;
mod broken;
mod head;
mod line;

use std::{
    fmt, io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::Poll,
    time::{Duration, Instant},
};

use bytes::Bytes;
use http::{Request, Response, Uri};
use hyper::service::Service;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder, builderstates::WantsSchemes};
use hyper_util::{client::legacy::connect::HttpConnector, service::TowerToHyperService};
use rustls::{ClientConfig, RootCertStore, crypto::ring};

use self::line::Line;
pub(super) use self::{
    body::Arriving,
    head::{Written, lines, with_body},
};
use crate::{lane, upstream::pending::Lost};

/// The connections to a server.
#[derive(Clone)]
pub(crate) struct Client {
    connector: TowerToHyperService<HttpsConnector<HttpConnector>>,
    /// One for every lane, and the first for everybody else: a connection wakes the thread that opened it.
    shelves: Arc<[Shelf]>,
}

/// Connections that nobody uses.
#[derive(Clone, Default)]
struct Shelf(Arc<Mutex<Kept>>);

#[derive(Default)]
struct Kept {
    /// Since when, the one that was used last behind the others.
    lines: Vec<(Instant, Box<Line>)>,
    /// Whether somebody will look for those that were silent for too long.
    is_watched: bool,
}

/// Shorter than the five seconds after which Node closes a silent connection: a request must not meet that.
const IDLE: Duration = Duration::from_secs(4);
/// A server that does not even accept a connection is away.
const CONNECT: Duration = Duration::from_secs(10);

impl Client {
    /// Connections to a server, with TLS if its address asks for it.
    ///
    /// # Errors
    ///
    /// If the system has no certificates to check the server's by.
    pub(crate) fn new(is_secure: bool) -> io::Result<Self> {
        let builder = HttpsConnectorBuilder::new();
        // Reading the system's certificates takes a while and some memory, so it is left out where nobody needs them.
        if is_secure {
            Ok(Self::over(builder.with_provider_and_native_roots(ring::default_provider())?))
        } else {
            Self::trusting(RootCertStore::empty())
        }
    }

    /// Connections to a server whose certificate is checked against these authorities, and no others.
    ///
    /// # Errors
    ///
    /// If TLS cannot be set up.
    pub(crate) fn trusting(authorities: RootCertStore) -> io::Result<Self> {
        let config = ClientConfig::builder_with_provider(ring::default_provider().into())
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .with_root_certificates(authorities)
            .with_no_client_auth();
        Ok(Self::over(HttpsConnectorBuilder::new().with_tls_config(config)))
    }

    fn over(builder: HttpsConnectorBuilder<WantsSchemes>) -> Self {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        connector.enforce_http(false);
        connector.set_connect_timeout(Some(CONNECT));
        let connector = builder.https_or_http().enable_http1().wrap_connector(connector);
        let shelves = (0..=lane::most()).map(|_| Shelf::default()).collect();
        Self { connector: TowerToHyperService::new(connector), shelves }
    }

    /// Sends a request. It is never sent twice once a byte of it may have been read.
    pub(crate) async fn send(&self, request: Request<Bytes>) -> Result<Response<Arriving>, Lost> {
        self.send_written(request.uri(), head::written(&request)).await
    }

    /// The same for a request that is written already.
    pub(crate) async fn send_written(&self, uri: &Uri, request: Written) -> Result<Response<Arriving>, Lost> {
        let shelf = self.shelves.get(lane::current()).or(self.shelves.first()).cloned().unwrap_or_default();
        while let Some(line) = shelf.take().await {
            match line.exchange(request.clone(), &shelf).await {
                Ok(response) => return Ok(response),
                // The server hung up on a silent connection, and nothing was sent.
                Err((_, false)) => {}
                Err((broken, true)) => return Err(Lost::after(broken.to_string())),
            }
        }
        let line = Box::pin(self.connect(uri.clone())).await?;
        line.exchange(request, &shelf).await.map_err(|(broken, has_sent)| {
            let reason = broken.to_string();
            if has_sent { Lost::after(reason) } else { Lost::before(reason) }
        })
    }

    async fn connect(&self, uri: Uri) -> Result<Box<Line>, Lost> {
        let stream = self.connector.call(uri).await.map_err(|error| Lost::before(told(&*error)))?;
        Ok(Box::new(Line::new(stream)))
    }
}

impl Shelf {
    /// The connection that was used last, if there is one that still holds.
    async fn take(&self) -> Option<Box<Line>> {
        loop {
            let (since, mut line) = self.kept().lines.pop()?;
            let is_silent = std::future::poll_fn(|context| Poll::Ready(line.is_silent(context))).await;
            if is_silent && since.elapsed() < IDLE {
                return Some(line);
            }
        }
    }

    fn put(&self, line: Box<Line>) {
        let mut kept = self.kept();
        kept.lines.push((Instant::now(), line));
        if !std::mem::replace(&mut kept.is_watched, true) {
            drop(kept);
            let shelf = self.clone();
            tokio::spawn(async move {
                while shelf.has_any() {
                    tokio::time::sleep(IDLE).await;
                }
            });
        }
    }

    /// Whether there are connections, after those were ended that were silent for too long. If not, nobody watches any more.
    fn has_any(&self) -> bool {
        let mut kept = self.kept();
        kept.lines.retain(|(since, _)| since.elapsed() < IDLE);
        kept.is_watched = !kept.lines.is_empty();
        kept.is_watched
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An error and what caused it.
fn told(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Client")
    }
}

#[cfg(test)]
mod tests;
