//! Connections to servers, kept for the next request.

use std::{fmt, io, time::Duration};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{Client as Pool, connect::HttpConnector},
    rt::{TokioExecutor, TokioTimer},
};

use crate::upstream::pending::Lost;

/// The connections that all upstreams share.
#[derive(Clone)]
pub(crate) struct Client(Pool<HttpsConnector<HttpConnector>, Full<Bytes>>);

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
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        connector.enforce_http(false);
        connector.set_connect_timeout(Some(CONNECT));
        let provider = rustls::crypto::ring::default_provider();
        let builder = HttpsConnectorBuilder::new();
        // Reading the system's certificates takes a while and some memory, so it is left out where nobody needs them.
        let builder = if is_secure {
            builder.with_provider_and_native_roots(provider)?
        } else {
            let trusting_nobody = rustls::ClientConfig::builder_with_provider(provider.into())
                .with_safe_default_protocol_versions()
                .map_err(io::Error::other)?
                .with_root_certificates(rustls::RootCertStore::empty())
                .with_no_client_auth();
            builder.with_tls_config(trusting_nobody)
        };
        let connector = builder.https_or_http().enable_http1().wrap_connector(connector);
        let pool = Pool::builder(TokioExecutor::new())
            .pool_idle_timeout(IDLE)
            .pool_timer(TokioTimer::new())
            .timer(TokioTimer::new())
            .build(connector);
        Ok(Self(pool))
    }

    /// Sends a request. It is never sent twice once a byte of it may have been read.
    pub(crate) async fn send(&self, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, Lost> {
        self.0.request(request).await.map_err(|error| {
            let reason = told(&error);
            if error.is_connect() { Lost::before(reason) } else { Lost::after(reason) }
        })
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
