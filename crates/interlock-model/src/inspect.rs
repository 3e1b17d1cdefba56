//! What somebody asks of a scan who does not trust its silence: what a function came to, and why nothing is reported at a line.

use serde::{Deserialize, Serialize};
use std::fmt;

use crate::{HazardId, Location};

/// A function in the text form of the IR.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionIr {
    /// Its name.
    pub name: String,
    /// Where it stands.
    pub location: Location,
    /// Its steps: as linked, or with its calls inlined.
    pub ir: String,
}

/// What is known about a line of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Why {
    /// The line.
    pub location: Location,
    /// The functions that have steps there, the innermost only.
    pub functions: Vec<FunctionIr>,
    /// The entry points that lead there.
    pub reached: Vec<Reaching>,
    /// What each rule that looked at it came to.
    pub rules: Vec<RuleOutcome>,
    /// Where the analysis lost its way, there or on the calls that lead there.
    pub lost: Vec<Loss>,
}

/// An entry point that leads to a line.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reaching {
    /// What runs: `tool add_note`, `start-up`, `an event`, `nothing that is known calls it`.
    pub entry: String,
    /// The functions on the way, the entry point first, each with the line of its call; of the first, where it stands.
    pub calls: Vec<(String, Location)>,
    /// Whether the rules saw the line as a part of this entry point.
    pub inlined: bool,
}

/// What a rule came to at a line.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RuleOutcome {
    /// The hazard; `None` where check-act pairs are found for all rules that share them.
    pub hazard: Option<HazardId>,
    /// Where it is reported, or the other step of the pair that nothing is said of.
    pub location: Location,
    /// What was reported, or why nothing was.
    pub outcome: RuleVerdict,
}

/// Reported, or silent for a reason.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum RuleVerdict {
    /// This is said.
    Reported(String),
    /// For this reason nothing is.
    Silent(String),
}

/// A place at which the analysis lost its way.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Loss {
    /// Where.
    pub location: Location,
    /// How.
    pub kind: LossKind,
    /// What was called there.
    pub callee: String,
    /// Whether it could hide a change of something that calls share.
    pub hides: bool,
}

/// How the analysis lost its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum LossKind {
    /// A call of a library's function of which nothing is known.
    UnknownLibrary,
    /// A call of something whose import leads to no file of the tree.
    UnresolvedImport,
    /// A call of a method on something of which nothing is known.
    UnresolvedReceiver,
    /// A call of a value, of which it is not known which function it holds.
    UnknownFunction,
    /// A call that may lead to more functions than there is a budget for, some of which were left out.
    Alternatives,
    /// A call of a known function whose steps were left out: the entry point had grown too large, or the call closes a circle.
    NotInlined,
    /// The whole program came to more steps than there is a budget for.
    Budget,
    /// Another program is run, and what that one changes is not seen.
    OtherProgram,
    /// A request is sent whose method or address is not known, so that it is not seen what it changes.
    UnknownRequest,
    /// The file does not parse, and a part of it was left out.
    DamagedFile,
}

impl LossKind {
    /// Its name in reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::UnknownLibrary => "unknown-library",
            Self::UnresolvedImport => "unresolved-import",
            Self::UnresolvedReceiver => "unresolved-receiver",
            Self::UnknownFunction => "unknown-function",
            Self::Alternatives => "alternatives",
            Self::NotInlined => "not-inlined",
            Self::Budget => "budget",
            Self::OtherProgram => "other-program",
            Self::UnknownRequest => "unknown-request",
            Self::DamagedFile => "damaged-file",
        }
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { location, kind, callee, .. } = self;
        match kind {
            LossKind::UnknownLibrary => write!(f, "{location}: it is not known what `{callee}` does"),
            LossKind::UnresolvedImport => write!(f, "{location}: the import of `{callee}` leads nowhere"),
            LossKind::UnresolvedReceiver => {
                write!(f, "{location}: it is not known whose `{callee}` is called")
            }
            LossKind::UnknownFunction => {
                write!(f, "{location}: it is not known which function `{callee}` is")
            }
            LossKind::Alternatives => {
                write!(f, "{location}: not every function that `{callee}` may be is followed")
            }
            LossKind::NotInlined => write!(f, "{location}: the call of `{callee}` is not followed"),
            LossKind::Budget => write!(f, "{location}: there is no budget left to follow `{callee}`"),
            LossKind::OtherProgram => {
                write!(f, "{location}: another program runs (`{callee}`), and what it changes is not seen")
            }
            LossKind::UnknownRequest => {
                write!(f, "{location}: it is not known what the request by `{callee}` changes")
            }
            LossKind::DamagedFile => {
                write!(f, "{location}: `{callee}` does not parse, and a part of it was left out")
            }
        }
    }
}
