//! TLS in front of a listener, with client certificates where they are asked for.

use std::{io, path::Path, sync::Arc, time::Duration};

use arc_swap::ArcSwap;
use rustls::{
    RootCertStore, ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    server::{VerifierBuilderError, WebPkiClientVerifier},
};
use tokio::{net::TcpStream, time::timeout};
use tokio_rustls::{TlsAcceptor, server::TlsStream};

use super::PeerCertificate;
use crate::policy::{IdentityConfig, TlsFiles, read_file};

/// What a listener needs to speak TLS.
#[derive(Debug)]
pub struct Tls {
    files: TlsFiles,
    patience: Duration,
    current: ArcSwap<ServerConfig>,
}

/// Whether clients show a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientCertificates {
    /// They are not asked for one.
    Unasked,
    /// They may; one that is shown must be genuine.
    Optional,
    /// They must.
    Required,
}

/// Why there is no TLS.
#[derive(Debug, thiserror::Error)]
pub enum InvalidTls {
    /// A file cannot be read.
    #[error("`{file}`: {why}")]
    Unreadable {
        /// Which.
        file: String,
        /// Why.
        why: String,
    },
    /// A file has nothing of what it should have.
    #[error("`{file}` has no {wanted} in PEM")]
    Missing {
        /// Which.
        file: String,
        /// What it should have.
        wanted: &'static str,
    },
    /// The certificate and the key do not make a server.
    #[error("`{file}` cannot be served: {source}")]
    Unusable {
        /// The certificate.
        file: String,
        /// Why.
        #[source]
        source: rustls::Error,
    },
    /// The authorities cannot check anybody.
    #[error("`{file}` cannot check clients: {source}")]
    Authorities {
        /// Which.
        file: String,
        /// Why.
        #[source]
        source: VerifierBuilderError,
    },
}

impl ClientCertificates {
    /// What a configuration asks of clients: with authorities set they must show a certificate, unless another way in is open.
    #[must_use]
    pub fn of(files: &TlsFiles, identity: &IdentityConfig) -> Self {
        let has_other_way = identity.jwt.is_some() || !identity.api_keys.is_empty() || !identity.is_required;
        match (&files.client_ca, identity.mtls) {
            (None, _) => Self::Unasked,
            (Some(_), Some(_)) if has_other_way => Self::Optional,
            (Some(_), _) => Self::Required,
        }
    }
}

impl Tls {
    /// Reads the files. A handshake may take as long as `patience`.
    ///
    /// # Errors
    ///
    /// A file cannot be read, or the files do not fit together.
    pub fn open(
        files: &TlsFiles,
        clients: ClientCertificates,
        patience: Duration,
    ) -> Result<Self, InvalidTls> {
        let current = ArcSwap::from_pointee(server(files, clients)?);
        Ok(Self { files: files.clone(), patience, current })
    }

    /// Reads the files again, for certificates that were renewed, and asks clients for theirs as it is said now. Connections that are open
    /// stay as they are.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open); what was in force stays.
    pub fn reload(&self, clients: ClientCertificates) -> Result<(), InvalidTls> {
        self.current.store(Arc::new(server(&self.files, clients)?));
        Ok(())
    }

    /// Does the handshake on a connection, and says who is on the other side.
    ///
    /// # Errors
    ///
    /// The handshake fails or takes too long.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future closes the connection.
    pub async fn accept(
        &self,
        stream: TcpStream,
    ) -> io::Result<(TlsStream<TcpStream>, Option<PeerCertificate>)> {
        let acceptor = TlsAcceptor::from(self.current.load_full());
        let stream = timeout(self.patience, acceptor.accept(stream))
            .await
            .map_err(|_| io::Error::new(io::ErrorKind::TimedOut, "the TLS handshake took too long"))??;
        let chain = stream.get_ref().1.peer_certificates();
        let peer = chain.and_then(|chain| chain.first()).and_then(|own| PeerCertificate::of_der(own));
        Ok((stream, peer))
    }
}

fn server(files: &TlsFiles, clients: ClientCertificates) -> Result<ServerConfig, InvalidTls> {
    let provider = Arc::new(ring::default_provider());
    let file = || files.cert.display().to_string();
    let unusable = |source| InvalidTls::Unusable { file: file(), source };
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(unusable)?;
    let builder = match files.client_ca.as_deref().filter(|_| clients != ClientCertificates::Unasked) {
        None => builder.with_no_client_auth(),
        Some(path) => {
            let file = path.display().to_string();
            let roots = authorities(path)?;
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
            let verifier = match clients {
                ClientCertificates::Required => verifier,
                _ => verifier.allow_unauthenticated(),
            };
            let verifier = verifier.build().map_err(|source| InvalidTls::Authorities { file, source })?;
            builder.with_client_cert_verifier(verifier)
        }
    };
    let mut config =
        builder.with_single_cert(certificates(&files.cert)?, private_key(&files.key)?).map_err(unusable)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

/// The authorities in a file.
pub(crate) fn authorities(path: &Path) -> Result<RootCertStore, InvalidTls> {
    let mut roots = RootCertStore::empty();
    for authority in certificates(path)? {
        let unusable = |source| InvalidTls::Unusable { file: path.display().to_string(), source };
        roots.add(authority).map_err(unusable)?;
    }
    Ok(roots)
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, InvalidTls> {
    let text = read(path)?;
    let list: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(text.as_bytes()).collect();
    match list {
        Ok(list) if !list.is_empty() => Ok(list),
        _ => Err(InvalidTls::Missing { file: path.display().to_string(), wanted: "certificate" }),
    }
}

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, InvalidTls> {
    PrivateKeyDer::from_pem_slice(read(path)?.as_bytes())
        .map_err(|_| InvalidTls::Missing { file: path.display().to_string(), wanted: "private key" })
}

fn read(path: &Path) -> Result<String, InvalidTls> {
    read_file(path).map_err(|why| InvalidTls::Unreadable { file: path.display().to_string(), why })
}
