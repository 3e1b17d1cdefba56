//! `{id}`: its page is `doc.md`.

mod remedy;

use interlock_model::{HazardId, Severity};

use crate::{Face, Hazard};

/// What the catalogue knows of `{id}`.
pub const HAZARD: Hazard = Hazard {
    id: HazardId::from_static("{id}"),
    title: "(write here) The danger in one line",
    severity: Severity::Medium,
    deduction: 10,
    hardening: false,
    cwe: &[362],
    faces: &[Face::Scan],
    page: include_str!("doc.md"),
    remedy: remedy::remedy,
    example: remedy::EXAMPLE,
    rule: None,
    probe: None,
};
