//! Following an expression to what it is: through constants, imports, fields, parameters and closures.
//!
//! Every step costs fuel, because source can define things by themselves.

use std::rc::Rc;

use interlock_model::ir::{AccessPath, Field, Name, Root, Term, Value};

use super::{
    env::{At, Bound, Open, Thing},
    index::{Definition, Index},
    place::{name_of, place_at},
    ways::Choice,
};
use crate::{
    Arg, Shape,
    module::{Site, split_global},
};

/// How many steps an expression is followed.
pub(super) const FUEL: usize = 48;

/// How long a name may grow that is put together from parts.
const LONG: usize = 256;

impl<'i> Index<'i> {
    /// The function of the tree that a call reaches.
    pub(super) fn target(&self, site: &'i Site) -> Option<u32> {
        if let Some(function) = site.function {
            return Some(function);
        }
        let callee = site.callee.as_ref().filter(|callee| !self.is_foreign(&callee.root))?;
        match self.path(callee, &At::plain(site.within), FUEL) {
            Thing::Function(function, _) if !site.construct => Some(function),
            Thing::Class(class) => self.method(class, "constructor"),
            _ if site.construct => None,
            _ => self.declared_method(callee, site.within),
        }
    }

    /// What an expression is.
    pub(super) fn look(&self, arg: &'i Arg, at: &At<'i>, fuel: usize) -> Thing<'i> {
        let Some(fuel) = fuel.checked_sub(1) else { return Thing::Unknown };
        match &arg.shape {
            Shape::Bool(value) => Thing::Bool(*value),
            Shape::Text(parts) => self.join(parts, at, fuel),
            Shape::Object(members) => Thing::Object(members, at.clone()),
            Shape::List(items) => self.perhaps_filled(&arg.term, Thing::List(items, at.clone()), at),
            Shape::Function { function, .. } => Thing::Function(function.0, at.env.clone()),
            Shape::Choice(ways) => one_of(ways.iter().map(|way| self.look(way, at, fuel))),
            Shape::Call(site) => self.perhaps_filled(&arg.term, Thing::Call(*site, at.clone()), at),
            Shape::Opaque | Shape::Null | Shape::Number(_) => self.term(&arg.term, at, fuel),
        }
    }

    /// A list or map, with what calls put into it if it has a name.
    fn perhaps_filled(&self, name: &Term, thing: Thing<'i>, at: &At<'i>) -> Thing<'i> {
        match name {
            Term::Path(AccessPath { root: Root::Value(value), fields })
                if fields.is_empty() && !self.filled(at.function, *value).is_empty() =>
            {
                Thing::Filled(at.function, *value, Rc::new(thing))
            }
            _ => thing,
        }
    }

    /// What a term is.
    pub(super) fn term(&self, term: &'i Term, at: &At<'i>, fuel: usize) -> Thing<'i> {
        match term {
            Term::Literal(text) => Thing::Text(text.clone()),
            Term::Path(path) => self.path(path, at, fuel),
            Term::Join(parts) => self.join(parts, at, fuel),
            _ => Thing::Unknown,
        }
    }

    fn join(&self, parts: &'i [Term], at: &At<'i>, fuel: usize) -> Thing<'i> {
        if let [Term::Literal(text)] = parts {
            return Thing::Text(text.clone());
        }
        let Some(fuel) = fuel.checked_sub(1) else { return Thing::Unknown };
        let mut joined = String::new();
        for part in parts {
            match self.text(self.term(part, at, fuel), fuel) {
                Thing::Text(text) if joined.len() + text.len() <= LONG => joined.push_str(&text),
                Thing::Open(open) => return Thing::Open(open),
                _ => return Thing::Unknown,
            }
        }
        Thing::Text(joined.into())
    }

    /// What is found at a path.
    pub(super) fn path(&self, path: &'i AccessPath, at: &At<'i>, fuel: usize) -> Thing<'i> {
        self.walk(&path.root, &path.fields, at, fuel)
    }

    /// What is found at the end of some fields.
    pub(super) fn walk(&self, root: &Root, fields: &'i [Field], at: &At<'i>, fuel: usize) -> Thing<'i> {
        let Some(fuel) = fuel.checked_sub(1) else { return Thing::Unknown };
        self.memo().paid(|| self.paid_walk(root, fields, at, fuel)).unwrap_or(Thing::Unknown)
    }

    fn paid_walk(&self, root: &Root, fields: &'i [Field], at: &At<'i>, fuel: usize) -> Thing<'i> {
        let (mut thing, used) = match root {
            Root::Value(value) => (self.value(*value, at, fuel), 0),
            Root::Global(_) => self.named(root, fields, None, at, fuel),
            Root::This => self.own(root, fields, at, fuel),
        };
        for field in fields.iter().skip(used) {
            thing = match name_of(field) {
                Some(name) => self.member(thing, name, fuel),
                None => self.entry(thing, field, at, fuel),
            };
        }
        thing
    }

    /// The same from `this`. Where classes that extend it have the member as well, it is open which is meant.
    fn own(&self, root: &Root, fields: &'i [Field], at: &At<'i>, fuel: usize) -> (Thing<'i>, usize) {
        let Some(class) = self.owner(at.function).and_then(|owner| self.class(owner)) else {
            return (Thing::Unknown, 0);
        };
        let actual = at.env.this(class);
        let first = fields.first().and_then(name_of);
        if actual.is_none() && first.is_some_and(|member| self.overridden(class, member)) {
            return (Thing::Open(Open::This(class)), fields.len());
        }
        let name = actual.and_then(|actual| self.class_at(actual)).map(|class| &class.name);
        self.named(root, fields, name.or_else(|| self.owner(at.function)), at, fuel)
    }

    pub(super) fn defines(&self, class: usize, member: &str) -> bool {
        self.class_at(class).is_some_and(|class| {
            class.methods.iter().any(|(name, _)| &**name == member)
                || self.variables(&[&*class.name, ".", member].concat()).next().is_some()
        })
    }

    /// What the longest beginning of a path is that something is known of, and how many of its fields that takes.
    fn named(
        &self,
        root: &Root,
        fields: &'i [Field],
        owner: Option<&Name>,
        at: &At<'i>,
        fuel: usize,
    ) -> (Thing<'i>, usize) {
        let fixed = fields.iter().take_while(|field| name_of(field).is_some()).count();
        let longest = if self.is_foreign(root) { 0..0 } else { 0..fixed + 1 };
        for used in longest.rev() {
            let known = fields.get(..used).unwrap_or_default();
            let Some(place) = place_at(root, known, owner) else { continue };
            let thing = self.at_place(&place, at, fuel);
            if !matches!(thing, Thing::Unknown) {
                return (thing, used);
            }
        }
        let thing = match (root, owner) {
            (Root::This, Some(owner)) => self.class(owner).map_or(Thing::Unknown, Thing::This),
            (Root::Global(name), _) => match split_global(name) {
                Some((file, "*")) if self.is_file(file) => Thing::Exports(file.into()),
                Some((file, _)) if self.is_file(file) => Thing::Unknown,
                _ => Thing::Library(name.clone()),
            },
            _ => Thing::Unknown,
        };
        (thing, 0)
    }

    /// What a place holds.
    pub(super) fn at_place(&self, place: &str, at: &At<'i>, fuel: usize) -> Thing<'i> {
        if let Some(function) = self.bound(place) {
            return Thing::Function(function, at.env.clone());
        }
        if let Some(class) = self.class(place) {
            return Thing::Class(class);
        }
        if let Some((class, method)) = place.rsplit_once('.') {
            let found =
                self.class(class).map_or(Thing::Unknown, |class| self.of_class(class, method, at, fuel));
            if !matches!(found, Thing::Unknown) {
                return found;
            }
        }
        self.assigned(place, at, fuel)
    }

    /// What is assigned to a place, if anything that is understood.
    fn assigned(&self, place: &str, at: &At<'i>, fuel: usize) -> Thing<'i> {
        let Some(fuel) = fuel.checked_sub(1) else { return Thing::Unknown };
        for variable in self.variables(place) {
            let Some(initial) = &variable.initial else { continue };
            let thing = self.look(initial, &at.go(variable.within), fuel);
            if !matches!(thing, Thing::Unknown) {
                return thing;
            }
        }
        Thing::Unknown
    }

    /// What a value is.
    pub(super) fn value(&self, value: Value, at: &At<'i>, fuel: usize) -> Thing<'i> {
        let thing = self.memo().unless_own((at.function, value), || self.defined(value, at, fuel));
        let fillable = matches!(thing, Thing::Unknown | Thing::List(..) | Thing::Call(..));
        if fillable && !self.filled(at.function, value).is_empty() {
            return Thing::Filled(at.function, value, Rc::new(thing));
        }
        thing
    }

    fn defined(&self, value: Value, at: &At<'i>, fuel: usize) -> Thing<'i> {
        let Some(fuel) = fuel.checked_sub(1) else { return Thing::Unknown };
        match at.env.get(at.function, value) {
            Some(Bound::Thing(thing)) => return thing,
            Some(Bound::Arg(arg, within)) => return self.look(arg, &at.go(within), fuel),
            Some(Bound::Term(term, within)) => return self.term(term, &at.go(within), fuel),
            None => {}
        }
        if let Some(function) = self.nested(at.function, value) {
            return Thing::Function(function, at.env.clone());
        }
        let Some(unit) = self.unit(at.function) else { return Thing::Unknown };
        if let Some(choice) = self.choice(at.function, value) {
            return match self.chosen(&choice, at, fuel) {
                Thing::Unknown => Thing::Open(Open::Item(at.function, value)),
                thing => thing,
            };
        }
        let local = unit.locals.iter().find(|(local, _)| *local == value).map(|(_, arg)| arg);
        match (self.definition(at.function, value), local) {
            // What it is by default, it is where a caller hands nothing over.
            (Some(Definition::Parameter(_)), _)
                if !at.env.knows(at.function) && !self.callers(at.function).is_empty() =>
            {
                Thing::Open(Open::Parameters(at.function))
            }
            (_, Some(arg)) => self.look(arg, at, fuel),
            (defined, None) => self.by_definition(defined, at, fuel),
        }
    }

    fn by_definition(&self, defined: Option<&'i Definition>, at: &At<'i>, fuel: usize) -> Thing<'i> {
        match defined {
            Some(Definition::Parameter(_)) if at.env.knows(at.function) => Thing::Unknown,
            Some(Definition::Parameter(_)) => Thing::Open(Open::Parameters(at.function)),
            Some(Definition::Capture(position)) => {
                let Some((within, terms)) = self.captured(at.function) else { return Thing::Unknown };
                terms.get(*position).map_or(Thing::Unknown, |term| self.term(term, &at.go(within), fuel))
            }
            Some(Definition::Call(site)) => Thing::Call(*site, at.clone()),
            Some(Definition::Function(function)) => Thing::Function(function.0, at.env.clone()),
            Some(Definition::Path(path)) => self.path(path, at, fuel),
            Some(Definition::Term(term)) => self.term(term, at, fuel),
            Some(Definition::Either(values)) => {
                // One of several: the first that says something, unless it is computed from too many to be a choice.
                let mut found = Thing::Unknown;
                for value in values.iter().take(2) {
                    found = self.value(*value, at, fuel);
                    if !matches!(found, Thing::Unknown) {
                        break;
                    }
                }
                found
            }
            Some(Definition::Unknown | Definition::New | Definition::Returned(_)) | None => Thing::Unknown,
        }
    }

    /// The entry that is looked up, where it is known by now what under: `handlers[name]` in a closure that was made for one name.
    fn chosen(&self, choice: &Choice<'i>, at: &At<'i>, fuel: usize) -> Thing<'i> {
        let Choice::Among(path, before) = choice else { return Thing::Unknown };
        let Some(Field::At(under)) = path.fields.get(before.len()) else { return Thing::Unknown };
        match self.settle(self.term(under, at, fuel), fuel) {
            Thing::Text(name) => self.member(self.walk(&path.root, before, at, fuel), &name, fuel),
            _ => Thing::Unknown,
        }
    }

    /// A member of something.
    pub(super) fn member(&self, thing: Thing<'i>, name: &str, fuel: usize) -> Thing<'i> {
        let Some(fuel) = fuel.checked_sub(1) else { return Thing::Unknown };
        match self.settle(thing, fuel) {
            Thing::Object(members, at) => {
                for (key, arg) in members.iter().rev() {
                    if &**key == name {
                        return self.look(arg, &at, fuel);
                    }
                    if &**key == "..." {
                        let found = self.member(self.look(arg, &at, fuel), name, fuel);
                        if !matches!(found, Thing::Unknown) {
                            return found;
                        }
                    }
                }
                Thing::Unknown
            }
            Thing::Entries(entries) => entries
                .iter()
                .find(|(key, _)| &**key == name)
                .map_or(Thing::Unknown, |(_, thing)| thing.clone()),
            Thing::List(items, at) => {
                let item = name.parse::<usize>().ok().and_then(|position| items.get(position));
                item.map_or(Thing::Unknown, |arg| self.look(arg, &at, fuel))
            }
            Thing::Many(things) => {
                let thing = name.parse::<usize>().ok().and_then(|position| things.get(position));
                thing.cloned().unwrap_or(Thing::Unknown)
            }
            Thing::Instance(class, at) => self.of_class(class, name, &at, fuel),
            Thing::This(class) | Thing::Class(class) => self.of_class(class, name, &At::plain(0), fuel),
            Thing::Exports(file) => self.at_place(&[&*file, "::", name].concat(), &At::plain(0), fuel),
            Thing::Library(library) if library.len() < LONG => {
                Thing::Library([&*library, ".", name].concat().into())
            }
            Thing::OneOf(things) => {
                let mut found = things.iter().map(|thing| self.member(thing.clone(), name, fuel));
                found.find(|thing| !matches!(thing, Thing::Unknown)).unwrap_or(Thing::Unknown)
            }
            Thing::Open(open) => Thing::Open(open),
            _ => Thing::Unknown,
        }
    }

    /// An entry of something, where a value says which.
    fn entry(&self, thing: Thing<'i>, field: &'i Field, at: &At<'i>, fuel: usize) -> Thing<'i> {
        let Field::At(index) = field else { return Thing::Unknown };
        match self.term(index, at, fuel) {
            Thing::Text(name) => self.member(thing, &name, fuel),
            _ => thing.open().map_or(Thing::Unknown, Thing::Open),
        }
    }

    /// A method or field of a class or of one that it extends.
    fn of_class(&self, class: usize, name: &str, at: &At<'i>, fuel: usize) -> Thing<'i> {
        if let Some(function) = self.method(class, name) {
            return Thing::Function(function, at.env.clone());
        }
        for class in self.line(class) {
            // A field of its objects, or of the class itself.
            let thing = self.assigned(&[&*class.name, ".", name].concat(), at, fuel);
            if !matches!(thing, Thing::Unknown) {
                return thing;
            }
        }
        Thing::Unknown
    }

    /// The text that an expression is, also as what a getter returns.
    pub(super) fn text(&self, thing: Thing<'i>, fuel: usize) -> Thing<'i> {
        match self.settle(thing, fuel) {
            Thing::Function(function, env) => self.settle(self.returned(function, &env, fuel), fuel),
            thing => thing,
        }
    }

    /// A method of a class or of one that it extends.
    pub(super) fn method(&self, class: usize, name: &str) -> Option<u32> {
        self.line(class)
            .find_map(|class| class.methods.iter().find(|(method, _)| &**method == name))
            .map(|(_, function)| *function)
    }
}

/// One of several: all objects and lists among them, or else the first that says something.
fn one_of<'i>(things: impl Iterator<Item = Thing<'i>>) -> Thing<'i> {
    let is_whole = |thing: &Thing<'i>| {
        matches!(
            thing,
            Thing::Object(..)
                | Thing::List(..)
                | Thing::Many(_)
                | Thing::Entries(_)
                | Thing::Filled(..)
                | Thing::Call(..)
        )
    };
    let mut several: Vec<Thing<'i>> = vec![];
    for thing in things {
        match thing {
            Thing::Unknown => {}
            Thing::OneOf(more) => several.extend(more.iter().cloned()),
            thing if is_whole(&thing) => several.push(thing),
            thing if several.is_empty() => return thing,
            _ => {}
        }
    }
    match several.len() {
        0 | 1 => several.pop().unwrap_or(Thing::Unknown),
        _ => Thing::OneOf(Rc::new(several)),
    }
}
