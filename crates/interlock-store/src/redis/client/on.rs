//! TLS with rustls.

use redis::{Client, ConnectionInfo, RedisResult, TlsCertificates};
use rustls::crypto::{CryptoProvider, ring};

/// A client that believes these roots, given in PEM, or else those of the machine.
pub(in super::super) fn client(info: ConnectionInfo, roots: Option<&[u8]>) -> RedisResult<Client> {
    // The driver takes the process's provider of cryptography, and rustls panics where two are built in and nobody has chosen. Whoever has
    // chosen before is left alone.
    if CryptoProvider::get_default().is_none() {
        let _ = ring::default_provider().install_default();
    }
    match roots {
        None => Client::open(info),
        Some(roots) => Client::build_with_tls(
            info,
            TlsCertificates { client_tls: None, root_cert: Some(roots.to_vec()) },
        ),
    }
}
