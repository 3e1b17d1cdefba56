//! The provider as seen from the ledger: what can be known of a charge, and what cannot.

use std::time::Duration;

use super::{Charge, Charged};

/// The client of a payment provider. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Payments {
    http: reqwest::Client,
    charges: String,
}

/// Why there is no charge to show.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChargeError {
    /// The provider was not reached: nobody was charged.
    #[error("the provider is not reachable: {0}")]
    NotSent(String),
    /// The provider said no: nobody was charged.
    #[error("declined: {0}")]
    Declined(String),
    /// The provider was asked, and its answer was lost or makes no sense: somebody may have been charged.
    #[error("the answer was lost: {0}")]
    Unknown(String),
}

impl Payments {
    /// A client of the provider at a URL. An answer that takes longer than `timeout` counts as lost.
    ///
    /// # Errors
    ///
    /// When no HTTP client can be made.
    pub fn new(url: &str, timeout: Duration) -> Result<Self, reqwest::Error> {
        // The provider is named outright; what the environment says about proxies is not meant for it.
        let http = reqwest::Client::builder().no_proxy().timeout(timeout).build()?;
        Ok(Self { http, charges: format!("{}/charges", url.trim_end_matches('/')) })
    }

    /// Asks for a charge, once. With a key, asking again is the same charge.
    ///
    /// # Errors
    ///
    /// Says what is known about whether somebody was charged.
    ///
    /// # Cancel safety
    ///
    /// None: if the future is dropped somebody may have been charged.
    pub async fn charge(&self, charge: &Charge) -> Result<Charged, ChargeError> {
        let unknown = |error: reqwest::Error| ChargeError::Unknown(error.without_url().to_string());
        let answer = match self.http.post(&self.charges).json(charge).send().await {
            Ok(answer) => answer,
            Err(error) if error.is_connect() => {
                return Err(ChargeError::NotSent(error.without_url().to_string()));
            }
            Err(error) => return Err(unknown(error)),
        };
        let status = answer.status();
        if status.is_success() {
            return answer.json().await.map_err(unknown);
        }
        let said = answer.text().await.map_err(unknown)?;
        // A provider that stumbled may have stumbled after it had charged.
        if status.is_client_error() {
            Err(ChargeError::Declined(said))
        } else {
            Err(ChargeError::Unknown(status.to_string()))
        }
    }
}
