//! Identifiers and members: where something is found, and the reads that finding it takes.

use interlock_model::ir::{AccessPath, Aspect, Field, Name, Op, Resource, Root, Term};
use oxc_ast::ast::{BinaryExpression, ChainElement, Expression, IdentifierReference, MemberExpression};
use oxc_span::GetSpan;
use oxc_str::Ident;

use super::{
    bind::{SymbolKind, meaning_of},
    commonjs::IMPORT,
    context::{Lowerer, flag},
    val::{Val, is_small},
};
use crate::{Shape, module::split_global};

/// A path with more parts than this is no longer followed through variables.
const MOST_STEPS: usize = 24;

impl<'a> Lowerer<'a> {
    /// What an identifier stands for, read if it is state.
    pub(super) fn identifier(&mut self, id: &IdentifierReference<'a>) -> Val {
        let val = self.identifier_place(id);
        let reads = meaning_of(&id.reference_id).is_some_and(|symbol| self.changes_under_us(symbol));
        match val.path_ref() {
            Some(path) if reads => {
                let path = path.clone();
                let name = self.names.of(id.name);
                self.stand(id.span);
                let mut val = self.read(path.clone(), &name);
                // The variable may hold something else by the time that this is used; its members are found there all the same.
                if let Some(value) = val.direct {
                    val.term = value.into();
                }
                val.place = Some(Box::new(path));
                val
            }
            // A variable that is another name of a whole variable means what that held when it was read.
            Some(path) if path.fields.is_empty() => match val.values.as_slice() {
                [value] if *path != AccessPath::from(*value) => {
                    Val { place: Some(Box::new(path.clone())), term: (*value).into(), ..val }
                }
                _ => val,
            },
            _ => val,
        }
    }

    /// Whether a variable is memory that another function may have changed.
    pub(super) fn changes_under_us(&self, symbol: u32) -> bool {
        self.facts.symbol(symbol).is_some_and(|found| {
            let variable = matches!(found.kind, SymbolKind::Variable | SymbolKind::Parameter);
            variable && found.reassigned && (found.global || (found.captured && !found.counts))
        })
    }

    /// What an identifier stands for, as the start of a path.
    pub(super) fn identifier_place(&mut self, id: &IdentifierReference<'a>) -> Val {
        let Some(symbol) = meaning_of(&id.reference_id) else {
            return self.language_global(id.name);
        };
        self.symbol_place(symbol)
    }

    fn language_global(&mut self, name: Ident<'a>) -> Val {
        if name == "undefined" {
            return Val { shape: Shape::Null, ..Val::nothing() };
        }
        Val::path(AccessPath::global(self.names.of(name)), vec![], 0)
    }

    pub(super) fn symbol_place(&mut self, symbol: u32) -> Val {
        let mut val = self.bare_place(symbol);
        if let Some(shape) = self.remembered_shape(symbol) {
            val.shape = shape.clone();
        }
        val
    }

    /// Where a variable is, without what is remembered of what it was made as.
    fn bare_place(&mut self, symbol: u32) -> Val {
        let Some(found) = self.facts.symbol(symbol) else { return Val::nothing() };
        let (global, owner, name) = (found.global, found.function, found.name);
        // A class inside a function is known by its name, in its own methods too.
        let is_class = found.kind == SymbolKind::Class && !found.reassigned;
        let held = self.facts.held(symbol);
        if global {
            let path = self.global(symbol);
            let state = if self.is_state(&path) { flag::STATE } else { 0 };
            let mut val = Val::path(path, vec![], state);
            if let Some(function) = held {
                let function = Self::function_id(function);
                val.shape = Shape::Function { function, captures: vec![] };
            }
            return val;
        }
        if let Some(function) = held {
            let captures = self.captures_of(function);
            return Val::function(function, captures);
        }
        // A module is the same for all who hold it, and what is asked of it is found in its file.
        let alias = self.binding(symbol).and_then(|binding| self.paths.get(binding.alias? as usize));
        if let Some(module) = alias.filter(|path| is_module(path)) {
            return Val::path(module.clone(), vec![], flag::MODULE);
        }
        if is_class {
            let path = AccessPath::of(Root::Global(self.names.global(name.as_str())));
            return Val::path(path, vec![], 0);
        }
        if owner != self.cx.id {
            let value = self.capture(symbol);
            return Val::of(value, self.flags(value));
        }
        let Some(binding) = self.binding(symbol) else {
            let name = self.symbol_name(symbol);
            let value = self.step(&name, flag::STATE);
            self.set_value(symbol, value);
            return Val::of(value, flag::STATE);
        };
        let mut val = Val::of(binding.value, self.flags(binding.value));
        // What a variable took from memory is what was there then; where that is, is known from the step that took it.
        if let Some(path) = binding.alias.and_then(|alias| self.paths.get(alias as usize))
            && !self.is_state(path)
        {
            val.term = Term::Path(path.clone());
        }
        val
    }

    /// What a variable was made as, where this function may know it.
    fn remembered_shape(&self, symbol: u32) -> Option<&Shape> {
        let found = self.facts.symbol(symbol)?;
        let known = if found.global { !found.reassigned } else { found.function == self.cx.id };
        if !known || self.facts.held(symbol).is_some() {
            return None;
        }
        let shape = self.binding(symbol)?.shape?;
        self.shapes.get(shape as usize)
    }

    /// Reads shared memory.
    pub(super) fn read(&mut self, path: AccessPath, name: &Name) -> Val {
        let into = self.step(name, flag::STATE);
        self.push(Op::look(into, Resource::Shared(path.clone()), Aspect::Content, None));
        Val {
            term: Term::Path(path),
            values: vec![into],
            shape: Shape::Opaque,
            flags: flag::STATE,
            direct: Some(into),
            place: None,
        }
    }

    /// All that an expression stands for, taken out of it: a list or a map that a variable holds for good changes all the same.
    pub(super) fn all_of(&mut self, expression: &Expression<'a>) -> Val {
        let mut val = self.expression(expression);
        let Expression::Identifier(id) = expression.get_inner_expression() else { return val };
        let grows = match &val.shape {
            Shape::Opaque | Shape::Call(_) | Shape::Choice(_) => true,
            Shape::List(items) => items.is_empty(),
            Shape::Object(members) => members.is_empty(),
            _ => false,
        };
        let kept = val.path_ref().filter(|path| {
            matches!(path.root, Root::Global(_)) && path.fields.is_empty() && self.is_state(path)
        });
        let Some(path) = kept.filter(|_| grows && val.values.is_empty()).cloned() else { return val };
        let name = self.names.of(id.name);
        self.stand(id.span);
        val.values = self.read(path, &name).values;
        val
    }

    /// A member, read if it is state.
    pub(super) fn member(&mut self, member: &MemberExpression<'a>) -> Val {
        if let Some(literal) = self.enum_member(member) {
            return literal;
        }
        let place = self.member_place(member);
        self.stand(member.span());
        self.read_place(place)
    }

    /// Reads what is found at a place, if it is state.
    pub(super) fn read_place(&mut self, place: Val) -> Val {
        let Some(path) = place.path_ref() else { return place };
        if path.fields.is_empty() || !self.is_state(path) {
            return place;
        }
        let mut path = path.clone();
        let name = match path.fields.last() {
            Some(Field::Name(name)) => name.clone(),
            _ => self.names.get("entry"),
        };
        // How many there are is a question about all of them.
        let counts = is_count(&name);
        if counts {
            path.fields.pop();
        }
        if path.fields.is_empty() && matches!(path.root, Root::Value(_)) {
            return Val { term: Term::Unknown, ..place };
        }
        let mut val = self.read(path, &name);
        if counts {
            val = Val { term: Term::Unknown, flags: 0, ..val };
        }
        val.flags |= place.flags & flag::MODULE;
        val
    }

    /// Where a member is, without reading it.
    pub(super) fn member_place(&mut self, member: &MemberExpression<'a>) -> Val {
        if let Some(exported) = self.exports_member(member) {
            return exported;
        }
        // Of what a variable was made as only the member is of interest, so the rest is not copied.
        if let Expression::Identifier(id) = member.object()
            && let Some(symbol) = meaning_of(&id.reference_id)
        {
            let object = self.bare_place(symbol);
            let shape = self.remembered_shape(symbol).unwrap_or(&object.shape);
            let known = known_member(shape, member);
            return self.step_to(object, known, member);
        }
        let mut object = self.place(member.object());
        if object.path_ref().is_none() && is_list_of_things(&object.shape) {
            let name = self.names.get("list");
            object = self.local(&name, object);
        }
        let known = known_member(&object.shape, member);
        self.step_to(object, known, member)
    }

    /// `key in object`: the entry is looked for.
    pub(super) fn is_in(&mut self, it: &BinaryExpression<'a>) -> Val {
        let key = self.expression(&it.left);
        let object = self.place(&it.right);
        let mut object = self.as_path(object);
        super::val::merge(&mut object.values, &key.values);
        let field = self.key(key);
        if let Term::Path(path) = &mut object.term {
            path.fields.push(field);
        }
        self.stand(it.span);
        match object.path_ref() {
            Some(path) if self.is_state(path) => {
                self.read_place(Val { direct: None, place: None, shape: Shape::Opaque, ..object })
            }
            _ => Val::from_values(object.values, object.flags & !flag::STATE),
        }
    }

    /// The member of an object, where what it was made as is `known`.
    fn step_to(&mut self, object: Val, known: Option<Shape>, member: &MemberExpression<'a>) -> Val {
        let mut object = self.as_path(object);
        let field = match member {
            MemberExpression::StaticMemberExpression(it) => Field::Name(self.names.of(it.property.name)),
            MemberExpression::PrivateFieldExpression(it) => Field::Name(private(it.field.name.as_str())),
            MemberExpression::ComputedMemberExpression(it) => {
                let key = self.expression(&it.expression);
                // What decides which entry it is belongs to what it depends on, but the entry is no part of the key.
                super::val::merge(&mut object.values, &key.values);
                self.key(key)
            }
        };
        if let Term::Path(path) = &mut object.term {
            path.fields.push(field);
        }
        object.shape = known.unwrap_or(Shape::Opaque);
        object.direct = None;
        object
    }

    /// The same as a path: what has no name yet gets one.
    pub(super) fn as_path(&mut self, val: Val) -> Val {
        if val.path_ref().is_some() {
            return val;
        }
        if val.values.is_empty() && val.direct.is_none() {
            let name = self.names.get("object");
            let value = self.derive(&name, vec![], val.term, val.flags);
            return Val::of(value, val.flags);
        }
        let flags = val.flags;
        let name = self.names.get("object");
        let value = self.bind(val, &name);
        Val::of(value, flags)
    }

    /// Where an expression leads, without reading the last step.
    pub(super) fn place(&mut self, expression: &Expression<'a>) -> Val {
        match expression {
            Expression::Identifier(id) => self.identifier_place(id),
            Expression::ThisExpression(_) => Val::path(self.cx.this.clone(), vec![], flag::STATE),
            Expression::ParenthesizedExpression(it) => self.place(&it.expression),
            Expression::TSAsExpression(it) => self.place(&it.expression),
            Expression::TSSatisfiesExpression(it) => self.place(&it.expression),
            Expression::TSTypeAssertion(it) => self.place(&it.expression),
            Expression::TSNonNullExpression(it) => self.place(&it.expression),
            Expression::TSInstantiationExpression(it) => self.place(&it.expression),
            Expression::Super(_) => {
                let name = self.names.get("super");
                Val::path(AccessPath::global(name), vec![], 0)
            }
            Expression::ChainExpression(it) => match &it.expression {
                ChainElement::CallExpression(_) => self.expression(expression),
                ChainElement::TSNonNullExpression(it) => self.place(&it.expression),
                other => match other.as_member_expression() {
                    Some(member) => self.member_place(member),
                    None => Val::nothing(),
                },
            },
            _ => match expression.as_member_expression() {
                Some(member) => self.member_place(member),
                None => self.expression(expression),
            },
        }
    }

    /// `Status.Open`, where the enum says what that is.
    fn enum_member(&mut self, member: &MemberExpression<'a>) -> Option<Val> {
        let Expression::Identifier(id) = member.object() else { return None };
        if self.enums.is_empty() {
            return None;
        }
        let symbol = meaning_of(&id.reference_id)?;
        let name = self.names.get(member.static_property_name()?);
        match self.enums.get(&(symbol, name))? {
            Term::Literal(text) => Some(Val::literal(text.clone())),
            _ => None,
        }
    }
}

/// Whether a list is written on the spot of more than texts and numbers: `[...tools, more].forEach(…)`.
fn is_list_of_things(shape: &Shape) -> bool {
    matches!(shape, Shape::List(items) if items.iter().any(|item| !matches!(item.term, Term::Literal(_))))
}

/// What a member was made as, if that is written in the object and small.
fn known_member(object: &Shape, member: &MemberExpression<'_>) -> Option<Shape> {
    let Shape::Object(members) = object else { return None };
    let name = member.static_property_name()?;
    let (_, arg) = members.iter().rev().find(|(key, _)| &**key == name)?;
    is_small(&arg.shape).then(|| arg.shape.clone())
}

/// The name of a private field.
pub(super) fn private(name: &str) -> Name {
    ["#", name].concat().into()
}

/// Whether a path is short enough to stand for a variable.
pub(super) fn is_short(path: &AccessPath) -> bool {
    fn term(term: &Term, left: &mut usize) -> bool {
        *left = left.saturating_sub(1);
        *left > 0
            && match term {
                Term::Path(inner) => path_within(inner, left),
                Term::Join(parts) => parts.iter().all(|part| term_within(part, left)),
                Term::Parent(inner) => term_within(inner, left),
                _ => true,
            }
    }
    fn term_within(inner: &Term, left: &mut usize) -> bool {
        term(inner, left)
    }
    fn path_within(path: &AccessPath, left: &mut usize) -> bool {
        path.fields.iter().all(|field| match field {
            Field::Name(_) => {
                *left = left.saturating_sub(1);
                *left > 0
            }
            Field::At(key) => term(key, left),
        })
    }
    path_within(path, &mut { MOST_STEPS })
}

/// Whether a member says how many things there are.
pub(super) fn is_count(name: &str) -> bool {
    matches!(name, "length" | "size")
}

/// Whether a path leads to all of a module that is loaded in the middle of things.
fn is_module(path: &AccessPath) -> bool {
    let is_import = |name: &str| split_global(name).is_some_and(|(_, name)| name.starts_with(IMPORT));
    path.fields.is_empty() && matches!(&path.root, Root::Global(name) if is_import(name))
}
