//! `non-atomic-rate-limit`: its page is `doc.md`.

mod appended;
mod probe;
mod remedy;
pub(crate) mod rule;

use interlock_model::{HazardId, Severity};

use crate::{Face, Hazard};

/// What the catalogue knows of `non-atomic-rate-limit`.
pub const HAZARD: Hazard = Hazard {
    id: HazardId::from_static("non-atomic-rate-limit"),
    title: "A limit read, compared and counted in separate steps",
    severity: Severity::High,
    deduction: 18,
    hardening: false,
    cwe: &[367, 799],
    faces: &[Face::Scan, Face::Prove, Face::Guard, Face::Sync],
    page: include_str!("doc.md"),
    remedy: remedy::remedy,
    example: remedy::EXAMPLE,
    rule: Some(rule::rule),
    probe: Some(probe::probe),
};
