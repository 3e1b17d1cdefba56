//! `leak-on-partial-init`: its page is `doc.md`.

mod late;
mod remedy;
mod rule;

use interlock_model::{HazardId, Severity};

use crate::{Face, Hazard};

/// What the catalogue knows of `leak-on-partial-init`.
pub const HAZARD: Hazard = Hazard {
    id: HazardId::from_static("leak-on-partial-init"),
    title: "Start-up fails half way and leaves things open",
    severity: Severity::Medium,
    deduction: 10,
    hardening: false,
    cwe: &[404, 772],
    faces: &[Face::Scan, Face::Sync],
    page: include_str!("doc.md"),
    remedy: remedy::remedy,
    example: remedy::EXAMPLE,
    rule: Some(rule::rule),
    probe: None,
};
