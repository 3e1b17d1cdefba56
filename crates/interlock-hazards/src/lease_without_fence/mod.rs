//! `lease-without-fence`: its page is `doc.md`.

mod remedy;
mod rule;

use interlock_model::{HazardId, Severity};

use crate::{Face, Hazard};

/// What the catalogue knows of `lease-without-fence`.
pub const HAZARD: Hazard = Hazard {
    id: HazardId::from_static("lease-without-fence"),
    title: "A timed lock guards work that may outlive it",
    severity: Severity::Medium,
    deduction: 10,
    hardening: false,
    cwe: &[667, 613],
    faces: &[Face::Scan, Face::Prove, Face::Guard, Face::Sync],
    page: include_str!("doc.md"),
    remedy: remedy::remedy,
    example: remedy::EXAMPLE,
    rule: Some(rule::rule),
    probe: None,
};
