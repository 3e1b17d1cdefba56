//! How the upstreams are, and how often each was started again.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
    time::SystemTime,
};

use crate::event::UpstreamState;

use super::super::{options::Watched, text::clip};

/// More than anybody configures; an embedding program could name one per request.
const MOST: usize = 1000;

/// The upstreams by name. They change seldom, so one mutex will do.
#[derive(Debug, Default)]
pub(in crate::ops) struct Upstreams(Mutex<BTreeMap<Box<str>, Upstream>>);

/// One upstream.
#[derive(Debug, Clone)]
pub(in crate::ops) struct Upstream {
    /// Of which it is one.
    pub(in crate::ops) group: Box<str>,
    /// Whether the guard is not ready without one of its group.
    pub(in crate::ops) is_required: bool,
    /// How it is.
    pub(in crate::ops) state: UpstreamState,
    /// Why.
    pub(in crate::ops) reason: Box<str>,
    /// Since when.
    pub(in crate::ops) since: SystemTime,
    /// How often it came up again.
    pub(in crate::ops) restarts: u64,
    was_up: bool,
}

impl Upstreams {
    /// Names the upstreams that there will be.
    pub(in crate::ops) fn expect(&self, upstreams: &[Watched], now: SystemTime) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for upstream in upstreams {
            all.insert(
                upstream.name.as_str().into(),
                Upstream::new(&upstream.group, upstream.is_required, now),
            );
        }
    }

    /// Notes how one is.
    pub(in crate::ops) fn note(&self, name: &str, state: UpstreamState, reason: &str, now: SystemTime) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MOST && !all.contains_key(name) {
            return;
        }
        let upstream = all.entry(name.into()).or_insert_with(|| Upstream::new(name, false, now));
        if state == UpstreamState::Up && upstream.state != state {
            upstream.restarts += u64::from(upstream.was_up);
            upstream.was_up = true;
        }
        if upstream.state != state {
            upstream.since = now;
        }
        upstream.state = state;
        upstream.reason = clip(reason).into();
    }

    /// All of them.
    pub(in crate::ops) fn read(&self) -> BTreeMap<Box<str>, Upstream> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Upstream {
    fn new(group: &str, is_required: bool, now: SystemTime) -> Self {
        Self {
            group: group.into(),
            is_required,
            state: UpstreamState::Starting,
            reason: "not started yet".into(),
            since: now,
            restarts: 0,
            was_up: false,
        }
    }

    /// Whether it answers.
    pub(in crate::ops) fn is_up(&self) -> bool {
        self.state == UpstreamState::Up
    }

    /// The name of its state.
    pub(in crate::ops) fn state_name(&self) -> &'static str {
        state_name(self.state)
    }
}

/// The name of a state.
pub(in crate::ops) fn state_name(state: UpstreamState) -> &'static str {
    match state {
        UpstreamState::Starting => "starting",
        UpstreamState::Up => "up",
        UpstreamState::Down => "down",
        UpstreamState::Stopped => "stopped",
    }
}
