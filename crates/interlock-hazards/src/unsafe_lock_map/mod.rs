//! `unsafe-lock-map`: its page is `doc.md`.

mod once;
mod probe;
mod remedy;
mod rule;

use interlock_model::{HazardId, Severity};

use crate::{Face, Hazard};

/// What the catalogue knows of `unsafe-lock-map`.
pub const HAZARD: Hazard = Hazard {
    id: HazardId::from_static("unsafe-lock-map"),
    title: "A map of locks that leaks, or drops one still held",
    severity: Severity::Medium,
    deduction: 10,
    hardening: false,
    cwe: &[667, 401],
    faces: &[Face::Scan, Face::Prove, Face::Guard, Face::Sync],
    page: include_str!("doc.md"),
    remedy: remedy::remedy,
    example: remedy::EXAMPLE,
    rule: Some(rule::rule),
    probe: Some(probe::probe),
};
