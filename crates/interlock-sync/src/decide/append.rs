//! What is remembered of an entry that was appended to a log, under the id of the operation.

use crate::store::{
    Appended, Applied, Changed, Fingerprint, Key, Outcome, Refusal, StoreError, Timestamp, Version,
};

/// What tells an append from another operation under the same id.
#[must_use]
pub fn append_fingerprint(log: &Key, entry: &[u8]) -> Fingerprint {
    Fingerprint::of_parts([b"append", log.as_str().as_bytes(), entry])
}

/// What an append did: the log is what changed, and the entry's place is its version.
#[must_use]
pub fn appended(log: &Key, place: u64, at: Timestamp) -> Applied {
    let changed = Changed { key: log.clone(), from: None, to: Some(Version(place)), number: None };
    Applied { at, changed: vec![changed], replayed: false }
}

/// The place of the entry that an operation appended.
///
/// # Errors
///
/// When what is remembered is no append to this log, though its fingerprint says so.
pub fn place_of(log: &Key, outcome: &Outcome) -> Result<Appended, StoreError> {
    match outcome {
        Outcome::Refused(Refusal::Mismatch { .. }) => Ok(Appended::Mismatch),
        Outcome::Applied(Applied { changed, .. }) => match changed.as_slice() {
            [Changed { key, from: None, to: Some(Version(place)), number: None }] if key == log => {
                Ok(Appended::At(*place))
            }
            // Remembered by a release that kept no fingerprints.
            _ => Ok(Appended::Mismatch),
        },
        Outcome::Refused(other) => {
            let reason = format!("an append to `{log}` was answered like a change of records: {other:?}");
            Err(StoreError::Broken { reason, source: None })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_found_again_and_another_operation_s_is_none() {
        let (log, other) = (Key::new("log").unwrap(), Key::new("other").unwrap());
        let applied = Outcome::Applied(appended(&log, 7, Timestamp(1)));
        assert_eq!(place_of(&log, &applied).unwrap(), Appended::At(7));
        assert_eq!(place_of(&other, &applied).unwrap(), Appended::Mismatch);
        let missing = Outcome::Refused(Refusal::Missing { key: log.clone() });
        assert!(matches!(place_of(&log, &missing), Err(StoreError::Broken { .. })));
    }
}
