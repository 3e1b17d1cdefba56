//! What is wished for one tool, each with its reason.

use std::{num::NonZeroU32, time::Duration};

use interlock_model::{IdempotencyKey, KeyPart, KeyTemplate, Rate, ToolPolicy};

use super::super::check::may_meet;

/// A value and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Because<T> {
    pub(super) value: T,
    pub(super) why: String,
}

/// What is wished for one tool.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Wish {
    /// Only as long as the server says that the tool only reads.
    pub(super) is_reader: bool,
    /// Whether it may make what was not there before. Of no account for the rule, once it is settled.
    pub(super) may_make: bool,
    pub(super) in_flight: Option<Because<NonZeroU32>>,
    pub(super) rate: Option<Because<Rate>>,
    pub(super) lock: Vec<Because<KeyTemplate>>,
    pub(super) lock_shared: Vec<Because<KeyTemplate>>,
    pub(super) observes: Vec<Because<KeyTemplate>>,
    pub(super) changes: Vec<Because<KeyTemplate>>,
    pub(super) requires_fresh: Vec<Because<KeyTemplate>>,
    pub(super) idempotency: Option<Because<IdempotencyKey>>,
    pub(super) timeout: Option<Because<Duration>>,
    pub(super) deny: Option<Because<()>>,
}

impl<T> Because<T> {
    pub(super) fn of(value: T, why: impl Into<String>) -> Self {
        Self { value, why: why.into() }
    }
}

impl Wish {
    /// Adds what a policy asks for. Keys add up; of two limits the tighter holds.
    pub(super) fn add(&mut self, policy: &ToolPolicy, why: &str) {
        let lists = [
            (&mut self.lock, &policy.lock),
            (&mut self.lock_shared, &policy.lock_shared),
            (&mut self.observes, &policy.observes),
            (&mut self.changes, &policy.changes),
            (&mut self.requires_fresh, &policy.requires_fresh),
        ];
        for (wished, more) in lists {
            for key in more.iter().flatten() {
                push(wished, key, why);
            }
        }
        if let Some(limit) = policy.in_flight {
            tighter(&mut self.in_flight, limit, why, |limit| u64::from(limit.get()));
        }
        if let Some(rate) = policy.rate {
            tighter(&mut self.rate, rate, why, |rate| {
                u64::from(rate.count.get()).saturating_mul(1_000_000) / rate.per.duration().as_secs().max(1)
            });
        }
        if let Some(timeout) = policy.timeout {
            tighter(&mut self.timeout, timeout, why, |timeout| {
                timeout.as_millis().try_into().unwrap_or(u64::MAX)
            });
        }
        if let Some(key) = &policy.idempotency {
            // One that is read from an argument works for every client, so it stays.
            let is_better = self.idempotency.as_ref().is_none_or(|have| have.value == IdempotencyKey::Meta);
            if is_better {
                self.idempotency = Some(Because::of(key.clone(), why));
            }
        }
        if policy.deny == Some(true) {
            self.deny.get_or_insert_with(|| Because::of((), why));
        }
    }
}

pub(super) fn push(list: &mut Vec<Because<KeyTemplate>>, key: &KeyTemplate, why: &str) {
    match list.iter_mut().find(|have| have.value == *key) {
        Some(have) if have.why.contains(why) => {}
        Some(have) => {
            have.why.push_str("; ");
            have.why.push_str(why);
        }
        None => list.push(Because::of(key.clone(), why)),
    }
}

fn tighter<T: Copy>(have: &mut Option<Because<T>>, value: T, why: &str, weight: impl Fn(T) -> u64) {
    if have.as_ref().is_none_or(|have| weight(value) < weight(have.value)) {
        *have = Some(Because::of(value, why));
    }
}

/// Makes wishes of several sources one sound policy: what changes is locked, what must be fresh is read by somebody, who locks one of many
/// keeps out who locks them all, and nothing is held both alone and shared.
pub(super) fn settle(wishes: &mut [Wish]) {
    let observed: Vec<KeyTemplate> =
        wishes.iter().flat_map(|wish| &wish.observes).map(|key| key.value.clone()).collect();
    for wish in &mut *wishes {
        // Whoever makes something new cannot have read it before.
        if std::mem::take(&mut wish.may_make) {
            wish.requires_fresh.clear();
        }
        wish.requires_fresh.retain(|key| observed.iter().any(|other| may_meet(other, &key.value)));
        for key in wish.requires_fresh.clone() {
            if !wish.changes.iter().any(|have| have.value == key.value) {
                push(&mut wish.changes, &key.value, "what must be fresh is about to change");
            }
        }
        for key in wish.changes.clone() {
            if !wish.lock.iter().any(|have| may_meet(&have.value, &key.value)) {
                push(&mut wish.lock, &key.value, "what changes is changed by one call at a time");
            }
        }
    }
    let all: Vec<KeyTemplate> =
        wishes.iter().flat_map(|wish| &wish.lock).map(|key| key.value.clone()).filter(is_fixed).collect();
    for wish in wishes {
        for one in wish.lock.clone() {
            for whole in all.iter().filter(|whole| one.value.kind() == Some(&*whole.to_string())) {
                push(
                    &mut wish.lock_shared,
                    whole,
                    "together with others, but never with a tool that touches them all",
                );
            }
        }
        let locked = wish.lock.clone();
        wish.lock_shared.retain(|key| !locked.iter().any(|lock| lock.value == key.value));
    }
}

/// Whether a key is the same for all calls.
fn is_fixed(key: &KeyTemplate) -> bool {
    key.parts().iter().all(|part| matches!(part, KeyPart::Text(_)))
}
