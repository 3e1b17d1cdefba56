//! What was decided beforehand: `guard.toml`, checked, as rules that hold for a tool.
//!
//! ```text
//!  guard.toml ──▶ config ──▶ check ──▶ rules ──▶ the desk
//!  .mcp.json  ──┘            says what   resolved once per tool,
//!  tools, scan ─▶ suggest    surprises   replaced as a whole by live
//! ```

mod bare;
mod callers;
mod check;
mod config;
mod live;
mod pattern;
mod problem;
mod rule;
mod rules;
mod substitute;
mod suggest;
mod tool;

use std::{collections::BTreeMap, path::PathBuf};

pub(crate) use self::config::read_file;
pub use self::{
    bare::{Bare, InvalidLock},
    callers::{Callers, InvalidCallers},
    check::check,
    config::{
        ApiKey, AuditConfig, CertificateName, Config, Defaults, IdentityConfig, JwtAlgorithm, JwtConfig,
        KeySource, ListenConfig, ListenLimits, Resource, SessionKey, StoreAway, TlsFiles, import, schema,
    },
    live::{Live, Reloaded},
    pattern::{EmptyPattern, Pattern},
    problem::{Broken, Problem, Weight},
    rule::{Cancel, InvalidRule, Rule},
    rules::{Ruled, Rules, ToolRules},
    substitute::Environment,
    suggest::suggest,
    tool::ListedTool,
};
/// A server behind the guard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpstreamConfig {
    /// What it is called here: in logs, metrics and, if it has one, in the prefix of its tools.
    pub name: String,
    /// How it is reached.
    pub reach: Reach,
    /// Whether the guard does not start without it.
    pub is_required: bool,
    /// What stands before the names of its tools and prompts; empty for one upstream that is passed through as it is.
    pub prefix: String,
    /// Who shares a child process.
    pub sharing: Sharing,
    /// How many child processes there are.
    pub processes: Processes,
}

impl UpstreamConfig {
    /// What the processes that everybody shares are called in logs and metrics. No name of an upstream has a `#` in it.
    #[must_use]
    pub fn instances(&self) -> Vec<String> {
        let is_shared = matches!(self.reach, Reach::Command { .. }) && self.sharing == Sharing::One;
        match self.processes.instances {
            count @ 2.. if is_shared => (1..=count).map(|number| format!("{}#{number}", self.name)).collect(),
            _ => vec![self.name.clone()],
        }
    }
}

/// How an upstream is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// A child process that speaks on its standard input and output.
    Command {
        /// The program and its arguments; never through a shell.
        command: Vec<String>,
        /// What is added to its environment.
        env: BTreeMap<String, String>,
        /// Where it runs.
        folder: Option<PathBuf>,
    },
    /// Streamable HTTP.
    Url {
        /// Where.
        url: String,
        /// What is added to every request.
        headers: BTreeMap<String, String>,
        /// The file with the authorities that its certificate is checked against, in PEM; `None` for those of the system.
        ca: Option<PathBuf>,
    },
}

/// How many child processes there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Processes {
    /// How many that sessions have for themselves, all sessions together.
    pub most: usize,
    /// Those of one caller.
    pub per_caller: usize,
    /// How many that everybody shares.
    pub instances: usize,
    /// Which of those a call goes to.
    pub choose: Choose,
}

/// Which of several processes a call goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Choose {
    /// That which its session, or its caller, had before.
    #[default]
    Sticky,
    /// That which has the fewest calls to answer.
    LeastLoaded,
}

impl Default for Processes {
    fn default() -> Self {
        Self { most: 256, per_caller: 64, instances: 1, choose: Choose::Sticky }
    }
}

/// Who shares a child process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sharing {
    /// One process for everybody.
    #[default]
    One,
    /// One process for each session.
    PerSession,
}
