//! Which shared place a local variable is another name of, and whether it is one at all.

use interlock_model::ir::{AccessPath, Field, FunctionId, Name, Root, Term, Value};

use super::{
    builtins, evaluator::Evaluator, index::Definition, target::Reached, value::AbstractValue, values::bare,
};
use crate::{
    Arg, Shape,
    module::is_qualified,
    tables::{Does, Gives},
};

impl Evaluator<'_, '_> {
    /// The shared place that a path leads to: `session.count` is `sessions[id].count` behind `const session = sessions.get(id)`.
    pub(crate) fn alias(&self, at: FunctionId, path: &AccessPath) -> AccessPath {
        let Root::Value(value) = path.root else { return path.clone() };
        if let Some(place) = self.member_place(at, path) {
            return place;
        }
        match self.alias_of(at, value) {
            Some(mut alias) => {
                alias.fields.extend(path.fields.iter().cloned());
                alias
            }
            None => path.clone(),
        }
    }

    /// The shared place that a member of an object is another name of which was written out to be handed over: `deps.jobs` behind
    /// `work({ jobs })`, where all who call hand over the same.
    pub(crate) fn member_place(&self, at: FunctionId, path: &AccessPath) -> Option<AccessPath> {
        let (Root::Value(value), Some((Field::Name(name), rest))) = (&path.root, path.fields.split_first())
        else {
            return None;
        };
        let mut place = match self.definition(at, *value)? {
            Definition::Parameter(number) => {
                let callers = self.index.callers.get(&at)?.iter();
                let mut places = callers.map(|site| {
                    let site = self.flat.sites.get(*site as usize)?;
                    self.shared_member(FunctionId(site.within), site.arguments.get(*number)?, name)
                });
                let first = places.next()??;
                if places.any(|other| other.as_ref() != Some(&first)) {
                    return None;
                }
                first
            }
            _ => {
                let about = self.flat.about.get(at.0 as usize)?;
                let (_, made) = about.locals.iter().find(|(local, _)| local == value)?;
                self.shared_member(at, made, name)?
            }
        };
        place.fields.extend(rest.iter().cloned());
        Some(place)
    }

    /// The variable of a module that a member of an object is, where the object is written out in a function.
    fn shared_member(&self, at: FunctionId, object: &Arg, name: &Name) -> Option<AccessPath> {
        let object = match (&object.shape, bare(&object.term)) {
            (Shape::Opaque, Some(value)) => {
                let about = self.flat.about.get(at.0 as usize)?;
                about.locals.iter().find(|(local, _)| *local == value).map(|(_, made)| made)?
            }
            _ => object,
        };
        match &object.member(name)?.term {
            Term::Path(path) if matches!(&path.root, Root::Global(name) if is_qualified(name)) => {
                Some(path.clone())
            }
            _ => None,
        }
    }

    /// The shared place that a value is another name of.
    pub(crate) fn alias_of(&self, at: FunctionId, value: Value) -> Option<AccessPath> {
        // A value that depends on itself, in a loop, is another name of nothing meanwhile.
        self.aliases
            .answer(&self.asking, self.index.number(at, value)?, None, || self.compute_alias(at, value))
    }

    fn compute_alias(&self, at: FunctionId, value: Value) -> Option<AccessPath> {
        match self.definition(at, value)? {
            Definition::Path(path) => self.deeper(|| self.alias(at, path)),
            Definition::Call(site) => {
                let site = self.flat.sites.get(*site as usize)?;
                let Some(Reached::Collection(_, receiver, method)) = self.deeper(|| self.reached(site))
                else {
                    return None;
                };
                let receiver = self.deeper(|| self.alias(at, &receiver))?;
                if matches!(receiver.root, Root::Value(_)) && !self.is_state(at, &receiver) {
                    return None;
                }
                match self.builtins.does(&method)? {
                    Does::Get => {
                        Some(receiver.at(site.arguments.first().map_or(Term::Unknown, builtins::term)))
                    }
                    // One entry, of which only the name that it was found under is known.
                    Does::Look | Does::Each if self.builtins.gives(&method) == Some(Gives::Entry) => {
                        Some(receiver.at(value))
                    }
                    _ => None,
                }
            }
            // What was just made and put where the other way found it is the same place.
            Definition::Either(values) => {
                let mut found = None;
                for other in values {
                    match self.deeper(|| self.alias_of(at, *other)).flatten() {
                        Some(alias) if found.as_ref().is_none_or(|known| *known == alias) => {
                            found = Some(alias)
                        }
                        Some(_) => return None,
                        None if self.is_made(at, *other) => {}
                        None => return None,
                    }
                }
                found
            }
            Definition::Unknown
            | Definition::Term(_)
            | Definition::Parameter(_)
            | Definition::Capture(_)
            | Definition::Returned(_)
            | Definition::Function(_)
            | Definition::New => None,
        }
    }

    /// What a closure takes along, as a function sees it that calls it; `None` if it takes nothing.
    pub(crate) fn captures(&self, at: FunctionId, function: FunctionId) -> Option<Vec<Term>> {
        let head = self.index.heads.get(function.0 as usize)?;
        if head.captures == 0 {
            return None;
        }
        let Some((outer, terms)) = self.index.captured(function) else {
            return Some(vec![Term::Unknown; head.captures]);
        };
        if *outer == at {
            return Some(terms.clone());
        }
        Some(terms.iter().map(|term| self.outer_term(*outer, term)).collect())
    }

    /// What a closure took along, by a name that holds outside of the function it was taken from: all closures that were made there
    /// agree on it. It is as if that function ran once, which is how such functions are used.
    pub(crate) fn outer_term(&self, outer: FunctionId, term: &Term) -> Term {
        match term {
            Term::Path(path) => match self.outer_path(outer, path, 8) {
                Some(path) => Term::Path(path),
                None => Term::Unknown,
            },
            Term::Join(parts) => Term::Join(parts.iter().map(|part| self.outer_term(outer, part)).collect()),
            Term::Parent(inner) => Term::Parent(Box::new(self.outer_term(outer, inner))),
            term => term.clone(),
        }
    }

    fn outer_path(&self, outer: FunctionId, path: &AccessPath, left: u8) -> Option<AccessPath> {
        let Root::Value(value) = path.root else { return Some(path.clone()) };
        let left = left.checked_sub(1)?;
        let mut found = match self.definition(outer, value) {
            Some(Definition::Capture(number)) => {
                let (further, terms) = self.index.captured(outer)?;
                match terms.get(*number)? {
                    Term::Path(path) => self.outer_path(*further, path, left)?,
                    _ => return None,
                }
            }
            Some(Definition::Path(path)) if self.is_state(outer, path) => {
                self.outer_path(outer, path, left)?
            }
            _ => {
                let about = self.flat.about.get(outer.0 as usize)?;
                let file = self.flat.files.get(about.file as usize)?;
                AccessPath::global(format!("{file}::{}.{}", outer.0 - about.module, value.0))
            }
        };
        found.fields.extend(path.fields.iter().cloned());
        Some(found)
    }

    /// Whether a value was made in this function.
    fn is_made(&self, at: FunctionId, value: Value) -> bool {
        match self.definition(at, value) {
            Some(Definition::New) => true,
            Some(Definition::Call(site)) => {
                self.flat.sites.get(*site as usize).is_some_and(|site| site.construct)
                    || matches!(
                        self.value(at, value),
                        AbstractValue::Kind(_) | AbstractValue::Instance(..) | AbstractValue::Alternatives(_)
                    )
            }
            _ => false,
        }
    }

    /// Whether other calls may see what is found at a path. What is made in the function is not seen by them.
    pub(crate) fn is_state(&self, at: FunctionId, path: &AccessPath) -> bool {
        match &path.root {
            Root::This => true,
            Root::Global(name) => is_qualified(name),
            Root::Value(value) => self.deeper(|| self.is_state_value(at, *value)).unwrap_or(false),
        }
    }

    fn is_state_value(&self, at: FunctionId, value: Value) -> bool {
        let Some(number) = self.index.number(at, value) else { return false };
        self.states.answer(&self.asking, number, false, || self.compute_state(at, value))
    }

    fn compute_state(&self, at: FunctionId, value: Value) -> bool {
        let Some(definition) = self.definition(at, value) else { return false };
        match definition {
            Definition::New | Definition::Unknown | Definition::Term(_) | Definition::Function(_) => false,
            Definition::Parameter(_) | Definition::Capture(_) | Definition::Returned(_) => true,
            Definition::Path(path) => self.is_state(at, path),
            Definition::Either(values) => {
                values.iter().any(|other| *other != value && self.is_state(at, &AccessPath::from(*other)))
            }
            Definition::Call(number) => {
                let Some(site) = self.flat.sites.get(*number as usize) else { return false };
                let reached = self.reached(site);
                match &reached {
                    Reached::Class(_) | Reached::OneOfClasses(_) => false,
                    // What a library hands out is the caller's own: a row, a document, the text of a file.
                    Reached::Export(library, path) => {
                        !library.is_empty()
                            && builtins::name(self.builtins, library, path, &site.arguments).is_none()
                            && !self.builtins.is_pure_library(library)
                            && !matches!(self.result(*number), AbstractValue::Collection(_))
                            && self.outcome(*number).is_none()
                    }
                    Reached::Method(..) => self.outcome(*number).is_none(),
                    Reached::Collection(_, receiver, method) => {
                        let looks = matches!(
                            self.builtins.does(method),
                            Some(Does::Each | Does::Look | Does::Contains)
                        );
                        let gives_entry = self.builtins.gives(method) == Some(Gives::Entry);
                        (!looks || gives_entry) && self.is_state(at, receiver)
                    }
                    Reached::Other(_, method, _) => {
                        self.builtins.computes(method).is_none()
                            && !matches!(self.result(*number), AbstractValue::Plain)
                            && self.outcome(*number).is_none()
                    }
                    _ => true,
                }
            }
        }
    }
}

/// The last name of a path.
pub(crate) fn last_name(path: &AccessPath) -> Option<&str> {
    let named = path.fields.iter().rev().find_map(|field| match field {
        Field::Name(name) => Some(&**name),
        Field::At(_) => None,
    });
    named.or(match &path.root {
        Root::Global(name) => Some(name.rsplit_once("::").map_or(&**name, |(_, name)| name)),
        Root::This => Some("this"),
        Root::Value(_) => None,
    })
}
