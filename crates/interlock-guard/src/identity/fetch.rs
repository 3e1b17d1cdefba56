//! Key sets that are fetched: again every now and then, and at once when somebody comes with a key that is not in the set.

use std::{fmt::Display, time::Duration};

use bytes::Bytes;
use http::{Request, header};
use http_body_util::{BodyExt as _, Limited};
use tokio::time::{Instant, sleep, timeout};

use super::{jwt::Tokens, keys::InvalidKeys};
use crate::upstream::Client;

/// Why a key set was not fetched.
#[derive(Debug, thiserror::Error)]
pub enum Unfetched {
    /// There is no way to ask.
    #[error("failed to set up TLS: {0}")]
    Tls(String),
    /// Nobody answered, or not in time.
    #[error("failed to fetch the key set: {0}")]
    Request(String),
    /// The answer is no key set.
    #[error("what was fetched is not used: {0}")]
    Keys(#[from] InvalidKeys),
}

/// The largest answer that is read.
const LARGEST: usize = 256 << 10;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// How soon it is asked again at the earliest, so that tokens with made-up keys do not become requests.
const SOONEST: Duration = Duration::from_secs(5);

/// Asks for a key set. It follows no redirect: keys come from where the configuration says.
pub(super) struct Asker(Client);

impl Asker {
    /// With the certificates that the system trusts.
    pub(super) fn new() -> Result<Self, Unfetched> {
        Client::new(true).map(Self).map_err(|error| Unfetched::Tls(error.to_string()))
    }

    async fn text(&self, url: &str) -> Result<String, Unfetched> {
        let failed = |error: &dyn Display| Unfetched::Request(error.to_string());
        let request = Request::get(url).header(header::ACCEPT, "application/json").body(Bytes::new());
        let response = self.0.send(request.map_err(|error| failed(&error))?).await;
        let response = response.map_err(|lost| Unfetched::Request(lost.reason))?;
        if !response.status().is_success() {
            return Err(Unfetched::Request(format!("the answer was {}", response.status())));
        }
        let body = Limited::new(response.into_body(), LARGEST).collect().await;
        let body = body.map_err(|error| failed(&error))?.to_bytes();
        String::from_utf8(body.into()).map_err(|_| Unfetched::Request("the answer is not UTF-8".to_owned()))
    }
}

/// Fetches a key set once and takes it over; says how many keys it has.
pub(super) async fn once(asker: &Asker, url: &str, tokens: &Tokens) -> Result<usize, Unfetched> {
    let text = timeout(PATIENCE, asker.text(url))
        .await
        .map_err(|_| Unfetched::Request("there was no answer in time".to_owned()))??;
    Ok(tokens.learn(&text)?)
}

/// Keeps a key set fresh until dropped. A set that cannot be fetched leaves the one that was.
pub(super) async fn keep(
    asker: &Asker,
    url: &str,
    tokens: &Tokens,
    mut told: impl FnMut(Result<usize, Unfetched>),
) {
    let mut failed: u32 = 0;
    loop {
        let asked = Instant::now();
        let outcome = once(asker, url, tokens).await;
        failed = if outcome.is_ok() { 0 } else { failed.saturating_add(1) };
        told(outcome);
        let refresh = tokens.config().refresh;
        let pause = if failed == 0 { refresh } else { refresh.min(SOONEST * 2_u32.pow(failed.min(5))) };
        tokio::select! {
            () = sleep(pause) => {}
            () = tokens.missed.notified() => sleep(SOONEST.saturating_sub(asked.elapsed())).await,
        }
    }
}
