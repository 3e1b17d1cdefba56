//! What a client was about to do, and what was acknowledged to it: written line by line and flushed to the disk before it goes on.

use std::{
    collections::{BTreeMap, HashMap},
    fs::{File, OpenOptions},
    io::Write,
    path::Path,
    sync::Mutex,
};

use interlock_sync::{
    decide,
    record::{Records, Settled},
    retry::{Again, retry},
    store::{
        Applied, Change, Content, Expect, Fence, Mutation, OpId, Outcome, Refusal, Store, StoreError,
        Timestamp, Version,
    },
};

use crate::{bounds::Hold, calls::Things, client::resend, key};

/// A journal that is being written.
#[derive(Debug)]
pub(crate) struct Journal(Mutex<File>);

/// What an operation with an id was to do, as the journal tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Deed {
    Transfer { from: String, to: String, amount: i64 },
    Add { account: String, delta: i64 },
    Put { note: String },
    Swap { counter: String, version: u64, value: u64 },
    Append { log: String },
    Guarded { lease: String, fence: u64 },
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
    /// What was held, by the name of the lease or of the permits and by who held it.
    pub(crate) holds: BTreeMap<String, BTreeMap<String, Hold>>,
    /// The effects of calls, and whether one was told that it had happened.
    pub(crate) calls: HashMap<String, bool>,
    pub(crate) things: Things,
    /// When units of a quota were asked for that were granted, and when the answer was there.
    pub(crate) grants: BTreeMap<String, Vec<(u64, u64)>>,
    /// When a server crashed that may forget quotas then.
    pub(crate) crashes: Vec<u64>,
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
            Self::Append { log } => format!("intent {op} append {log}"),
            Self::Guarded { lease, fence } => format!("intent {op} guarded {lease} {fence}"),
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
            ["append", log] => Self::Append { log: log.into() },
            ["guarded", lease, fence] => Self::Guarded { lease: lease.into(), fence: fence.parse().unwrap() },
            _ => panic!("the journal says {words:?}"),
        }
    }

    /// Sends it once.
    pub(crate) async fn send(&self, op: OpId, store: &dyn Store) -> Result<Outcome, StoreError> {
        match self {
            Self::Append { log } => {
                let appended = store.append(&op, &key(log), op.to_string().as_bytes()).await?;
                let Some(place) = appended.place() else {
                    return Ok(Outcome::Refused(Refusal::Mismatch { op }));
                };
                Ok(Outcome::Applied(Applied {
                    replayed: true,
                    ..decide::appended(&key(log), place, Timestamp(0))
                }))
            }
            _ => store.mutate(&self.mutation(op)).await,
        }
    }

    /// Sends it, and sends it again under the same id for as long as its answer is lost.
    pub(crate) async fn settle(
        &self,
        op: OpId,
        store: &dyn Store,
        records: &Records,
    ) -> Result<Settled, StoreError> {
        let Self::Append { .. } = self else { return records.settle(&self.mutation(op)).await };
        let (mut doubt, resend) = (false, resend());
        let sent = retry(
            &resend,
            || self.send(op, store),
            |sent| match sent {
                Err(error) => {
                    doubt |= error.is_in_doubt();
                    Again::from(error.is_retryable())
                }
                Ok(_) => Again::No,
            },
        );
        match sent.await {
            Ok(Outcome::Applied(applied)) => Ok(Settled::Applied(applied)),
            Ok(Outcome::Refused(refusal)) => Ok(Settled::Refused(refusal)),
            Err(_) if doubt => Ok(Settled::InDoubt { op }),
            Err(error) => Err(error),
        }
    }

    fn mutation(&self, op: OpId) -> Mutation {
        let mutation = Mutation::new(op, self.change(op));
        match self {
            Self::Guarded { lease, fence } => mutation.under(key(lease), Fence(*fence)),
            _ => mutation,
        }
    }

    /// The change that does it. What is written to a note is the operation's own id.
    fn change(&self, op: OpId) -> Change {
        let own_id = || Content::Bytes(op.to_string().into_bytes());
        match self {
            Self::Transfer { from, to, amount } => {
                Change::Transfer { from: key(from), to: key(to), amount: *amount, floor: 0 }
            }
            Self::Add { account, delta } => Change::Add { key: key(account), delta: *delta, floor: Some(0) },
            Self::Put { note } => Change::Put { key: key(note), expect: Expect::Any, content: own_id() },
            Self::Guarded { lease, .. } => {
                Change::Put { key: key(format!("under-{lease}")), expect: Expect::Any, content: own_id() }
            }
            Self::Append { log } => panic!("an entry of `{log}` is no change of records"),
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
            let moment = |text: &str| text.parse::<u64>().unwrap();
            match *words {
                ["intent", id, ..] => self.deeds.push((op(id), Deed::of_words(&words[2..]))),
                ["applied", id] => self.acknowledge(op(id), Acknowledged::Applied),
                ["refused", id] => self.acknowledge(op(id), Acknowledged::Refused),
                ["begin", effect] => drop(self.effects.entry(effect.into()).or_default()),
                ["done", effect] => drop(self.effects.insert(effect.into(), true)),
                ["calls", effect] => drop(self.calls.entry(effect.into()).or_default()),
                ["called", effect] => drop(self.calls.insert(effect.into(), true)),
                ["saw", thing, reader, sent, answered] => {
                    let seen = self.things.seen.entry((thing.into(), reader.into())).or_default();
                    seen.push((moment(sent), moment(answered)));
                }
                ["changed", thing, sent, answered] => {
                    let changed = self.things.changed.entry(thing.into()).or_default();
                    changed.push((moment(sent), moment(answered)));
                }
                ["acted", thing, reader, sent] => {
                    self.things.acted.push((thing.into(), reader.into(), moment(sent)));
                }
                ["held", name, who, sent, answered] => {
                    let hold = Hold { from: moment(answered), asked: moment(sent), back: None };
                    self.holds.entry(name.into()).or_default().insert(who.into(), hold);
                }
                ["kept", name, who, sent] => self.hold(name, who).asked = moment(sent),
                ["back", name, who, at] => self.hold(name, who).back = Some(moment(at)),
                ["took", name, sent, answered] => {
                    self.grants.entry(name.into()).or_default().push((moment(sent), moment(answered)));
                }
                ["crash", at] => self.crashes.push(moment(at)),
                // What remains in doubt is what has no acknowledgement.
                ["doubt", ..] => {}
                _ => panic!("the journal says {line}"),
            }
        }
    }

    fn hold(&mut self, name: &str, who: &str) -> &mut Hold {
        self.holds.get_mut(name).and_then(|holds| holds.get_mut(who)).expect("it is held")
    }

    fn acknowledge(&mut self, op: OpId, how: Acknowledged) {
        assert_eq!(self.acknowledged.insert(op, how), None, "{op} was acknowledged twice");
    }
}
