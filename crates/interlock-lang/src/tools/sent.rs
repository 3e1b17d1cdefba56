//! What a caller has sent besides the name of the tool: its arguments, and what is made of them.
//!
//! ```ts
//! const { action, ...rest } = schema.parse(request.params.arguments);
//! return ACTIONS[action](rest);       // one tool that goes several ways, and not several tools
//! ```

use interlock_model::ir::{AccessPath, Argument, Callee, Name, Op, Resource, Root, Term, Value};
use rustc_hash::FxHashSet;

use super::{exact_name, index::Index};

/// The values of a function that were sent besides the name.
pub(super) struct Sent<'n> {
    names: &'n [(Value, &'n [Name])],
    values: FxHashSet<Value>,
    /// Whether the name itself is at hand, so that whatever else the function is handed is not the name.
    any: bool,
}

/// What a function has of that, where the name is known to be at the ends of some ways.
pub(super) fn besides<'n>(index: &Index<'_>, function: u32, names: &'n [(Value, &'n [Name])]) -> Sent<'n> {
    let mut sent = Sent { names, values: FxHashSet::default(), any: !names.is_empty() };
    let Some(unit) = index.unit(function).filter(|_| sent.any) else { return sent };
    if names.iter().any(|(_, rest)| rest.is_empty()) {
        let is_name = |value: &&Value| names.iter().any(|(name, _)| name == *value);
        sent.values.extend(unit.function.parameters.iter().filter(|value| !is_name(value)));
    }
    for effect in unit.function.effects() {
        let (into, is_sent) = match &effect.op {
            Op::Derive { into, from, term } => {
                let of_path = matches!(term, Term::Path(path) if sent.has(path));
                (*into, of_path || from.iter().any(|value| sent.values.contains(value)))
            }
            Op::Read { into, of: Resource::Shared(path), .. } => (*into, sent.has(path)),
            Op::Call { into: Some(into), callee, arguments, .. } => {
                let given = |argument: &Argument| matches!(argument, Argument::Term(Term::Path(path)) if sent.has(path));
                let of_site = || match callee {
                    Callee::Pending(number) => index.site(*number).is_some_and(|site| {
                        let parts = site.arguments.iter().flat_map(|arg| &arg.values);
                        parts.into_iter().any(|value| sent.values.contains(value))
                    }),
                    _ => false,
                };
                (*into, arguments.iter().any(given) || of_site())
            }
            _ => continue,
        };
        if is_sent && !names.iter().any(|(name, _)| *name == into) {
            sent.values.insert(into);
        }
    }
    sent
}

impl Sent<'_> {
    /// Whether there is nothing of the kind.
    pub(super) const fn is_empty(&self) -> bool {
        !self.any
    }

    /// Whether what is found at a path was sent besides the name: it leaves the way to the name, or begins at what has left it.
    pub(super) fn has(&self, path: &AccessPath) -> bool {
        let Root::Value(root) = path.root else { return false };
        if self.values.contains(&root) {
            return true;
        }
        let mut ways =
            self.names.iter().filter(|(value, _)| *value == root).map(|(_, rest)| *rest).peekable();
        let leaves = |rest: &[Name]| {
            path.fields
                .iter()
                .zip(rest)
                .any(|(field, name)| exact_name(field).is_some_and(|field| field != &**name))
        };
        ways.peek().is_some() && ways.all(leaves)
    }
}
