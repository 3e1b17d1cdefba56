//! `retry-storm`: its page is `doc.md`.

mod remedy;
mod rule;

use interlock_model::{HazardId, Severity};

use crate::{Face, Hazard};

/// What the catalogue knows of `retry-storm`.
pub const HAZARD: Hazard = Hazard {
    id: HazardId::from_static("retry-storm"),
    title: "All losers come back at the same moment",
    severity: Severity::Low,
    deduction: 4,
    hardening: true,
    cwe: &[834, 400],
    faces: &[Face::Scan, Face::Guard, Face::Sync],
    page: include_str!("doc.md"),
    remedy: remedy::remedy,
    example: remedy::EXAMPLE,
    rule: Some(rule::rule),
    probe: None,
};
