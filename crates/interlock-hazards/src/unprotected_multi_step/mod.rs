//! `unprotected-multi-step`: its page is `doc.md`.

mod bound;
mod listed;
mod mixed;
mod probe;
mod readers;
mod remedy;
mod replaced;
mod rule;
mod step;
mod undone;

use interlock_model::{HazardId, Severity};

use crate::{Face, Hazard};

/// What the catalogue knows of `unprotected-multi-step`.
pub const HAZARD: Hazard = Hazard {
    id: HazardId::from_static("unprotected-multi-step"),
    title: "Records that change together, with nothing to bind them",
    severity: Severity::High,
    deduction: 15,
    hardening: false,
    cwe: &[362, 460],
    faces: &[Face::Scan, Face::Prove, Face::Guard, Face::Sync],
    page: include_str!("doc.md"),
    remedy: remedy::remedy,
    example: remedy::EXAMPLE,
    rule: Some(rule::rule),
    probe: Some(probe::probe),
};
