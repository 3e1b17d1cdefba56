//! Files and keys that are called by the id which stands in them: who reads `tasks/{id}.json` and saves what it read to `tasks/{task.id}.json`
//! means the file that was read.
//!
//! ```text
//! const task = await load(id);                      // tasks/{id}.json
//! task.title = title;
//! await save(task);                                 // tasks/{task.id}.json
//! ```
//!
//! Rows that are called so are in `own_id.rs`.

use interlock_model::ir::{AccessPath, Aspect, Field, Op, Origin, Resource, Root, Term, Value};

use crate::{
    lexicon::Topic,
    view::{Alias, At, Kinds, Overlap},
};

impl Alias<'_, '_> {
    /// In how far one of two files or keys is called by the id that a read of the other one saw in it.
    pub(in crate::view) fn overlap_by_own_name(self, one: &Resource, other: &Resource) -> Option<Overlap> {
        let (one, other, is_file) = match (one, other) {
            (Resource::File(one), Resource::File(other)) => (one, other, true),
            (Resource::Key(one), Resource::Key(other)) => (one, other, false),
            _ => return None,
        };
        let called =
            self.called_by_own_name(one, other, is_file) || self.called_by_own_name(other, one, is_file);
        called.then_some(Overlap::Maybe)
    }

    fn called_by_own_name(self, name: &Term, seen: &Term, is_file: bool) -> bool {
        let Some(Term::Path(AccessPath { root: Root::Value(whole), fields })) = only_difference(name, seen)
        else {
            return false;
        };
        let Some((Field::Name(id), branch)) = fields.split_last() else { return false };
        let is_own_id = self.0.lexicon().has(Topic::OwnId, &id.to_ascii_lowercase());
        if !is_own_id || !branch.iter().all(|field| self.is_wrapping(field)) {
            return false;
        }
        let is_look = |at: &At| {
            let of_it = match self.0.resource(*at) {
                Some(Resource::File(looked)) => is_file && looked.names_the_same_as(seen),
                Some(Resource::Key(looked)) => !is_file && looked.names_the_same_as(seen),
                _ => false,
            };
            of_it && matches!(self.0.op(*at), Some(Op::Read { aspect: Aspect::Content, .. }))
        };
        let forms = self.forms_of(*whole);
        // What was put together of things that the caller gave may have got another id.
        let given = |value: &Value| self.0.flow().origin(*value).is_some_and(Origin::is_argument);
        let is_put_together = |op: &Op| match op {
            Op::Derive { into, from, term: Term::Path(_) } => {
                let parts: Vec<Value> = from.iter().filter(|part| !forms.contains(part)).copied().collect();
                forms.contains(into) && self.0.flow().backward_slice(&parts).iter().any(given)
            }
            _ => false,
        };
        if self.0.all(Kinds::DERIVE, is_put_together).next().is_some() {
            return false;
        }
        self.0.has(Kinds::READ)
            && self.0.flow().sources_of(&forms).iter().any(is_look)
            && !self.0.flow().backward_slice(&forms).into_iter().any(|part| self.0.flow().is_drawn(part))
    }
}

/// The one part in which a name is another than the name of what was seen.
fn only_difference<'n>(name: &'n Term, seen: &Term) -> Option<&'n Term> {
    let (Term::Join(parts), Term::Join(others)) = (name, seen) else { return None };
    if parts.len() != others.len() {
        return None;
    }
    let mut different = parts.iter().zip(others).filter(|(one, two)| !one.names_the_same_as(two));
    let (only, other) = different.next()?;
    let is_hole = matches!(other, Term::Path(_));
    (is_hole && different.next().is_none()).then_some(only)
}
