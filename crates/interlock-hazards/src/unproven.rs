//! The hazards of which no finding of high confidence has been shown to be true.
//!
//! Whoever judged findings on servers that nobody had looked at before (`xtask/data/judged`) found several false ones of each of these at
//! that confidence and no true one. Until the rule is repaired and judged anew, its findings are no surer than *medium* (decision 292).

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
