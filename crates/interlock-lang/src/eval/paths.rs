//! What is found at the places of a program: globals, fields of classes, members of objects, entries of collections.

use std::sync::Arc;

use interlock_model::ir::{AccessPath, FunctionId, Name, Root, Term, Value};

use super::{
    context::Context,
    evaluator::Evaluator,
    index::{At, Definition},
    target::Reached,
    value::AbstractValue,
    values::bare,
};
use crate::{Arg, Shape};

impl<'f> Evaluator<'_, 'f> {
    /// What is at a place.
    pub(crate) fn place(&self, place: &str) -> AbstractValue<'f> {
        let look =
            |known: At| self.deeper(|| self.compute_path(place, known)).unwrap_or(AbstractValue::Unknown);
        if let Some((number, known)) = self.index.place(place) {
            // What a place is that is set to itself is not known meanwhile.
            return self.places.answer(&self.asking, number, AbstractValue::Unknown, || look(known));
        }
        // Most places that are asked for are none: the methods of what a library made.
        let of_class = || self.class_and_field(place).is_some();
        let of_collection = || place.strip_suffix("[]").is_some_and(|whole| self.has_entries(whole));
        if !of_class() && !of_collection() {
            return AbstractValue::Unknown;
        }
        self.inner.answer(&self.asking, place.into(), AbstractValue::Unknown, || look(At::default()))
    }

    /// The class and the name of a place that is a member of a class.
    fn class_and_field<'p>(&self, place: &'p str) -> Option<(usize, &'p str)> {
        let (class, field) = place.rsplit_once('.')?;
        Some((*self.index.classes.get(class)?, field))
    }

    /// Whether something is put into what is at a place, or written there as it is made.
    fn has_entries(&self, place: &str) -> bool {
        self.index.elements.contains_key(place) || self.index.variables(place).next().is_some()
    }

    fn compute_path(&self, place: &str, known: At) -> AbstractValue<'f> {
        if let Some(function) = known.bound {
            return AbstractValue::of_function(function);
        }
        if let Some(class) = known.class {
            return AbstractValue::Class(class as usize);
        }
        let mut declared = AbstractValue::Unknown;
        let mut found = AbstractValue::Unknown;
        let mut variables = self
            .index
            .variables_from(known.variables.map(|(first, _)| first))
            .filter_map(|number| self.flat.variables.get(number))
            .peekable();
        if variables.peek().is_some() {
            declared = AbstractValue::join(
                variables
                    .clone()
                    .filter_map(|variable| variable.declared.as_ref())
                    .map(|path| self.declared(path)),
            );
            found = AbstractValue::join(
                variables
                    .filter_map(|variable| Some((variable.within, variable.initial.as_ref()?)))
                    .map(|(within, initial)| self.arg(FunctionId(within), initial).seen_from_outside()),
            );
        }
        if let Some((class, field)) = self.class_and_field(place) {
            if let Some(method) = self.method(class, field) {
                return AbstractValue::of_function(method);
            }
            if matches!(declared, AbstractValue::Unknown) {
                declared = self.field(class, field);
            }
        }
        if let Some(whole) = place.strip_suffix("[]") {
            let variables = self.index.variables(whole).filter_map(|number| self.flat.variables.get(number));
            let written = variables
                .filter_map(|variable| Some((FunctionId(variable.within), variable.initial.as_ref()?)))
                .flat_map(|(within, written)| self.entries_of(within, written));
            let put = self.index.elements.get(whole).into_iter().flatten();
            let put = put.map(|(within, arg)| self.arg(*within, arg).seen_from_outside());
            found = AbstractValue::join([found].into_iter().chain(put).chain(written));
        }
        match (found, declared) {
            // An instance is known better than the class or interface that it was declared with.
            (found, _) if found.is_precise() || matches!(found, AbstractValue::Collection(_)) => found,
            (found, AbstractValue::Unknown | AbstractValue::Foreign) => found,
            (_, declared) => declared,
        }
    }

    /// The declared type of a field, inherited ones included.
    pub(crate) fn field(&self, class: usize, field: &str) -> AbstractValue<'f> {
        for class in self.ancestry(class) {
            let Some(class) = self.flat.classes.get(class) else { continue };
            if let Some((_, declared)) = class.fields.iter().find(|(name, _)| &**name == field) {
                return self.declared(declared);
            }
        }
        AbstractValue::Unknown
    }

    /// A member of something.
    pub(crate) fn member(&self, of: &AbstractValue<'f>, name: &Name) -> AbstractValue<'f> {
        match of {
            AbstractValue::Instance(class, _) => {
                if let Some(function) = self.method(*class, name) {
                    return AbstractValue::of_function(function);
                }
                // Fields that are set in a base class.
                for ancestor in self.ancestry(*class).skip(1) {
                    let Some(ancestor) = self.flat.classes.get(ancestor) else { continue };
                    match self.place(&[&*ancestor.name, ".", name].concat()) {
                        AbstractValue::Unknown => {}
                        known => return known,
                    }
                }
                AbstractValue::Unknown
            }
            AbstractValue::Alternatives(all) => AbstractValue::join(all.iter().map(|one| match one {
                AbstractValue::Instance(class, _) => {
                    let class = self.flat.classes.get(*class).map_or("", |class| &class.name);
                    match self.place(&[class, ".", name].concat()) {
                        AbstractValue::Unknown => self.member(one, name),
                        known => known,
                    }
                }
                one => self.member(one, name),
            })),
            AbstractValue::Class(class) => {
                let function = self.method(*class, name).map(AbstractValue::of_function);
                // What a class has from a library's: `Account.objects`.
                let of_library = || {
                    let own = AccessPath::global(self.flat.classes.get(*class)?.name.clone());
                    let kind = self.knowledge.member(&self.base(*class)?, &own, name)?;
                    Some(AbstractValue::Kind(Arc::new(kind)))
                };
                function.or_else(of_library).unwrap_or(AbstractValue::Unknown)
            }
            AbstractValue::Object(members, Context { function, .. }) => {
                match members.iter().rev().find(|(key, _)| key == name) {
                    Some((_, member)) => self.arg(FunctionId(*function), member),
                    None => AbstractValue::Unknown,
                }
            }
            AbstractValue::Export(library, path) if path.is_empty() => {
                AbstractValue::Export(library.clone(), name.clone())
            }
            AbstractValue::Export(library, path) => {
                AbstractValue::Export(library.clone(), [path, ".", name].concat().into())
            }
            AbstractValue::Exports(file) => match self.names.offered(file, name) {
                Some(global) => self.place(global),
                None => AbstractValue::Unknown,
            },
            AbstractValue::Foreign | AbstractValue::Wrapped(_) => AbstractValue::Foreign,
            _ => AbstractValue::Unknown,
        }
    }

    /// An entry of something of whose place nothing more is known.
    pub(crate) fn element(&self, of: &AbstractValue<'f>) -> AbstractValue<'f> {
        match of {
            AbstractValue::Object(members, Context { function, .. }) => {
                let members = members.iter().map(|(_, member)| member);
                AbstractValue::join(self.objects_in(FunctionId(*function), members))
            }
            AbstractValue::Foreign | AbstractValue::Wrapped(_) => AbstractValue::Foreign,
            AbstractValue::Plain => AbstractValue::Plain,
            _ => AbstractValue::Unknown,
        }
    }

    /// What stands at a place in the entries of a list that is written out, where a value is one of them: `for name, check in [("a",
    /// check_a), ("b", check_b)]`.
    fn beside_in_list(&self, at: FunctionId, value: Value, place: u32) -> AbstractValue<'f> {
        let Some(about) = self.flat.about.get(at.0 as usize) else { return AbstractValue::Unknown };
        let Some((_, whole)) = about.items.iter().find(|(item, _)| *item == value) else {
            return AbstractValue::Unknown;
        };
        let local = || {
            let list = bare(&whole.term)?;
            about.locals.iter().find(|(local, _)| *local == list).map(|(_, arg)| &arg.shape)
        };
        let items = match (&whole.shape, local()) {
            (Shape::List(items), _) | (_, Some(Shape::List(items))) => items,
            _ => return AbstractValue::Unknown,
        };
        let part = |item: &'f Arg| match &item.shape {
            Shape::List(parts) => parts.get(place as usize).map(|part| self.arg(at, part)),
            _ => None,
        };
        AbstractValue::join(items.iter().filter_map(part))
    }

    /// What a call gives at a place among several things, as the function that it reaches declares them.
    pub(crate) fn beside(&self, at: FunctionId, root: &Root, key: &Term) -> AbstractValue<'f> {
        let (Root::Value(value), Term::Literal(key)) = (root, key) else { return AbstractValue::Unknown };
        let Ok(place) = key.parse::<u32>() else { return AbstractValue::Unknown };
        match self.beside_in_list(at, *value, place) {
            AbstractValue::Unknown => {}
            known => return known,
        }
        let function = match self.definition(at, *value) {
            Some(Definition::Returned(function)) => Some(*function),
            Some(Definition::Call(number)) => {
                let site = self.flat.sites.get(*number as usize);
                site.and_then(|site| match self.reached(site) {
                    Reached::Function(function, _) => Some(function),
                    _ => None,
                })
            }
            _ => None,
        };
        let about = function.and_then(|function| self.flat.about.get(function.0 as usize));
        let mut declared = about.into_iter().flat_map(|about| &about.side_by_side);
        let declared = declared.find(|(number, _)| *number == place);
        declared.map_or(AbstractValue::Unknown, |(_, path)| self.declared(path))
    }

    /// What is written into something as it is made, or into what it is picked from: `{one.name: one for one in ALL}`.
    fn entries_of(&self, within: FunctionId, written: &'f Arg) -> Vec<AbstractValue<'f>> {
        match &written.shape {
            Shape::Object(members) => {
                self.objects_in(within, members.iter().map(|(_, member)| member)).collect()
            }
            Shape::List(items) => self.objects_in(within, items.iter()).collect(),
            Shape::Choice(ways) => {
                let entries = |way: &'f Arg| match (&way.shape, &way.term) {
                    (Shape::Opaque, Term::Path(path)) => {
                        vec![self.path(within, &path.clone().at(Term::Unknown))]
                    }
                    (Shape::List(items), _) => self.objects_in(within, items.iter()).collect(),
                    _ => vec![],
                };
                ways.iter().flat_map(entries).collect()
            }
            _ => vec![],
        }
    }

    /// The functions that are written into an object as it is made, by name, each with the path by which it is named there.
    pub(crate) fn functions_in<'v>(
        &'v self,
        whole: &'v AbstractValue<'f>,
    ) -> impl Iterator<Item = (&'f Name, FunctionId, &'f Term)> {
        let (members, within) = match whole {
            AbstractValue::Object(members, Context { function, .. }) => (*members, *function),
            _ => (&[][..], 0),
        };
        members.iter().filter_map(move |(name, arg)| match self.arg(FunctionId(within), arg) {
            AbstractValue::Function(function, _) => Some((name, function, &arg.term)),
            _ => None,
        })
    }

    /// The objects, classes and functions that are written into an object as it is made. Which of them a call by key reaches is told by
    /// the key.
    fn objects_in(
        &self,
        within: FunctionId,
        members: impl Iterator<Item = &'f Arg>,
    ) -> impl Iterator<Item = AbstractValue<'f>> {
        let members = members.map(move |member| self.arg(within, member));
        members.filter(|meaning| {
            matches!(
                meaning,
                AbstractValue::Instance(..)
                    | AbstractValue::Object(..)
                    | AbstractValue::Class(_)
                    | AbstractValue::Function(..)
            )
        })
    }
}
