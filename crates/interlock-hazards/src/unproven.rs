//! The hazards of which no finding of high confidence has been shown to be true.
//!
//! The verdicts of readers on unseen servers (`xtask/data/judged`) have false findings of each of these rules and no true one of high
//! confidence. Until a rule is repaired and judged anew, its findings are *medium* at most (decision 292).

use interlock_model::{Confidence, HazardId};

/// Their names.
const UNPROVEN: &[&str] = &["lock-not-released", "missing-idempotency-key", "unprotected-multi-step"];

/// How sure a finding of a hazard may be at most.
#[must_use]
pub fn surest(hazard: &HazardId) -> Confidence {
    if UNPROVEN.contains(&hazard.as_str()) { Confidence::Medium } else { Confidence::High }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_of_them_is_a_hazard_and_no_surer_than_medium() {
        for name in UNPROVEN {
            let hazard = crate::find(name).expect("a hazard of that name");
            assert_eq!(surest(&hazard.id), Confidence::Medium);
        }
        assert_eq!(surest(&crate::lost_update::HAZARD.id), Confidence::High);
    }
}
