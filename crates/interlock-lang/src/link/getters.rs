//! Members that are methods: one with `@property` runs where it is named, and nothing in the source looks like a call.
//!
//! ```text
//! before = store.text          # runs `text`, which reads a file
//! store.index.add(word)        # runs `index`, and then calls `add` of what it gives
//! ```
//!
//! One whose result is kept (`@cached_property`) is not run: the reader cannot know when it does.

use interlock_model::ir::{AccessPath, Aspect, Block, Callee, Effect, Field, Op, Resource, Term, Value};

use super::rewrite::Rewriter;
use crate::module::Site;

impl Rewriter<'_, '_> {
    /// Whether a step reads a member that is called like a getter of any class.
    pub(super) fn names_getter(&self, op: &Op) -> bool {
        let is_getter = |field: &Field| matches!(field, Field::Name(name) if self.eval.index.getter_names.contains(&**name));
        read_of(op).is_some_and(|(_, path)| path.fields.last().is_some_and(is_getter))
    }

    /// The call that a step is which reads a member: `store.index`, where `index` is a property.
    pub(super) fn run_named(&self, op: &Op) -> Option<Op> {
        let (into, path) = read_of(op)?;
        self.run_getter(path, Some(into))
    }

    /// The getters that run on the way to a method: `store.index.add(x)`.
    pub(super) fn getters_before(&self, site: &Site, out: &mut Block) {
        let Some(path) = site.callee.as_ref().filter(|_| !self.eval.index.getter_names.is_empty()) else {
            return;
        };
        for used in 1..path.fields.len() {
            let fields = path.fields.get(..used).unwrap_or_default();
            let member = AccessPath { root: path.root.clone(), fields: fields.into() };
            if let Some(op) = self.run_getter(&member, None) {
                out.push(Effect { span: site.span, op });
            }
        }
    }

    fn run_getter(&self, path: &AccessPath, into: Option<Value>) -> Option<Op> {
        let getter = self.eval.getter(self.id, path)?;
        let (_, before) = path.fields.split_last()?;
        let object = AccessPath { root: path.root.clone(), fields: before.into() };
        let receiver = Some(self.eval.alias(self.id, &object));
        let callee = Callee::Function(getter);
        Some(Op::Call { into, callee, receiver, arguments: vec![], awaited: true })
    }
}

/// The member that a step reads, and into what.
fn read_of(op: &Op) -> Option<(Value, &AccessPath)> {
    match op {
        Op::Read { into, of: Resource::Shared(path), aspect: Aspect::Content, .. }
        | Op::Derive { into, term: Term::Path(path), .. } => Some((*into, path)),
        _ => None,
    }
}
