//! Where a fix is wanted.

use std::collections::BTreeMap;

use interlock_lang::Repair;
use interlock_model::{HazardId, Span, ir::Name};
use serde::{Deserialize, Serialize};

/// What a finding has in one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spot {
    /// Which hazard.
    pub hazard: HazardId,
    /// The file, relative to the scanned root.
    pub file: String,
    /// Its steps there.
    pub spans: Vec<Span>,
}

/// The hazards that can be fixed, and how.
const REPAIRS: &[(&str, Repair)] = &[
    ("file-check-then-act", Repair::CreateExclusively),
    ("non-atomic-file-replace", Repair::ReplaceAtomically),
    ("lock-not-released", Repair::ReleaseAlways),
];

impl Spot {
    /// The spots of a finding: its own span and those of its witness, by file. None where nothing can be fixed by itself.
    #[must_use]
    pub fn of(hazard: &HazardId, spans: impl IntoIterator<Item = Span>, files: &[Name]) -> Vec<Self> {
        if repair_of(hazard).is_none() {
            return Vec::new();
        }
        let mut by_file: BTreeMap<&str, Vec<Span>> = BTreeMap::new();
        for span in spans {
            let file = usize::try_from(span.file.0).ok().and_then(|index| files.get(index));
            by_file.entry(file.map_or("", |file| file)).or_default().push(span);
        }
        by_file.remove("");
        let spot = |(file, mut spans): (&str, Vec<Span>)| {
            spans.sort();
            spans.dedup();
            Self { hazard: hazard.clone(), file: file.to_owned(), spans }
        };
        by_file.into_iter().map(spot).collect()
    }
}

/// What would put an end to a hazard.
pub(super) fn repair_of(hazard: &HazardId) -> Option<Repair> {
    REPAIRS.iter().find(|(id, _)| *id == hazard.as_str()).map(|(_, repair)| *repair)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hazard_that_can_be_fixed_is_in_the_catalogue() {
        for (id, _) in REPAIRS {
            assert!(interlock_hazards::find(id).is_some(), "{id}");
        }
    }
}
