//! Names that were asked for twice: two calls of one helper with the same arguments give the same path, although each call made a
//! value of its own.

use std::collections::HashMap;

use interlock_model::ir::{
    AccessPath, Argument, Callee, Field, Fresh, FunctionId, Op, Origin, Resource, Root, Term, Value,
};

use super::{
    entry::{At, Entry},
    flow::Definition,
};
use crate::lexicon::Topic;

/// How many pairs of values are compared for one pair of names.
const MOST_PAIRS: usize = 256;

/// The pairs of values that were compared for one pair of names. One that is under way counts as alike: a loop is alike if nothing
/// else says otherwise.
type Compared = HashMap<(Value, Value), bool>;

/// How many members deep an answer is looked into.
const MEMBERS: usize = 8;
/// How many ways that leave a name in a variable are looked at.
const MOST_WAYS: usize = 4;
/// Where values come about.
#[derive(Debug)]
pub(super) struct DefinitionSites {
    /// The step that made each value.
    steps: Vec<Option<At>>,
    /// The helper that was followed right before a step: what it answers is made there.
    answers: HashMap<At, FunctionId>,
}

impl Entry<'_> {
    /// The step that made a value.
    pub(super) fn definition_site(&self, value: Value) -> Option<At> {
        self.definition_sites().steps.get(value.0 as usize).copied().flatten()
    }

    /// The helper whose answer is made at a step.
    fn answer_at(&self, definition_site: At) -> Option<FunctionId> {
        self.definition_sites().answers.get(&definition_site).copied()
    }

    /// Which step made each value, and which of them stand for the answer of a helper.
    fn definition_sites(&self) -> &DefinitionSites {
        self.definition_sites.get_or_init(|| self.find_definition_sites())
    }

    fn find_definition_sites(&self) -> DefinitionSites {
        let mut definition_sites: Vec<Option<At>> = vec![None; self.values.len()];
        for (at, step) in self.steps.iter().enumerate() {
            let into = match &step.effect.op {
                Op::Derive { into, .. }
                | Op::Read { into, .. }
                | Op::Call { into: Some(into), .. }
                | Op::External { into: Some(into), .. }
                | Op::Loop { item: Some(into), .. } => *into,
                _ => continue,
            };
            if let Some(definition_site @ None) = definition_sites.get_mut(into.0 as usize) {
                *definition_site = Some(at);
            }
        }
        let mut answers = HashMap::new();
        for step in &self.steps {
            if let Op::Inlined { function, .. } = &step.effect.op {
                answers.entry(step.until as usize).or_insert(*function);
            }
        }
        DefinitionSites { steps: definition_sites, answers }
    }

    /// Whether a value is what a constructor of a library has just made. What is called with a capital letter is one.
    #[must_use]
    pub fn is_constructed(&self, value: Value) -> bool {
        match self.definition_site(value).and_then(|definition_site| self.op(definition_site)) {
            Some(Op::Call { callee: Callee::Named(name), awaited: false, .. }) => {
                let last = name.rsplit(['.', '/', ':']).next().unwrap_or_default();
                last.starts_with(|letter: char| letter.is_ascii_uppercase())
            }
            _ => false,
        }
    }

    /// Whether a value is what a helper answered or what a read saw, as it came, or a member of that.
    #[must_use]
    pub fn is_answer(&self, value: Value) -> bool {
        let mut value = value;
        for _ in 0..MEMBERS {
            let definition_site = self.definition_site(value);
            let read = match definition_site.and_then(|definition_site| self.op(definition_site)) {
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
    pub fn is_opaque_result(&self, value: Value, read: At) -> bool {
        let mut value = value;
        for _ in 0..MEMBERS {
            match self.definition_site(value).and_then(|definition_site| self.op(definition_site)) {
                Some(Op::Call { awaited: true, receiver, arguments, .. }) => {
                    let seen = match self.op(read) {
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
    pub fn is_part_of(&self, value: Value, read: At) -> bool {
        let Some(Op::Read { into, .. }) = self.op(read) else { return false };
        let mut pending = vec![value];
        let mut next = 0;
        while let Some(value) = pending.get(next).copied().filter(|_| next < MOST_PAIRS) {
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
                        if matches!(self.resource(read), Some(Resource::Shared(seen)) if same(seen)) {
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

    /// Whether a value is what a library came to, or a member of that.
    #[must_use]
    pub fn is_of_library(&self, value: Value) -> bool {
        let mut value = value;
        for _ in 0..MEMBERS {
            if let Some(Op::Call { .. }) =
                self.definition_site(value).and_then(|definition_site| self.op(definition_site))
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
    fn is_all_of(&self, value: Value, whole: Value) -> bool {
        let mut value = value;
        for _ in 0..MEMBERS {
            if value == whole {
                return true;
            }
            value = match self.definition(value) {
                Definition::Term(Term::Path(path)) | Definition::Location(path)
                    if !path.fields.iter().all(|field| self.is_wrapping(field)) =>
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

    /// Whether a member leads to what was asked for itself: the rows of an answer, and the first of them.
    pub(crate) fn is_wrapping(&self, field: &Field) -> bool {
        match field {
            Field::Name(name) => self.lexicon().has(Topic::Wrapping, name),
            Field::At(_) => true,
        }
    }

    /// Whether two files go by the same name because the same question was asked for both.
    pub(super) fn is_asked_twice(&self, one: &Resource, other: &Resource) -> bool {
        match (one, other) {
            (Resource::File(one), Resource::File(other)) => {
                self.terms_are_alike(one, other, &mut Compared::new())
                    || self.is_tidied(one, other)
                    || self.is_tidied(other, one)
                    || self.is_one_of(one, other)
                    || self.is_one_of(other, one)
            }
            _ => false,
        }
    }

    /// Whether a variable is left with a name by one of several ways: the new place of a file, or the old one if it is not there.
    fn is_one_of(&self, variable: &Term, name: &Term) -> bool {
        let Term::Path(AccessPath { root: Root::Value(value), fields }) = variable else { return false };
        let Definition::Either(branches) = self.definition(*value) else { return false };
        fields.is_empty()
            && branches
                .iter()
                .take(MOST_WAYS)
                .any(|branch| self.resolve(&(*branch).into()).names_the_same_as(name))
    }

    /// Whether a name is another one in a better form, and is called so: made absolute, with its slashes set right.
    fn is_tidied(&self, tidy: &Term, rough: &Term) -> bool {
        let Term::Path(AccessPath { root: Root::Value(value), fields }) = tidy else { return false };
        if !fields.is_empty() || !self.lexicon().has_inside(Topic::TidiedPath, self.name_of(*value)) {
            return false;
        }
        let (parts, backward_slice) = (self.values_in(rough), self.backward_slice(&[*value]));
        let given = |value: &&Value| !self.is_own_leaf(**value);
        let from = self.backward_slice(&parts);
        // With something added to it, it is the name of another file.
        let is_other = |made: &Value| {
            let name = self.resolve(&(*made).into());
            matches!(name, Term::Join(_))
                && !name.names_the_same_as(rough)
                && name.mentioned().iter().any(|value| parts.contains(value))
        };
        !parts.is_empty()
            && parts.iter().all(|part| backward_slice.contains(part))
            && backward_slice.iter().filter(given).all(|given| from.contains(given))
            && !backward_slice.iter().any(is_other)
    }

    fn terms_are_alike(&self, one: &Term, other: &Term, compared: &mut Compared) -> bool {
        match (one, other) {
            (Term::Join(one), Term::Join(other)) => {
                one.len() == other.len()
                    && one.iter().zip(other).all(|(one, other)| self.terms_are_alike(one, other, compared))
            }
            (Term::Parent(one), Term::Parent(other)) => self.terms_are_alike(one, other, compared),
            (Term::Path(one), Term::Path(other)) => self.paths_are_alike(one, other, compared),
            _ => one.names_the_same_as(other),
        }
    }

    fn paths_are_alike(&self, one: &AccessPath, other: &AccessPath, compared: &mut Compared) -> bool {
        let roots = match (&one.root, &other.root) {
            (Root::Value(one), Root::Value(other)) => self.values_are_alike(*one, *other, compared),
            (one, other) => one == other,
        };
        let fields = |(one, other): (&Field, &Field)| match (one, other) {
            (Field::At(one), Field::At(other)) => self.terms_are_alike(one, other, compared),
            (one, other) => one == other,
        };
        roots && one.fields.len() == other.fields.len() && one.fields.iter().zip(&other.fields).all(fields)
    }

    /// Whether two values were made by the same line of the source out of what is alike.
    fn values_are_alike(&self, one: Value, other: Value, compared: &mut Compared) -> bool {
        if one == other {
            return true;
        }
        if let Some(known) = compared.get(&(one, other)) {
            return *known;
        }
        if compared.len() >= MOST_PAIRS {
            return false;
        }
        compared.insert((one, other), true);
        let alike = self.are_made_alike(one, other, compared);
        compared.insert((one, other), alike);
        alike
    }

    fn are_made_alike(&self, one: Value, other: Value, compared: &mut Compared) -> bool {
        let (known, others) = (self.resolve(&one.into()), self.resolve(&other.into()));
        if known != one.into() || others != other.into() {
            return self.terms_are_alike(&known, &others, compared);
        }
        let (first, second) = match (self.definition_site(one), self.definition_site(other)) {
            (Some(first), Some(second)) => (first, second),
            // A variable that is set nowhere is the same in every copy of its function.
            (None, None) => return self.is_own_leaf(one) && self.name_of(one) == self.name_of(other),
            _ => return false,
        };
        // What a helper answers is made where it is called; elsewhere the same line makes the same.
        let same = match (self.answer_at(first), self.answer_at(second)) {
            (Some(one), Some(other)) => one == other,
            _ => self.span(first) == self.span(second) || self.call_the_same(first, second, compared),
        };
        if !same || self.is_another_each_time(first) {
            return false;
        }
        let (from, others) = (self.made_from(one, first), self.made_from(other, second));
        from.len() == others.len()
            && from.iter().zip(&others).all(|(from, other)| self.values_are_alike(*from, *other, compared))
    }

    /// Whether two steps ask the same helper the same. One that is too long to be followed, or calls itself, has no answer to compare.
    fn call_the_same(&self, one: At, other: At, compared: &mut Compared) -> bool {
        let (
            Some(Op::Call { callee: Callee::Function(helper), arguments, receiver, .. }),
            Some(Op::Call { callee: Callee::Function(same), arguments: others, receiver: on, .. }),
        ) = (self.op(one), self.op(other))
        else {
            return false;
        };
        let mut alike = |(one, other): (&Argument, &Argument)| match (one, other) {
            (Argument::Term(one), Argument::Term(other)) => self.terms_are_alike(one, other, compared),
            _ => false,
        };
        helper == same
            && arguments.len() == others.len()
            && arguments.iter().zip(others).all(&mut alike)
            && match (receiver, on) {
                (Some(one), Some(other)) => self.paths_are_alike(one, other, compared),
                (one, other) => one.is_none() && other.is_none(),
            }
    }

    /// Whether two places are the same because the same question was asked for both.
    pub(super) fn are_asked_alike(&self, one: &AccessPath, other: &AccessPath) -> bool {
        self.paths_are_alike(one, other, &mut Compared::new())
    }

    /// Whether a value is neither handed in nor taken along.
    fn is_own_leaf(&self, value: Value) -> bool {
        self.values.get(value.0 as usize).is_some_and(|info| info.origin == Origin::Step)
    }

    /// What a value was made from, in the order of the source.
    fn made_from(&self, value: Value, definition_site: At) -> Vec<Value> {
        let mut from = vec![];
        match self.op(definition_site) {
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
    fn is_another_each_time(&self, definition_site: At) -> bool {
        fn is_fresh(term: &Term) -> bool {
            match term {
                Term::Fresh(fresh) => *fresh != Fresh::ProcessId,
                Term::Join(parts) => parts.iter().any(is_fresh),
                Term::Parent(path) => is_fresh(path),
                _ => false,
            }
        }
        let called = |name: &str| self.lexicon().has_inside(Topic::AnotherEachTime, name);
        let asked = self.answer_at(definition_site).unwrap_or_else(|| self.function_of(definition_site));
        called(&self.function_name(asked))
            || match self.op(definition_site) {
                Some(Op::Derive { term, .. }) => is_fresh(term),
                Some(Op::Call { callee: Callee::Named(name), .. }) => called(name),
                Some(Op::Call { callee: Callee::Function(function), .. }) => {
                    called(&self.function_name(*function))
                }
                _ => false,
            }
    }
}
