//! How much one caller may ask for.

use std::{
    num::NonZeroU32,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use axum::body::Body;
use bytes::Bytes;
use hyper::body::{Frame, SizeHint};
use interlock_sync::{
    in_flight::{InFlight, OwnedPermit},
    rate::SharedRateLimit,
    store::{Key, Quota, Store, StoreError, Taken},
};

use crate::jobs::digest;

/// Limits for each caller, by our own library: audits across all processes, requests in this one.
#[derive(Debug)]
pub struct Limits {
    rate: SharedRateLimit,
    /// Requests under way, streams included.
    pub(super) requests: Arc<InFlight<String>>,
    /// How large an archive may be, in bytes.
    pub upload: usize,
}

impl Limits {
    /// So many audits in a time, so many requests at once.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, audits: Quota, requests: NonZeroU32, upload: usize) -> Self {
        let rate = SharedRateLimit::new(store, audits);
        Self { rate, requests: Arc::new(InFlight::new(requests)), upload }
    }

    pub(super) async fn take(&self, caller: &str) -> Result<Taken, StoreError> {
        // A digest is a key whatever the caller is called.
        let key = Key::new(format!("rate:{}", digest(caller)));
        match key {
            Ok(key) => self.rate.take(&key, 1).await,
            Err(error) => Err(StoreError::broken("the caller has no key", error)),
        }
    }
}

/// A body that holds a permit until it is sent or dropped.
pub(super) struct Held {
    body: Body,
    _permit: OwnedPermit<String>,
}

impl Held {
    pub(super) fn new(body: Body, permit: OwnedPermit<String>) -> Self {
        Self { body, _permit: permit }
    }
}

impl hyper::body::Body for Held {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
