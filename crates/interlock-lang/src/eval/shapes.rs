//! What the members of an object are by the interface that it is declared with, where nothing says more.

use interlock_model::ir::{AccessPath, Field, FunctionId, Name, Root, Term, Value};

use super::{evaluator::Evaluator, index::Definition, key::place, value::AbstractValue};

/// How many functions may be around each other for what the innermost takes along.
const NESTED: usize = 16;

impl<'f> Evaluator<'_, 'f> {
    /// What a member of something at a path is, by the declared type of what the first of its fields lead to.
    pub(crate) fn declared_member(
        &self,
        at: FunctionId,
        path: &AccessPath,
        fields: usize,
        name: &Name,
    ) -> AbstractValue<'f> {
        let Some(shape) = self.declared_at(at, path, fields).and_then(|declared| place(declared, None))
        else {
            return AbstractValue::Unknown;
        };
        match self.place(&[&*shape, ".", name].concat()) {
            known @ (AbstractValue::Kind(_)
            | AbstractValue::Instance(..)
            | AbstractValue::Alternatives(_)) => known,
            _ => AbstractValue::Unknown,
        }
    }

    /// The type that something is declared with: the root of a path, and so many fields behind it.
    fn declared_at(&self, at: FunctionId, path: &AccessPath, fields: usize) -> Option<&'f AccessPath> {
        let mut fields = path.fields.get(..fields)?.iter();
        let mut declared = match &path.root {
            Root::Value(value) => self.declared_value(at, *value, NESTED)?,
            Root::Global(name) => self.declared_place(name)?,
            Root::This => {
                let owner = self.index.heads.get(at.0 as usize)?.owner.as_ref()?;
                let class = self.flat.classes.get(*self.index.classes.get(&**owner)?)?;
                let Field::Name(first) = fields.next()? else { return None };
                &class.fields.iter().find(|(name, _)| name == first)?.1
            }
        };
        for field in fields {
            let Field::Name(name) = field else { return None };
            declared = self.declared_place(&[&*place(declared, None)?, ".", name].concat())?;
        }
        Some(declared)
    }

    fn declared_place(&self, place: &str) -> Option<&'f AccessPath> {
        let mut variables = self.index.variables(place).filter_map(|number| self.flat.variables.get(number));
        variables.find_map(|variable| variable.declared.as_ref())
    }

    fn declared_value(&self, at: FunctionId, value: Value, depth: usize) -> Option<&'f AccessPath> {
        let depth = depth.checked_sub(1)?;
        let types = &self.flat.about.get(at.0 as usize)?.types;
        if let Some((_, declared)) = types.iter().find(|(typed, _)| *typed == value) {
            return Some(declared);
        }
        let Definition::Capture(number) = self.definition(at, value)? else { return None };
        let (outer, terms) = self.index.captured(at)?;
        match terms.get(*number)? {
            Term::Path(AccessPath { root: Root::Value(value), fields }) if fields.is_empty() => {
                self.declared_value(*outer, *value, depth)
            }
            Term::Path(path) if !matches!(path.root, Root::Value(_)) => {
                self.declared_at(*outer, path, path.fields.len())
            }
            _ => None,
        }
    }
}
