//! `unversioned-record`: its page is `doc.md`.

mod remedy;
mod rule;

use interlock_model::{HazardId, Severity};

use crate::{Face, Hazard};

/// What the catalogue knows of `unversioned-record`.
pub const HAZARD: Hazard = Hazard {
    id: HazardId::from_static("unversioned-record"),
    title: "Nothing in the record can reveal a conflict",
    severity: Severity::Low,
    deduction: 5,
    hardening: false,
    cwe: &[362],
    faces: &[Face::Scan, Face::Guard, Face::Sync],
    page: include_str!("doc.md"),
    remedy: remedy::remedy,
    example: remedy::EXAMPLE,
    rule: Some(rule::rule),
    probe: None,
};
