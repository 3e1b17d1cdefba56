//! How the program ends. Scripts read these numbers, so they never change.

use std::process::ExitCode;

/// What the help says about exit codes.
pub(crate) const HELP: &str = "\
Exit codes:
  0  clean, or held
  1  hazards found, broken or latent
  2  Interlock failed or was misused
  3  unknown, or nothing to check";

/// The outcome of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Nothing to complain of.
    Clean,
    /// Hazards were found.
    Found,
    /// Interlock failed, or was misused.
    Failed,
    /// There was nothing to check.
    Nothing,
}

impl Exit {
    /// The number.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Clean => 0,
            Self::Found => 1,
            Self::Failed => 2,
            Self::Nothing => 3,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
