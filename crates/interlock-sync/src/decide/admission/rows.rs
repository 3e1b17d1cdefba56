//! What is stored for admissions, and what of it a decision looks at.

use std::time::Duration;

use crate::{
    decide::AttemptRow,
    store::{Charge, Fence, Key, OpId, Places, Timestamp, Wish},
};

/// What is stored of a call, until its time is up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallRow {
    /// It stands in the lines of all its keys.
    Waits {
        /// Its place there: who has a smaller one came before.
        ticket: u64,
        /// When it loses its place, unless it asks again.
        until: Timestamp,
    },
    /// It holds all its locks and places.
    Holds {
        /// With this fence.
        fence: Fence,
        /// Until then, unless it is prolonged.
        until: Timestamp,
    },
}

impl CallRow {
    /// When it says nothing any more.
    #[must_use]
    pub fn until(&self) -> Timestamp {
        let (Self::Waits { until, .. } | Self::Holds { until, .. }) = *self;
        until
    }
}

/// What is stored of a key that changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VersionRow {
    /// Another one with each change.
    pub version: u64,
    /// Which call raised it last: settled again, it does not raise it again.
    pub by: OpId,
    /// When it is forgotten. Every view from before the change is forgotten by then, so nobody passes for fresh because of it.
    pub forget: Timestamp,
}

/// What a reader saw of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ViewRow {
    /// The version it had; 0 if none was known.
    pub version: u64,
    /// When it is forgotten.
    pub forget: Timestamp,
}

/// What is before a call at the key of a lock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Before {
    /// When the last of those who hold it, and with whom it cannot be shared, has to be done.
    pub held_until: Option<Timestamp>,
    /// When the first of those who came before, and with whom it cannot be shared, loses its place.
    pub line_until: Option<Timestamp>,
    /// How many came before.
    pub ahead: u32,
}

/// How the places of a key are taken, as a call sees it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct InUse {
    /// How many are taken.
    pub count: u32,
    /// When the first of them comes back at the latest.
    pub first_end: Option<Timestamp>,
    /// When the first of those who came before loses its place in line.
    pub line_until: Option<Timestamp>,
    /// How many came before.
    pub ahead: u32,
}

/// What a decision looks at. What has run out by now is not shown by [`lock`](Self::lock) and [`place`](Self::place); the others show
/// what is stored.
///
/// A call that has no ticket comes after all that have one.
pub trait Rows {
    /// Why a row could not be read.
    type Error;

    /// The number that was given out last.
    ///
    /// # Errors
    ///
    /// When it could not be read, like the others.
    fn last_number(&self) -> Result<u64, Self::Error>;

    /// The row of a call.
    fn call(&self, call: OpId) -> Result<Option<CallRow>, Self::Error>;

    /// How long one more has to wait for a rate limit; `None` if it need not.
    fn wait(&self, charge: &Charge) -> Result<Option<Duration>, Self::Error>;

    /// The row of an idempotency key.
    fn attempt(&self, key: &Key) -> Result<Option<AttemptRow>, Self::Error>;

    /// What is before a call with this ticket at a lock.
    fn lock(&self, wish: &Wish, ticket: Option<u64>) -> Result<Before, Self::Error>;

    /// How the places of a key are taken for a call with this ticket.
    fn place(&self, places: &Places, ticket: Option<u64>) -> Result<InUse, Self::Error>;

    /// The version of a key.
    fn version(&self, key: &Key) -> Result<Option<VersionRow>, Self::Error>;

    /// What a reader saw of a key.
    fn view(&self, reader: &Key, key: &Key) -> Result<Option<ViewRow>, Self::Error>;
}

/// A number greater than the last that was given out, also if the clock was set back, and also if the last is not known any more.
#[must_use]
pub fn next_number(last: u64, now: Timestamp) -> u64 {
    last.saturating_add(1).max(now.0)
}

/// Whether a reader has seen the present version. If none is known, then nothing has changed for as long as views are remembered, and
/// every view is of the present.
#[must_use]
pub fn is_fresh(view: Option<&ViewRow>, version: Option<&VersionRow>, now: Timestamp) -> bool {
    let version = version.filter(|row| row.forget > now);
    view.filter(|row| row.forget > now)
        .is_some_and(|view| version.is_none_or(|version| version.version == view.version))
}
