//! `call-after-close`: its page is `doc.md`.

mod closed_twice;
mod counted_late;
mod endless;
mod entry_kept;
mod handed_out;
mod places;
mod probe;
mod remedy;
mod replaced;
mod rule;

use interlock_model::{HazardId, Severity};

use crate::{Face, Hazard};

/// What the catalogue knows of `call-after-close`.
pub const HAZARD: Hazard = Hazard {
    id: HazardId::from_static("call-after-close"),
    title: "A call runs while close tears its connection down",
    severity: Severity::High,
    deduction: 15,
    hardening: false,
    cwe: &[362, 672],
    faces: &[Face::Scan, Face::Prove, Face::Guard, Face::Sync],
    page: include_str!("doc.md"),
    remedy: remedy::remedy,
    example: remedy::EXAMPLE,
    rule: Some(rule::rule),
    probe: Some(probe::probe),
};
