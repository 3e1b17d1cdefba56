//! Whether what was seen adds up to a lock, and what the lock is worth.

use interlock_model::ir::{HandMade, Removal};
use oxc_span::Span;

use super::{
    Plan, Releaser, Slot,
    places::Key,
    scan::{Chain, Flag, Put, Seen, Stored},
};
use crate::typescript::lower::context::Lowerer;

/// What a lock is worth.
struct Worth {
    exclusive: bool,
    outlives_failure: bool,
    /// The variable that was stored, with which a clean-up may compare.
    stored: Option<u32>,
    /// Whether its holder alone may take the entry away, because all others ask again.
    asked_again: bool,
}

impl<'a> Lowerer<'a> {
    pub(super) fn judge_lock(&mut self, seen: &Seen) -> Plan {
        let mut plan = Plan::default();
        self.judge_gates(seen, &mut plan);
        self.judge_chains(seen, &mut plan);
        self.judge_waits(seen, &mut plan);
        self.judge_queues(seen, &mut plan);
        plan
    }

    /// `const run = tail.then(work); tail = run.catch(() => {})`.
    fn judge_chains(&mut self, seen: &Seen, plan: &mut Plan) {
        for chain in &seen.chains {
            let Some((put, swallows)) = seen.puts.iter().find_map(|put| follows(put, chain, seen)) else {
                continue;
            };
            let known = plan.chains.iter().any(|(span, _)| *span == chain.span)
                || plan.acquired.iter().any(|(_, slot)| *slot == chain.slot);
            if known {
                continue;
            }
            plan.chains.push((chain.span, chain.slot.clone()));
            plan.skipped.push(put.statement);
            plan.skipped
                .extend(seen.previous.iter().filter(|(_, slot, _)| *slot == chain.slot).map(|it| it.2));
            plan.skipped.extend(seen.derived.iter().filter(|it| Some(it.of) == chain.kept).map(|it| it.span));
            let stored = match put.stored {
                Stored::Variable(symbol) => Some(symbol),
                _ => None,
            };
            let worth = Worth {
                exclusive: true,
                outlives_failure: chain.in_spite || swallows,
                stored,
                asked_again: false,
            };
            self.hand_made(put, worth, seen);
        }
    }

    /// `const previous = tail; tail = new Promise((r) => (release = r)); await previous;`, and the same with
    /// `previous.then(work).finally(release)`.
    fn judge_gates(&mut self, seen: &Seen, plan: &mut Plan) {
        for put in &seen.puts {
            let Some((release, gate)) = gate_of(put, seen) else { continue };
            let mut previous = seen.previous.iter().filter(|(_, slot, _)| *slot == put.slot);
            let awaited = previous.clone().find_map(|(symbol, _, read)| {
                let mut awaits = seen.awaits.iter();
                let (_, span, _) = awaits.find(|(known, _, at)| known == symbol && *at >= put.order)?;
                Some((*read, *span))
            });
            let hangs =
                |chain: &&Chain| chain.slot == put.slot && !put.statement.contains_inclusive(chain.span);
            let (read, outlives_failure) = match (awaited, seen.chains.iter().find(hangs)) {
                (Some((read, awaited)), _) => {
                    plan.acquired.push((awaited, put.slot.clone()));
                    self.releases(release, Some(put.slot.clone()));
                    (read, true)
                }
                // The end of the chain is the end of the lock, if the gate is opened there.
                (None, Some(chain)) => {
                    let opened = self.opened_behind(chain, release);
                    let (Some((_, _, read)), Some(in_any_case)) = (previous.next(), opened) else { continue };
                    plan.chains.push((chain.span, put.slot.clone()));
                    self.releases(release, None);
                    (*read, in_any_case)
                }
                (None, None) => continue,
            };
            plan.skipped.extend([read, put.statement]);
            plan.skipped.extend(gate);
            let stored = match put.stored {
                Stored::Variable(symbol) => Some(symbol),
                _ => None,
            };
            let worth = Worth { exclusive: true, outlives_failure, stored, asked_again: false };
            self.hand_made(put, worth, seen);
        }
    }

    /// Whether a gate is opened at the end of a chain, and if so whether also where the chain fails: `.finally(() => open())` right behind it,
    /// in it, or on the variable that it is kept in.
    fn opened_behind(&self, chain: &Chain, release: u32) -> Option<bool> {
        /// How much of the text behind a chain is looked at.
        const BEHIND: usize = 400;
        let open = self.facts.symbol(release)?.name.to_string();
        let (start, end) = (chain.span.start as usize, chain.span.end as usize);
        let until = |text: &'a str| {
            text.char_indices().nth(BEHIND).map_or(text, |(at, _)| text.get(..at).unwrap_or(text))
        };
        let (inside, behind) = (self.text.get(start..end)?, until(self.text.get(end..)?.trim_start()));
        let opens = |text: &str| text.contains(&open);
        // What opens it before the work is done, or some day, keeps nobody waiting.
        match inside.split_once("finally") {
            Some((work, last)) => return (!opens(work) && opens(last)).then_some(true),
            None if opens(inside) => return None,
            None => {}
        }
        let kept = chain.kept.and_then(|symbol| self.facts.symbol(symbol));
        let on_it = |call: &str| match &kept {
            Some(kept) => behind.contains(&format!(" {}.{call}(", kept.name)),
            None => behind.starts_with(&format!(".{call}(")),
        };
        (opens(behind) && (on_it("finally") || on_it("then"))).then(|| on_it("finally"))
    }

    /// `while (locks.has(key)) await locks.get(key); locks.set(key, …)`, and the same with `if`.
    fn judge_waits(&mut self, seen: &Seen, plan: &mut Plan) {
        for (slot, asked_again, span, order) in &seen.waits {
            if plan.acquired.iter().any(|(_, known)| known == slot) {
                continue;
            }
            let put = seen.puts.iter().find(|put| put.slot == *slot && put.order > *order);
            let flag = seen.flags.iter().find(|(place, flag, _)| {
                slot.key.is_none() && *place == slot.place && matches!(flag, Flag::True | Flag::Up)
            });
            let statement = match (put, flag) {
                (Some(put), _) => put.statement,
                (None, Some((_, _, statement))) => *statement,
                (None, None) => continue,
            };
            let released: Vec<Span> = match put {
                Some(_) => seen.removed.iter().filter(|it| it.slot == *slot).map(|it| it.span).collect(),
                None => seen
                    .flags
                    .iter()
                    .filter(|(place, flag, _)| *place == slot.place && *flag == Flag::False)
                    .map(|(_, _, span)| *span)
                    .collect(),
            };
            let gate = put.and_then(|put| gate_of(put, seen));
            if released.is_empty() && gate.is_none() {
                continue;
            }
            // A wait between the last question and the taking lets another one in.
            let taken = put.map_or(usize::MAX, |put| put.order);
            let gap = seen.awaits.iter().any(|(_, _, at)| at > order && *at < taken && put.is_some());
            plan.acquired.push((*span, slot.clone()));
            plan.skipped.push(statement);
            plan.released.extend(released.iter().map(|span| (*span, slot.clone())));
            if let Some((release, made)) = gate {
                plan.skipped.extend(made);
                self.releases(release, released.is_empty().then(|| slot.clone()));
            }
            let exclusive = *asked_again && !gap;
            let made = Put {
                statement,
                slot: slot.clone(),
                stored: Stored::Derived { of: None, swallows: true },
                order: *order,
            };
            let worth = Worth { exclusive, outlives_failure: true, stored: None, asked_again: true };
            self.hand_made(&made, worth, seen);
        }
    }

    /// A flag or a count, and a list of those who wait.
    fn judge_queues(&mut self, seen: &Seen, plan: &mut Plan) {
        let queue = seen.queued.first().map(|(place, _)| place).or(seen.dequeued.first());
        let Some(queue) = queue.filter(|_| !seen.flags.is_empty()).cloned() else { return };
        let slot = Slot { place: queue, key: None };
        let waits = !seen.queued.is_empty();
        let wakes = seen.dequeued.contains(&slot.place);
        if !waits && !wakes {
            return;
        }
        let counts = seen.flags.iter().any(|(_, flag, _)| matches!(flag, Flag::Up | Flag::Down));
        if counts && !self.semaphores.contains(&slot.place) {
            self.semaphores.push(slot.place.clone());
        }
        if waits && !wakes {
            self.cx.whole = Some((slot.clone(), true));
        } else if wakes && !waits {
            // One that also takes something is no mere release: it may run what it dequeues.
            if seen.flags.iter().any(|(_, flag, _)| matches!(flag, Flag::True | Flag::Up)) {
                return;
            }
            self.cx.whole = Some((slot.clone(), false));
            return;
        } else {
            let taken = seen.flags.iter().find(|(_, flag, _)| matches!(flag, Flag::True | Flag::Up));
            let given = seen.flags.iter().find(|(_, flag, _)| matches!(flag, Flag::False | Flag::Down));
            let (Some((_, _, taken)), Some((_, _, given))) = (taken, given) else { return };
            plan.acquired.push((*taken, slot.clone()));
            plan.released.push((*given, slot.clone()));
        }
        let span = seen.queued.first().map_or(Span::default(), |(_, span)| *span);
        let made =
            Put { statement: span, slot, stored: Stored::Derived { of: None, swallows: true }, order: 0 };
        // Whoever counts means to let several in: that is no fault.
        let worth = Worth { exclusive: true, outlives_failure: true, stored: None, asked_again: true };
        self.hand_made(&made, worth, seen);
    }

    /// A queue of jobs that run one after another.
    pub(super) fn queue_is_a_lock(&mut self, slot: &Slot, span: Span) {
        let stored = Stored::Derived { of: None, swallows: true };
        let made = Put { statement: span, slot: slot.clone(), stored, order: 0 };
        let worth = Worth { exclusive: true, outlives_failure: true, stored: None, asked_again: true };
        self.hand_made(&made, worth, &Seen::default());
    }

    fn releases(&mut self, symbol: u32, slot: Option<Slot>) {
        if let Some(slot) = &slot {
            self.hand_lock_on(symbol, slot);
        }
        self.releasers.push(Releaser { symbol, slot });
    }

    fn hand_made(&mut self, put: &Put, worth: Worth, seen: &Seen) {
        let keyed = put.slot.key.is_some();
        let removal = self.removal(put, &worth, seen);
        let removal = (removal.0, self.span(removal.1));
        if keyed && !self.lock_maps.contains(&put.slot.place) {
            self.lock_maps.push(put.slot.place.clone());
        }
        let fact = HandMade {
            span: self.span(put.statement),
            function: Self::function_id(self.cx.id),
            path: self.place_path(&put.slot.place),
            keyed,
            exclusive: worth.exclusive,
            outlives_failure: worth.outlives_failure,
            removal,
        };
        self.module.hand_made.push(fact);
    }

    /// Who takes the entry of a lock out of its map.
    fn removal(&self, put: &Put, worth: &Worth, seen: &Seen) -> (Removal, Span) {
        if put.slot.key.is_none() {
            return (Removal::Last, put.statement);
        }
        let mut removals = seen.removed.iter().filter(|removed| removed.slot.place == put.slot.place);
        let Some(removed) = removals.next() else {
            return match self.removed_elsewhere(&put.slot) {
                true => (Removal::Last, put.statement),
                false => (Removal::Nobody, put.statement),
            };
        };
        if removed.by_timer {
            return (Removal::Timer, removed.span);
        }
        match removed.compared {
            Some((symbol, _)) if worth.stored == Some(symbol) => (Removal::Last, removed.span),
            Some((_, comparison)) => (Removal::Nobody, comparison),
            None if worth.asked_again || removed.guarded => (Removal::Last, removed.span),
            None => (Removal::Anybody, removed.span),
        }
    }

    /// Whether another part of the file takes entries out of the map.
    fn removed_elsewhere(&self, slot: &Slot) -> bool {
        let name = match slot.place.fields.last() {
            Some(field) => field.to_string(),
            None => match slot.place.root.and_then(|symbol| self.facts.symbol(symbol)) {
                Some(symbol) => symbol.name.to_string(),
                None => return false,
            },
        };
        let known = |method: &str| self.text.contains(&format!("{name}.{method}("));
        debug_assert!(!matches!(slot.key, Some(Key::Text(ref text)) if text.is_empty()));
        known("delete") || known("clear")
    }
}

/// The promise and what settles it, if that is what was put; and the statement that made it.
fn gate_of(put: &Put, seen: &Seen) -> Option<(u32, Option<Span>)> {
    match put.stored {
        Stored::Gate { release } => Some((release, None)),
        Stored::Variable(symbol) => {
            if let Some((_, release, span)) = seen.gates.iter().find(|(gate, ..)| *gate == symbol) {
                return Some((*release, Some(*span)));
            }
            // `const tail = previous.then(() => gate)`.
            let derived = seen.derived.iter().find(|it| it.symbol == symbol)?;
            let from_previous = seen.previous.iter().any(|(known, ..)| *known == derived.of);
            let (_, release, span) = seen.gates.first().filter(|_| from_previous)?;
            Some((*release, Some(*span)))
        }
        Stored::Derived { of: Some(of), .. } => {
            let from_previous = seen.previous.iter().any(|(known, ..)| *known == of);
            let (_, release, span) = seen.gates.first().filter(|_| from_previous)?;
            Some((*release, Some(*span)))
        }
        Stored::Derived { of: None, .. } => None,
    }
}

/// Whether what was put is the chain or hangs on it; and whether a failure stops before it.
fn follows<'s>(put: &'s Put, chain: &Chain, seen: &Seen) -> Option<(&'s Put, bool)> {
    if put.slot != chain.slot {
        return None;
    }
    let inline = put.statement.contains_inclusive(chain.span);
    match &put.stored {
        Stored::Variable(symbol) if Some(*symbol) == chain.kept => Some((put, false)),
        Stored::Variable(symbol) => {
            let derived = seen.derived.iter().find(|it| it.symbol == *symbol && Some(it.of) == chain.kept)?;
            Some((put, derived.swallows))
        }
        Stored::Derived { of: Some(of), swallows } if Some(*of) == chain.kept => Some((put, *swallows)),
        Stored::Derived { swallows, .. } if inline => Some((put, *swallows)),
        _ => None,
    }
}
