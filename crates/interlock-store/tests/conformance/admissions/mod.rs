//! Admissions: all questions of a gateway in one step.

mod crowds;
mod endings;
mod freshness;
mod lines;

use std::time::Duration;

use interlock_sync::store::{
    Admission, Admitted, Charge, Fence, Fingerprint, Key, OnceKey, OpId, Places, Quota, Settlement, WaitsOn,
    Wish,
};

pub(crate) use self::{
    crowds::{
        locks_exclude_each_other_and_nobody_waits_for_ever, of_many_with_one_key_one_runs,
        places_are_never_exceeded, rates_are_never_exceeded,
    },
    endings::{
        a_call_that_never_ran_leaves_everything_to_the_next, a_dead_holder_is_replaced_with_a_greater_fence,
        a_grant_can_be_asked_for_again_and_is_given_back_once, an_effect_in_doubt_is_never_repeated,
        an_effect_that_ended_is_told_again, calls_that_ended_leave_nothing,
    },
    freshness::{
        a_change_is_noticed_by_those_who_read_before_it, freshness_is_judged_when_the_locks_are_free,
        only_who_was_fresh_knows_its_own_change, settling_again_changes_nothing,
    },
    lines::{
        a_place_in_line_is_lost_by_silence, nobody_overtakes, places_are_left_to_those_who_came_before,
        rates_are_charged_together_and_once, shared_locks_are_shared_and_exclusive_ones_are_not,
    },
};
use crate::{Shared, key};

const LONG: Duration = Duration::from_secs(600);
const SHORT: Duration = Duration::from_millis(300);

/// A call that wants nothing and would wait long.
fn call() -> Admission {
    Admission { patience: LONG, ..Admission::new(OpId::fresh(), LONG) }
}

/// A call that wants locks: `k`, or `k+` to share it.
fn locks(names: &[&str]) -> Admission {
    let wish = |name: &&str| Wish { key: key(name.trim_end_matches('+')), is_shared: name.ends_with('+') };
    Admission { locks: names.iter().map(wish).collect(), ..call() }
}

fn place(name: &str, limit: u32) -> Admission {
    Admission { places: vec![Places { key: key(name), limit }], ..call() }
}

fn charge(name: &str, quota: Quota) -> Charge {
    Charge { key: key(name), quota }
}

fn once(name: &str, says: u8) -> Admission {
    Admission {
        once: Some(OnceKey { key: key(name), fingerprint: Fingerprint([says; 32]), keep: LONG }),
        ..locks(&["k"])
    }
}

/// The end of a call, with nothing to say about it.
fn end(admission: &Admission, fence: Option<Fence>) -> Settlement {
    Settlement {
        call: admission.call,
        fence,
        places: admission.places.iter().map(|places| places.key.clone()).collect(),
        locks: admission.locks.iter().map(|wish| wish.key.clone()).collect(),
        once: admission.once.as_ref().map(|once| (once.key.clone(), None, LONG)),
        reader: admission.reader.clone(),
        changes: vec![],
        is_success: true,
        remember: admission.remember,
    }
}

async fn admit(store: &Shared, admission: &Admission) -> Admitted {
    store.admit(admission).await.unwrap()
}

async fn granted(store: &Shared, admission: &Admission) -> Fence {
    match admit(store, admission).await {
        Admitted::Granted { fence } => fence,
        other => panic!("{other:?} is no grant of {admission:?}"),
    }
}

async fn settle(store: &Shared, admission: &Admission, fence: Fence) -> bool {
    store.settle(&end(admission, Some(fence))).await.unwrap()
}

/// What a call waits for, and behind how many.
async fn waits(store: &Shared, admission: &Admission) -> (WaitsOn, u32) {
    match admit(store, admission).await {
        Admitted::Waits { on, ahead, retry_after } => {
            assert!(retry_after <= LONG, "{retry_after:?}");
            (on, ahead)
        }
        other => panic!("{other:?} is no wait of {admission:?}"),
    }
}

fn on_locks(names: &[&str]) -> WaitsOn {
    WaitsOn::Locks(names.iter().map(|name| key(name)).collect())
}

fn on_place(name: &str) -> WaitsOn {
    WaitsOn::Place(key(name))
}

fn names(keys: &[&str]) -> Vec<Key> {
    keys.iter().map(|name| key(name)).collect()
}
