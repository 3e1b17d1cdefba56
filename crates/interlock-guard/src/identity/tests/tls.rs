//! Handshakes over real sockets, with certificates made here.

use std::{fs, sync::Arc, time::Duration};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject as _},
};
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};
use tokio_rustls::TlsConnector;

use super::super::{ClientCertificates, PeerCertificate, Tls};
use crate::policy::{CertificateName, IdentityConfig, TlsFiles};

/// An authority, and the certificate it gave to a server.
pub(super) struct Made {
    folder: TempDir,
    authority: CertifiedIssuer<'static, KeyPair>,
}

impl Made {
    pub(super) fn new() -> Self {
        let mut params = CertificateParams::new(vec![]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let made = Self { folder: tempfile::tempdir().unwrap(), authority };
        fs::write(made.folder.path().join("ca.pem"), made.authority.pem()).unwrap();
        made.renew();
        made
    }

    fn renew(&self) {
        let (cert, key) = self.issue("localhost");
        fs::write(self.folder.path().join("cert.pem"), cert).unwrap();
        fs::write(self.folder.path().join("key.pem"), key).unwrap();
    }

    fn issue(&self, name: &str) -> (String, String) {
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        let pair = KeyPair::generate().unwrap();
        let cert = params.signed_by(&pair, &self.authority).unwrap();
        (cert.pem(), pair.serialize_pem())
    }

    fn files(&self) -> TlsFiles {
        let path = |name: &str| self.folder.path().join(name);
        TlsFiles { cert: path("cert.pem"), key: path("key.pem"), client_ca: Some(path("ca.pem")) }
    }

    pub(super) fn server(&self, clients: ClientCertificates) -> Tls {
        Tls::open(&self.files(), clients, Duration::from_secs(30)).unwrap()
    }

    /// A client that trusts the authority, and shows a certificate if it has one.
    fn client(&self, own: Option<(String, String)>) -> TlsConnector {
        let mut roots = RootCertStore::empty();
        roots.add(self.authority.der().clone()).unwrap();
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots);
        let config = match own {
            None => builder.with_no_client_auth(),
            Some((cert, key)) => {
                let cert = CertificateDer::from_pem_slice(cert.as_bytes()).unwrap();
                let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
                builder.with_client_auth_cert(vec![cert], key).unwrap()
            }
        };
        TlsConnector::from(Arc::new(config))
    }
}

/// One connection: what the server makes of it, after it has greeted the client.
async fn meet(tls: &Tls, client: TlsConnector) -> Result<Option<PeerCertificate>, String> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let client = tokio::spawn(async move {
        let stream = TcpStream::connect(address).await.unwrap();
        let mut stream = client.connect(ServerName::try_from("localhost").unwrap(), stream).await?;
        let mut greeting = [0; 5];
        stream.read_exact(&mut greeting).await?;
        std::io::Result::Ok(greeting)
    });
    let (stream, _) = listener.accept().await.unwrap();
    let outcome = match tls.accept(stream).await {
        Ok((mut stream, peer)) => {
            stream.write_all(b"hello").await.unwrap();
            stream.shutdown().await.unwrap();
            Ok(peer)
        }
        Err(error) => Err(error.to_string()),
    };
    let heard = client.await.unwrap();
    assert_eq!(heard.is_ok(), outcome.is_ok(), "{heard:?}");
    outcome
}

#[tokio::test]
async fn a_client_without_a_certificate_is_served_where_none_is_required() {
    let made = Made::new();
    for clients in [ClientCertificates::Unasked, ClientCertificates::Optional] {
        assert_eq!(meet(&made.server(clients), made.client(None)).await, Ok(None));
    }
    let refused = meet(&made.server(ClientCertificates::Required), made.client(None)).await.unwrap_err();
    assert!(refused.contains("peer sent no certificates"), "{refused}");
}

#[tokio::test]
async fn a_certificate_of_the_authority_names_its_client_and_another_one_is_refused() {
    let (made, other) = (Made::new(), Made::new());
    for clients in [ClientCertificates::Optional, ClientCertificates::Required] {
        let tls = made.server(clients);
        let peer = meet(&tls, made.client(Some(made.issue("agent")))).await.unwrap().unwrap();
        assert_eq!(peer.subject(), "CN=agent");
        let refused = meet(&tls, made.client(Some(other.issue("agent")))).await.unwrap_err();
        assert!(refused.contains("invalid peer certificate"), "{refused}");
    }
}

#[tokio::test]
async fn a_renewed_certificate_is_served_after_a_reload_and_a_broken_one_is_not() {
    let made = Made::new();
    let tls = made.server(ClientCertificates::Unasked);
    made.renew();
    tls.reload(ClientCertificates::Unasked).unwrap();
    assert_eq!(meet(&tls, made.client(None)).await, Ok(None));
    fs::write(made.folder.path().join("cert.pem"), "nothing").unwrap();
    assert!(
        tls.reload(ClientCertificates::Unasked)
            .unwrap_err()
            .to_string()
            .ends_with("cert.pem` has no certificate in PEM")
    );
    assert_eq!(meet(&tls, made.client(None)).await, Ok(None));
}

#[tokio::test(start_paused = true)]
async fn a_client_that_says_nothing_is_not_waited_for() {
    let made = Made::new();
    let tls = made.server(ClientCertificates::Unasked);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let _silent = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let (stream, _) = listener.accept().await.unwrap();
    assert_eq!(tls.accept(stream).await.unwrap_err().to_string(), "the TLS handshake took too long");
}

#[test]
fn files_that_do_not_fit_together_are_named() {
    let made = Made::new();
    let opened = |files: &TlsFiles| {
        let error = Tls::open(files, ClientCertificates::Required, Duration::ZERO).unwrap_err().to_string();
        error.replace(&format!("{}/", made.folder.path().display()), "")
    };
    let files = made.files();
    fs::write(made.folder.path().join("other.pem"), made.issue("other").1).unwrap();
    let other = TlsFiles { key: made.folder.path().join("other.pem"), ..files.clone() };
    assert_eq!(opened(&other), "`cert.pem` cannot be served: keys may not be consistent: KeyMismatch");
    let none = TlsFiles { key: files.cert.clone(), ..files.clone() };
    assert_eq!(opened(&none), "`cert.pem` has no private key in PEM");
    let gone = TlsFiles { client_ca: Some(made.folder.path().join("gone")), ..files };
    assert_eq!(opened(&gone), "`gone`: there is no such file");
}

#[test]
fn clients_must_show_a_certificate_unless_another_way_is_open() {
    let files = Made::new().files();
    let mtls = IdentityConfig {
        is_required: true,
        mtls: Some(CertificateName::Subject),
        ..IdentityConfig::default()
    };
    assert_eq!(ClientCertificates::of(&files, &mtls), ClientCertificates::Required);
    assert_eq!(ClientCertificates::of(&files, &IdentityConfig::default()), ClientCertificates::Required);
    let either = IdentityConfig { is_required: false, ..mtls.clone() };
    assert_eq!(ClientCertificates::of(&files, &either), ClientCertificates::Optional);
    let none = TlsFiles { client_ca: None, ..files };
    assert_eq!(ClientCertificates::of(&none, &mtls), ClientCertificates::Unasked);
}
