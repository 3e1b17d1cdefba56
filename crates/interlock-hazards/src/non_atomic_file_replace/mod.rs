//! `non-atomic-file-replace`: its page is `doc.md`.

mod probe;
mod remedy;
mod rule;
mod scratch;

use interlock_model::{HazardId, Severity};

use crate::{Face, Hazard};

/// What the catalogue knows of `non-atomic-file-replace`.
pub const HAZARD: Hazard = Hazard {
    id: HazardId::from_static("non-atomic-file-replace"),
    title: "A file overwritten in place, half-written for a while",
    severity: Severity::Medium,
    deduction: 8,
    hardening: false,
    cwe: &[362, 377],
    faces: &[Face::Scan, Face::Prove, Face::Guard, Face::Sync],
    page: include_str!("doc.md"),
    remedy: remedy::remedy,
    example: remedy::EXAMPLE,
    rule: Some(rule::rule),
    probe: Some(probe::probe),
};
