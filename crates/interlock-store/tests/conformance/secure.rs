//! Stores under TLS: they work with the root that vouches for the server, and not without.

use std::sync::Arc;

use interlock_store::{OpenError, Options, open};
use interlock_testkit::service::{Postgres, Redis, Setup};

use crate::{bytes, put};

async fn check(url: &str, roots: &str) {
    let untrusted = open(url, &Options::default()).await.unwrap_err();
    assert!(matches!(untrusted, OpenError::Unreachable { .. }), "{untrusted:?}");
    let options = Options { root_certificates: Some(Arc::from(roots.as_bytes())), ..Options::default() };
    let store = open(url, &options).await.unwrap_or_else(|error| panic!("{url}: {error}: {error:?}"));
    put(&store, "note", bytes("under TLS")).await;
    // Nobody is at the name that the certificate does not have.
    let elsewhere = url.replace("localhost", "127.0.0.2");
    assert!(open(&elsewhere, &options).await.is_err(), "{elsewhere}");
    let other = Options { namespace: "other".into(), ..options };
    assert!(open(&url.replace("verify-full", "require"), &other).await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn redis_is_believed_by_its_certificate_only() {
    let server = Redis::start_as(Setup { tls: true, ..Setup::default() }).expect("Redis starts");
    let (url, roots) = server.secure().expect("it speaks TLS");
    check(&url, roots).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_is_believed_by_its_certificate_only() {
    let server = Postgres::start_as(Setup { tls: true, ..Setup::default() }).expect("PostgreSQL starts");
    let (url, roots) = server.secure().expect("it speaks TLS");
    check(&url, roots).await;
}
