//! `stale-read-across-await`: its page is `doc.md`.

mod added;
mod bare;
mod early;
mod emptied;
mod gathered;
mod overtaken;
mod probe;
mod remedy;
mod reset;
pub(crate) mod rule;
pub(crate) mod spent;
pub(crate) mod taken;
pub(crate) mod twice;

use interlock_model::{HazardId, Severity};

use crate::{Face, Hazard};

/// What the catalogue knows of `stale-read-across-await`.
pub const HAZARD: Hazard = Hazard {
    id: HazardId::from_static("stale-read-across-await"),
    title: "Shared state read before a suspension, trusted after it",
    severity: Severity::High,
    deduction: 15,
    hardening: false,
    cwe: &[367, 362],
    faces: &[Face::Scan, Face::Prove, Face::Guard, Face::Sync],
    page: include_str!("doc.md"),
    remedy: remedy::remedy,
    example: remedy::EXAMPLE,
    rule: Some(rule::rule),
    probe: Some(probe::probe),
};
