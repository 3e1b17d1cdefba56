//! Limits: a policy that a warden keeps in front of the tools, tested and counted in one step, shared by all processes on one store.

use std::time::Duration;

use interlock_sync::{
    adapt::{Policy, Rule, Warden},
    store::Quota,
};

use crate::twin::{MakeError, Parts};

/// How many calls of one caller may wait, and for how long.
const QUEUE: usize = 1024;
const PATIENCE: Duration = Duration::from_secs(30);

pub(super) fn warden(parts: &Parts) -> Result<Warden, MakeError> {
    let quota = Quota::bucket(parts.rate, Duration::from_secs(60))?;
    let every_tool = Rule::of("*").rate(quota).in_flight(parts.in_flight.get());
    let policy = Policy::builder().rule(every_tool).on(parts.store.clone()).queue(QUEUE).wait(PATIENCE);
    Ok(Warden::new(policy.build()?))
}
