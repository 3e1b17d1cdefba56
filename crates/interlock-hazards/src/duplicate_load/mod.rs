//! `duplicate-load`: its page is `doc.md`.

mod cost;
mod opened;
mod probe;
mod refreshed;
mod remedy;
pub(crate) mod rule;

use interlock_model::{HazardId, Severity};

use crate::{Face, Hazard};

/// What the catalogue knows of `duplicate-load`.
pub const HAZARD: Hazard = Hazard {
    id: HazardId::from_static("duplicate-load"),
    title: "Two misses load the same thing twice",
    severity: Severity::Low,
    deduction: 5,
    hardening: false,
    cwe: &[362, 1050],
    faces: &[Face::Scan, Face::Prove, Face::Guard, Face::Sync],
    page: include_str!("doc.md"),
    remedy: remedy::remedy,
    example: remedy::EXAMPLE,
    rule: Some(rule::rule),
    probe: Some(probe::probe),
};
