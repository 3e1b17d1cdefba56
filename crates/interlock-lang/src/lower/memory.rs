//! Shared memory: what is read from it, what is written to it, and what a local takes over.

use interlock_model::ir::{AccessPath, Aspect, Field, Name, Op, Resource, Root, Term, Value, WriteMode};

use super::{Binding, Work};
use crate::{
    Shape,
    module::Variable,
    val::{Val, flag, is_small, merge},
};

/// A path with more parts than this is no longer followed through variables.
const MOST_STEPS: usize = 24;

impl Work {
    /// Reads shared memory.
    pub(crate) fn read(&mut self, path: AccessPath, name: &Name) -> Val {
        let into = self.step(name, flag::STATE);
        self.push(Op::look(into, Resource::Shared(path.clone()), Aspect::Content, None));
        Val {
            term: Term::Path(path),
            values: vec![into],
            shape: Shape::Opaque,
            flags: flag::STATE,
            direct: Some(into),
            place: None,
        }
    }

    /// Reads what is found at a place, if it is state.
    pub(crate) fn read_place(&mut self, place: Val) -> Val {
        let Some(path) = place.path_ref() else { return place };
        if path.fields.is_empty() || !self.is_state(path) {
            return place;
        }
        let path = path.clone();
        let name = match path.fields.last() {
            Some(Field::Name(name)) => name.clone(),
            _ => "entry".into(),
        };
        let shape = place.shape;
        Val { shape, ..self.read(path, &name) }
    }

    /// Shared memory is written.
    pub(crate) fn write(&mut self, path: AccessPath, from: Vec<Value>) {
        let to = Resource::Shared(path);
        self.push(Op::Write { to, from, mode: WriteMode::Blind, outcome: None, via: None });
    }

    /// A local takes a value.
    pub(crate) fn bind_local(&mut self, symbol: u32, val: Val) -> Value {
        let name = self.symbol_name(symbol);
        let is_global = |path: &AccessPath| matches!(path.root, Root::Global(_));
        let alias = match val.place.as_deref().or(val.path_ref()) {
            Some(path) if is_short(path) && (val.flags & flag::STATE != 0 || is_global(path)) => {
                Some(path.clone())
            }
            _ => None,
        };
        let made_of_something = !matches!(val.shape, Shape::Opaque | Shape::Null);
        let shape = (made_of_something && is_small(&val.shape)).then(|| val.shape.clone());
        let structured =
            matches!(val.shape, Shape::Object(_) | Shape::List(_) | Shape::Function { .. } | Shape::Call(_));
        let value = if structured {
            let value = self.structured_value(&name, &val);
            self.cx.locals.push((value, val.into_arg()));
            value
        } else {
            match val.direct {
                Some(direct) => self.take_over(direct, &name, val.flags),
                None => self.derive(&name, val.values, val.term, val.flags),
            }
        };
        // A call that made the value is no other name for it.
        let alias = alias.filter(|alias| *alias != AccessPath::from(value));
        self.set(symbol, Binding { value, alias, shape });
        value
    }

    /// Something that is written on the spot, as if a variable had taken it.
    pub(crate) fn local(&mut self, name: &Name, val: Val) -> Val {
        let value = self.structured_value(name, &val);
        self.cx.locals.push((value, val.into_arg()));
        Val::of(value, 0)
    }

    /// A value for something that has a structure.
    pub(crate) fn structured_value(&mut self, name: &Name, val: &Val) -> Value {
        if let Some(direct) = val.direct {
            return self.take_over(direct, name, val.flags);
        }
        match &val.shape {
            Shape::Object(_) | Shape::List(_) => {
                let made = self.step(name, 0);
                self.push(Op::New { into: made, lock: None });
                if val.values.is_empty() {
                    return made;
                }
                let mut from = vec![made];
                merge(&mut from, &val.values);
                self.derive(name, from, made.into(), 0)
            }
            Shape::Function { function, captures } => {
                let into = self.step(name, 0);
                self.push(Op::Closure { into, function: *function, captures: captures.clone() });
                into
            }
            _ => self.derive(name, val.values.clone(), val.term.clone(), val.flags),
        }
    }

    /// The value that the last step of an expression made becomes the variable's own.
    fn take_over(&mut self, direct: Value, name: &Name, flags: u8) -> Value {
        self.rename(direct, name.clone());
        self.add_flags(direct, flags & !flag::STATE);
        direct
    }

    /// Remembers what was assigned to something that outlives the function.
    pub(crate) fn record(&mut self, path: AccessPath, declared: Option<AccessPath>, val: Val) {
        let says_something = !matches!(val.shape, Shape::Opaque | Shape::Null) || val.path_ref().is_some();
        if !says_something && declared.is_none() && val.term == Term::Unknown {
            return;
        }
        let owner = matches!(path.root, Root::This).then(|| self.cx.owner.clone()).flatten();
        // What was read from something that lasts is what stands there: `docs = client.app.docs`.
        let read = val.place.clone().filter(|place| {
            val.shape == Shape::Opaque && !matches!(place.root, Root::Value(_)) && **place != path
        });
        let term = read.map_or_else(|| val.term.clone(), |place| Term::Path(*place));
        let initial = Some(Val { term, ..val }.into_arg());
        self.module.variables.push(Variable { path, owner, declared, initial, within: self.cx.id });
    }

    /// The same as a path: what has no name yet gets one.
    pub(crate) fn as_path(&mut self, val: Val) -> Val {
        if val.path_ref().is_some() {
            return val;
        }
        let flags = val.flags;
        let name: Name = "object".into();
        if matches!(val.shape, Shape::List(_) | Shape::Object(_)) && val.direct.is_none() {
            return self.local(&name, val);
        }
        let value = self.bind(val, &name);
        Val::of(value, flags)
    }

    /// An element of what is taken apart.
    pub(crate) fn element(&self, val: &Val, index: usize) -> Val {
        if let Shape::List(items) = &val.shape
            && let Some(item) = items.get(index)
        {
            return Val::from_arg(item.clone());
        }
        let path = match (&val.direct, val.path_ref()) {
            (Some(direct), _) => Some(AccessPath::from(*direct)),
            (None, path) => path.cloned(),
        };
        match path {
            Some(path) if is_short(&path) => {
                let path = path.at(index.to_string().as_str());
                Val::path(path, val.values.clone(), val.flags)
            }
            _ => Val::from_values(val.values.clone(), val.flags),
        }
    }

    /// The values that a judgement is about. A member that was not read is given a name first, so that a rule sees which it was.
    pub(crate) fn judged(&mut self, val: &Val) -> Vec<Value> {
        if let Some(path) = val.path_ref().filter(|path| !path.fields.is_empty()) {
            let rooted =
                matches!((&path.root, val.values.first()), (Root::Value(root), Some(value)) if root == value);
            if val.direct.is_none()
                && matches!(path.root, Root::Value(_))
                && (rooted || val.values.len() != 1)
            {
                let name = match path.fields.last() {
                    Some(Field::Name(name)) => name.clone(),
                    _ => "entry".into(),
                };
                return vec![self.derive(&name, val.values.clone(), val.term.clone(), 0)];
            }
        }
        val.values.clone()
    }
}

/// Whether a path is short enough to stand for a variable.
pub(crate) fn is_short(path: &AccessPath) -> bool {
    fn term(it: &Term, left: &mut usize) -> bool {
        *left = left.saturating_sub(1);
        *left > 0
            && match it {
                Term::Path(inner) => within(inner, left),
                Term::Join(parts) => parts.iter().all(|part| term(part, left)),
                Term::Parent(inner) => term(inner, left),
                _ => true,
            }
    }
    fn within(path: &AccessPath, left: &mut usize) -> bool {
        path.fields.iter().all(|field| match field {
            Field::Name(_) => {
                *left = left.saturating_sub(1);
                *left > 0
            }
            Field::At(key) => term(key, left),
        })
    }
    within(path, &mut { MOST_STEPS })
}
