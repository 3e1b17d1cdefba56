//! `lost-update`: its page is `doc.md`.

mod apart;
mod cached;
mod copied;
mod discarded;
mod kept;
mod probe;
mod remedy;
mod remote;
pub(crate) mod rule;
mod snapshot;

use interlock_model::{HazardId, Severity};

use crate::{Face, Hazard};

/// What the catalogue knows of `lost-update`.
pub const HAZARD: Hazard = Hazard {
    id: HazardId::from_static("lost-update"),
    title: "Read, changed and written back over someone else's change",
    severity: Severity::High,
    deduction: 15,
    hardening: false,
    cwe: &[362],
    faces: &[Face::Scan, Face::Prove, Face::Guard, Face::Sync],
    page: include_str!("doc.md"),
    remedy: remedy::remedy,
    example: remedy::EXAMPLE,
    rule: Some(rule::rule),
    probe: Some(probe::probe),
};
