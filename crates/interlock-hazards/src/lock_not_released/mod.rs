//! `lock-not-released`: its page is `doc.md`.

mod flag;
mod probe;
mod remedy;
mod rule;

use interlock_model::{HazardId, Severity};

use crate::{Face, Hazard};

/// What the catalogue knows of `lock-not-released`.
pub const HAZARD: Hazard = Hazard {
    id: HazardId::from_static("lock-not-released"),
    title: "An error path leaves the lock held",
    severity: Severity::High,
    deduction: 15,
    hardening: false,
    cwe: &[772, 667],
    faces: &[Face::Scan, Face::Prove, Face::Sync],
    page: include_str!("doc.md"),
    remedy: remedy::remedy,
    example: remedy::EXAMPLE,
    rule: Some(rule::rule),
    probe: Some(probe::probe),
};
