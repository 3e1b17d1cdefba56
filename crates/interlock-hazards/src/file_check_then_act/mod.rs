//! `file-check-then-act`: its page is `doc.md`.

mod marker;
pub(crate) mod outdated;
mod probe;
mod remedy;
pub(crate) mod rule;
mod takeover;

use interlock_model::{HazardId, Severity};

use crate::{Face, Hazard};

/// What the catalogue knows of `file-check-then-act`.
pub const HAZARD: Hazard = Hazard {
    id: HazardId::from_static("file-check-then-act"),
    title: "A path tested, then used by name",
    severity: Severity::High,
    deduction: 15,
    hardening: false,
    cwe: &[367, 59],
    faces: &[Face::Scan, Face::Prove, Face::Guard, Face::Sync],
    page: include_str!("doc.md"),
    remedy: remedy::remedy,
    example: remedy::EXAMPLE,
    rule: Some(rule::rule),
    probe: Some(probe::probe),
};
