//! What a client was about to do, and what was acknowledged to it: written line by line and flushed to the disk before it goes on.

use std::{
    collections::HashMap,
    fs::{File, OpenOptions},
    io::Write,
    path::Path,
    sync::Mutex,
};

use interlock_sync::store::{Change, Content, Expect, OpId, Version};

use crate::key;

/// A journal that is being written.
#[derive(Debug)]
pub(crate) struct Journal(Mutex<File>);

/// What a mutation was to do, as the journal tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Deed {
    Transfer { from: String, to: String, amount: i64 },
    Add { account: String, delta: i64 },
    Put { note: String },
    Swap { counter: String, version: u64, value: u64 },
}

/// What was acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Acknowledged {
    Applied,
    Refused,
}

/// What journals say together.
#[derive(Debug, Default)]
pub(crate) struct Account {
    /// In the order of each journal.
    pub(crate) deeds: Vec<(OpId, Deed)>,
    pub(crate) acknowledged: HashMap<OpId, Acknowledged>,
    /// The keys of effects, and whether one was told that it had happened.
    pub(crate) effects: HashMap<String, bool>,
}

impl Journal {
    pub(crate) fn append_to(path: &Path) -> Self {
        Self(Mutex::new(OpenOptions::new().create(true).append(true).open(path).unwrap()))
    }

    /// Writes a line that is on the disk when this returns.
    pub(crate) fn note(&self, line: &str) {
        let mut file = self.0.lock().unwrap();
        file.write_all(format!("{line}\n").as_bytes()).unwrap();
        file.sync_data().unwrap();
    }
}

impl Deed {
    pub(crate) fn line(&self, op: OpId) -> String {
        match self {
            Self::Transfer { from, to, amount } => format!("intent {op} transfer {from} {to} {amount}"),
            Self::Add { account, delta } => format!("intent {op} add {account} {delta}"),
            Self::Put { note } => format!("intent {op} put {note}"),
            Self::Swap { counter, version, value } => format!("intent {op} swap {counter} {version} {value}"),
        }
    }

    fn of_words(words: &[&str]) -> Self {
        match *words {
            ["transfer", from, to, amount] => {
                Self::Transfer { from: from.into(), to: to.into(), amount: amount.parse().unwrap() }
            }
            ["add", account, delta] => Self::Add { account: account.into(), delta: delta.parse().unwrap() },
            ["put", note] => Self::Put { note: note.into() },
            ["swap", counter, version, value] => Self::Swap {
                counter: counter.into(),
                version: version.parse().unwrap(),
                value: value.parse().unwrap(),
            },
            _ => panic!("the journal says {words:?}"),
        }
    }

    /// The change that does it. What is written to a note is the operation's own id.
    pub(crate) fn change(&self, op: OpId) -> Change {
        match self {
            Self::Transfer { from, to, amount } => {
                Change::Transfer { from: key(from), to: key(to), amount: *amount, floor: 0 }
            }
            Self::Add { account, delta } => Change::Add { key: key(account), delta: *delta, floor: Some(0) },
            Self::Put { note } => {
                let content = Content::Bytes(op.to_string().into_bytes());
                Change::Put { key: key(note), expect: Expect::Any, content }
            }
            Self::Swap { counter, version, value } => {
                let content = Content::Bytes(value.to_string().into_bytes());
                Change::Put { key: key(counter), expect: Expect::Version(Version(*version)), content }
            }
        }
    }
}

impl Account {
    /// Reads one more journal. Its last line may have been cut short by a kill: then what it says was not yet begun, or not yet known.
    pub(crate) fn read(&mut self, journal: &Path) {
        let text = std::fs::read_to_string(journal).unwrap_or_default();
        for line in text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')) {
            let words: Vec<&str> = line.split(' ').collect();
            let op = |text: &str| OpId(u128::from_str_radix(text, 16).unwrap());
            match *words {
                ["intent", id, ..] => self.deeds.push((op(id), Deed::of_words(&words[2..]))),
                ["applied", id] => self.acknowledge(op(id), Acknowledged::Applied),
                ["refused", id] => self.acknowledge(op(id), Acknowledged::Refused),
                ["begin", effect] => drop(self.effects.entry(effect.into()).or_default()),
                ["done", effect] => drop(self.effects.insert(effect.into(), true)),
                // What remains in doubt is what has no acknowledgement.
                ["doubt", ..] => {}
                _ => panic!("the journal says {line}"),
            }
        }
    }

    fn acknowledge(&mut self, op: OpId, how: Acknowledged) {
        assert_eq!(self.acknowledged.insert(op, how), None, "{op} was acknowledged twice");
    }
}
