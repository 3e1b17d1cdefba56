//! Stores under TLS: they work with the root that vouches for the server, and not without.

use interlock_store::{OpenError, Options, open};
use interlock_testkit::service::{Postgres, Redis, Setup};

use crate::{bytes, put};

async fn check(url: &str, roots: &str) {
    let untrusted = open(url, &Options::default()).await.unwrap_err();
    assert!(matches!(untrusted, OpenError::Unreachable { .. }), "{untrusted:?}");
    let options = Options::default().root_certificates(roots.as_bytes());
    let store = open(url, &options).await.unwrap_or_else(|error| panic!("{url}: {error}: {error:?}"));
    put(&store, "note", bytes("under TLS")).await;
    // The same server under a name that its certificate does not have.
    let elsewhere = open(&url.replace("localhost", "127.0.0.1"), &options).await.unwrap_err();
    let said = format!("{elsewhere:?}").to_lowercase();
    assert!(said.contains("notvalidforname") || said.contains("not valid for"), "{said}");
    // `require` checks no less than `verify-full`.
    let lax = url.replace("verify-full", "require");
    assert!(open(&lax, &Options::default()).await.is_err(), "{lax}");
    let other = options.namespace("other");
    assert!(open(&lax, &other).await.is_ok());
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
