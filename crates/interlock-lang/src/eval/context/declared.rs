//! Declared types: of values, also as closures see them, and of fields and globals.

use interlock_model::ir::{AccessPath, Root, Term, Value};

use super::Contexts;
use crate::{
    eval::{index::Definition, key::exact_name},
    module::Class,
};

impl<'f> Contexts<'f> {
    /// The declared type of a value.
    pub(crate) fn declared(&self, function: u32, value: Value) -> Option<&'f AccessPath> {
        let unit = self.unit(function)?;
        if let Some((_, declared)) = unit.types.iter().find(|(typed, _)| *typed == value) {
            return Some(declared);
        }
        // A closure sees the type that the function around it has declared.
        let Definition::Capture(position) = self.definition(function, value)? else { return None };
        let (within, terms) = self.captured(function)?;
        match terms.get(*position)? {
            Term::Path(AccessPath { root: Root::Value(outer), fields })
                if fields.is_empty() && within < function =>
            {
                self.declared(within, *outer)
            }
            _ => None,
        }
    }

    /// The declared type of the field or global that a path starts with.
    pub(crate) fn declared_field(&self, path: &AccessPath, function: u32) -> Option<&'f AccessPath> {
        match &path.root {
            Root::This => {
                let class = self.class(self.owner(function)?)?;
                let field = exact_name(path.fields.first()?)?;
                let declared = |class: &'f Class| class.fields.iter().find(|(name, _)| &**name == field);
                self.ancestry(class).find_map(declared).map(|(_, declared)| declared)
            }
            Root::Global(name) => self.variables(name).find_map(|variable| variable.declared.as_ref()),
            Root::Value(_) => None,
        }
    }

    /// The method that a call of a field, parameter or global reaches by its declared type, where nothing overrides it.
    pub(crate) fn declared_method(&self, callee: &AccessPath, function: u32) -> Option<u32> {
        let declared = match (&callee.root, callee.fields.as_slice()) {
            (Root::Value(value), [_]) => self.declared(function, *value),
            (Root::This, [_, _]) | (Root::Global(_), [_]) => self.declared_field(callee, function),
            _ => None,
        }?;
        let Root::Global(name) = &declared.root else { return None };
        let (class, method) = (self.class(name)?, exact_name(callee.fields.last()?)?);
        if self.overridden(class, method) { None } else { self.method(class, method) }
    }
}
