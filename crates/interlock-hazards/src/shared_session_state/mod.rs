//! `shared-session-state`: its page is `doc.md`.

mod connected;
mod probe;
mod remedy;
pub(crate) mod rule;
mod switched;

use interlock_model::{HazardId, Severity};

use crate::{Face, Hazard};

/// What the catalogue knows of `shared-session-state`.
pub const HAZARD: Hazard = Hazard {
    id: HazardId::from_static("shared-session-state"),
    title: "Session state read, then written after a suspension",
    severity: Severity::High,
    deduction: 15,
    hardening: false,
    cwe: &[362, 488],
    faces: &[Face::Scan, Face::Prove, Face::Guard, Face::Sync],
    page: include_str!("doc.md"),
    remedy: remedy::remedy,
    example: remedy::EXAMPLE,
    rule: Some(rule::rule),
    probe: Some(probe::probe),
};
