//! What an illegal outcome shows, told from how it differs from the legal ones, and which hazards look like that from outside.
//!
//! A probe picks calls that should meet, and names the hazard it is after; what then happens may be another. Where the outcome decides, it
//! gives the proof its name. Where several hazards look the same from outside (a row, a file and a variable that were each read too early), the
//! one that was looked for stays, if it is among them.

use std::collections::BTreeMap;

use interlock_model::{CallSet, Evidence, Fault, HazardId, LegalOutcome, Oracle, Outcome, Seen};
use serde_json::Value;

use super::successes;
use crate::plan::plain;

/// What is seen from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shows {
    /// More calls succeed than in any order: somebody should have been refused.
    TooMany,
    /// What should be there once is there twice.
    Twice,
    /// What the first call prepares for all was prepared by several.
    LoadedTwice,
    /// What a call did, and was told it did, is gone.
    Lost,
    /// Every call is answered as if it had been alone.
    Alone,
    /// Who read meanwhile saw what there never is.
    Torn,
    /// Who read meanwhile saw only the beginning.
    CutShort,
    /// What is there afterwards is partly one order's and partly another's.
    Mixed,
    /// More calls got through than a limit allows.
    OverLimit,
    /// Nothing stopped a flood.
    Flood,
    /// A request that was sent again did something again.
    Repeated,
    /// The server was killed in the middle, and half of a call is there.
    Killed,
    /// The client went in the middle, and half of a call is there.
    Left,
}

/// Hazards of a look and a later act that trusts it. Which of them it is depends on where the state is, which nobody sees from outside.
const LOOK_THEN_ACT: &[&str] = &[
    "auth-check-then-act",
    "db-check-then-act",
    "duplicate-load",
    "file-check-then-act",
    "lock-not-released",
    "lost-update",
    "missing-idempotency-key",
    "non-atomic-rate-limit",
    "shared-session-state",
    "stale-read-across-await",
    "unprotected-multi-step",
    "unsafe-lock-map",
];

impl Shows {
    /// What an illegal run of a set shows; `None` where the outcome says only that no order leads to it.
    pub(crate) fn of(set: &CallSet, evidence: &Evidence) -> Option<Self> {
        match (set.fault, set.oracle) {
            (Fault::Kill { .. }, _) => Some(Self::Killed),
            (Fault::Close { .. }, _) => Some(Self::Left),
            (Fault::None, Oracle::NoMoreThanSerial) => Some(Self::OverLimit),
            (Fault::None, Oracle::SomeRefused) => Some(Self::Flood),
            (Fault::None, Oracle::Once) => Some(Self::Repeated),
            (Fault::None, Oracle::Serial) => Beside::new(set, evidence).told(),
        }
    }

    /// What it may be called when a probe looked for it, the usual name first.
    fn names(self) -> &'static [&'static str] {
        match self {
            Self::TooMany | Self::Twice => &[
                "db-check-then-act",
                "file-check-then-act",
                "auth-check-then-act",
                "stale-read-across-await",
                "shared-session-state",
                "non-atomic-rate-limit",
                "duplicate-load",
            ],
            Self::LoadedTwice => &["duplicate-load"],
            Self::Lost => &["lost-update", "stale-read-across-await", "shared-session-state"],
            Self::Alone => &[
                "stale-read-across-await",
                "lost-update",
                "shared-session-state",
                "db-check-then-act",
                "file-check-then-act",
            ],
            Self::Torn => &["unprotected-multi-step", "non-atomic-file-replace"],
            Self::CutShort => &["non-atomic-file-replace"],
            Self::Mixed => &["unprotected-multi-step", "lost-update"],
            Self::OverLimit => &["non-atomic-rate-limit"],
            Self::Flood => &["no-caller-limit"],
            Self::Repeated => &["missing-idempotency-key"],
            Self::Killed => &["unprotected-multi-step", "non-atomic-file-replace"],
            Self::Left => &["call-after-close", "unprotected-multi-step"],
        }
    }

    /// Whether code that has this hazard can do that. Who read the code knows where the state is, so more fits than what one would guess.
    pub(crate) fn fits(self, hazard: &HazardId) -> bool {
        let name = hazard.as_str();
        self.names().contains(&name)
            || match self {
                Self::TooMany | Self::Twice | Self::LoadedTwice | Self::Lost | Self::Alone | Self::Mixed => {
                    LOOK_THEN_ACT.contains(&name)
                }
                Self::Torn | Self::CutShort => {
                    ["lost-update", "stale-read-across-await", "interleaved-output"].contains(&name)
                }
                Self::Killed | Self::Left => ["non-atomic-file-replace", "lock-not-released"].contains(&name),
                Self::OverLimit | Self::Flood | Self::Repeated => false,
            }
    }

    /// The hazard that the proof is called after: the one that a probe looked for, if it can look like this, else the usual one.
    pub(crate) fn called(self, planned: Option<&HazardId>, on_files: bool) -> Option<HazardId> {
        let names = self.names();
        // A probe does not know where the state is; whoever keeps files has no row to lock.
        let is_right = |planned: &&HazardId| {
            names.contains(&planned.as_str()) && !(on_files && planned.as_str() == "db-check-then-act")
        };
        if let Some(planned) = planned.filter(is_right) {
            return Some(planned.clone());
        }
        let about_files = names.iter().find(|name| on_files && **name == "file-check-then-act");
        about_files.or(names.first()).and_then(|name| name.parse().ok())
    }
}

/// An outcome beside the legal ones.
struct Beside<'e> {
    set: &'e CallSet,
    observed: &'e Outcome,
    legal: &'e [LegalOutcome],
}

/// Larger states are not taken apart.
const MOST_LEAVES: usize = 20_000;

impl<'e> Beside<'e> {
    fn new(set: &'e CallSet, evidence: &'e Evidence) -> Self {
        Self { set, observed: &evidence.observed, legal: &evidence.legal }
    }

    fn told(&self) -> Option<Shows> {
        let most = self.full().map(successes).max()?;
        if successes(self.observed) > most {
            return Some(Shows::TooMany);
        }
        self.told_apart()
            .or_else(|| self.torn())
            .or_else(|| self.lost())
            .or_else(|| self.more_or_less())
            .or_else(|| self.prepared_again())
            .or_else(|| self.alone())
            .or_else(|| self.mixed())
    }

    /// Outcomes of all calls.
    fn full(&self) -> impl Iterator<Item = &'e Outcome> {
        let count = self.set.calls.len();
        self.legal
            .iter()
            .filter(move |legal| legal.orders.iter().any(|order| order.len() == count))
            .map(|legal| &legal.outcome)
    }

    /// What an order leads to, if it was run.
    fn after(&self, order: &[usize]) -> Option<&'e Outcome> {
        self.legal
            .iter()
            .find(|legal| legal.orders.iter().any(|known| known == order))
            .map(|legal| &legal.outcome)
    }

    fn orders(&self) -> impl Iterator<Item = (&'e [usize], &'e Outcome)> {
        self.legal
            .iter()
            .flat_map(|legal| legal.orders.iter().map(|order| (order.as_slice(), &legal.outcome)))
    }

    /// Equal calls are told the same in every order, and now they are not.
    fn told_apart(&self) -> Option<Shows> {
        let agree = |outcome: &Outcome| all_equal(outcome.answers.iter());
        let equal = self.set.calls.len() > 1 && all_equal(self.set.calls.iter());
        (equal && self.full().all(agree) && !agree(self.observed)).then_some(Shows::LoadedTwice)
    }

    /// One call does what there is to do, and those behind it do nothing more and are told nothing else; and now there is another state.
    fn prepared_again(&self) -> Option<Shows> {
        let made: Vec<_> = self.orders().filter(|(order, _)| !order.is_empty()).collect();
        let calls = || 0..self.set.calls.len();
        let told = |index: usize| {
            let with = made.iter().filter(move |(order, _)| order.contains(&index));
            all_equal(with.map(|(_, outcome)| outcome.answers.get(index)))
        };
        let prepared = calls().all(|index| self.after(&[index]).is_some() && told(index))
            && all_equal(made.iter().map(|(_, outcome)| &outcome.reads));
        let other = made.iter().all(|(_, outcome)| outcome.reads != self.observed.reads);
        (prepared && other).then_some(Shows::LoadedTwice)
    }

    /// All is right but what those were told who only read.
    fn torn(&self) -> Option<Shows> {
        let readers: Vec<usize> = (0..self.set.calls.len()).filter(|index| self.only_reads(*index)).collect();
        if readers.is_empty() || readers.len() == self.set.calls.len() {
            return None;
        }
        let writers_fit = |outcome: &Outcome| {
            outcome.reads == self.observed.reads
                && (0..self.set.calls.len())
                    .filter(|index| !readers.contains(index))
                    .all(|index| outcome.answers.get(index) == self.observed.answers.get(index))
        };
        if !self.full().any(writers_fit) {
            return None;
        }
        let cut = readers.iter().any(|reader| {
            let told = |outcome: &Outcome| outcome.answers.get(*reader).map(words_of);
            let observed = told(self.observed).unwrap_or_default();
            let legal: Vec<String> = self.full().filter_map(told).collect();
            // Nothing at all may be a file that was just emptied, or a list before its first entry.
            !observed.is_empty()
                && !legal.contains(&observed)
                && legal.iter().any(|legal| legal.starts_with(&observed))
        });
        Some(if cut { Shows::CutShort } else { Shows::Torn })
    }

    /// Whether a call leaves the state as it is, wherever in an order it comes.
    fn only_reads(&self, index: usize) -> bool {
        let count = self.set.calls.len();
        let mut full = self.orders().filter(|(order, _)| order.len() == count);
        full.all(|(order, outcome)| {
            let without: Vec<usize> = order.iter().copied().filter(|other| *other != index).collect();
            self.after(&without).is_some_and(|left| left.reads == outcome.reads)
        })
    }

    /// The state is that of fewer calls than were made.
    fn lost(&self) -> Option<Shows> {
        if self.observed.reads.is_empty() || self.full().any(|outcome| outcome.reads == self.observed.reads) {
            return None;
        }
        self.legal.iter().any(|legal| legal.outcome.reads == self.observed.reads).then_some(Shows::Lost)
    }

    /// The state has less in it than after any order, or more.
    fn more_or_less(&self) -> Option<Shows> {
        let observed = leaves(&self.observed.reads)?;
        let legal: Vec<Leaves> = self.full().map(|outcome| leaves(&outcome.reads)).collect::<Option<_>>()?;
        if legal.iter().all(|legal| inside(&observed, legal)) {
            return Some(Shows::Lost);
        }
        legal.iter().all(|legal| inside(legal, &observed)).then_some(Shows::Twice)
    }

    /// Nobody was told of anybody else.
    fn alone(&self) -> Option<Shows> {
        let all = (0..self.set.calls.len()).all(|index| {
            let alone = self.after(&[index]).and_then(|outcome| outcome.answers.get(index));
            alone.is_some() && alone == self.observed.answers.get(index)
        });
        let known = self.full().any(|outcome| outcome.reads == self.observed.reads);
        (all && known).then_some(Shows::Alone)
    }

    /// Everything that is there comes from some order, but not all from one.
    fn mixed(&self) -> Option<Shows> {
        if self.full().any(|outcome| outcome.reads == self.observed.reads) {
            return None;
        }
        let observed = leaves(&self.observed.reads)?;
        let legal: Vec<Leaves> =
            self.legal.iter().map(|legal| leaves(&legal.outcome.reads)).collect::<Option<_>>()?;
        let known = |leaf: &(String, String)| legal.iter().any(|legal| legal.contains_key(leaf));
        (!observed.is_empty() && observed.keys().all(known)).then_some(Shows::Mixed)
    }
}

/// How often each word stands at each place of a state.
type Leaves = BTreeMap<(String, String), usize>;

fn leaves(reads: &[Seen]) -> Option<Leaves> {
    let mut found = Leaves::new();
    let mut left = MOST_LEAVES;
    for (at, seen) in reads.iter().enumerate() {
        match seen {
            Seen::Result(value) => collect(value, &at.to_string(), &mut found, &mut left)?,
            Seen::Error(value) => collect(value, &format!("{at} error"), &mut found, &mut left)?,
            Seen::Nothing => {}
        }
    }
    Some(found)
}

fn collect(value: &Value, place: &str, found: &mut Leaves, left: &mut usize) -> Option<()> {
    match value {
        Value::Array(items) => {
            let inside = format!("{place}/*");
            items.iter().try_for_each(|item| collect(item, &inside, found, left))
        }
        Value::Object(fields) => fields
            .iter()
            .try_for_each(|(name, field)| collect(field, &format!("{place}/{name}"), found, left)),
        Value::String(text) => text.split_whitespace().try_for_each(|word| {
            *left = left.checked_sub(1)?;
            *found.entry((place.to_owned(), word.to_owned())).or_default() += 1;
            Some(())
        }),
        leaf => {
            *left = left.checked_sub(1)?;
            *found.entry((place.to_owned(), leaf.to_string())).or_default() += 1;
            Some(())
        }
    }
}

/// Whether one has everything of the other, and the other has more.
fn inside(less: &Leaves, more: &Leaves) -> bool {
    less != more && less.iter().all(|(leaf, count)| more.get(leaf).is_some_and(|other| other >= count))
}

/// All texts of an answer, one behind the other.
fn words_of(seen: &Seen) -> String {
    fn add(value: &Value, out: &mut String) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| add(item, out)),
            Value::Object(fields) => fields.values().for_each(|field| add(field, out)),
            Value::String(text) => out.push_str(text),
            leaf => out.push_str(&leaf.to_string()),
        }
    }
    let mut out = String::new();
    if let Seen::Result(value) | Seen::Error(value) = seen {
        add(&plain(value), &mut out);
    }
    out
}

fn all_equal<T: PartialEq>(mut items: impl Iterator<Item = T>) -> bool {
    let first = items.next();
    items.all(|item| Some(item) == first)
}

#[cfg(test)]
mod tests;
