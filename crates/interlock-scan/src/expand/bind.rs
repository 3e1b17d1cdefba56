//! What the values of a function under expansion stand for: the functions that some of them hold.

use std::collections::HashMap;

use interlock_model::ir::{AccessPath, FunctionId, Origin, Root, Term, Value, ValueInfo};

/// The values of a function under expansion.
#[derive(Default)]
pub(super) struct Values {
    pub(super) infos: Vec<ValueInfo>,
    /// Functions that were handed over as values, with what they take along.
    closures: HashMap<Value, (FunctionId, Vec<Term>)>,
    /// Values that are another name for a value.
    aliases: HashMap<Value, Value>,
}

impl Values {
    pub(super) fn new(infos: Vec<ValueInfo>) -> Self {
        Self { infos, ..Self::default() }
    }

    /// Adds the values of a function whose steps are copied in, and says by how much their numbers move.
    pub(super) fn adopt(&mut self, infos: &[ValueInfo]) -> u32 {
        let offset = u32::try_from(self.infos.len()).unwrap_or(u32::MAX);
        // Parameters and captures are bound to something of this function now. Who the caller is stays known.
        let adopted = infos.iter().map(|info| {
            let origin = match info.origin {
                Origin::Argument | Origin::Capture => Origin::Step,
                other => other,
            };
            ValueInfo { origin, ..info.clone() }
        });
        self.infos.extend(adopted);
        offset
    }

    pub(super) fn hold(&mut self, value: Value, function: FunctionId, captures: Vec<Term>) {
        self.closures.insert(value, (function, captures));
    }

    pub(super) fn alias(&mut self, value: Value, term: &Term) {
        if let Term::Path(AccessPath { root: Root::Value(other), fields }) = term
            && fields.is_empty()
        {
            self.aliases.insert(value, *other);
        }
    }

    /// The function that a value holds.
    pub(super) fn function(&self, value: Value) -> Option<&(FunctionId, Vec<Term>)> {
        let mut value = value;
        // Aliases form chains as long as the calls are deep.
        for _ in 0..64 {
            if let Some(found) = self.closures.get(&value) {
                return Some(found);
            }
            value = *self.aliases.get(&value)?;
        }
        None
    }
}
