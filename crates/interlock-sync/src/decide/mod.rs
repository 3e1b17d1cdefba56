//! The decisions of a store as pure functions: from what is stored and what is asked to an answer and what is stored next.
//!
//! Backends that run our code inside their critical section, the memory store and SQLite, share these. Redis and PostgreSQL decide in
//! their own language, and the conformance suite holds them to the same answers.

mod admission;
mod append;
mod change;
mod idempotency;
mod lease;
mod permit;
mod rate;

pub use self::{
    admission::{
        Before, CallRow, Charging, Decision, InUse, Rows, Standing, VersionRow, ViewRow, admit, end_attempt,
        hold_attempt, is_fresh, next_number, prolong_attempt, raise, settle_call,
    },
    append::{append_fingerprint, appended, place_of},
    change::{RecordEdit, change, replay},
    idempotency::{AttemptRow, Phase, begin, dispatch, finish},
    lease::{LeaseRow, REMEMBER_FENCE, acquire_lease, check_fence, release_lease, renew_lease},
    permit::{PermitRow, acquire_permit, release_permit, renew_permit},
    rate::{BucketRule, LogRule, RateRow, Rule, take, wait},
};
