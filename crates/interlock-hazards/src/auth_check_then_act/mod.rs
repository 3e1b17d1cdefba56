//! `auth-check-then-act`: its page is `doc.md`.

mod probe;
mod remedy;
pub(crate) mod rule;

use interlock_model::{HazardId, Severity};

use crate::{Face, Hazard};

/// What the catalogue knows of `auth-check-then-act`.
pub const HAZARD: Hazard = Hazard {
    id: HazardId::from_static("auth-check-then-act"),
    title: "Permission checked in one step, the act done in another",
    severity: Severity::Critical,
    deduction: 22,
    hardening: false,
    cwe: &[367, 863],
    faces: &[Face::Scan, Face::Prove, Face::Guard, Face::Sync],
    page: include_str!("doc.md"),
    remedy: remedy::remedy,
    example: remedy::EXAMPLE,
    rule: Some(rule::rule),
    probe: Some(probe::probe),
};
