//! The file of one guard: a line for everything that begins and ends.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use interlock_sync::store::{Fence, Key, OpId, Settlement};
use serde::{Deserialize, Serialize};

use super::takeover::{boot, home, is_ours, started};

/// By how much a file may grow at least before it is written anew with what still counts.
const LONGEST: u64 = 1 << 20;

/// How files of guards end.
pub(super) const ENDING: &str = "journal";

/// The file of a guard that runs.
#[derive(Debug)]
pub struct Journal {
    folder: PathBuf,
    id: OpId,
    /// Upstreams whose calls are over when the guard and its programs are.
    programs: BTreeSet<String>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    file: File,
    /// By how much it has grown since it was written anew, and may.
    length: u64,
    limit: u64,
    /// What still counts.
    entries: Entries,
}

/// What a file says that still counts.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Entries {
    pub(super) guard: Option<Guard>,
    pub(super) held: BTreeMap<u128, Held>,
    /// Programs, by their number, with the moment of their start.
    pub(super) running: BTreeMap<u32, u64>,
}

/// Whose file it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Guard {
    /// The start of the machine on which it runs, which no other machine shares.
    pub(super) boot: String,
    /// Where its number means something.
    pub(super) home: String,
    pub(super) pid: u32,
}

/// A line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Line {
    /// Whose file it is.
    Guard(Guard),
    /// A call holds something.
    Held(Held),
    /// A call has ended.
    Settled(String),
    /// A program runs, since this moment.
    Runs(u32, u64),
    /// It has ended.
    Ended(u32),
}

/// What a call holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Held {
    call: String,
    fence: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    places: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    locks: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    once: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reader: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    changes: Vec<String>,
    remember_ms: u64,
}

impl Journal {
    /// Opens a file of this guard's own. `programs` are the names of the upstreams that it starts itself.
    ///
    /// # Errors
    ///
    /// The folder cannot be made, or the file not written.
    pub fn open(folder: &Path, programs: impl IntoIterator<Item = String>) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let id = OpId::fresh();
        if !is_ours(folder) {
            return Err(io::Error::other(format!("others can write in {}", folder.display())));
        }
        let guard = Guard { boot: boot(), home: home(), pid: std::process::id() };
        let entries = Entries { guard: Some(guard), ..Entries::default() };
        let file = written(folder, id, &entries)?;
        let state = State { file, length: 0, limit: LONGEST, entries };
        Ok(Self {
            folder: folder.to_owned(),
            id,
            programs: programs.into_iter().collect(),
            state: Mutex::new(state),
        })
    }

    /// A call was let through to an upstream. What it holds is written down if nothing goes on with it once this guard is dead.
    pub(crate) fn held(&self, upstream: &str, settlement: &Settlement) {
        if self.programs.contains(upstream)
            && let Some(held) = Held::of(settlement)
        {
            self.put(&Line::Held(held));
        }
    }

    /// A call has given back what it held.
    pub(crate) fn settled(&self, call: OpId) {
        let is_held = self.state().entries.held.contains_key(&call.0);
        if is_held {
            self.put(&Line::Settled(call.to_string()));
        }
    }

    /// A program was started.
    pub(super) fn runs(&self, pid: u32) {
        if let Some(start) = started(pid) {
            self.put(&Line::Runs(pid, start));
        }
    }

    /// A program has ended, with all that it had started.
    pub(super) fn ended(&self, pid: u32) {
        self.put(&Line::Ended(pid));
    }

    /// A line that cannot be written is left out: then what it speaks of is held until it runs out, as it would be without a file.
    fn put(&self, line: &Line) {
        let mut state = self.state();
        state.entries.take(line);
        let Ok(mut text) = serde_json::to_string(line) else { return };
        text.push('\n');
        let _ = state.file.write_all(text.as_bytes());
        state.length += text.len() as u64;
        if state.length > state.limit
            && let Ok(file) = written(&self.folder, self.id, &state.entries)
        {
            // The new file is locked before it takes the place of the old one.
            // The limit grows with the live entries, so that rewriting stays a constant share of all writes.
            state.limit = file.metadata().map_or(LONGEST, |file| file.len().max(LONGEST));
            (state.file, state.length) = (file, 0);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Journal {
    /// A guard that ends in order leaves nothing behind but what it could not settle.
    fn drop(&mut self) {
        let state = self.state();
        // A program may have ended before the task that waits for it has taken it off the journal, so the process itself is looked for.
        let mut running = state.entries.running.iter();
        let is_any_left = running.any(|(pid, start)| started(*pid) == Some(*start));
        if state.entries.held.is_empty() && !is_any_left {
            let _ = fs::remove_file(path(&self.folder, self.id));
        }
    }
}

impl Entries {
    /// What a file says, as far as it can be read: its last line may have been cut off.
    pub(super) fn read(text: &str) -> Self {
        let mut entries = Self::default();
        for line in text.lines().filter_map(|line| serde_json::from_str::<Line>(line).ok()) {
            entries.take(&line);
        }
        entries
    }

    fn take(&mut self, line: &Line) {
        match line {
            Line::Guard(guard) => self.guard = Some(guard.clone()),
            Line::Held(held) => {
                if let Some(OpId(call)) = held.call() {
                    self.held.insert(call, held.clone());
                }
            }
            Line::Settled(call) => {
                if let Some(OpId(call)) = read_id(call) {
                    self.held.remove(&call);
                }
            }
            Line::Runs(pid, start) => {
                self.running.insert(*pid, *start);
            }
            Line::Ended(pid) => {
                self.running.remove(pid);
            }
        }
    }
}

impl Held {
    fn of(settlement: &Settlement) -> Option<Self> {
        let Settlement { call, fence, places, locks, once, reader, changes, remember, .. } = settlement;
        let Fence(fence) = (*fence)?;
        if places.is_empty() && locks.is_empty() && once.is_none() {
            return None;
        }
        let texts = |keys: &[Key]| keys.iter().map(|key| key.as_str().to_owned()).collect();
        Some(Self {
            call: call.to_string(),
            fence,
            places: texts(places),
            locks: texts(locks),
            once: once.as_ref().map(|(key, ..)| key.as_str().to_owned()),
            reader: reader.as_ref().map(|key| key.as_str().to_owned()),
            changes: texts(changes),
            remember_ms: u64::try_from(remember.as_millis()).unwrap_or(u64::MAX),
        })
    }

    fn call(&self) -> Option<OpId> {
        read_id(&self.call)
    }

    /// How a call with an unknown outcome is settled. `None` if the file holds anything but such a record.
    pub(super) fn settlement(&self) -> Option<Settlement> {
        let keys =
            |texts: &[String]| texts.iter().map(|text| Key::new(text).ok()).collect::<Option<Vec<_>>>();
        let key = |text: &Option<String>| text.as_deref().map(|text| Key::new(text).ok());
        let remember = Duration::from_millis(self.remember_ms);
        Some(Settlement {
            call: self.call()?,
            fence: Some(Fence(self.fence)),
            places: keys(&self.places)?,
            locks: keys(&self.locks)?,
            once: match key(&self.once) {
                Some(key) => Some((key?, None, remember)),
                None => None,
            },
            reader: match key(&self.reader) {
                Some(key) => Some(key?),
                None => None,
            },
            changes: keys(&self.changes)?,
            is_success: false,
            remember,
        })
    }
}

fn read_id(text: &str) -> Option<OpId> {
    u128::from_str_radix(text, 16).ok().map(OpId)
}

fn path(folder: &Path, OpId(id): OpId) -> PathBuf {
    folder.join(format!("{id:032x}.{ENDING}"))
}

/// Writes a file with these entries, in one step: whoever sees it under its name finds it locked.
fn written(folder: &Path, id: OpId, entries: &Entries) -> io::Result<File> {
    let path = path(folder, id);
    let new = path.with_extension("new");
    let mut file = OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(&new)?;
    file.try_lock().map_err(io::Error::other)?;
    let held = entries.held.values().map(|held| Line::Held(held.clone()));
    let running = entries.running.iter().map(|(pid, start)| Line::Runs(*pid, *start));
    let guard = entries.guard.iter().map(|guard| Line::Guard(guard.clone()));
    for line in guard.chain(held).chain(running) {
        let text = serde_json::to_string(&line).map_err(io::Error::other)?;
        file.write_all(format!("{text}\n").as_bytes())?;
    }
    fs::rename(new, path)?;
    Ok(file)
}
