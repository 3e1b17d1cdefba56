//! Classes: what they inherit, which method is meant, and what something of a declared type is.

use std::sync::Arc;

use interlock_model::ir::{AccessPath, Field, FunctionId, Root, Term};

use super::{evaluator::Evaluator, key::place, value::AbstractValue};
use crate::{Arg, Kind, Made};

impl<'f> Evaluator<'_, 'f> {
    /// A class and what it inherits from, itself first, in the order in which the language looks methods up.
    pub(crate) fn ancestry(&self, class: usize) -> impl Iterator<Item = usize> {
        self.index.ancestry(class, self.semantics.lookup)
    }

    /// The first class that a class inherits from, if it is one of the program's.
    pub(crate) fn parent(&self, class: usize) -> Option<usize> {
        self.index.bases(class).first().copied()
    }

    /// The function that makes an object of a class ready.
    pub(crate) fn constructor(&self, class: usize) -> Option<FunctionId> {
        self.method(class, self.semantics.constructor?)
    }

    /// A method of a class: its own, an inherited one, or that of the one class below it that has it.
    pub(crate) fn method(&self, class: usize, name: &str) -> Option<FunctionId> {
        match self.implementations(&[class], name).as_slice() {
            [function] => Some(*function),
            _ => None,
        }
    }

    /// The functions that a method may be on an object of one of these classes, or of one below them; each once.
    pub(crate) fn implementations(&self, classes: &[usize], name: &str) -> Vec<FunctionId> {
        let mut found = vec![];
        let mut pending: Vec<usize> = classes.iter().rev().copied().collect();
        let mut left = 64_u8;
        while let (Some(class), Some(fewer)) = (pending.pop(), left.checked_sub(1)) {
            left = fewer;
            match self.ancestry(class).find_map(|class| self.own_method(class, name)) {
                Some(function) if !found.contains(&function) => found.push(function),
                Some(_) => {}
                None => pending.extend(self.index.children.get(&class).into_iter().flatten().rev()),
            }
        }
        found
    }

    fn own_method(&self, class: usize, name: &str) -> Option<FunctionId> {
        let class = self.flat.classes.get(class)?;
        let (_, function) = class.methods.iter().find(|(method, _)| &**method == name)?;
        Some(FunctionId(*function))
    }

    /// What a class is by what it extends, if that is a library's: `class Account extends Model` is the model of a table that is called
    /// like it.
    pub(crate) fn base(&self, class: usize) -> Option<Kind> {
        let eldest = self.flat.classes.get(self.ancestry(class).last()?)?;
        let path = eldest.bases.first()?;
        let Root::Global(name) = &path.root else { return None };
        let own = self.flat.classes.get(class)?.name.rsplit("::").next()?;
        let subject = Some(Term::Literal(own.into()));
        let Some((library, export)) = self.names.exported(name) else {
            // What a function of the library has made: `Base = declarative_base()`, `class Account(db.Model)`.
            return match self.path(FunctionId(0), path) {
                AbstractValue::Kind(kind) if self.knowledge.made_of(&kind.name).is_some() => {
                    Some(Kind { subject, ..(*kind).clone() })
                }
                _ => None,
            };
        };
        let mut parts = vec![export];
        for field in &path.fields {
            let Field::Name(field) = field else { return None };
            parts.push(field);
        }
        parts.retain(|part| !part.is_empty());
        let kind = self.knowledge.kind(library, &format!("typeof {}", parts.join(".")))?;
        Some(Kind { subject, ..kind })
    }

    /// What a library takes a new object of a class for, where the class is a model of the library: a row that is not stored yet.
    pub(super) fn row(&self, class: usize, arguments: &[Arg]) -> Option<Kind> {
        let base = self.base(class)?;
        let name = self.knowledge.made_of(&base.name)?;
        let made = Made { by: "new".into(), arguments: arguments.to_vec() };
        Some(Kind { name, made: vec![made], ..base })
    }

    /// What an object of a class is besides what the tree says of it, if the eldest of its ancestors is a library's: `class Db extends Pool`.
    pub(super) fn extended(&self, class: usize) -> AbstractValue<'f> {
        let eldest = self.ancestry(class).last().and_then(|eldest| self.flat.classes.get(eldest));
        eldest
            .and_then(|eldest| eldest.bases.first())
            .map_or(AbstractValue::Unknown, |base| self.declared(base))
    }

    /// What something of a declared type is.
    pub(crate) fn declared(&self, path: &AccessPath) -> AbstractValue<'f> {
        let Some(place) = place(path, None) else { return AbstractValue::Unknown };
        if let Root::Global(name) = &path.root
            && let Some((library, export)) = self.names.exported(name)
        {
            let mut export = export.to_owned();
            for field in &path.fields {
                if let Field::Name(name) = field {
                    if !export.is_empty() {
                        export.push('.');
                    }
                    export.push_str(name);
                }
            }
            return self.library_type(library, &export);
        }
        if let Some(class) = self.index.classes.get(&*place) {
            return AbstractValue::of_class(*class);
        }
        let Some(classes) = self.index.implementors.get(&*place) else { return AbstractValue::Unknown };
        // Of several, those count that somebody makes an object of; where that cannot be seen of any, all of them.
        let made: Vec<usize> = classes.iter().copied().filter(|class| self.is_instantiated(*class)).collect();
        match if made.is_empty() { classes } else { &made }.as_slice() {
            [class] => AbstractValue::of_class(*class),
            classes => AbstractValue::join(classes.iter().map(|class| AbstractValue::of_class(*class))),
        }
    }

    /// Whether the tree makes an object of a class, or of one below it, or hands the class to somebody who may: a container that is
    /// told `bind(Store).to(FileStore)`.
    fn is_instantiated(&self, class: usize) -> bool {
        let instantiated = self.instantiated.get_or_init(|| {
            let sites = self.flat.sites.iter().filter(|site| site.construct);
            let classes =
                sites.filter_map(|site| self.index.classes.get(&*place(site.callee.as_ref()?, None)?));
            let handed = self.flat.sites.iter().flat_map(|site| site.arguments.iter()).flat_map(Arg::globals);
            let handed = handed.filter_map(|name| self.index.classes.get(&**name));
            classes.chain(handed).flat_map(|class| self.ancestry(*class)).collect()
        });
        instantiated.contains(&class)
    }

    fn library_type(&self, library: &str, export: &str) -> AbstractValue<'f> {
        if let Some(collection) = self.builtins.collection(library, export) {
            return AbstractValue::Collection(collection);
        }
        match (library, export) {
            ("", plain) if self.builtins.plain_types.contains(plain) => AbstractValue::Plain,
            ("", _) => match self.knowledge.kind(library, export) {
                Some(kind) => AbstractValue::Kind(Arc::new(kind)),
                None => AbstractValue::Unknown,
            },
            _ => match self.knowledge.kind(library, export) {
                Some(kind) => AbstractValue::Kind(Arc::new(kind)),
                // What a library has that only computes does nothing that others see: a builder of texts.
                None if self.builtins.is_pure_library(library) => AbstractValue::Plain,
                None => AbstractValue::Foreign,
            },
        }
    }
}
