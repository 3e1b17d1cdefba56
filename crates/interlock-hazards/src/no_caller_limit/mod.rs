//! `no-caller-limit`: its page is `doc.md`.

mod probe;
mod remedy;
mod rule;

use interlock_model::{HazardId, Severity};

use crate::{Face, Hazard};

/// What the catalogue knows of `no-caller-limit`.
pub const HAZARD: Hazard = Hazard {
    id: HazardId::from_static("no-caller-limit"),
    title: "Nothing bounds one caller's parallel calls",
    severity: Severity::Medium,
    deduction: 10,
    hardening: true,
    cwe: &[770, 400],
    faces: &[Face::Scan, Face::Prove, Face::Guard, Face::Sync],
    page: include_str!("doc.md"),
    remedy: remedy::remedy,
    example: remedy::EXAMPLE,
    rule: Some(rule::rule),
    probe: Some(probe::probe),
};
