//! TLS, and callers who are known by their certificates.

use std::{fs, path::Path, sync::Arc};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject as _},
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};
use tokio_rustls::TlsConnector;

use crate::{effects::Effects, kit::Serving};

const POLICY: &str = "\
[audit]\npath = \"audit.jsonl\"\n\n\
[listen]\nat = \"127.0.0.1:0\"\n\n[listen.tls]\ncert = \"cert.pem\"\nkey = \"key.pem\"\nclient_ca = \"ca.pem\"\n\n\
[identity]\nmtls = \"subject\"\n\n\
[[tool]]\nmatch = \"look\"\nrate = \"1/h\"\n";

/// An authority that the guard and its clients trust.
struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(vec![]).expect("no names");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        Self(CertifiedIssuer::self_signed(params, key).expect("a certificate"))
    }

    /// A certificate and its key, in PEM.
    fn issue(&self, name: &str) -> (String, String) {
        let mut params = CertificateParams::new(vec![name.to_owned()]).expect("a name");
        params.distinguished_name = rcgen::DistinguishedName::new();
        params.distinguished_name.push(DnType::OrganizationName, "Example");
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().expect("a key");
        let cert = params.signed_by(&key, &self.0).expect("a certificate");
        (cert.pem(), key.serialize_pem())
    }

    /// What the guard needs, in its folder.
    fn equip(&self, folder: &Path) {
        let (cert, key) = self.issue("localhost");
        for (name, text) in [("cert.pem", cert), ("key.pem", key), ("ca.pem", self.0.pem())] {
            fs::write(folder.join(name), text).expect("it is written");
        }
    }

    /// Somebody who trusts the authority, and shows a certificate if he has one.
    fn client(&self, own: Option<(String, String)>) -> TlsConnector {
        let mut roots = RootCertStore::empty();
        roots.add(self.0.der().clone()).expect("it is an authority");
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("there are versions")
            .with_root_certificates(roots);
        let config = match own {
            None => builder.with_no_client_auth(),
            Some((cert, key)) => {
                let cert = CertificateDer::from_pem_slice(cert.as_bytes()).expect("a certificate");
                let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).expect("a key");
                builder.with_client_auth_cert(vec![cert], key).expect("they fit")
            }
        };
        TlsConnector::from(Arc::new(config))
    }
}

/// One request without a session: the status and the body of its answer.
async fn post(guard: &Serving, client: &TlsConnector, call: &Value) -> std::io::Result<(u16, String)> {
    let address = guard.url.trim_start_matches("https://").trim_end_matches("/mcp");
    let name = ServerName::try_from("localhost").expect("a name");
    let mut stream = client.connect(name, TcpStream::connect(address).await?).await?;
    let body = call.to_string();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\n\
         mcp-method: tools/call\r\nmcp-name: look\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes()).await?;
    let mut text = String::new();
    stream.read_to_string(&mut text).await?;
    let status = text.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    Ok((status, text.split_once("\r\n\r\n").expect("a body").1.to_owned()))
}

fn look() -> Value {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "look", "_meta": meta } })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_is_who_his_certificate_says_and_has_limits_of_his_own() {
    let (effects, authority, other) = (Effects::new(), Authority::new(), Authority::new());
    authority.equip(effects.file("").as_path());
    let guard = effects.configured(POLICY).serve();
    assert!(guard.url.starts_with("https://"), "{}", guard.url);
    for (name, is_refused) in [("alice", false), ("bob", false), ("alice", true)] {
        let client = authority.client(Some(authority.issue(name)));
        let (status, body) = post(&guard, &client, &look()).await.expect("it answers");
        let answer: Value = serde_json::from_str(&body).unwrap_or_else(|_| panic!("{status}: {body}"));
        assert_eq!(answer["result"]["isError"] == json!(true), is_refused, "{name}: {answer}");
    }
    for stranger in [None, Some(other.issue("alice"))] {
        assert!(post(&guard, &authority.client(stranger), &look()).await.is_err(), "nobody knows him");
    }
    guard.signal("TERM");
    assert_eq!(guard.ended().await, Some(0));
    let audit = fs::read_to_string(effects.file("audit.jsonl")).expect("there is one");
    let callers: Vec<Value> = audit
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("it is JSON"))
        .filter(|line| line["event"] == "decided")
        .map(|mut line| line["caller"].take())
        .collect();
    let [alice, bob] = ["alice", "bob"].map(|name| json!(format!("mtls:CN={name},O=Example")));
    assert_eq!(callers, [alice.clone(), bob, alice]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_renewed_certificate_is_served_after_sighup() {
    let (effects, before, after) = (Effects::new(), Authority::new(), Authority::new());
    before.equip(effects.file("").as_path());
    let guard = effects.configured(POLICY).serve();
    let client = |authority: &Authority| authority.client(Some(authority.issue("alice")));
    assert_eq!(post(&guard, &client(&before), &look()).await.expect("it answers").0, 200);
    after.equip(effects.file("").as_path());
    assert!(post(&guard, &client(&after), &look()).await.is_err());
    guard.signal("HUP");
    while post(&guard, &client(&after), &look()).await.is_err() {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert!(post(&guard, &client(&before), &look()).await.is_err());
}
