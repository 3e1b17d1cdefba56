//! The vocabulary of Interlock: what every other crate talks about, as plain data.
//!
//! Nothing here does anything. There is no file, network, clock, chance or task in this crate, so every type can be built by
//! hand in a test and compared as a value. Wire formats live in the report crate; what is printed here is for people and for
//! the tests' expectations.
//!
//! Reading order: a [`Hazard`](HazardId) is named; a front end lowers source into the [effect IR](ir); a rule turns effects
//! into a [`Finding`] with a [`Witness`]; calls on the live server leave a [`History`] that is judged to a [`Verdict`]; and a
//! [`Remedy`] says which [`ToolPolicy`] or which library primitive stops it.

mod confinement;
mod hazard;
mod severity;

mod span;

pub mod ir;

mod finding;

mod history;
mod plan;
mod proof;
pub mod reference;
mod surface;
mod verdict;

mod policy;
mod remedy;

mod inspect;
mod report;

pub use confinement::{Confinement, Folders, Refusal};
pub use finding::{Finding, Fingerprint, Hardening, Lane, Location, Proof, Witness, WitnessStep};
pub use hazard::{HazardId, InvalidHazardId};
pub use history::{Answer, CallRecord, History, IoTick, Moment, TickKind};
pub use inspect::{FunctionIr, Loss, LossKind, Reaching, RuleOutcome, RuleVerdict, Why};
pub use plan::{CallSet, Delivery, Fault, Oracle, Perturbation, PlannedCall, RaceWindow, Schedule};
pub use policy::{
    IdempotencyKey, InvalidKey, InvalidRate, KeyPart, KeyTemplate, Mode, Per, Rate, ToolPolicy,
};
pub use proof::{
    Evidence, Learnt, LegalOutcome, Outcome, ProofReport, Seen, SetReport, StaleWindow, Writers,
};
pub use reference::NoSuchAnswer;
pub use remedy::{Primitive, Remedy, Site};
pub use report::{Coverage, Grade, Listed, NotFollowed, Rating, Report, ToolCoverage};
pub use severity::{Confidence, Reach, Severity, UnknownName};
pub use span::{FileId, Span};
pub use surface::{Effectful, Surface, ToolSurface};
pub use verdict::{Explored, Verdict};
