//! A replay: the file from which `prove --replay` runs an illegal run once more.

use std::collections::BTreeMap;

use interlock_model::{CallSet, Outcome, PlannedCall, Schedule, Seen};
use serde::{Deserialize, Serialize};

use super::{
    json::{Head, call, run},
    value,
};
use crate::encode;

/// The version that is written and read.
pub const VERSION: u64 = 1;

/// No replay is larger than this, in bytes.
pub const LARGEST: usize = 4 << 20;

/// No set has more calls, set-ups or reads than this.
pub const MOST_CALLS: usize = 1_000;

/// No schedule has more choices than this.
pub const MOST_CHOICES: usize = 100_000;

/// Arguments and answers may lie so deep, so that the file around them can still be read.
const DEEPEST: usize = 100;

/// All that is needed to run it again.
#[derive(Debug, Clone, PartialEq)]
pub struct Replay {
    /// The server.
    pub target: Target,
    /// The calls.
    pub set: CallSet,
    /// How they are made to meet.
    pub schedule: Schedule,
    /// What came of it; `None` where that was too large to be saved.
    pub observed: Option<Outcome>,
}

/// The server that a replay was taken from, as it was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A process that is started for each instance.
    Command {
        /// The program and its arguments.
        command: Vec<String>,
        /// What was added to its environment. A value is missing where it may be a secret: whoever replays gives it again.
        environment: BTreeMap<String, Option<String>>,
    },
    /// A server that runs already.
    Url {
        /// Where.
        url: String,
        /// The command that brings it back to its first state.
        reset: Option<String>,
    },
}

/// Why a replay cannot be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// The arguments lie too deep inside each other.
    #[error("the arguments of {0} are nested deeper than {DEEPEST} levels")]
    Deep(String),
    /// It would not be read back.
    #[error("the calls take {0} bytes, and a replay at most {LARGEST}")]
    Large(usize),
    /// It would not be read back.
    #[error("a set of {0} calls, and a replay has at most {MOST_CALLS}")]
    Calls(usize),
    /// It would not be read back.
    #[error("a schedule of {0} choices, and a replay has at most {MOST_CHOICES}")]
    Choices(usize),
}

/// Why a text is no replay.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// No JSON, or not the fields that a replay has.
    #[error("not a replay of `interlock prove`: the file is damaged, or something else")]
    Malformed(#[source] serde_json::Error),
    /// A version that another release writes.
    #[error("version {0} of the replay is not known here; this release reads version {VERSION}")]
    Version(u64),
    /// More than any replay has.
    #[error("{0} bytes, and a replay has at most {LARGEST}")]
    Large(usize),
    /// More calls than any replay has.
    #[error("a set of {0} calls, and a replay has at most {MOST_CALLS}")]
    Calls(usize),
    /// More choices than any replay has.
    #[error("a schedule of {0} choices, and a replay has at most {MOST_CHOICES}")]
    Choices(usize),
    /// A replay of nothing.
    #[error("the set has no calls")]
    NoCalls,
    /// A replay of nothing.
    #[error("the command is empty")]
    NoCommand,
}

#[derive(Serialize, Deserialize)]
struct File {
    version: u64,
    target: Place,
    set: call::Set,
    schedule: call::Schedule,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    observed: Option<run::Outcome>,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "a target has a command, or a url")]
enum Place {
    Command {
        command: Vec<String>,
        #[serde(default)]
        environment: BTreeMap<String, Option<String>>,
    },
    Url {
        url: String,
        #[serde(default)]
        reset: Option<String>,
    },
}

/// Writes a replay. The outcome is left out where it would make the file too large to be read back.
///
/// # Errors
///
/// When the calls themselves are more than a replay can hold.
pub fn to_text(replay: &Replay) -> Result<String, WriteError> {
    let set = &replay.set;
    if let Err(count) = few(set) {
        return Err(WriteError::Calls(count));
    }
    if let Some(count) = many_choices(&replay.schedule) {
        return Err(WriteError::Choices(count));
    }
    let deep = |call: &&PlannedCall| {
        [&call.arguments, &call.meta].into_iter().any(|part| value::depth(part) > DEEPEST)
    };
    if let Some(call) = set.setup.iter().chain(&set.calls).chain(&set.reads).find(deep) {
        return Err(WriteError::Deep(call.tool.clone()));
    }
    let file = |observed: Option<&Outcome>| {
        encode::json(&File {
            version: VERSION,
            target: (&replay.target).into(),
            set: set.into(),
            schedule: (&replay.schedule).into(),
            observed: observed.map(run::Outcome::from),
        })
    };
    let text = file(replay.observed.as_ref().filter(|outcome| shallow(outcome)));
    if text.len() <= LARGEST {
        return Ok(text);
    }
    let text = file(None);
    if text.len() <= LARGEST { Ok(text) } else { Err(WriteError::Large(text.len())) }
}

/// Reads a replay.
///
/// # Errors
///
/// When the text is no JSON, is of another version, lacks what a replay has, or has more than any replay.
pub fn from_text(text: &str) -> Result<Replay, ReadError> {
    if text.len() > LARGEST {
        return Err(ReadError::Large(text.len()));
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let head: Head = serde_json::from_str(text).map_err(ReadError::Malformed)?;
    if head.version != VERSION {
        return Err(ReadError::Version(head.version));
    }
    let file: File = serde_json::from_str(text).map_err(ReadError::Malformed)?;
    let replay = Replay {
        target: file.target.into(),
        set: file.set.into(),
        schedule: file.schedule.into(),
        observed: file.observed.map(Into::into),
    };
    if let Err(count) = few(&replay.set) {
        return Err(ReadError::Calls(count));
    }
    if let Some(count) = many_choices(&replay.schedule) {
        return Err(ReadError::Choices(count));
    }
    if replay.set.calls.is_empty() {
        return Err(ReadError::NoCalls);
    }
    match &replay.target {
        Target::Command { command, .. } if command.first().is_none_or(String::is_empty) => {
            Err(ReadError::NoCommand)
        }
        _ => Ok(replay),
    }
}

/// The largest list of calls, if it is too large.
fn few(set: &CallSet) -> Result<(), usize> {
    let most = [&set.setup, &set.calls, &set.reads].into_iter().map(Vec::len).max().unwrap_or(0);
    if most > MOST_CALLS { Err(most) } else { Ok(()) }
}

fn many_choices(schedule: &Schedule) -> Option<usize> {
    let count = match &schedule.perturbation {
        interlock_model::Perturbation::NodeOrder { choices } => choices.len(),
        interlock_model::Perturbation::HeldWindow { windows } => windows.len(),
        _ => return None,
    };
    (count > MOST_CHOICES).then_some(count)
}

fn shallow(outcome: &Outcome) -> bool {
    outcome.answers.iter().chain(&outcome.reads).all(|seen| match seen {
        Seen::Result(value) | Seen::Error(value) => value::depth(value) <= DEEPEST,
        Seen::Nothing => true,
    })
}

impl From<&Target> for Place {
    fn from(target: &Target) -> Self {
        match target.clone() {
            Target::Command { command, environment } => Self::Command { command, environment },
            Target::Url { url, reset } => Self::Url { url, reset },
        }
    }
}

impl From<Place> for Target {
    fn from(place: Place) -> Self {
        match place {
            Place::Command { command, environment } => Self::Command { command, environment },
            Place::Url { url, reset } => Self::Url { url, reset },
        }
    }
}
