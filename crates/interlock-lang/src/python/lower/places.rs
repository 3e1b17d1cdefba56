//! Names and members: where something is found, and the reads that finding it takes.

use interlock_model::ir::{AccessPath, Field, FunctionId, Root, Term};
use ruff_python_ast::{Expr, ExprAttribute, ExprName, ExprSubscript};

use super::{super::bind::SymbolKind, context::Lowerer};
use crate::{
    Shape,
    lower::Binding,
    val::{Val, flag, is_small, merge},
};

impl<'a> Lowerer<'a> {
    /// What a name stands for, read if it is state.
    pub(super) fn identifier(&mut self, it: &'a ExprName) -> Val {
        let val = self.name_place(it.id.as_str());
        let reads =
            self.facts.lookup(self.cx.id, it.id.as_str()).is_some_and(|symbol| self.changes_under_us(symbol));
        match val.path_ref() {
            Some(path) if reads => {
                let path = path.clone();
                let name = self.name(it.id.as_str());
                self.stand(it);
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

    /// What a name stands for, as the start of a path.
    pub(super) fn name_place(&mut self, name: &'a str) -> Val {
        if let Some(class) = &self.scope.class
            && class.names.contains(name)
        {
            let path = class.path.clone().field(name);
            return Val::path(path, vec![], flag::STATE);
        }
        match self.facts.lookup(self.cx.id, name) {
            Some(symbol) => self.symbol_place(symbol),
            None => self.outside_name(name),
        }
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
        let (name, kind, owner) = (found.name, found.kind, found.function);
        let held = self.facts.held(symbol);
        match kind {
            SymbolKind::This => return Val::path(self.scope.this.clone(), vec![], flag::STATE),
            SymbolKind::Import | SymbolKind::Class => {
                let path = AccessPath::of(Root::Global(self.global(name)));
                let state = if self.is_state(&path) { flag::STATE } else { 0 };
                return Val::path(path, vec![], state);
            }
            _ => {}
        }
        if owner == 0 {
            let path = AccessPath::of(Root::Global(self.global(name)));
            let state = if self.is_state(&path) { flag::STATE } else { 0 };
            let mut val = Val::path(path, vec![], state);
            if let Some(function) = held {
                val.shape = Shape::Function { function: FunctionId(function), captures: vec![] };
            }
            return val;
        }
        if let Some(function) = held {
            let captures = self.captures_of(function);
            return Val::function(function, captures);
        }
        if owner != self.cx.id {
            let value = self.capture(symbol, flag::STATE);
            return Val::of(value, self.flags(value));
        }
        let Some(binding) = self.bindings.get(&symbol).cloned() else {
            let name = self.symbol_name(symbol);
            let value = self.step(&name, flag::STATE);
            self.set(symbol, Binding::of(value));
            return Val::of(value, flag::STATE);
        };
        let mut val = Val::of(binding.value, self.flags(binding.value));
        // What a variable took from memory is what was there then; where that is, is known from the step that took it.
        if let Some(path) = binding.alias
            && !self.is_state(&path)
        {
            val.term = Term::Path(path);
        }
        val
    }

    /// What a variable was made as, where this function may know it.
    fn remembered_shape(&self, symbol: u32) -> Option<&Shape> {
        let found = self.facts.symbol(symbol)?;
        let known = if found.function == 0 { !found.shared } else { found.function == self.cx.id };
        if !known || self.facts.held(symbol).is_some() {
            return None;
        }
        self.bindings.get(&symbol)?.shape.as_ref()
    }

    /// All that an expression stands for, taken out of it: a list or a map that a variable holds for good changes all the same.
    pub(super) fn all_of(&mut self, expression: &'a Expr) -> Val {
        let mut val = self.expression(expression);
        let Expr::Name(it) = expression else { return val };
        let grows = may_grow(&val.shape);
        let kept = val.path_ref().filter(|path| {
            matches!(path.root, Root::Global(_)) && path.fields.is_empty() && self.is_state(path)
        });
        let Some(path) = kept.filter(|_| grows && val.values.is_empty()).cloned() else { return val };
        let name = self.name(it.id.as_str());
        self.stand(it);
        val.values = self.read(path, &name).values;
        val
    }

    /// An argument. A list or a map that a module keeps is read where it is handed to a library: that writes what is in it then. A function
    /// of the tree is inlined, and reads it where it does.
    pub(super) fn handed(&mut self, argument: &'a Expr) -> Val {
        if self.scope.hands_to_library { self.kept_in(argument) } else { self.expression(argument) }
    }

    /// What an expression stands for, taken out of the list or the map that a module keeps where it names one.
    pub(super) fn kept_in(&mut self, argument: &'a Expr) -> Val {
        let val = self.expression(argument);
        let Expr::Name(it) = argument else { return val };
        let grows = may_grow(&val.shape);
        if self.cx.id == 0 || !grows || !val.values.is_empty() {
            return val;
        }
        let Some(path) = val.path_ref().filter(|path| self.is_kept_collection(path)).cloned() else {
            return val;
        };
        let name = self.name(it.id.as_str());
        self.stand(it);
        let mut read = self.read(path.clone(), &name);
        if let Some(value) = read.direct {
            read.term = value.into();
        }
        read.place = Some(Box::new(path));
        read
    }

    /// Whether a variable of the module is a list or a map that it makes, or that it has loaded at the start.
    fn is_kept_collection(&self, path: &AccessPath) -> bool {
        let mut variables = self.module.variables.iter().filter(|variable| variable.path == *path);
        matches!(path.root, Root::Global(_))
            && path.fields.is_empty()
            && self.is_state(path)
            && variables.any(|variable| match variable.initial.as_ref().map(|initial| &initial.shape) {
                Some(Shape::List(_) | Shape::Object(_)) => true,
                Some(Shape::Call(site)) => {
                    let site = self.module.sites.get(*site as usize);
                    let callee = site.and_then(|site| site.callee.as_ref());
                    callee.is_some_and(|callee| {
                        let name = self.last_name(callee);
                        let name = name.trim_start_matches('_');
                        matches!(name, "dict" | "list" | "set" | "defaultdict" | "OrderedDict" | "deque")
                            || name.starts_with("load")
                            || name.starts_with("read_")
                    })
                }
                _ => false,
            })
    }

    /// `x.y`, read if it is state.
    pub(super) fn attribute(&mut self, it: &'a ExprAttribute) -> Val {
        if it.attr.as_str() == "parent" && names_a_path(&it.value) {
            let inner = self.expression(&it.value);
            self.stand(it);
            return self.operation("Path.parent", vec![inner]);
        }
        let place = self.attribute_place(it);
        self.stand(it);
        self.read_place(place)
    }

    /// `x[y]`, read if it is state.
    pub(super) fn subscript(&mut self, it: &'a ExprSubscript) -> Val {
        if let Expr::Slice(slice) = &*it.slice {
            let mut val = self.all_of(&it.value);
            for part in [&slice.lower, &slice.upper, &slice.step].into_iter().flatten() {
                let part = self.expression(part);
                val.depend(&part);
            }
            return Val { direct: None, shape: Shape::Opaque, term: Term::Unknown, ..val };
        }
        let place = self.subscript_place(it);
        self.stand(it);
        self.read_place(place)
    }

    pub(super) fn attribute_place(&mut self, it: &'a ExprAttribute) -> Val {
        if it.attr.as_str() == "lifespan_context" {
            return self.state_of_server(it);
        }
        let object = self.place(&it.value);
        let name = self.name(it.attr.as_str());
        let known = known_member(&object.shape, &name);
        let mut object = self.as_path(object);
        if let Term::Path(path) = &mut object.term {
            path.fields.push(Field::Name(name));
        }
        object.shape = known.unwrap_or(Shape::Opaque);
        object.direct = None;
        object
    }

    pub(super) fn subscript_place(&mut self, it: &'a ExprSubscript) -> Val {
        let object = self.place(&it.value);
        let key = self.expression(&it.slice);
        let known = match &key.term {
            Term::Literal(name) => known_member(&object.shape, name),
            _ => None,
        };
        let mut object = self.as_path(object);
        // What decides which entry it is belongs to what it depends on, but the entry is no part of the key.
        merge(&mut object.values, &key.values);
        let field = self.key(key);
        if let Term::Path(path) = &mut object.term {
            path.fields.push(field);
        }
        object.shape = known.unwrap_or(Shape::Opaque);
        object.direct = None;
        object
    }

    /// `getattr(object, name)`: where it leads. It is not read, for which of all members it is a value says, and most are methods.
    pub(super) fn named_member(&mut self, object: &'a Expr, member: &'a Expr) -> Val {
        let object = self.place(object);
        let key = self.expression(member);
        let mut object = self.as_path(object);
        merge(&mut object.values, &key.values);
        let field = match &key.term {
            Term::Literal(name) => {
                if let Term::Path(path) = &mut object.term {
                    path.fields.push(Field::Name(name.clone()));
                }
                return self.read_place(Val { shape: Shape::Opaque, direct: None, ..object });
            }
            Term::Unknown => return Val::from_values(object.values, object.flags & flag::STATE),
            _ => Field::At(key.term),
        };
        if let Term::Path(path) = &mut object.term {
            path.fields.push(field);
        }
        Val { shape: Shape::Opaque, direct: None, place: None, ..object }
    }

    /// `key in object`: the entry is looked for.
    pub(super) fn is_in(&mut self, key: &'a Expr, object: &'a Expr) -> Val {
        let key = self.expression(key);
        // Of a list that is written here it is one or the other.
        if matches!(object, Expr::List(_) | Expr::Tuple(_) | Expr::Set(_) | Expr::StringLiteral(_)) {
            let among = self.expression(object);
            let mut val = Val::from_values(key.values, 0);
            val.depend(&among);
            return val;
        }
        let object_val = self.place(object);
        let mut object_val = self.as_path(object_val);
        merge(&mut object_val.values, &key.values);
        let field = self.key(key);
        if let Term::Path(path) = &mut object_val.term {
            path.fields.push(field);
        }
        self.stand(object);
        match object_val.path_ref() {
            Some(path) if self.is_state(path) => {
                self.read_place(Val { direct: None, place: None, shape: Shape::Opaque, ..object_val })
            }
            _ => Val::from_values(object_val.values, object_val.flags & !flag::STATE),
        }
    }

    /// The same as a path: what has no name yet gets one. What a module makes and keeps only a part of counts as if it had kept it:
    /// `docs = Client(url).app.docs`.
    pub(super) fn as_path(&mut self, val: Val) -> Val {
        if self.cx.id != 0 || !matches!(val.shape, Shape::Call(_)) || val.path_ref().is_some() {
            return self.work.as_path(val);
        }
        let flags = val.flags;
        let kept = format!("{}::made {}", self.module.path, self.module.variables.len());
        let path = AccessPath::of(Root::Global(kept.into()));
        self.record(path.clone(), None, val);
        Val::path(path, vec![], flags)
    }

    /// Where an expression leads, without reading the last step.
    pub(super) fn place(&mut self, expression: &'a Expr) -> Val {
        match expression {
            Expr::Name(it) => {
                let symbol = self.facts.lookup(self.cx.id, it.id.as_str());
                let cell = symbol.is_some_and(|symbol| self.facts.is_cell(symbol));
                if cell { self.identifier(it) } else { self.name_place(it.id.as_str()) }
            }
            Expr::Attribute(it) if it.attr.as_str() == "parent" && names_a_path(&it.value) => {
                self.attribute(it)
            }
            Expr::Attribute(it) => self.attribute_place(it),
            Expr::Subscript(it) if !it.slice.is_slice_expr() => self.subscript_place(it),
            _ => self.expression(expression),
        }
    }
}

/// Whether what something was made as says nothing of what is in it later.
const fn may_grow(shape: &Shape) -> bool {
    match shape {
        Shape::Opaque | Shape::Call(_) => true,
        Shape::List(items) => items.is_empty(),
        Shape::Object(members) => members.is_empty(),
        _ => false,
    }
}

/// Whether an expression goes by the name of a path: `Path(__file__)`, `CONFIG_PATH`, `data_dir`, `path.parent`.
fn names_a_path(expression: &Expr) -> bool {
    let named = |name: &str| {
        let name = name.to_ascii_lowercase();
        ["path", "dir", "file", "root", "folder"].iter().any(|word| name.ends_with(word))
    };
    match expression {
        Expr::Name(it) => named(it.id.as_str()),
        Expr::Attribute(it) => {
            named(it.attr.as_str()) || it.attr.as_str() == "parent" && names_a_path(&it.value)
        }
        Expr::Call(it) => match &*it.func {
            Expr::Name(name) => name.id.as_str() == "Path",
            Expr::Attribute(member) => {
                matches!(member.attr.as_str(), "Path" | "cwd" | "home")
                    || matches!(member.attr.as_str(), "resolve" | "absolute" | "expanduser")
                        && names_a_path(&member.value)
            }
            _ => false,
        },
        _ => false,
    }
}

/// What a member was made as, if that is written in the object and small.
fn known_member(object: &Shape, name: &str) -> Option<Shape> {
    let Shape::Object(members) = object else { return None };
    let (_, arg) = members.iter().rev().find(|(key, _)| &**key == name)?;
    is_small(&arg.shape).then(|| arg.shape.clone())
}
