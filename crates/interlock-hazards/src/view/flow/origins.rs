//! Where a value comes from: an answer of a helper, a part of what was read, something fresh.

use interlock_model::ir::{
    AccessPath, Argument, Callee, Field, Fresh, Op, Origin, Resource, Root, Term, Value,
};

use crate::{
    lexicon::Topic,
    view::{At, Flow, Piece, flow::def_use::Definition},
};

/// How many members deep an answer is looked into.
const MEMBERS: usize = 8;
/// How many values are looked at for one that is a part of another.
const MOST_PARTS: usize = 256;

impl<'v, 'e> Flow<'v, 'e> {
    /// Whether the clock is among some values.
    #[must_use]
    pub fn is_time(self, values: &[Value]) -> bool {
        self.is_made_of_fresh(values, Fresh::Time)
    }

    /// Whether something that is made anew for each call is among some values, or what they were computed from.
    #[must_use]
    pub fn is_made_of_fresh(self, values: &[Value], fresh: Fresh) -> bool {
        let reported =
            |value: &Value| self.0.alias().pattern(&Term::from(*value)).0.contains(&Piece::Fresh(fresh));
        // A comparison may be made in a helper, which returns it to a helper. Nobody asks the clock by way of more values than this.
        let mut behind = values.to_vec();
        let mut next = 0;
        while let Some(value) = behind.get(next).copied().filter(|_| next < 32) {
            if reported(&value) {
                return true;
            }
            let new: Vec<Value> =
                self.inputs(value).iter().filter(|input| !behind.contains(input)).copied().collect();
            behind.extend(new);
            next += 1;
        }
        false
    }
}

impl<'v, 'e> Flow<'v, 'e> {
    /// Whether a value is what a constructor of a library has just made. What is called with a capital letter is one.
    #[must_use]
    pub fn is_constructed(self, value: Value) -> bool {
        match self.definition_site(value).and_then(|definition_site| self.0.op(definition_site)) {
            Some(Op::Call { callee: Callee::Named(name), awaited: false, .. }) => {
                let last = name.rsplit(['.', '/', ':']).next().unwrap_or_default();
                last.starts_with(|letter: char| letter.is_ascii_uppercase())
            }
            _ => false,
        }
    }

    /// Whether a value is what a helper answered or what a read saw, as it came, or a member of that.
    #[must_use]
    pub fn is_answer(self, value: Value) -> bool {
        let mut value = value;
        for _ in 0..MEMBERS {
            let definition_site = self.definition_site(value);
            let read = match definition_site.and_then(|definition_site| self.0.op(definition_site)) {
                Some(Op::Read { of: Resource::Shared(_), .. }) => false,
                Some(Op::Read { .. }) => true,
                _ => definition_site.is_some_and(|definition_site| self.answer_at(definition_site).is_some()),
            };
            if read {
                return true;
            }
            let (Definition::Term(Term::Path(path)) | Definition::Location(path)) = self.definition(value)
            else {
                return false;
            };
            // An entry that was looked for in it says more than that it is there.
            let is_member = path.fields.iter().all(|field| matches!(field, Field::Name(_)));
            match path.root {
                Root::Value(whole) if is_member && whole != value => value = whole,
                _ => return false,
            }
        }
        false
    }

    /// Whether a value is what an unknown helper or somebody outside came to, or a member of that, although they were told of what a
    /// look saw: then it says nothing of what was looked at. Who is handed all of it may only bring it into another form, and what is
    /// asked of the answer itself is about it, as with a cursor; but what an object in memory gives when it is waited for is no part
    /// of that object.
    #[must_use]
    pub fn is_opaque_result(self, value: Value, read: At) -> bool {
        let mut value = value;
        for _ in 0..MEMBERS {
            match self.definition_site(value).and_then(|definition_site| self.0.op(definition_site)) {
                Some(Op::Call { awaited: true, receiver, arguments, .. }) => {
                    let seen = match self.0.op(read) {
                        Some(Op::Read { of: Resource::Shared(_), .. }) => return true,
                        Some(Op::Read { into, .. }) => *into,
                        _ => return true,
                    };
                    let asked = match receiver.as_ref().map(|path| &path.root) {
                        Some(Root::Value(whom)) => self.sources(*whom).contains(&read),
                        _ => false,
                    };
                    let reported = |argument: &Argument| match argument {
                        Argument::Term(Term::Path(path)) if path.fields.is_empty() => {
                            matches!(path.root, Root::Value(value) if self.is_all_of(value, seen))
                        }
                        _ => false,
                    };
                    return !asked && !arguments.iter().any(reported);
                }
                Some(Op::External { .. }) => return true,
                _ => {}
            }
            let (Definition::Term(Term::Path(path)) | Definition::Location(path)) = self.definition(value)
            else {
                return false;
            };
            match path.root {
                Root::Value(whole) if whole != value => value = whole,
                _ => return false,
            }
        }
        false
    }

    /// Whether a value is what was looked at in memory, under whatever name, or a member of that.
    #[must_use]
    pub fn is_part_of(self, value: Value, read: At) -> bool {
        let Some(Op::Read { into, .. }) = self.0.op(read) else { return false };
        let mut pending = vec![value];
        let mut next = 0;
        while let Some(value) = pending.get(next).copied().filter(|_| next < MOST_PARTS) {
            next += 1;
            if value == *into {
                return true;
            }
            let mut add = |value: Value| {
                if !pending.contains(&value) {
                    pending.push(value);
                }
            };
            match self.definition(value) {
                Definition::Term(Term::Path(path))
                | Definition::Location(path)
                | Definition::Stored(path) => match &path.root {
                    Root::Value(whole) => add(*whole),
                    _ => {
                        let same = |seen: &AccessPath| {
                            seen.root == path.root && path.fields.starts_with(&seen.fields)
                        };
                        if matches!(self.0.resource(read), Some(Resource::Shared(seen)) if same(seen)) {
                            return true;
                        }
                    }
                },
                Definition::Either(branches) => branches.iter().copied().for_each(add),
                _ => {
                    if let [only] = self.inputs(value) {
                        add(*only);
                    }
                }
            }
        }
        false
    }

    /// Whether all that a read or a request has found is among what some values were made from, or one of the things in it, and not only members of
    /// it by name: `{ ...found, done }` holds it, `{ name: found.name }` does not.
    #[must_use]
    pub fn holds_whole(self, values: &[Value], read: At) -> bool {
        let Some(Op::Read { into, .. } | Op::External { into: Some(into), .. }) = self.0.op(read) else {
            return false;
        };
        let seen = match self.0.resource(read) {
            Some(Resource::Shared(seen)) => Some(seen),
            _ => None,
        };
        let is_seen = |path: &AccessPath| {
            seen.is_some_and(|seen| {
                let rest = path.fields.get(seen.fields.len()..).unwrap_or_default();
                path.root == seen.root
                    && path.fields.starts_with(&seen.fields)
                    && rest.iter().all(|field| matches!(field, Field::At(_)))
            })
        };
        let mut pending = values.to_vec();
        let mut next = 0;
        while let Some(value) = pending.get(next).copied().filter(|_| next < MOST_PARTS) {
            next += 1;
            if value == *into {
                return true;
            }
            let mut more: Vec<Value> = vec![];
            match self.definition(value) {
                Definition::Term(Term::Path(path)) | Definition::Location(path) => {
                    if is_seen(path) {
                        return true;
                    }
                    if path.fields.iter().all(|field| self.0.alias().is_wrapping(field)) {
                        path.mention(&mut more);
                        more.extend(self.inputs(value).iter().filter(|_| path.fields.is_empty()));
                    }
                }
                _ => match self.definition_site(value) {
                    Some(site) => more = self.made_from(value, site),
                    None => more.extend(self.inputs(value)),
                },
            }
            more.retain(|value| !pending.contains(value));
            pending.extend(more);
        }
        false
    }

    /// Whether a value is what a library came to, or a member of that.
    #[must_use]
    pub fn is_of_library(self, value: Value) -> bool {
        let mut value = value;
        for _ in 0..MEMBERS {
            if let Some(Op::Call { .. }) =
                self.definition_site(value).and_then(|definition_site| self.0.op(definition_site))
            {
                return true;
            }
            match self.definition(value) {
                Definition::Term(Term::Path(AccessPath { root: Root::Value(whole), .. }))
                | Definition::Location(AccessPath { root: Root::Value(whole), .. })
                    if *whole != value =>
                {
                    value = *whole;
                }
                _ => return false,
            }
        }
        false
    }

    /// Whether a value is another one as a whole, under whatever name or in whatever form.
    #[must_use]
    pub fn is_all_of(self, value: Value, whole: Value) -> bool {
        let mut value = value;
        for _ in 0..MEMBERS {
            if value == whole {
                return true;
            }
            value = match self.definition(value) {
                Definition::Term(Term::Path(path)) | Definition::Location(path)
                    if !path.fields.iter().all(|field| self.0.alias().is_wrapping(field)) =>
                {
                    return false;
                }
                _ => match self.inputs(value) {
                    [only] if *only != value => *only,
                    _ => return false,
                },
            };
        }
        false
    }

    /// Whether a value is neither handed in nor captured.
    pub(in crate::view) fn is_own_leaf(self, value: Value) -> bool {
        self.0.values.get(value.0 as usize).is_some_and(|info| info.origin == Origin::Step)
    }

    /// What a value was made from, in the order of the source.
    pub(in crate::view) fn made_from(self, value: Value, definition_site: At) -> Vec<Value> {
        let mut from = vec![];
        match self.0.op(definition_site) {
            Some(Op::Read { of, .. }) => match of {
                Resource::File(term) | Resource::Key(term) => term.mention(&mut from),
                Resource::Row { table, key, .. } => {
                    table.mention(&mut from);
                    key.mention(&mut from);
                }
                Resource::Shared(path) | Resource::Flag(path) | Resource::Stream(path) => {
                    path.mention(&mut from);
                }
            },
            Some(Op::Call { arguments, receiver, .. }) => {
                for argument in arguments {
                    if let Argument::Term(term) = argument {
                        term.mention(&mut from);
                    }
                }
                if let Some(receiver) = receiver {
                    receiver.mention(&mut from);
                }
            }
            _ => {}
        }
        from.extend(self.inputs(value).iter().filter(|from| **from != value));
        from
    }

    /// Whether the same question gets another answer each time.
    pub(in crate::view) fn is_another_each_time(self, definition_site: At) -> bool {
        fn is_fresh(term: &Term) -> bool {
            match term {
                Term::Fresh(fresh) => *fresh != Fresh::ProcessId,
                Term::Join(parts) => parts.iter().any(is_fresh),
                Term::Parent(path) => is_fresh(path),
                _ => false,
            }
        }
        let called = |name: &str| self.0.lexicon().has_inside(Topic::AnotherEachTime, name);
        let asked = self.answer_at(definition_site).unwrap_or_else(|| self.0.function_of(definition_site));
        called(&self.0.function_name(asked))
            || match self.0.op(definition_site) {
                Some(Op::Derive { term, .. }) => is_fresh(term),
                Some(Op::Call { callee: Callee::Named(name), .. }) => called(name),
                Some(Op::Call { callee: Callee::Function(function), .. }) => {
                    called(&self.0.function_name(*function))
                }
                _ => false,
            }
    }
}

impl<'v, 'e> Flow<'v, 'e> {
    /// Whether a value is another one each time: a random id, the next number.
    #[must_use]
    pub fn is_drawn(self, value: Value) -> bool {
        matches!(self.definition(value), Definition::Term(Term::Fresh(Fresh::Random | Fresh::Counter)))
    }
}
