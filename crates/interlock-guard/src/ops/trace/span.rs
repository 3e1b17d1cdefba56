//! A call as spans.

use std::{sync::Arc, time::SystemTime};

use interlock_sync::{
    retry::{Chance, Dice},
    store::{Fence, OpId},
};

use super::super::table::Keys;
use crate::{call::Caller, traceparent::Traceparent};

/// A call that has ended, as far as its spans need it.
#[derive(Debug)]
pub(in crate::ops) struct Span {
    /// Which call.
    pub(in crate::ops) id: OpId,
    /// Where it came from.
    pub(in crate::ops) parent: Option<Traceparent>,
    /// Who called.
    pub(in crate::ops) caller: Caller,
    /// The session, where the revision has one.
    pub(in crate::ops) session: Option<Arc<str>>,
    /// Which tool.
    pub(in crate::ops) tool: Arc<str>,
    /// Of which upstream.
    pub(in crate::ops) upstream: Arc<str>,
    /// When it came.
    pub(in crate::ops) start: SystemTime,
    /// When it was let through, if it was.
    pub(in crate::ops) forwarded: Option<SystemTime>,
    /// When it ended.
    pub(in crate::ops) end: SystemTime,
    /// How it was decided.
    pub(in crate::ops) decision: &'static str,
    /// Why, of a refusal; or why nobody knows how it ended.
    pub(in crate::ops) reason: Option<Box<str>>,
    /// How it ended, if it was let through.
    pub(in crate::ops) ending: Option<&'static str>,
    /// What kind of error it was, if it was one.
    pub(in crate::ops) error: Option<&'static str>,
    /// Its keys.
    pub(in crate::ops) keys: Keys,
    /// Its fence.
    pub(in crate::ops) fence: Option<Fence>,
}

/// The ids that follow from the id of a call.
pub(super) struct Ids {
    /// The trace, if the call begins one.
    pub(super) trace: u128,
    /// The span of the whole call.
    pub(super) server: u64,
    /// The span of its upstream's part.
    pub(super) client: u64,
}

/// The ids of a call's spans. Ids of calls may count up; those of traces should look drawn, because collectors sample by them.
pub(super) fn ids(id: OpId) -> Ids {
    let mut dice = Dice::seeded(id.0 as u64 ^ Dice::seeded((id.0 >> 64) as u64).next_u64());
    let mut next = || dice.next_u64().max(1);
    Ids { trace: u128::from(next()) << 64 | u128::from(next()), server: next(), client: next() }
}
