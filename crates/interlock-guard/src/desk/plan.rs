//! From the rules of a tool and the arguments of a call to what the store is asked.
//!
//! `observes` and `changes` state facts: what a call reads and what it may change. They refuse nobody and are noted in either mode. All
//! other rules decide, and count in the plan of their own mode only: what is merely observed has keys of its own, so that it never delays
//! or refuses a call that is not observed.

use std::{borrow::Cow, time::Duration};

use interlock_model::{IdempotencyKey, KeyTemplate, Mode};
use interlock_sync::{
    adapt::{IDEMPOTENCY_KEY, RefusalReason},
    spell::joined,
    store::{Admission, Charge, Fence, Key, OnceKey, OpId, Places, Settlement, WaitsOn, Wish},
};
use serde_json::Value;

use super::{
    arguments::{Object, Unfilled, fingerprint},
    refusal::Why,
    stored::Came,
};
use crate::{
    call::{Answer, ToolCall},
    policy::{Ruled, ToolRules},
};

/// What a call asks of the store, and what it gives back.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) admission: Admission,
    /// Everything that the call may have or wait for. Its ending is filled in when there is one.
    pub(super) settlement: Settlement,
    /// The keys as people read them.
    names: Vec<(Key, String)>,
    /// The limit in flight, for the words of a refusal.
    limit: u32,
    /// The templates that must be fresh, by which tools that read them are found.
    pub(super) fresh: Vec<String>,
}

/// How keys are named in the store, by mode.
struct Kinds {
    rate: &'static str,
    place: &'static str,
    lock: &'static str,
    once: &'static str,
}

const ENFORCED: Kinds = Kinds { rate: "rate", place: "place", lock: "lock", once: "once" };
const OBSERVED: Kinds =
    Kinds { rate: "seen-rate", place: "seen-place", lock: "seen-lock", once: "seen-once" };

impl Plan {
    /// The plan of a call; `None` if the store need not be asked at all.
    pub(super) fn of(
        call: &ToolCall,
        rules: &ToolRules,
        mode: Mode,
        id: OpId,
        ttl: Duration,
    ) -> Result<Option<Self>, Why> {
        let kinds = if mode == Mode::Enforce { &ENFORCED } else { &OBSERVED };
        let mut arguments = Object::new(&call.arguments);
        let mut names = Vec::new();
        let mut filled = |kind, templates: &[KeyTemplate]| {
            let key = |template| {
                let name = arguments.fill(template).map_err(unfilled)?;
                // The same text belongs together also where it is of several servers: they may work on one file or one table.
                let key = joined(kind, &[&name]);
                names.push((key.clone(), shown(name)));
                Ok(key)
            };
            templates.iter().map(key).collect::<Result<Vec<Key>, Why>>()
        };

        let mut locks = Vec::<Wish>::new();
        // Among what is observed, locks that are really held count as well.
        let modes = [Some(mode), (mode == Mode::Observe && rules.notes_locks).then_some(Mode::Enforce)];
        for (ruled, is_shared) in [(&rules.lock_shared, true), (&rules.lock, false)] {
            for mode in modes.into_iter().flatten() {
                for key in filled(kinds.lock, in_mode(ruled, mode))? {
                    match locks.iter_mut().find(|wish| wish.key == key) {
                        Some(wish) => wish.is_shared = is_shared,
                        None => locks.push(Wish { key, is_shared }),
                    }
                }
            }
        }
        locks.sort_unstable_by(|one, other| one.key.cmp(&other.key));
        // Facts are noted once, with the plan that is carried out; and what is only observed must not refuse a call that does not say.
        let mut facts = |ruled: &Option<Ruled<Vec<KeyTemplate>>>| match ruled {
            Some(ruled) if mode == Mode::Enforce => match filled("state", &ruled.value) {
                Err(_) if ruled.mode == Mode::Observe => Ok(Vec::new()),
                keys => keys,
            },
            _ => Ok(Vec::new()),
        };
        let observes = facts(&rules.observes)?;
        let changes = facts(&rules.changes)?;
        let requires_fresh = filled("state", in_mode(&rules.requires_fresh, mode))?;
        let once = match rules.idempotency.as_ref().filter(|ruled| ruled.mode == mode) {
            Some(ruled) => match once(call, &mut arguments, &ruled.value, kinds.once, rules.keep)? {
                None if rules.idempotency_required => return Err(Why::Common(RefusalReason::KeyMissing)),
                once => once,
            },
            None => None,
        };

        let by_caller = |kind, rule: &str| joined(kind, &[rule, call.caller.as_str()]);
        let charges = (rules.rate.iter().filter(|ruled| ruled.mode == mode))
            .map(|ruled| Charge { key: by_caller(kinds.rate, &ruled.rule), quota: ruled.value })
            .collect::<Vec<_>>();
        let places = (rules.in_flight.iter().filter(|ruled| ruled.mode == mode))
            .map(|ruled| Places { key: by_caller(kinds.place, &ruled.rule), limit: ruled.value.get() })
            .collect::<Vec<_>>();

        let reader = call.reader.as_deref().map(|reader| joined("reader", &[reader]));
        if reader.is_none() && !requires_fresh.is_empty() {
            return Err(Why::NoReader);
        }
        // A stranger's view cannot be remembered.
        let observes = if reader.is_some() { observes } else { Vec::new() };
        let asks_nothing = charges.is_empty() && places.is_empty() && locks.is_empty() && once.is_none();
        if asks_nothing && observes.is_empty() && changes.is_empty() && requires_fresh.is_empty() {
            return Ok(None);
        }

        let fresh = in_mode(&rules.requires_fresh, mode).iter().map(ToString::to_string).collect();
        let settlement = Settlement {
            call: id,
            fence: None,
            places: places.iter().map(|place| place.key.clone()).collect(),
            locks: locks.iter().map(|wish| wish.key.clone()).collect(),
            once: once.as_ref().map(|once| (once.key.clone(), None, rules.keep)),
            reader: reader.clone(),
            changes,
            is_success: false,
            remember: rules.keep,
        };
        let admission = Admission {
            call: id,
            charges,
            locks,
            once,
            reader,
            observes,
            requires_fresh,
            ttl,
            remember: rules.keep,
            is_again: false,
            patience: Duration::ZERO,
            places,
        };
        let limit = admission.places.first().map_or(0, |place| place.limit);
        Ok(Some(Self { admission, settlement, names, limit, fresh }))
    }

    /// The keys that it locks, observes or changes, as people read them, each once.
    pub(super) fn keys(&self) -> Vec<String> {
        let mut keys: Vec<String> = self.names.iter().map(|(_, name)| name.clone()).collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    }

    /// A key of the store as people read it.
    pub(super) fn name_of(&self, key: &Key) -> String {
        let named = self.names.iter().find(|(known, _)| known == key);
        named.map_or_else(|| key.to_string(), |(_, name)| name.clone())
    }

    /// Whether a call that stands in these lines waits for locks. Only then it also stands in the store's line: who waits for a place of its
    /// own, or for an equal call, must not keep others from the locks that it will want.
    pub(super) fn is_for_locks(&self, lines: &[Key]) -> bool {
        lines.first().is_some_and(|line| self.settlement.locks.contains(line))
    }

    /// The lines that a call stands in which was told to wait for this.
    pub(super) fn lines_for(&self, on: &WaitsOn) -> Vec<Key> {
        match on {
            WaitsOn::Locks(keys) if keys.is_empty() => self.settlement.locks.clone(),
            WaitsOn::Locks(keys) => keys.clone(),
            WaitsOn::Place(key) | WaitsOn::Same(key) => vec![key.clone()],
        }
    }

    /// Everything that others may wait for while the call has it.
    pub(super) fn held(&self) -> impl Iterator<Item = &Key> {
        let once = self.settlement.once.iter().map(|(key, ..)| key);
        self.settlement.places.iter().chain(&self.settlement.locks).chain(once)
    }

    /// Why a call is refused whose time to wait was up.
    pub(super) fn late(&self, lines: &[Key], retry_after: Option<Duration>) -> Why {
        let is_in = |keys: &[Key]| lines.iter().any(|line| keys.contains(line));
        Why::Common(if is_in(&self.settlement.places) {
            RefusalReason::InFlight { limit: self.limit, is_queue_full: false, retry_after }
        } else if is_in(&self.settlement.locks) {
            RefusalReason::Locked { keys: lines.iter().map(|key| self.name_of(key)).collect() }
        } else {
            RefusalReason::Running { retry_after }
        })
    }

    /// Fills in how the call ended.
    pub(super) fn ends(&mut self, came: Came, answer: &Answer) {
        let settlement = &mut self.settlement;
        if came == Came::Nothing {
            settlement.fence = None;
            settlement.changes = Vec::new();
            return;
        }
        settlement.is_success = came == Came::Well;
        if let Some((_, ending, _)) = &mut settlement.once {
            *ending = came.ending(answer);
        }
    }

    /// What takes a call that has not run out of the line, or gives back whatever it was granted, the idempotency key included.
    pub(super) fn undone(&self) -> Settlement {
        Settlement { fence: None, changes: Vec::new(), ..self.settlement.clone() }
    }

    /// The fence that the upstream is told: of a call that has something to itself.
    pub(super) fn fence(&self) -> Option<Fence> {
        let has_any = !self.settlement.locks.is_empty() || self.has_key();
        self.settlement.fence.filter(|_| has_any)
    }

    /// Whether it matters to others that the call has really ended: it has locks or a key, or changes what they have read.
    pub(super) fn is_awaited(&self, rules: &ToolRules) -> bool {
        let Settlement { locks, changes, .. } = &self.settlement;
        // Facts are noted in either mode; where the rule only observes, nothing is made of them.
        let counts = rules.changes.as_ref().is_some_and(|ruled| ruled.mode == Mode::Enforce);
        !locks.is_empty() || self.has_key() || (counts && !changes.is_empty())
    }

    pub(super) fn has_key(&self) -> bool {
        self.settlement.once.is_some()
    }
}

/// A key as people see it. An argument can be as long as a caller likes, and this is written down in many places.
fn shown(name: String) -> String {
    if name.len() <= Key::LONGEST {
        return name;
    }
    let start: String = name.chars().take(Key::LONGEST / 4).collect();
    format!("{start}…")
}

fn in_mode<T>(ruled: &Option<Ruled<Vec<T>>>, mode: Mode) -> &[T] {
    ruled.as_ref().filter(|ruled| ruled.mode == mode).map(|ruled| ruled.value.as_slice()).unwrap_or_default()
}

/// The call's key: by upstream, tool and caller, so that nobody is told the answer to somebody else's call. `None` if it does not say.
fn once(
    call: &ToolCall,
    arguments: &mut Object<'_>,
    source: &IdempotencyKey,
    kind: &'static str,
    keep: Duration,
) -> Result<Option<OnceKey>, Why> {
    let unusable = || Why::Common(RefusalReason::Key);
    let said = match source {
        IdempotencyKey::Argument(path) => {
            let path: Vec<String> = path.split('.').map(str::to_owned).collect();
            arguments.text_at(&path).map_err(|_| unusable())?.map(Cow::into_owned)
        }
        IdempotencyKey::Meta if call.meta.is_empty() => None,
        IdempotencyKey::Meta => match Object::new(&call.meta).at(&[IDEMPOTENCY_KEY.to_owned()]) {
            Ok(None) => None,
            Ok(Some(Value::String(said))) if !said.is_empty() => Some(said),
            Ok(Some(_)) | Err(_) => return Err(unusable()),
        },
    };
    Ok(said.map(|said| OnceKey {
        key: joined(kind, &[&call.upstream, &call.tool, call.caller.as_str(), &said]),
        fingerprint: fingerprint(&call.tool, &call.arguments),
        keep,
    }))
}

fn unfilled(why: Unfilled) -> Why {
    Why::Common(match why {
        Unfilled::Missing(name) => RefusalReason::Argument { name, is_present: false },
        Unfilled::Unusable(name) => RefusalReason::Argument { name, is_present: true },
    })
}
