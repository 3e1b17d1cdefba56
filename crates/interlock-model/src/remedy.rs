//! How a hazard is stopped: today by the guard, for good by the library.

use serde::{Deserialize, Serialize};
use std::fmt;

use crate::{KeyTemplate, ToolPolicy};

/// Where a remedy is wanted: what a hazard's `remedy.rs` fills its policy with.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Site {
    /// The tools that change the state.
    pub tools: Vec<String>,
    /// The tools that only read it.
    pub readers: Vec<String>,
    /// The state they meet at.
    pub keys: Vec<KeyTemplate>,
}

/// What to do about a hazard at one site.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remedy {
    /// One sentence: how the code is written right.
    pub code: String,
    /// Rules for the guard that stop it in front of the unchanged server; empty where the guard cannot.
    pub policy: Vec<ToolPolicy>,
    /// The part of `interlock-sync` that is made for it, if there is one.
    #[serde(skip)]
    pub primitive: Option<Primitive>,
}

/// A part of `interlock-sync`, by the name that its documentation and the hazards' pages use: `keyed lock`.
///
/// The model knows that there are such parts, not which: the library is where one is added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Primitive(pub &'static str);

impl fmt::Display for Primitive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.0)
    }
}
