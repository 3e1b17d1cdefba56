//! What the user says must be true of every outcome.

use interlock_model::{Answer, CallSet, Outcome};
use serde_json::Value;

use super::Unstable;
use crate::{
    lab::Run,
    plan::{invariant::Invariant, plain},
};

/// The invariants of a set, read.
pub(crate) struct Invariants(Vec<Invariant>);

impl Invariants {
    pub(crate) fn of(set: &CallSet) -> Result<Self, Unstable> {
        let read = set.invariants.iter().map(|source| Invariant::compile(source));
        read.collect::<Result<_, _>>().map(Self).map_err(|error| Unstable::Invariant(error.to_string()))
    }

    /// The first that is not true, as it was written.
    pub(crate) fn first_broken(&self, run: &Run, outcome: &Outcome) -> Result<Option<String>, Unstable> {
        let before: Vec<Value> = run
            .before
            .iter()
            .map(|answer| match answer {
                Answer::Result { value, .. } | Answer::Error { value, .. } => plain(value),
                Answer::Missing { .. } => Value::Null,
            })
            .collect();
        for invariant in &self.0 {
            match invariant.holds(outcome, &before) {
                Ok(true) => {}
                Ok(false) => return Ok(Some(invariant.source().to_owned())),
                Err(error) => return Err(Unstable::Invariant(error.to_string())),
            }
        }
        Ok(None)
    }
}
