//! Servers behind `https://`, with certificates made here.

use std::{collections::BTreeMap, fs, net::SocketAddr, path::Path, sync::Arc, time::Duration};

use interlock_guard::{
    identity::{ClientCertificates, Tls},
    listen::Options,
    policy::{Processes, Reach, Sharing, TlsFiles, UpstreamConfig},
    upstream::Upstream,
};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

use crate::kit::{call, engine, hello, listening, parrot, post, session, text, upstream};

/// Makes an authority and a certificate for this machine that it has signed.
fn issue(folder: &Path) {
    let mut params = CertificateParams::new(vec![]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let pair = KeyPair::generate().unwrap();
    let own = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    fs::write(folder.join("ca.pem"), authority.pem()).unwrap();
    fs::write(folder.join("cert.pem"), own.signed_by(&pair, &authority).unwrap().pem()).unwrap();
    fs::write(folder.join("key.pem"), pair.serialize_pem()).unwrap();
}

/// A server with TLS: a guard, as that is one.
async fn server(folder: &Path) -> SocketAddr {
    let files = TlsFiles { cert: folder.join("cert.pem"), key: folder.join("key.pem"), client_ca: None };
    let tls = Tls::open(&files, ClientCertificates::Unasked, Duration::from_secs(30)).unwrap();
    let options = Options { tls: Some(Arc::new(tls)), ..Options::default() };
    listening(engine(vec![upstream("parrot", "", parrot(), Sharing::One)]), options).await
}

async fn guard(server: SocketAddr, ca: &Path) -> SocketAddr {
    let url = format!("https://localhost:{}/mcp", server.port());
    let reach = Reach::Url { url, headers: BTreeMap::new(), ca: Some(ca.to_owned()) };
    listening(engine(vec![upstream("far", "", reach, Sharing::One)]), Options::default()).await
}

#[tokio::test]
async fn a_server_whose_certificate_the_authorities_signed_is_called() {
    let folder = tempfile::tempdir().unwrap();
    issue(folder.path());
    let address = guard(server(folder.path()).await, &folder.path().join("ca.pem")).await;
    let own = session(address).await;
    let got = post(address, &own, &call("1", "echo", r#"{"x":1}"#)).await;
    assert!(text(&got.json()).contains(r#"{"x":1}"#), "{got:?}");
}

#[tokio::test]
async fn a_server_whose_certificate_somebody_else_signed_is_not_called() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    issue(folder.path());
    issue(other.path());
    let address = guard(server(folder.path()).await, &other.path().join("ca.pem")).await;
    let got = post(address, "", &hello("2025-11-25", "{}")).await;
    let said = got.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(said.contains("certificate") && said.contains("was not carried out"), "{said}");
}

#[test]
fn authorities_that_are_none_are_an_error_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let ca = folder.path().join("ca.pem");
    let far = |ca: &Path| UpstreamConfig {
        name: "far".to_owned(),
        reach: Reach::Url {
            url: "https://localhost/mcp".to_owned(),
            headers: BTreeMap::new(),
            ca: Some(ca.to_owned()),
        },
        is_required: true,
        prefix: String::new(),
        sharing: Sharing::One,
        processes: Processes::default(),
    };
    for text in [None, Some("no certificate")] {
        if let Some(text) = text {
            fs::write(&ca, text).unwrap();
        }
        let error = Upstream::new(far(&ca), None).unwrap_err().to_string();
        assert!(error.contains("ca.pem"), "{error}");
    }
}
