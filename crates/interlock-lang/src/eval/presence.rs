//! Whether something is surely there: the option that every creator of a class hands over, so that the branch for its absence is dead.
//!
//! ```ts
//! class Store {
//!   constructor(private readonly options: { db?: Db }) {}
//!   async add(note) { if (!this.options.db) { …the file instead… } … }
//! }
//! const store = new Store({ db: new Db() });     // the only one: nobody gets to the file
//! ```
//!
//! Only objects, functions and `true` count: a text or a number may be compared with something where the IR shows no more than that it is
//! judged. What is given by a creator that is not seen, or set to nothing anywhere, is not sure.

use std::cell::Cell;

use interlock_model::ir::{AccessPath, Field, FunctionId, Root, Term, Value};

use super::{
    evaluator::Evaluator,
    index::{Definition, Sets},
    key::place,
    target::Reached,
    value::AbstractValue,
};
use crate::{
    Arg, Shape,
    module::{Site, split_global},
};

/// How many expressions are looked at for one answer.
const LOOKED_AT: usize = 200;

/// How many fields one path may have.
const MOST_FIELDS: usize = 4;

/// Every call that runs the constructor of a class, by class.
pub(crate) type Creators = rustc_hash::FxHashMap<usize, Vec<u32>>;

impl<'f> Evaluator<'_, 'f> {
    /// Whether what a value was read from is surely there, whoever made the object that it is a field of.
    pub(crate) fn is_surely_given(&self, at: FunctionId, value: Value) -> bool {
        let Some(Definition::Path(path)) = self.definition(at, value) else { return false };
        if path.root != Root::This
            || path.fields.is_empty()
            || self.index.otherwise.contains_key(&(at, value))
        {
            return false;
        }
        // While it is made, an object has not got it yet.
        let AbstractValue::Instance(class, _) = self.this(at) else { return false };
        let is_constructor = |class: usize| self.own_constructor(class) == Some(at);
        !self.family(class).into_iter().any(is_constructor)
            && self.is_path_given(at, path, &Cell::new(LOOKED_AT))
    }

    fn own_constructor(&self, class: usize) -> Option<FunctionId> {
        let constructor = self.semantics.constructor?;
        let methods = &self.flat.classes.get(class)?.methods;
        methods.iter().find(|(name, _)| &**name == constructor).map(|(_, function)| FunctionId(*function))
    }

    /// A class, those above it and those below it.
    fn family(&self, class: usize) -> Vec<usize> {
        let mut family: Vec<usize> = self.ancestry(class).collect();
        let mut next = 0;
        while let Some(member) = family.get(next).copied().filter(|_| next < 64) {
            for child in self.index.children.get(&member).into_iter().flatten() {
                // What else is below an ancestor has objects of its own.
                if !family.contains(child) && (next == 0 || self.ancestry(*child).any(|one| one == class)) {
                    family.push(*child);
                }
            }
            next += 1;
        }
        family
    }

    fn is_path_given(&self, at: FunctionId, path: &AccessPath, left: &Cell<usize>) -> bool {
        let Some(fewer) = left.get().checked_sub(1) else { return false };
        left.set(fewer);
        if path.fields.len() > MOST_FIELDS {
            return false;
        }
        let look = || match &path.root {
            Root::This => self.is_field_given(at, &path.fields, left),
            Root::Value(value) => self.is_value_given(at, *value, &path.fields, left),
            Root::Global(name) => self.is_global_given(name, &path.fields, left),
        };
        self.deeper(look).unwrap_or(false)
    }

    /// A field of `this`: set by the constructor, to something that is there, and by nobody to nothing.
    fn is_field_given(&self, at: FunctionId, fields: &[Field], left: &Cell<usize>) -> bool {
        let (AbstractValue::Instance(class, _), Some((Field::Name(name), rest))) =
            (self.this(at), fields.split_first())
        else {
            return false;
        };
        let family = self.family(class);
        let (mut is_set, mut known) = (false, vec![]);
        for member in &family {
            let Some(of_class) = self.flat.classes.get(*member) else { return false };
            let constructor = self.own_constructor(*member);
            let place = [&*of_class.name, ".", name].concat();
            let assigned =
                self.index.all_variables(&place).filter_map(|number| self.flat.variables.get(number));
            for variable in assigned {
                let within = FunctionId(variable.within);
                let initial = variable.initial.as_ref();
                if !initial.is_some_and(|arg| self.is_arg_given(within, arg, rest, left)) {
                    return false;
                }
                let always = |within| self.index.sets(within, name).is_none_or(|set| set.always);
                is_set |= Some(within) == constructor && always(within);
                known.push(within);
            }
        }
        // What is set to nothing, or to something that is computed, is no variable.
        let is_of_family = |owner: &str| {
            let named =
                |class: &usize| self.flat.classes.get(*class).is_some_and(|class| *class.name == *owner);
            family.iter().any(named)
        };
        let may_be_nothing = |(function, set): (FunctionId, &Sets)| {
            known.iter().filter(|within| **within == function).count() < set.times
        };
        // Whose field it is that something outside sets is asked last: it takes longest.
        let is_ours = |function: FunctionId, path: &AccessPath| match self.path(function, path) {
            AbstractValue::Instance(other, _) => family.contains(&other),
            AbstractValue::Unknown | AbstractValue::Alternatives(_) => true,
            _ => false,
        };
        is_set
            && !self.index.setters(name, is_of_family).any(may_be_nothing)
            && !self.index.is_set_elsewhere(name, is_ours)
    }

    fn is_value_given(&self, at: FunctionId, value: Value, fields: &[Field], left: &Cell<usize>) -> bool {
        let about = self.flat.about.get(at.0 as usize);
        let is_parameter = matches!(self.definition(at, value), Some(Definition::Parameter(_)));
        let local = about.and_then(|about| about.locals.iter().find(|(local, _)| *local == value));
        if let (Some((_, arg)), false) = (local, is_parameter) {
            return self.is_arg_given(at, arg, fields, left);
        }
        match self.definition(at, value) {
            Some(Definition::Parameter(number)) => self.is_parameter_given(at, *number, fields, left),
            Some(Definition::Capture(number)) => {
                let Some((outer, terms)) = self.index.captured(at) else { return false };
                match terms.get(*number) {
                    Some(Term::Path(path)) => self.is_path_given(*outer, &behind(path, fields), left),
                    _ => false,
                }
            }
            Some(Definition::Call(site)) => fields.is_empty() && self.is_result_given(*site, left),
            Some(Definition::Returned(function)) => fields.is_empty() && self.is_returned(*function, left),
            Some(Definition::Path(path)) => match self.index.otherwise.get(&(at, value)) {
                None => self.is_path_given(at, &behind(path, fields), left),
                // What is found there, or else one of these.
                Some(others) => {
                    fields.is_empty()
                        && others
                            .iter()
                            .all(|other| self.is_path_given(at, &AccessPath::of(Root::Value(*other)), left))
                }
            },
            Some(Definition::New | Definition::Function(_)) => fields.is_empty(),
            _ => false,
        }
    }

    fn is_parameter_given(
        &self,
        at: FunctionId,
        number: usize,
        fields: &[Field],
        left: &Cell<usize>,
    ) -> bool {
        let made = self.class_made_by(at);
        let callers = match made {
            Some(class) => self.creators().get(&class),
            None => self.index.all_callers(at),
        };
        let default =
            self.index.defaults.get(&at).and_then(|defaults| defaults.get(number).copied().flatten());
        let given = |site: &'f Site| match (site.arguments.get(number), default) {
            (Some(arg), None) => self.is_arg_given(FunctionId(site.within), arg, fields, left),
            (Some(arg), Some(default)) => {
                self.is_arg_given(FunctionId(site.within), arg, fields, left)
                    && (!fields.is_empty() || self.is_arg_given(at, default, fields, left))
            }
            (None, Some(default)) => self.is_arg_given(at, default, fields, left),
            (None, None) => false,
        };
        // A class below that does not say how it runs this constructor may hand over anything.
        let is_seen = |child: &usize| {
            let Some(constructor) = self.own_constructor(*child) else { return true };
            let from_there = |site: &u32| {
                self.flat.sites.get(*site as usize).is_some_and(|site| FunctionId(site.within) == constructor)
            };
            callers.is_some_and(|callers| callers.iter().any(from_there))
        };
        let below = made.and_then(|class| self.index.children.get(&class));
        if !below.into_iter().flatten().all(is_seen) {
            return false;
        }
        callers.is_some_and(|callers| {
            !callers.is_empty()
                && callers.iter().all(|site| self.flat.sites.get(*site as usize).is_some_and(given))
        })
    }

    /// The class whose constructor a function is.
    fn class_made_by(&self, at: FunctionId) -> Option<usize> {
        let owner = self.index.heads.get(at.0 as usize)?.owner.as_ref()?;
        let class = *self.index.classes.get(&**owner)?;
        (self.own_constructor(class) == Some(at)).then_some(class)
    }

    /// Every call that makes an object of a class, or that runs its constructor for a class below it.
    fn creators(&self) -> &Creators {
        self.creators.get_or_init(|| {
            let mut creators = Creators::default();
            for (number, site) in (0_u32..).zip(&self.flat.sites) {
                let Some(callee) = &site.callee else { continue };
                let is_above = place(callee, None).is_some_and(|name| Some(&*name) == self.semantics.above);
                let classes = if !is_above && self.may_construct(site, callee) {
                    match self.reached(site) {
                        Reached::Class(class) => vec![class],
                        Reached::OneOfClasses(classes) => classes,
                        _ => continue,
                    }
                } else if is_above {
                    match self.class_made_by(FunctionId(site.within)).and_then(|class| self.parent(class)) {
                        Some(class) => vec![class],
                        None => continue,
                    }
                } else {
                    continue;
                };
                for class in classes {
                    // Where a class has no constructor of its own, the one above it is run.
                    let made = self.ancestry(class).find(|class| self.own_constructor(*class).is_some());
                    creators.entry(made.unwrap_or(class)).or_default().push(number);
                }
            }
            creators
        })
    }

    /// Whether a call looks as if it made an object of a class of the program.
    fn may_construct(&self, site: &Site, callee: &AccessPath) -> bool {
        let name = match (callee.fields.last(), &callee.root) {
            (Some(Field::Name(name)), _) => name,
            (None, Root::Global(name)) => split_global(name).map_or(&**name, |(_, name)| name),
            _ => return site.construct,
        };
        site.construct || name.starts_with(char::is_uppercase)
    }

    fn is_global_given(&self, name: &str, fields: &[Field], left: &Cell<usize>) -> bool {
        let Some((_, known)) = self.index.place(name) else { return false };
        if known.bound.is_some() || known.class.is_some() {
            return fields.is_empty();
        }
        let mut variables =
            self.index.all_variables(name).filter_map(|number| self.flat.variables.get(number));
        let (Some(only), None) = (variables.next(), variables.next()) else { return false };
        let initial = only.initial.as_ref().filter(|_| !self.index.assigned.contains(name));
        initial.is_some_and(|arg| self.is_arg_given(FunctionId(only.within), arg, fields, left))
    }

    /// What comes out of a call: an object that is made, one that a library makes, or what a function always returns.
    fn is_result_given(&self, number: u32, left: &Cell<usize>) -> bool {
        let Some(site) = self.flat.sites.get(number as usize) else { return false };
        if site.construct {
            return true;
        }
        match self.reached(site) {
            Reached::Class(_) | Reached::OneOfClasses(_) => true,
            Reached::Function(function, _) => self.is_returned(function, left),
            Reached::Export(..) => matches!(self.result(number), AbstractValue::Kind(_)),
            _ => false,
        }
    }

    fn is_returned(&self, function: FunctionId, left: &Cell<usize>) -> bool {
        let Some(head) = self.index.heads.get(function.0 as usize) else { return false };
        let values = self.index.returns(head);
        let written = self.flat.about.get(function.0 as usize).map_or(&[][..], |about| &about.returned);
        let is_given =
            |value: &Value| self.is_path_given(function, &AccessPath::of(Root::Value(*value)), left);
        !self.index.may_return_nothing.contains(&function)
            && (!values.is_empty() || !written.is_empty())
            && values.iter().all(is_given)
            && written.iter().all(|arg| self.is_arg_given(function, arg, &[], left))
    }

    fn is_arg_given(&self, at: FunctionId, arg: &'f Arg, fields: &[Field], left: &Cell<usize>) -> bool {
        let Some(fewer) = left.get().checked_sub(1) else { return false };
        left.set(fewer);
        match (&arg.shape, fields.split_first()) {
            (Shape::Function { .. }, None) => true,
            (Shape::Object(_) | Shape::List(_), None) => !self.semantics.empty_is_false,
            (Shape::Bool(says), None) => *says,
            // What is only made on one of two ways has no name: `remote ? new Db() : undefined`.
            (Shape::Call(site), None) => arg.term != Term::Unknown && self.is_result_given(*site, left),
            (Shape::Object(members), Some((Field::Name(name), rest))) => {
                let found = members.iter().rposition(|(member, _)| member == name);
                // What is spread behind it may replace it.
                let is_last = |found: usize| members.iter().skip(found).all(|(member, _)| &**member != "...");
                let member = found.filter(|found| is_last(*found)).and_then(|found| members.get(found));
                member.is_some_and(|(_, arg)| self.is_arg_given(at, arg, rest, left))
            }
            (Shape::Opaque, _) => match &arg.term {
                Term::Path(path) => self.is_path_given(at, &behind(path, fields), left),
                _ => false,
            },
            _ => false,
        }
    }
}

fn behind(path: &AccessPath, fields: &[Field]) -> AccessPath {
    let mut path = path.clone();
    path.fields.extend(fields.iter().cloned());
    path
}
