//! `missing-idempotency-key`: its page is `doc.md`.

mod probe;
mod remedy;
mod rule;

use interlock_model::{HazardId, Severity};

use crate::{Face, Hazard};

/// What the catalogue knows of `missing-idempotency-key`.
pub const HAZARD: Hazard = Hazard {
    id: HazardId::from_static("missing-idempotency-key"),
    title: "An external effect that a retry repeats",
    severity: Severity::High,
    deduction: 15,
    hardening: false,
    cwe: &[837],
    faces: &[Face::Scan, Face::Prove, Face::Guard, Face::Sync],
    page: include_str!("doc.md"),
    remedy: remedy::remedy,
    example: remedy::EXAMPLE,
    rule: Some(rule::rule),
    probe: Some(probe::probe),
};
