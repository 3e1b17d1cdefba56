//! The append-only log of every mutation: who, with which tool, which keys, from which version to which.
//!
//! A mutation and its line cannot be one step, so the safe twin writes two lines: what it is about to do, under the id of the operation,
//! and what became of it. If the process dies in between, the first line is there and the store still knows what the operation did;
//! [`mutations`] asks it. So no mutation goes unrecorded, and none is recorded that did not happen.

use std::{collections::HashMap, sync::Arc};

use interlock_sync::{
    retry::{Again, Retry, retry},
    store::{Appended, Applied, Key, OpId, Store, StoreError},
};
use serde::{Deserialize, Serialize};

use crate::{Log, caller::Caller};

/// A call of a tool, as far as the log needs to know it.
#[derive(Debug, Clone)]
pub struct Call {
    /// Who calls.
    pub caller: Caller,
    /// Which tool.
    pub tool: &'static str,
}

/// A line of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// Which operation.
    pub op: String,
    /// Who called.
    pub caller: String,
    /// Which tool.
    pub tool: String,
    /// What is said about it.
    pub phase: Phase,
    /// The records it is about.
    pub changes: Vec<KeyChange>,
    /// What the caller said it was for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// What a line says about its operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Phase {
    /// It is about to be sent.
    Intended,
    /// It took effect.
    Applied,
    /// It did not.
    Refused,
}

/// A record that an operation changes. Versions are those of the store, or the hashes of a file's content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyChange {
    /// Which.
    pub key: String,
    /// Its version before; none if it was made, or if this is not known yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Its version afterwards; none if it was removed, or if this is not known yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
}

/// A line with its place and time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Noted {
    /// Its place in the log.
    pub sequence: u64,
    /// When, in µs since 1970 by the store's clock.
    pub at: u64,
    /// The line.
    pub line: Line,
}

/// Writes the log.
#[derive(Clone)]
pub(crate) struct Audit {
    store: Arc<dyn Store>,
    log: Log,
}

/// The name of the log in the store.
const NAME: &str = "audit";

/// How many lines are read at a time.
const PAGE: usize = 512;

impl Audit {
    pub(crate) fn new(store: Arc<dyn Store>, log: Log) -> Self {
        Self { store, log }
    }

    /// Says what is about to be done. If this cannot be said, it must not be done.
    pub(crate) async fn intend(&self, line: &Line) -> Result<(), StoreError> {
        self.append(line).await
    }

    /// Says what became of it. If this cannot be said, the intention stands and the store can be asked.
    pub(crate) async fn conclude(&self, line: &Line) {
        if let Err(error) = self.append(line).await {
            (self.log)(&format!("the audit log has no conclusion for operation {}: {error}", line.op));
        }
    }

    /// A line whose answer is lost is sent again under the same id, so that it stands in the log once.
    async fn append(&self, line: &Line) -> Result<(), StoreError> {
        let entry =
            serde_json::to_vec(line).map_err(|error| StoreError::broken("a line of the audit log", error))?;
        let (op, name) = (OpId::fresh(), name()?);
        let is_lost = |answer: &Result<Appended, StoreError>| match answer {
            Err(error) => Again::from(error.is_in_doubt()),
            Ok(_) => Again::No,
        };
        retry(&Retry::brief(), || self.store.append(&op, &name, &entry), is_lost).await.map(drop)
    }
}

impl Line {
    /// A line about an operation on these keys, of which nothing more is known yet.
    pub(crate) fn intended<'a>(call: &Call, op: OpId, keys: impl Iterator<Item = &'a Key>) -> Self {
        let changes = keys.map(|key| KeyChange { key: key.to_string(), from: None, to: None }).collect();
        Self {
            op: op.to_string(),
            caller: call.caller.to_string(),
            tool: call.tool.to_owned(),
            phase: Phase::Intended,
            changes,
            note: None,
        }
    }

    /// The line with what the store did.
    pub(crate) fn applied(self, applied: &Applied) -> Self {
        let version =
            |version: Option<interlock_sync::store::Version>| version.map(|version| version.0.to_string());
        let changed = applied.changed.iter();
        let changes = changed
            .map(|change| KeyChange {
                key: change.key.to_string(),
                from: version(change.from),
                to: version(change.to),
            })
            .collect();
        Self { phase: Phase::Applied, changes, ..self }
    }

    /// The line with what was done to a file.
    pub(crate) fn written(self, from: Option<String>, to: Option<String>) -> Self {
        let changes =
            self.changes.into_iter().map(|change| KeyChange { from: from.clone(), to: to.clone(), ..change });
        Self { phase: Phase::Applied, changes: changes.collect(), ..self }
    }

    /// The line about what did not happen.
    pub(crate) fn refused(self) -> Self {
        Self { phase: Phase::Refused, ..self }
    }
}

/// The lines behind a place of the log, at most `limit`.
///
/// # Errors
///
/// When the store cannot be asked, or a line is none of ours.
pub async fn lines(store: &dyn Store, after: u64, limit: usize) -> Result<Vec<Noted>, StoreError> {
    let entries = store.read_log(&name()?, after, limit).await?;
    let noted = entries.into_iter().map(|entry| {
        let line = serde_json::from_slice(&entry.entry)
            .map_err(|error| StoreError::broken("a line of the audit log", error))?;
        Ok(Noted { sequence: entry.sequence, at: entry.at.0, line })
    });
    noted.collect()
}

/// All mutations that took effect, each once, in the order in which they were announced. What was announced and never concluded is asked
/// of the store, which knows it for as long as it remembers operations.
///
/// # Errors
///
/// When the store cannot be asked, or a line is none of ours.
pub async fn mutations(store: &dyn Store) -> Result<Vec<Line>, StoreError> {
    let (mut found, mut after): (Vec<Line>, u64) = (Vec::new(), 0);
    let mut places: HashMap<String, usize> = HashMap::new();
    loop {
        let page = lines(store, after, PAGE).await?;
        let Some(last) = page.last() else { break };
        after = last.sequence;
        for Noted { line, .. } in page {
            match places.get(&line.op).and_then(|place| found.get_mut(*place)) {
                Some(earlier) => *earlier = line,
                None => {
                    places.insert(line.op.clone(), found.len());
                    found.push(line);
                }
            }
        }
    }
    let mut applied = Vec::new();
    for line in found {
        match line.phase {
            Phase::Applied => applied.push(line),
            Phase::Refused => {}
            Phase::Intended => {
                let op = u128::from_str_radix(&line.op, 16)
                    .map_err(|error| StoreError::broken("an operation's id", error))?;
                if let Some(known) = store.applied(&OpId(op)).await? {
                    applied.push(line.applied(&known));
                }
            }
        }
    }
    Ok(applied)
}

fn name() -> Result<Key, StoreError> {
    Key::new(NAME).map_err(|error| StoreError::broken("the audit log's name", error))
}
