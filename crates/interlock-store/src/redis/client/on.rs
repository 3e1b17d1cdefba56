//! TLS with rustls.

use redis::{Client, ConnectionInfo, RedisResult, TlsCertificates};

/// A client that believes these roots, given in PEM, or else those of the machine.
pub(in super::super) fn client(info: ConnectionInfo, roots: Option<&[u8]>) -> RedisResult<Client> {
    match roots {
        None => Client::open(info),
        Some(roots) => Client::build_with_tls(
            info,
            TlsCertificates { client_tls: None, root_cert: Some(roots.to_vec()) },
        ),
    }
}
