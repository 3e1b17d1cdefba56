//! The bytes to and from a server, through TLS where its address asks for it.
//!
//! Requests are timed by when their last bytes leave. TLS only wraps what is written: what goes in with one write leaves with one, so the
//! techniques are the same.

use std::{
    io,
    sync::{Arc, LazyLock},
};

use rustls::{ClientConfig, RootCertStore, crypto::ring, pki_types::ServerName};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
};
use tokio_rustls::TlsConnector;

use super::Address;
use crate::trouble::Trouble;

/// An open connection.
pub(super) trait Wire: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Wire for T {}

/// What TLS calls the protocols.
pub(super) const HTTP1: &[u8] = b"http/1.1";
pub(super) const HTTP2: &[u8] = b"h2";

/// Connects, and agrees on a protocol where there is TLS.
pub(super) async fn open(address: &Address, protocol: &[u8]) -> Result<Box<dyn Wire>, Trouble> {
    let stream = TcpStream::connect((address.bare_host(), address.port)).await?;
    stream.set_nodelay(true)?;
    if !address.secure {
        return Ok(Box::new(stream));
    }
    let name = ServerName::try_from(address.bare_host().to_owned()).map_err(io::Error::other)?;
    let stream = TlsConnector::from(Arc::new(config(protocol)?)).connect(name, stream).await?;
    let agreed = stream.get_ref().1.alpn_protocol();
    // A server that does not say what it speaks speaks HTTP/1.1.
    if agreed.unwrap_or(HTTP1) != protocol {
        return Err(Trouble::Unreadable("the server speaks another version of HTTP".into()));
    }
    Ok(Box::new(stream))
}

/// Servers are known by the system's authorities, or by those in the file that `SSL_CERT_FILE` names. They are read once: there are many, and
/// every run has connections of its own.
static AUTHORITIES: LazyLock<Result<Arc<RootCertStore>, String>> = LazyLock::new(|| {
    let found = rustls_native_certs::load_native_certs();
    let mut authorities = RootCertStore::empty();
    authorities.add_parsable_certificates(found.certs);
    if authorities.is_empty() {
        let why = found.errors.first().map(|error| format!(": {error}")).unwrap_or_default();
        return Err(format!("there is no authority to check the server's certificate by{why}"));
    }
    Ok(Arc::new(authorities))
});

fn config(protocol: &[u8]) -> io::Result<ClientConfig> {
    let authorities = AUTHORITIES.clone().map_err(io::Error::other)?;
    let mut config = ClientConfig::builder_with_provider(ring::default_provider().into())
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_root_certificates(authorities)
        .with_no_client_auth();
    config.alpn_protocols = vec![protocol.to_vec()];
    Ok(config)
}
