//! Several ways in at once.

use std::sync::Arc;

use expect_test::expect;
use sha2::{Digest as _, Sha256};

use super::{
    super::{Anybody, Doors, Identify as _, PeerCertificate, Ways},
    kit::{bearer, claims, ed, hmac, jwt, request, who},
};
use crate::policy::{ApiKey, CertificateName, IdentityConfig, JwtAlgorithm, KeySource};

const KEY: &str = "k-0123456789abcdef";

fn key(name: &str, key: &str) -> ApiKey {
    ApiKey { name: name.to_owned(), sha256: Sha256::digest(key).into() }
}

fn keys() -> IdentityConfig {
    let api_keys = vec![key("other", "another-key-entirely"), key("ci", KEY), key("last", "the-last-key")];
    IdentityConfig { is_required: true, api_keys, ..IdentityConfig::default() }
}

fn with_tokens(mut config: IdentityConfig) -> Ways {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("secret");
    std::fs::write(&path, hmac().public).unwrap();
    config.jwt = Some(jwt(KeySource::Key(path), &[JwtAlgorithm::Hs256]));
    Ways::open(&config).unwrap()
}

fn certificate(name: &str) -> PeerCertificate {
    let mut params = rcgen::CertificateParams::new(vec![]).unwrap();
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(rcgen::DnType::OrganizationName, "Example, Inc.");
    params.distinguished_name.push(rcgen::DnType::CommonName, name);
    let pair = rcgen::KeyPair::generate().unwrap();
    PeerCertificate::of_der(params.self_signed(&pair).unwrap().der()).unwrap()
}

#[test]
fn a_key_that_was_given_out_is_its_owner_in_either_header() {
    let ways = Ways::open(&keys()).unwrap();
    assert_eq!(bearer(&ways, KEY), "key:ci");
    assert_eq!(who(&ways, &[("authorization", &format!("bearer  {KEY}"))]), "key:ci");
    assert_eq!(who(&ways, &[("x-api-key", KEY)]), "key:ci");
    assert_eq!(who(&ways, &[("x-api-key", "the-last-key")]), "key:last");
}

#[test]
fn whoever_has_no_key_is_nobody() {
    let ways = Ways::open(&keys()).unwrap();
    let unknown = "the key is not known";
    assert_eq!(bearer(&ways, "k-0123456789abcdeF"), unknown);
    assert_eq!(bearer(&ways, ""), "the Authorization header is not of the form `Bearer TOKEN`");
    assert_eq!(who(&ways, &[("x-api-key", "")]), unknown);
    let malformed = "the Authorization header is not of the form `Bearer TOKEN`";
    assert_eq!(who(&ways, &[("authorization", &format!("Basic {KEY}"))]), malformed);
    assert_eq!(who(&ways, &[("authorization", KEY)]), malformed);
    let several = "there are several credentials: send one, in `Authorization: Bearer` or in `X-API-Key`";
    let twice = format!("Bearer {KEY}");
    assert_eq!(who(&ways, &[("authorization", &twice), ("authorization", &twice)]), several);
    assert_eq!(who(&ways, &[("authorization", &twice), ("x-api-key", KEY)]), several);
    assert_eq!(who(&ways, &[("x-api-key", KEY), ("x-api-key", KEY)]), several);
    assert_eq!(who(&ways, &[("x-user", "ci"), ("mcp-session-id", "key:ci")]), "a credential is required");
}

#[test]
fn keys_tokens_and_certificates_are_taken_side_by_side() {
    let ways = with_tokens(IdentityConfig { mtls: Some(CertificateName::Subject), ..keys() });
    assert_eq!(bearer(&ways, KEY), "key:ci");
    assert_eq!(bearer(&ways, &hmac().token(&claims())), "jwt:alice");
    let peer = certificate("agent");
    let caller = ways.identify(&request(&[]), Some(&peer)).unwrap();
    assert_eq!(caller.as_str(), r"mtls:CN=agent,O=Example\, Inc.");
    // A token says who somebody is even on a connection with a certificate, and a wrong one is not made up for by it.
    let token = format!("Bearer {}", hmac().token(&claims()));
    assert_eq!(
        ways.identify(&request(&[("authorization", &token)]), Some(&peer)).unwrap().as_str(),
        "jwt:alice"
    );
    let forged = format!("Bearer {}", ed().token(&claims()));
    assert!(ways.identify(&request(&[("authorization", &forged)]), Some(&peer)).is_err());
}

#[test]
fn a_certificate_is_named_by_the_part_that_was_chosen() {
    let of = |part, peer: &PeerCertificate| {
        let config = IdentityConfig { is_required: true, mtls: Some(part), ..IdentityConfig::default() };
        let ways = Ways::open(&config).unwrap();
        ways.identify(&request(&[("authorization", "Bearer for-the-upstream")]), Some(peer))
            .map(|who| who.to_string())
    };
    assert_eq!(of(CertificateName::CommonName, &certificate("agent")).unwrap(), "mtls:agent");
    assert_eq!(
        of(CertificateName::CommonName, &certificate("")).unwrap_err().to_string(),
        "the client certificate has no name"
    );
    assert!(of(CertificateName::Subject, &certificate(&"x".repeat(600))).is_err());
    assert_eq!(PeerCertificate::of_der(b"no certificate"), None);
}

#[test]
fn where_nothing_is_required_a_stranger_is_anonymous_and_a_liar_is_not() {
    let ways = with_tokens(IdentityConfig { is_required: false, ..keys() });
    assert_eq!(who(&ways, &[]), "anonymous");
    assert_eq!(bearer(&ways, "wrong"), "the credential is neither a known key nor a token");
    assert_eq!(Anybody.identify(&request(&[]), None).unwrap().as_str(), "anonymous");
}

#[test]
fn a_refusal_says_how_to_come_back() {
    let mut config = keys();
    let ways = Ways::open(&config).unwrap();
    let challenge = |ways: &Ways, headers: &[(&str, &str)]| {
        let response = ways.identify(&request(headers), None).unwrap_err().response();
        assert_eq!(response.status(), 401);
        assert_eq!(response.headers()["connection"], "close");
        response.headers()["www-authenticate"].to_str().unwrap().to_owned()
    };
    expect![[r#"Bearer realm="interlock""#]].assert_eq(&challenge(&ways, &[]));
    expect![[r#"Bearer realm="interlock", error="invalid_token", error_description="the key is not known""#]]
        .assert_eq(&challenge(&ways, &[("x-api-key", "x")]));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("secret");
    std::fs::write(&path, hmac().public).unwrap();
    let mut tokens = jwt(KeySource::Key(path), &[JwtAlgorithm::Hs256]);
    tokens.resource_metadata = Some("https://guard.example/.well-known/oauth-protected-resource".to_owned());
    config.jwt = Some(tokens);
    let ways = Ways::open(&config).unwrap();
    expect![[r#"Bearer realm="interlock", resource_metadata="https://guard.example/.well-known/oauth-protected-resource""#]]
        .assert_eq(&challenge(&ways, &[]));
}

#[tokio::test]
async fn other_ways_in_take_the_place_of_the_first_and_broken_ones_do_not() {
    let doors = Doors::open(&keys(), Arc::new(|_| {})).await.unwrap();
    let ask = |key: &str| match doors.identify(&request(&[("x-api-key", key)]), None) {
        Ok(caller) => caller.to_string(),
        Err(denied) => denied.to_string(),
    };
    assert_eq!(ask(KEY), "key:ci");
    let mut changed = IdentityConfig { api_keys: vec![key("new", "a-new-key")], ..keys() };
    doors.change(&changed).await.unwrap();
    assert_eq!((ask(KEY).as_str(), ask("a-new-key").as_str()), ("the key is not known", "key:new"));
    changed.api_keys.clear();
    changed.jwt = Some(jwt(KeySource::Key("/no/such/file".into()), &[JwtAlgorithm::Hs256]));
    assert!(doors.change(&changed).await.is_err());
    assert_eq!(ask("a-new-key"), "key:new");
}
