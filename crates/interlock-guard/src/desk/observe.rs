//! Rules in observe mode: what they would have decided is noted, and the call goes on.
//!
//! They are asked of the store like the others, under keys of their own, when the call is about to start, and never wait. Where a policy
//! observes a lock, calls that really hold one note it under these keys as well, so that an observed lock notices both.

use interlock_model::Mode;
use interlock_sync::store::{Admitted, Ending, OpId, WaitsOn};
use tokio::time::Instant;

use super::{Desk, carry::ttl, plan::Plan, turn::within_reason};
use crate::{
    call::ToolCall,
    event::{Decision, Event},
    policy::ToolRules,
};

impl Desk {
    /// Notes what observed rules would have done with a call that is about to start. What it would hold by them is returned, and settled
    /// with the rest.
    pub(super) async fn observe(
        &self,
        call: &ToolCall,
        id: OpId,
        rules: &ToolRules,
        came: Instant,
    ) -> Option<Plan> {
        if !is_any_observed(rules) {
            return None;
        }
        let note = |reason, keys: &[String]| {
            let decision = Decision::Observed { reason };
            self.watch.note(&Event::Decided { id, call, decision, keys, waited: came.elapsed() });
        };
        if rules.denial(&call.caller, Mode::Observe).is_some() {
            note("denied", &[]);
        }
        let (_, own_id) = self.next();
        let mut plan = match Plan::of(call, rules, Mode::Observe, own_id, ttl(rules)) {
            Ok(plan) => plan?,
            Err(why) => {
                note(why.name(), &[]);
                return None;
            }
        };
        let mut admitted = within_reason(self.store.admit(&plan.admission)).await;
        // A call over its rate is noted, and its conflicts are still judged: the rate must not hide them.
        if matches!(admitted, Ok(Admitted::TooOften { .. })) {
            note("rate", &plan.keys());
            plan.admission.charges.clear();
            admitted = within_reason(self.store.admit(&plan.admission)).await;
        }
        let reason = match admitted {
            Ok(Admitted::Granted { fence }) => {
                plan.settlement.fence = Some(fence);
                return Some(plan);
            }
            Ok(Admitted::TooOften { .. }) => "rate",
            Ok(Admitted::Waits { on: WaitsOn::Locks(_), .. }) => "locked",
            Ok(Admitted::Waits { on: WaitsOn::Place(_), .. }) => "in-flight",
            Ok(Admitted::Waits { on: WaitsOn::Same(_), .. }) => "running",
            Ok(Admitted::Ended(stored)) => match stored.ending {
                Ending::Completed(_) => "replayed",
                Ending::Failed(_) => return None,
            },
            Ok(Admitted::Mismatch) => "idempotency-mismatch",
            Ok(Admitted::InDoubt) => "in-doubt",
            Ok(Admitted::Stale { .. }) => "stale",
            Err(error) => {
                self.note_away(&error);
                return None;
            }
        };
        note(reason, &plan.keys());
        None
    }
}

fn is_any_observed(rules: &ToolRules) -> bool {
    let modes = [
        rules.deny.as_ref().map(|ruled| ruled.mode),
        rules.allow.as_ref().map(|ruled| ruled.mode),
        rules.deny_callers.as_ref().map(|ruled| ruled.mode),
        rules.rate.as_ref().map(|ruled| ruled.mode),
        rules.in_flight.as_ref().map(|ruled| ruled.mode),
        rules.lock.as_ref().map(|ruled| ruled.mode),
        rules.lock_shared.as_ref().map(|ruled| ruled.mode),
        rules.requires_fresh.as_ref().map(|ruled| ruled.mode),
        rules.idempotency.as_ref().map(|ruled| ruled.mode),
    ];
    modes.contains(&Some(Mode::Observe))
        || rules.notes_locks && (rules.lock.is_some() || rules.lock_shared.is_some())
}
