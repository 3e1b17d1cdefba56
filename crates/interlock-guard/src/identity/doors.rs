//! The ways in as a running guard has them: replaced as a whole, while clients come and go.

use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use http::request::Parts;
use tokio::task::AbortHandle;

use super::{Denied, Identify, InvalidKeys, PeerCertificate, Unfetched, Ways};
use crate::{call::Caller, policy::IdentityConfig};

/// The ways in that are in force. Key sets that are fetched are kept fresh in the background until this is dropped.
pub struct Doors {
    current: ArcSwap<Ways>,
    fetching: Mutex<Option<AbortHandle>>,
    told: Told,
}

/// Somebody who is told that a key set could not be fetched again.
pub type Told = Arc<dyn Fn(&Unfetched) + Send + Sync>;

/// Why ways in were not opened.
#[derive(Debug, thiserror::Error)]
pub enum Unopened {
    /// A file has no keys.
    #[error(transparent)]
    Keys(#[from] InvalidKeys),
    /// A key set could not be fetched.
    #[error(transparent)]
    Fetch(#[from] Unfetched),
}

impl Doors {
    /// Opens what a configuration says, with all keys read and fetched.
    ///
    /// # Errors
    ///
    /// Keys cannot be read or fetched.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime with time and I/O.
    pub async fn open(config: &IdentityConfig, told: Told) -> Result<Self, Unopened> {
        let ways = ready(config).await?;
        let doors = Self { current: ArcSwap::new(Arc::clone(&ways)), fetching: Mutex::default(), told };
        doors.keep_fresh(ways);
        Ok(doors)
    }

    /// Puts what another configuration says in their place, also if it is the same: its files may have changed.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open); what was in force stays.
    pub async fn change(&self, config: &IdentityConfig) -> Result<(), Unopened> {
        let ways = ready(config).await?;
        self.current.store(Arc::clone(&ways));
        self.keep_fresh(ways);
        Ok(())
    }

    fn keep_fresh(&self, ways: Arc<Ways>) {
        let told = Arc::clone(&self.told);
        let fetching = tokio::spawn(async move {
            let failed = |outcome: Result<usize, Unfetched>| {
                if let Err(error) = outcome {
                    told(&error);
                }
            };
            if let Err(error) = ways.keep_fresh(failed).await {
                told(&error);
            }
        });
        self.replace(Some(fetching.abort_handle()));
    }

    fn replace(&self, fetching: Option<AbortHandle>) {
        let before =
            std::mem::replace(&mut *self.fetching.lock().unwrap_or_else(PoisonError::into_inner), fetching);
        if let Some(before) = before {
            before.abort();
        }
    }
}

async fn ready(config: &IdentityConfig) -> Result<Arc<Ways>, Unopened> {
    let ways = Ways::open(config)?;
    ways.fetch().await?;
    Ok(Arc::new(ways))
}

impl Identify for Doors {
    fn identify(&self, parts: &Parts, peer: Option<&PeerCertificate>) -> Result<Caller, Denied> {
        self.current.load().identify(parts, peer)
    }

    fn metadata(&self, path: &str) -> Option<String> {
        self.current.load().metadata(path)
    }

    fn insufficient(&self, scope: &str) -> Option<String> {
        self.current.load().insufficient(scope)
    }
}

impl Drop for Doors {
    fn drop(&mut self) {
        self.replace(None);
    }
}

impl std::fmt::Debug for Doors {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Doors").field("current", &self.current).finish_non_exhaustive()
    }
}
