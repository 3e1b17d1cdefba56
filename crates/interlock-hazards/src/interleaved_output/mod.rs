//! `interleaved-output`: its page is `doc.md`.

mod probe;
mod remedy;
mod rule;

use interlock_model::{HazardId, Severity};

use crate::{Face, Hazard};

/// What the catalogue knows of `interleaved-output`.
pub const HAZARD: Hazard = Hazard {
    id: HazardId::from_static("interleaved-output"),
    title: "Several writers mix their frames on one stream",
    severity: Severity::Medium,
    deduction: 8,
    hardening: false,
    cwe: &[362, 820],
    faces: &[Face::Scan, Face::Prove, Face::Guard, Face::Sync],
    page: include_str!("doc.md"),
    remedy: remedy::remedy,
    example: remedy::EXAMPLE,
    rule: Some(rule::rule),
    probe: Some(probe::probe),
};
