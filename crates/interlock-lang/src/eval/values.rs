//! What the values of a function are: by their declared type, by how they come about, by who hands them over.

use std::{cell::Cell, sync::Arc};

use interlock_model::ir::{AccessPath, Field, FunctionId, Root, Term, Value};

use super::{evaluator::Evaluator, index::Definition, value::AbstractValue};
use crate::{Kind, Shape};

/// How many functions may be around each other for what the innermost takes along.
const NESTED: usize = 16;
/// The same for what a function takes along that is handed over.
const TAKEN: usize = 4;
/// How many values are looked at to know whether callers hand over different functions.
const LOOKED_AT: usize = 500;

impl<'f> Evaluator<'_, 'f> {
    pub(crate) fn definition(&self, at: FunctionId, value: Value) -> Option<&'f Definition> {
        self.index.definition(at, value)
    }

    /// What a value of a function is.
    pub(crate) fn value(&self, at: FunctionId, value: Value) -> AbstractValue<'f> {
        let look = || self.deeper(|| self.compute_value(at, value)).unwrap_or(AbstractValue::Unknown);
        match self.index.number(at, value) {
            // A value that depends on itself, in a loop, is not known meanwhile.
            Some(number) => self.values.answer(&self.asking, number, AbstractValue::Unknown, look),
            None => look(),
        }
    }

    fn compute_value(&self, at: FunctionId, value: Value) -> AbstractValue<'f> {
        let declared = self.flat.about.get(at.0 as usize).and_then(|about| {
            about.types.iter().find(|(typed, _)| *typed == value).map(|(_, declared)| declared)
        });
        let declared = declared.map_or(AbstractValue::Unknown, |declared| self.declared(declared));
        // What is assigned says more than an interface or a base class, but less than nothing at all.
        match declared {
            AbstractValue::Unknown | AbstractValue::Foreign => {}
            known => return known,
        }
        let Some(definition) = self.definition(at, value) else { return declared };
        let found = match definition {
            Definition::Unknown | Definition::New | Definition::Term(_) => AbstractValue::Unknown,
            Definition::Path(path) => match self.index.otherwise.get(&(at, value)) {
                None => self.path(at, path),
                Some(others) => {
                    let others = others.iter().map(|other| self.value(at, *other));
                    AbstractValue::join(
                        std::iter::once(self.path(at, path)).chain(others.filter(AbstractValue::is_precise)),
                    )
                }
            },
            Definition::Either(values) => {
                let found = AbstractValue::join(values.iter().map(|value| self.value(at, *value)));
                // A choice may also be of what has no value of its own: `client ? forClient(client) : send`.
                match self.chosen(at, value) {
                    Some(choice) => AbstractValue::join([choice, found].into_iter()),
                    None => found,
                }
            }
            Definition::Call(site) => self.result(*site),
            Definition::Returned(function) => self.returned(*function),
            Definition::Function(function) => AbstractValue::of_function(*function),
            Definition::Parameter(number) => self.parameter(at, *number),
            Definition::Capture(number) => match self.index.captured(at) {
                Some((outer, terms)) => match terms.get(*number) {
                    Some(Term::Path(path)) => self.path(*outer, path).seen_from_outside(),
                    _ => AbstractValue::Unknown,
                },
                None => AbstractValue::Unknown,
            },
        };
        match found {
            AbstractValue::Unknown => match self.structure(at, value).unwrap_or(declared) {
                AbstractValue::Unknown => self.called_like(at, value),
                known => known,
            },
            known => known,
        }
    }

    /// What a parameter is by its name alone.
    fn called_like(&self, at: FunctionId, value: Value) -> AbstractValue<'f> {
        self.index
            .called
            .get(&(at, value))
            .map_or(AbstractValue::Unknown, |class| AbstractValue::of_class(*class))
    }

    /// What goes by a name that means objects of one class wherever the tree says what it means.
    pub(crate) fn called(&self, name: &str) -> AbstractValue<'f> {
        match self.index.named.get(name) {
            Some(Some(class)) => AbstractValue::of_class(*class),
            _ => AbstractValue::Unknown,
        }
    }

    /// What a local is that was given one of several things.
    fn chosen(&self, at: FunctionId, value: Value) -> Option<AbstractValue<'f>> {
        let about = self.flat.about.get(at.0 as usize)?;
        let (_, arg) = about.locals.iter().find(|(local, _)| *local == value)?;
        matches!(arg.shape, Shape::Choice(_)).then(|| self.arg(at, arg))
    }

    /// What a local is by what it was made as, or by what a loop goes over.
    fn structure(&self, at: FunctionId, value: Value) -> Option<AbstractValue<'f>> {
        let about = self.flat.about.get(at.0 as usize)?;
        if let Some((_, arg)) = about.locals.iter().find(|(local, _)| *local == value) {
            return Some(self.arg(at, arg));
        }
        let (_, whole) = about.items.iter().find(|(item, _)| *item == value)?;
        Some(match (&whole.shape, &whole.term) {
            (Shape::List(items), _) => AbstractValue::join(items.iter().map(|item| self.arg(at, item))),
            (_, Term::Path(path)) => self.path(at, &path.clone().at(Term::Unknown)),
            (Shape::Call(site), _) => match self.result(*site) {
                AbstractValue::Kind(list) => AbstractValue::Kind(Arc::new(self.knowledge.entry_of(&list)?)),
                _ => return None,
            },
            _ => return None,
        })
    }

    /// What a parameter without a declared type is: what the call that is handed the closure says, or what the callers hand over.
    fn parameter(&self, at: FunctionId, number: usize) -> AbstractValue<'f> {
        if let Some((site, argument)) = self.index.handed.get(&at) {
            if let Some(outcome) = self.outcome(*site) {
                let handed =
                    |(arg, parameter, _): &&(usize, usize, Kind)| arg == argument && *parameter == number;
                if let Some((_, _, kind)) = outcome.parameters.iter().find(handed) {
                    return AbstractValue::Kind(Arc::new(kind.from_outside()));
                }
            }
            if number == 0
                && let Some(element) = self.element_handed(*site)
            {
                return element;
            }
        }
        let Some(callers) = self.index.callers.get(&at) else { return AbstractValue::Unknown };
        // A caller knows which it is; to join what all of them hand over would make each of them follow the others' as well.
        let mut weak = AbstractValue::Unknown;
        for site in callers.iter().filter_map(|site| self.flat.sites.get(*site as usize)) {
            let Some(arg) = site.arguments.get(number) else { continue };
            match self.arg(FunctionId(site.within), arg).seen_from_outside() {
                AbstractValue::Unknown => {}
                meaning @ (AbstractValue::Plain
                | AbstractValue::Foreign
                | AbstractValue::Wrapped(_)
                | AbstractValue::Object(..)) => weak = meaning,
                known => return known,
            }
        }
        weak
    }

    /// Whether a value is a parameter, of a function or of one around it, for which callers hand over different functions: which one
    /// runs is known where the call is followed.
    pub(crate) fn is_for_callers_to_say(&self, at: FunctionId, value: Value) -> bool {
        self.is_open(at, value, NESTED, &Cell::new(LOOKED_AT))
    }

    fn is_open(&self, at: FunctionId, value: Value, depth: usize, left: &Cell<usize>) -> bool {
        let (Some(depth), Some(fewer)) = (depth.checked_sub(1), left.get().checked_sub(1)) else {
            return false;
        };
        left.set(fewer);
        match self.definition(at, value) {
            Some(Definition::Parameter(number)) => self.callers_differ(at, *number, depth, left),
            Some(Definition::Capture(position)) => {
                let Some((within, terms)) = self.index.captured(at) else { return false };
                let outer = terms.get(*position).and_then(bare);
                outer.is_some_and(|outer| self.is_open(*within, outer, depth, left))
            }
            _ => false,
        }
    }

    fn callers_differ(&self, at: FunctionId, number: usize, depth: usize, left: &Cell<usize>) -> bool {
        let Some(callers) = self.index.callers.get(&at) else { return false };
        let mut known = None;
        for site in callers.iter().filter_map(|site| self.flat.sites.get(*site as usize)) {
            let Some(arg) = site.arguments.get(number) else { continue };
            let within = FunctionId(site.within);
            if within != at && bare(&arg.term).is_some_and(|value| self.is_open(within, value, depth, left)) {
                return true;
            }
            // One that takes along what it was given itself is another one each time.
            if let Shape::Function { captures, .. } = &arg.shape
                && captures
                    .iter()
                    .filter_map(bare)
                    .any(|value| self.is_open(within, value, depth.min(TAKEN), left))
            {
                return true;
            }
            if let AbstractValue::Function(function, _) = self.arg(within, arg)
                && *known.get_or_insert(function) != function
            {
                return true;
            }
        }
        false
    }

    /// What `list.forEach(item => …)` hands to its closure.
    fn element_handed(&self, site: u32) -> Option<AbstractValue<'f>> {
        let site = self.flat.sites.get(site as usize)?;
        let callee = site.callee.as_ref()?;
        let (Field::Name(method), rest) = callee.fields.split_last()? else { return None };
        if !self.builtins.hands_entry(method) {
            return None;
        }
        let list = AccessPath { root: callee.root.clone(), fields: rest.into() };
        let path = list.at(Term::Unknown);
        match self.path(FunctionId(site.within), &path) {
            AbstractValue::Unknown => None,
            known => Some(known.seen_from_outside()),
        }
    }
}

/// The value that a term is, where it is nothing but that.
pub(crate) fn bare(term: &Term) -> Option<Value> {
    match term {
        Term::Path(AccessPath { root: Root::Value(value), fields }) if fields.is_empty() => Some(*value),
        _ => None,
    }
}
