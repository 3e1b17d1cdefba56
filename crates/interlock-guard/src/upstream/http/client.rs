//! Connections to a server, kept for the next request.
//!
//! A connection has no task of its own: whoever waits for its answer drives it. So a call that goes out and comes back wakes one task, not
//! three in turn.

use bytes::Bytes;
use http::{HeaderValue, Request, Response, Uri, header};
use http_body_util::Full;
use hyper::{
    body::{Body, Frame, Incoming, SizeHint},
    client::conn::http1::{self, Connection, SendRequest},
    service::Service,
};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder, MaybeHttpsStream, builderstates::WantsSchemes};
use hyper_util::{client::legacy::connect::HttpConnector, rt::TokioIo, service::TowerToHyperService};
use rustls::{ClientConfig, RootCertStore, crypto::ring};
use std::{
    fmt, io,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, ready},
    time::{Duration, Instant},
};
use tokio::net::TcpStream;

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
    lines: Vec<(Instant, Line)>,
    /// Whether somebody will look for those that were silent for too long.
    is_watched: bool,
}

/// A connection.
struct Line {
    sender: SendRequest<Full<Bytes>>,
    driver: Pin<Box<Connection<Stream, Full<Bytes>>>>,
}

type Stream = MaybeHttpsStream<TokioIo<TcpStream>>;

/// An answer on its way. When it has come as a whole its connection is used again; when it is dropped before, the connection ends.
pub(crate) struct Arriving {
    body: Incoming,
    line: Option<Line>,
    shelf: Shelf,
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
    pub(crate) async fn send(&self, request: Request<Full<Bytes>>) -> Result<Response<Arriving>, Lost> {
        let uri = request.uri().clone();
        let mut request = addressed(request);
        let shelf = self.shelves.get(lane::current()).or(self.shelves.first()).cloned().unwrap_or_default();
        while let Some(line) = shelf.take().await {
            match line.exchange(request, &shelf).await {
                Ok(response) => return Ok(response),
                // The server hung up on a silent connection, and nothing was sent.
                Err((_, Some(unsent))) => request = unsent,
                Err((error, None)) => return Err(Lost::after(told(&error))),
            }
        }
        let line = Box::pin(self.connect(uri)).await?;
        line.exchange(request, &shelf).await.map_err(|(error, unsent)| {
            let reason = told(&error);
            if unsent.is_some() { Lost::before(reason) } else { Lost::after(reason) }
        })
    }

    async fn connect(&self, uri: Uri) -> Result<Line, Lost> {
        let stream = self.connector.call(uri).await.map_err(|error| Lost::before(told(&*error)))?;
        let (sender, driver) = http1::handshake(stream).await.map_err(|error| Lost::before(told(&error)))?;
        Ok(Line { sender, driver: Box::pin(driver) })
    }
}

/// As it goes over a connection: the path alone, and the host in a header.
fn addressed(mut request: Request<Full<Bytes>>) -> Request<Full<Bytes>> {
    let host = request.uri().authority().and_then(|host| HeaderValue::from_str(host.as_str()).ok());
    if let Some(host) = host {
        request.headers_mut().entry(header::HOST).or_insert(host);
    }
    let path = request.uri().path_and_query().cloned();
    *request.uri_mut() = path.map_or_else(Uri::default, Uri::from);
    request
}

impl Line {
    /// Sends a request and waits for the head of its answer. A request that was not sent at all is given back.
    async fn exchange(
        self,
        request: Request<Full<Bytes>>,
        shelf: &Shelf,
    ) -> Result<Response<Arriving>, (hyper::Error, Option<Request<Full<Bytes>>>)> {
        let Self { mut sender, mut driver } = self;
        let mut is_over = false;
        let response = {
            let mut answer = std::pin::pin!(sender.try_send_request(request));
            std::future::poll_fn(|context| {
                is_over = is_over || driver.as_mut().poll(context).is_ready();
                answer.as_mut().poll(context)
            })
            .await
        };
        let response = response.map_err(|mut error| {
            let unsent = error.take_message();
            (error.into_error(), unsent)
        })?;
        let line = (!is_over).then_some(Self { sender, driver });
        Ok(response.map(|body| Arriving { body, line, shelf: shelf.clone() }))
    }

    /// Whether another request can be sent.
    fn is_ready(&mut self, context: &mut Context<'_>) -> bool {
        self.driver.as_mut().poll(context).is_pending() && self.sender.is_ready()
    }
}

impl Shelf {
    /// The connection that was used last, if there is one that still holds.
    async fn take(&self) -> Option<Line> {
        loop {
            let (since, mut line) = self.kept().lines.pop()?;
            let is_ready = std::future::poll_fn(|context| Poll::Ready(line.is_ready(context))).await;
            if is_ready && since.elapsed() < IDLE {
                return Some(line);
            }
        }
    }

    fn put(&self, line: Line) {
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

impl Body for Arriving {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let Self { body, line, shelf } = &mut *self;
        let mut frame = Pin::new(&mut *body).poll_frame(context);
        if frame.is_pending()
            && let Some(driven) = line
        {
            if driven.driver.as_mut().poll(context).is_ready() {
                *line = None;
            }
            frame = Pin::new(body).poll_frame(context);
        }
        let frame = ready!(frame);
        if frame.is_none()
            && let Some(mut line) = line.take()
            && line.is_ready(context)
        {
            shelf.put(line);
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        // Asked to the end in any case, so that the connection is put back.
        false
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
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
