//! What is remembered of an entry that was appended to a log, under the id of the operation.

use crate::store::{Applied, Changed, Key, OpId, StoreError, Timestamp, Version};

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
/// When it was another operation: one id is one operation, so nothing was appended.
pub fn place_of(op: OpId, log: &Key, applied: &Applied) -> Result<u64, StoreError> {
    match applied.changed.as_slice() {
        [Changed { key, from: None, to: Some(Version(place)), number: None }] if key == log => Ok(*place),
        _ => {
            let reason = format!("the id {op} was used for something else than to append to `{log}`");
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
        let applied = appended(&log, 7, Timestamp(1));
        assert_eq!(place_of(OpId(1), &log, &applied).unwrap(), 7);
        assert!(matches!(place_of(OpId(1), &other, &applied), Err(StoreError::Broken { .. })));
    }
}
