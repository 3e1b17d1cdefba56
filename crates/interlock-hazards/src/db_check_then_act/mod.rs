//! `db-check-then-act`: its page is `doc.md`.

pub(crate) mod consumed;
mod due;
mod judged;
pub(crate) mod number;
mod probe;
mod remedy;
mod remote;
pub(crate) mod rule;
mod unseen;
pub(crate) mod whole_file;

use interlock_model::{HazardId, Severity};

use crate::{Face, Hazard};

/// What the catalogue knows of `db-check-then-act`.
pub const HAZARD: Hazard = Hazard {
    id: HazardId::from_static("db-check-then-act"),
    title: "A row judged in one statement, changed in another",
    severity: Severity::High,
    deduction: 18,
    hardening: false,
    cwe: &[367, 362],
    faces: &[Face::Scan, Face::Prove, Face::Guard, Face::Sync],
    page: include_str!("doc.md"),
    remedy: remedy::remedy,
    example: remedy::EXAMPLE,
    rule: Some(rule::rule),
    probe: Some(probe::probe),
};
