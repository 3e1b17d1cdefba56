//! What is found at the places of a program: globals, fields of classes, members of objects, entries of collections.

use interlock_model::ir::{FunctionId, Name};

use super::{
    index::At,
    meaning::{Meaning, Meanings, from_outside},
};
use crate::{Arg, Shape};

impl<'f> Meanings<'f> {
    /// What is at a place.
    pub(super) fn place(&self, place: &str) -> Meaning<'f> {
        let look = |known: At| self.deeper(|| self.look_at_place(place, known)).unwrap_or(Meaning::Unknown);
        if let Some((number, known)) = self.index.place(place) {
            // What a place is that is set to itself is not known meanwhile.
            return self.places.or_look(number, Meaning::Unknown, || look(known));
        }
        // Most places that are asked for are none: the methods of what a library made.
        let of_class = || self.class_and_field(place).is_some();
        let of_collection = || place.strip_suffix("[]").is_some_and(|whole| self.has_entries(whole));
        if !of_class() && !of_collection() {
            return Meaning::Unknown;
        }
        if let Some(known) = self.inner.borrow().get(place) {
            return known.clone();
        }
        self.inner.borrow_mut().insert(place.into(), Meaning::Unknown);
        let meaning = look(At::default());
        if let Some(known) = self.inner.borrow_mut().get_mut(place) {
            known.clone_from(&meaning);
        }
        meaning
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

    fn look_at_place(&self, place: &str, known: At) -> Meaning<'f> {
        if let Some(function) = known.bound {
            return Meaning::Function(function);
        }
        if let Some(class) = known.class {
            return Meaning::Class(class as usize);
        }
        let mut declared = Meaning::Unknown;
        let mut found = Meaning::Unknown;
        let mut variables = self
            .index
            .variables_from(known.variables.map(|(first, _)| first))
            .filter_map(|number| self.flat.variables.get(number))
            .peekable();
        if variables.peek().is_some() {
            declared = self.join(
                variables
                    .clone()
                    .filter_map(|variable| variable.declared.as_ref())
                    .map(|path| self.declared(path)),
            );
            found = self.join(
                variables
                    .filter_map(|variable| Some((variable.within, variable.initial.as_ref()?)))
                    .map(|(within, initial)| from_outside(self.arg(FunctionId(within), initial))),
            );
        }
        if let Some((class, field)) = self.class_and_field(place) {
            if let Some(method) = self.method(class, field) {
                return Meaning::Function(method);
            }
            if matches!(declared, Meaning::Unknown) {
                declared = self.field(class, field);
            }
        }
        if let Some(whole) = place.strip_suffix("[]") {
            let variables = self.index.variables(whole).filter_map(|number| self.flat.variables.get(number));
            let written = variables
                .filter_map(|variable| Some((FunctionId(variable.within), &variable.initial.as_ref()?.shape)))
                .flat_map(|(within, shape)| self.objects_in(within, shape));
            let put = self.index.elements.get(whole).into_iter().flatten();
            let put = put.map(|(within, arg)| from_outside(self.arg(*within, arg)));
            found = self.join([found].into_iter().chain(put).chain(written));
        }
        match (found, declared) {
            // An instance is known better than the class or interface that it was declared with.
            (found, _) if found.is_precise() || matches!(found, Meaning::Collection(_)) => found,
            (found, Meaning::Unknown | Meaning::Foreign) => found,
            (_, declared) => declared,
        }
    }

    /// The declared type of a field, inherited ones included.
    pub(super) fn field(&self, class: usize, field: &str) -> Meaning<'f> {
        for class in self.ancestry(class) {
            let Some(class) = self.flat.classes.get(class) else { continue };
            if let Some((_, declared)) = class.fields.iter().find(|(name, _)| &**name == field) {
                return self.declared(declared);
            }
        }
        Meaning::Unknown
    }

    /// A member of something.
    pub(super) fn member(&self, of: &Meaning<'f>, name: &Name) -> Meaning<'f> {
        match of {
            Meaning::Instance(class) => {
                if let Some(function) = self.method(*class, name) {
                    return Meaning::Function(function);
                }
                // Fields that are set in a base class.
                for ancestor in self.ancestry(*class).skip(1) {
                    let Some(ancestor) = self.flat.classes.get(ancestor) else { continue };
                    match self.place(&[&*ancestor.name, ".", name].concat()) {
                        Meaning::Unknown => {}
                        known => return known,
                    }
                }
                Meaning::Unknown
            }
            Meaning::Alternatives(all) => self.join(all.iter().map(|one| match one {
                Meaning::Instance(class) => {
                    let class = self.flat.classes.get(*class).map_or("", |class| &class.name);
                    match self.place(&[class, ".", name].concat()) {
                        Meaning::Unknown => self.member(one, name),
                        known => known,
                    }
                }
                one => self.member(one, name),
            })),
            Meaning::Class(class) => {
                let function = self.method(*class, name).map(Meaning::Function);
                function.unwrap_or(Meaning::Unknown)
            }
            Meaning::Object(arg, within) => match arg.member(name) {
                Some(member) => self.arg(*within, member),
                None => Meaning::Unknown,
            },
            Meaning::Export(library, path) if path.is_empty() => {
                Meaning::Export(library.clone(), name.clone())
            }
            Meaning::Export(library, path) => {
                Meaning::Export(library.clone(), [path, ".", name].concat().into())
            }
            Meaning::Foreign => Meaning::Foreign,
            _ => Meaning::Unknown,
        }
    }

    /// An entry of something of whose place nothing more is known.
    pub(super) fn element(&self, of: &Meaning<'f>) -> Meaning<'f> {
        match of {
            Meaning::Object(Arg { shape: Shape::List(items), .. }, within) => {
                self.join(items.iter().map(|item| self.arg(*within, item)))
            }
            Meaning::Object(arg, within) => self.join(self.objects_in(*within, &arg.shape)),
            Meaning::Foreign => Meaning::Foreign,
            _ => Meaning::Unknown,
        }
    }

    /// The objects that are written into an object as it is made. Which function is called by its key is told by the key.
    fn objects_in(&self, within: FunctionId, shape: &'f Shape) -> impl Iterator<Item = Meaning<'f>> {
        let members = match shape {
            Shape::Object(members) => members.as_slice(),
            _ => &[],
        };
        let members = members.iter().map(move |(_, member)| self.arg(within, member));
        members.filter(|meaning| matches!(meaning, Meaning::Instance(_) | Meaning::Object(..)))
    }
}
