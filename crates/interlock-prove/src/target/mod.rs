//! What is proved: a command that we start as often as we like, or a server that somebody runs and can put back.

mod instance;
pub(crate) mod orphans;
mod pool;
mod process;
mod scratch;

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

pub use self::scratch::fill;
pub(crate) use self::{
    instance::{Instance, Terms},
    pool::{Hold, Pool},
    scratch::{Scratch, unfill_answer},
};
use crate::{connect::Address, launch::Launch};

/// A server to prove.
#[derive(Debug, Clone)]
pub enum Target {
    /// Started anew for every run, on pipes.
    Command {
        /// Program and arguments; `{scratch}` in them is the instance's own folder.
        command: Vec<String>,
        /// Added to its environment; `{scratch}` likewise.
        environment: BTreeMap<String, String>,
        /// Where it runs.
        directory: PathBuf,
    },
    /// Running already, over Streamable HTTP.
    Url {
        /// Where.
        address: Address,
        /// Sent with every request.
        headers: BTreeMap<String, String>,
        /// Puts it back to its first state; run by the shell before every run.
        reset: String,
    },
}

/// How long to wait for a server.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// For it to start and shake hands.
    pub start: Duration,
    /// For an answer.
    pub answer: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { start: Duration::from_secs(20), answer: Duration::from_secs(10) }
    }
}

impl Target {
    /// For people.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Command { command, .. } => command.join(" "),
            Self::Url { address, .. } => {
                format!("{}://{}{}", address.scheme(), address.authority(), address.path)
            }
        }
    }

    /// Whether it is started by something that fetches what it does not have yet. Launchers of packages have done so before.
    fn may_have_to_be_fetched(&self) -> bool {
        const RUNNERS: &[&str] = &["docker", "podman", "nerdctl", "deno", "bun"];
        let Self::Command { command, .. } = self else { return false };
        let name = command.first().and_then(|program| std::path::Path::new(program).file_name());
        name.is_some_and(|name| RUNNERS.iter().any(|runner| name == *runner))
    }

    /// Whether more than one client can be connected to one instance.
    #[must_use]
    pub fn networked(&self) -> bool {
        matches!(self, Self::Url { .. })
    }
}

/// How the target would be started, for looking at; `None` if we do not start it.
pub(crate) fn launch_for_looks(target: &Target) -> Option<Launch> {
    match target {
        Target::Command { directory, .. } => Some(instance::launch(target, directory)),
        Target::Url { .. } => None,
    }
}
