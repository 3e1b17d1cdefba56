//! What rules decided about steps: that they report, or the named reason why they do not.
//!
//! Reported:
//! ```text
//! const seen = await db.get(id);      // lost-update: reported
//! await db.put(id, seen.n + 1);
//! ```
//! Silent, and why:
//! ```text
//! const seen = map.get(id);           // no-suspension: nothing can come between
//! map.set(id, seen + 1);
//! ```
//!
//! A scan asks for none of this: the recorder is off unless [`Facts::explaining`](crate::view::Facts::explaining) made it, and then costs one
//! comparison where a rule decides. What no rule looked at has no decision at all. Why a step is missing from an entry (a call that was not
//! inlined, a receiver that was not resolved) is known by whoever built the entries, not here.

use std::sync::{Mutex, PoisonError};

use interlock_model::{
    HazardId, Span,
    ir::{FunctionId, Name},
};

use crate::{
    ALL, Reason,
    view::{At, Entry, View},
};

/// What one rule decided about some steps of one entry point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// The rule; `None` where check-act pairs are found for all the rules that share them.
    pub hazard: Option<HazardId>,
    /// The function of the entry point; `None` for what belongs to the whole program, such as a server.
    pub entry: Option<FunctionId>,
    /// The tools that lead to the entry point.
    pub tools: Vec<Name>,
    /// The steps of that entry point that it is about: of a check-act pair the read, then the act.
    pub steps: Vec<At>,
    /// Where they are written, in the same order.
    pub spans: Vec<Span>,
    /// What was decided.
    pub outcome: Outcome,
}

/// What was decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// The rule reports it.
    Reported,
    /// The rule stays silent.
    Silent(Reason),
}

/// The decisions of all rules, where somebody asks for them.
#[derive(Debug, Default)]
pub(crate) struct Recorder(Option<Mutex<Vec<Decision>>>);

impl Recorder {
    /// A recorder that is on.
    pub(crate) fn on() -> Self {
        Self(Some(Mutex::default()))
    }

    const fn is_on(&self) -> bool {
        self.0.is_some()
    }

    fn add(&self, decision: Decision) {
        if let Some(decisions) = &self.0 {
            decisions.lock().unwrap_or_else(PoisonError::into_inner).push(decision);
        }
    }

    fn take(&self) -> Vec<Decision> {
        let taken = self
            .0
            .as_ref()
            .map(|decisions| std::mem::take(&mut *decisions.lock().unwrap_or_else(PoisonError::into_inner)));
        taken.unwrap_or_default()
    }
}

impl Entry<'_> {
    /// Whether somebody asks for decisions.
    pub(crate) fn explains(&self) -> bool {
        self.facts.decisions.is_on()
    }

    /// Notes what a rule decided about some steps. That they are none of its business is no decision.
    pub(crate) fn decide(&self, hazard: Option<&HazardId>, steps: &[At], outcome: Outcome) {
        if !self.explains() || outcome == Outcome::Silent(Reason::OutOfScope) {
            return;
        }
        self.facts.decisions.add(Decision {
            hazard: hazard.cloned(),
            entry: Some(self.function),
            tools: self.tools(),
            steps: steps.to_vec(),
            spans: steps.iter().map(|at| self.span(*at)).collect(),
            outcome,
        });
    }

    /// Hands on what a rule found out about some steps on its way to a decision, and notes why it goes no further.
    pub(crate) fn note<T>(
        &self,
        hazard: &HazardId,
        steps: &[At],
        found: Result<T, Reason>,
    ) -> Result<T, Reason> {
        found.inspect_err(|reason| self.decide(Some(hazard), steps, Outcome::Silent(*reason)))
    }

    /// Keeps what a rule found about some steps, and notes it or why there is nothing.
    pub(crate) fn settle<T>(&self, hazard: &HazardId, steps: &[At], found: Result<T, Reason>) -> Option<T> {
        match found {
            Ok(found) => {
                self.decide(Some(hazard), steps, Outcome::Reported);
                Some(found)
            }
            Err(reason) => {
                self.decide(Some(hazard), steps, Outcome::Silent(reason));
                None
            }
        }
    }
}

impl View<'_> {
    /// Keeps what a rule found about something that is no step of an entry, such as a server or a lock that the tree builds itself,
    /// and notes it or why there is nothing.
    pub(crate) fn settle_at<T>(&self, hazard: &HazardId, span: Span, found: Result<T, Reason>) -> Option<T> {
        if let Some(recorder) = self.recorder().filter(|recorder| recorder.is_on()) {
            recorder.add(Decision {
                hazard: Some(hazard.clone()),
                entry: None,
                tools: vec![],
                steps: vec![],
                spans: vec![span],
                outcome: found.as_ref().map_or_else(|reason| Outcome::Silent(*reason), |_| Outcome::Reported),
            });
        }
        found.ok()
    }

    /// Runs every rule and says what each decided about which steps, in a fixed order. Empty unless the entries were laid out with
    /// [`Facts::explaining`](crate::view::Facts::explaining).
    #[must_use]
    pub fn explain(&self) -> Vec<Decision> {
        let Some(recorder) = self.recorder().filter(|recorder| recorder.is_on()) else { return vec![] };
        (0..self.entries.len()).for_each(|entry| self.prepare(entry));
        for rule in ALL.iter().filter_map(|hazard| hazard.rule) {
            rule(self);
        }
        let mut decisions = recorder.take();
        decisions.sort_by(|one, other| one.order().cmp(&other.order()));
        decisions.dedup();
        decisions
    }

    fn recorder(&self) -> Option<&Recorder> {
        self.entries.first().map(|entry| &entry.facts.decisions)
    }
}

impl Decision {
    fn order(&self) -> impl Ord {
        (self.entry, &self.spans, &self.hazard, &self.steps, self.outcome)
    }
}

/// `Err` with a reason where something is so: a condition under which a rule is silent, read from top to bottom.
pub(crate) fn unless(is_so: bool, reason: Reason) -> Result<(), Reason> {
    if is_so { Err(reason) } else { Ok(()) }
}

/// `Err` with a reason where something is not so.
pub(crate) fn needs(is_so: bool, reason: Reason) -> Result<(), Reason> {
    unless(!is_so, reason)
}
