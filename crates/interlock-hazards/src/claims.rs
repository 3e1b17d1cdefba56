//! Which rule a check-act pair belongs to: one ordered table, of which the first row that fits claims the pair.
//!
//! ```text
//! const used = await redis.get(`rate:${user}`);     // a count that is compared and then raised:
//! if (used < LIMIT) await redis.incr(`rate:${user}`) // claimed by non-atomic-rate-limit, and not told again as db-check-then-act
//! ```
//!
//! The order goes from what is known best about a pair to what is known least, so that one race window is one finding. A rule reads the
//! pairs that are its own ([`claimed`]) and knows no other rule. What is not about a pair at all (a lock that stays held, a lease) is no row here.

use interlock_model::HazardId;

use crate::{
    Hazard, Outcome, Reason, auth_check_then_act,
    check_act::{CheckAct, check_act_pairs},
    db_check_then_act, duplicate_load, file_check_then_act, lost_update, non_atomic_rate_limit,
    shared_session_state, stale_read_across_await,
    view::View,
};

/// What a pair is taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Claim {
    /// A limit is compared, and then counted.
    OverrunLimit,
    /// Something is missed, loaded and then kept.
    DuplicateLoad,
    /// State of a session is read, and written behind a suspension.
    SessionState,
    /// State in memory is read, and replaced behind a suspension.
    StaleRead,
    /// An amount in memory is compared, and taken behind a suspension.
    Overspent,
    /// A name in memory is refused if it is there, and taken behind a suspension.
    TakenName,
    /// What is good for one use is found in memory, used, and taken away only then.
    UsedTwice,
    /// A file is looked for, and used by name.
    FileCheck,
    /// Whose something is was checked. Told from a view of its own, which also sees acts on what the record leads to.
    Ownership,
    /// A row or key is judged, and changed by another statement.
    JudgedRow,
    /// A row is added under the number after the last one.
    SameNumber,
    /// What is good for one use is found in a store, and removed by another statement.
    UsedUp,
    /// What a file says decides that it is removed.
    OutdatedFile,
    /// What a file says is judged, and the file is then replaced by something new.
    JudgedFile,
    /// Something is written back that was made of an older state of it.
    LostUpdate,
}

/// Whether a claim fits a pair, or why not.
type Fits = fn(&View<'_>, &CheckAct<'_, '_>) -> Result<(), Reason>;

/// The table.
static CLAIMS: [(Claim, &Hazard, Fits); 15] = [
    (Claim::OverrunLimit, &non_atomic_rate_limit::HAZARD, non_atomic_rate_limit::rule::claims),
    (Claim::DuplicateLoad, &duplicate_load::HAZARD, duplicate_load::rule::claims),
    (Claim::SessionState, &shared_session_state::HAZARD, shared_session_state::rule::claims),
    (Claim::StaleRead, &stale_read_across_await::HAZARD, stale_read_across_await::rule::claims),
    (Claim::Overspent, &stale_read_across_await::HAZARD, stale_read_across_await::spent::claims),
    (Claim::UsedTwice, &stale_read_across_await::HAZARD, stale_read_across_await::twice::claims),
    (Claim::TakenName, &stale_read_across_await::HAZARD, stale_read_across_await::taken::claims),
    (Claim::FileCheck, &file_check_then_act::HAZARD, file_check_then_act::rule::claims),
    (Claim::Ownership, &auth_check_then_act::HAZARD, auth_check_then_act::rule::claims),
    (Claim::JudgedRow, &db_check_then_act::HAZARD, db_check_then_act::rule::claims),
    (Claim::SameNumber, &db_check_then_act::HAZARD, db_check_then_act::number::claims),
    (Claim::UsedUp, &db_check_then_act::HAZARD, db_check_then_act::consumed::claims),
    (Claim::OutdatedFile, &file_check_then_act::HAZARD, file_check_then_act::outdated::claims),
    (Claim::JudgedFile, &db_check_then_act::HAZARD, db_check_then_act::whole_file::claims),
    (Claim::LostUpdate, &lost_update::HAZARD, lost_update::rule::claims),
];

/// The first claim that fits a pair.
pub(crate) fn claim(view: &View<'_>, pair: &CheckAct<'_, '_>) -> Option<Claim> {
    let mut first = None;
    for (claim, hazard, fits) in &CLAIMS {
        match (fits(view, pair), first) {
            (Ok(()), None) => first = Some(*claim),
            (Ok(()), Some(_)) => silent(pair, &hazard.id, Reason::ClaimedByAnotherRule),
            (Err(reason), None) => silent(pair, &hazard.id, reason),
            (Err(_), Some(_)) => {}
        }
        // Whoever only wants findings has enough.
        if first.is_some() && !pair.entry.explains() {
            break;
        }
    }
    if first.is_none() {
        pair.entry.decide(None, &[pair.read, pair.act], Outcome::Silent(Reason::Unclaimed));
    }
    first
}

/// The pairs that a claim is the first to fit.
pub(crate) fn claimed<'v, 'e>(view: &'v View<'e>, claim: Claim) -> Vec<CheckAct<'v, 'e>> {
    check_act_pairs(view).into_iter().filter(|pair| pair.claim == Some(claim)).collect()
}

/// Notes why a rule says nothing of a pair.
pub(crate) fn silent(pair: &CheckAct<'_, '_>, hazard: &HazardId, reason: Reason) {
    pair.entry.decide(Some(hazard), &[pair.read, pair.act], Outcome::Silent(reason));
}
