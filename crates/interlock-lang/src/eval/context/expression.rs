//! Following an expression to what it is in a context: through constants, imports, fields, parameters and closures.

use std::sync::Arc;

use interlock_model::ir::{AccessPath, Field, FunctionId, Name, Root, Term, Value};

use super::{Choice, Context, Contexts, Unbound, callers::last_part, env::Assumed};
use crate::{
    Arg, Shape,
    eval::{
        index::Definition,
        key::{exact_name, exact_place},
        value::AbstractValue,
    },
    module::{Site, split_global},
};

/// How long a name may grow that is put together from parts.
const LONG: usize = 256;

impl<'f> Contexts<'f> {
    /// Asks one thing more; nothing is known of what is too deep.
    pub(super) fn deeper(&self, ask: impl FnOnce() -> AbstractValue<'f>) -> AbstractValue<'f> {
        self.eval.deeper(ask).unwrap_or(AbstractValue::Unknown)
    }

    /// The function of the tree that a call reaches.
    pub(crate) fn target(&self, site: &'f Site) -> Option<u32> {
        if let Some(function) = site.function {
            return Some(function);
        }
        let callee = site.callee.as_ref().filter(|callee| !self.is_foreign(&callee.root))?;
        match self.path(callee, &Context::plain(site.within)) {
            AbstractValue::Function(function, _) if !site.construct => Some(function.0),
            AbstractValue::Class(class) => self.method(class, self.eval.semantics.constructor?),
            _ if site.construct => None,
            _ => self.declared_method(callee, site.within),
        }
    }

    /// What an expression is.
    pub(crate) fn evaluate(&self, arg: &'f Arg, at: &Context<'f>) -> AbstractValue<'f> {
        self.deeper(|| match &arg.shape {
            Shape::Bool(value) => AbstractValue::Bool(*value),
            Shape::Text(parts) => self.join(parts, at),
            Shape::Object(members) => AbstractValue::Object(members, at.clone()),
            Shape::List(items) => self.perhaps_filled(&arg.term, AbstractValue::List(items, at.clone()), at),
            Shape::Function { function, .. } => AbstractValue::Function(*function, at.env.clone()),
            Shape::Choice(ways) => one_of(ways.iter().map(|way| self.evaluate(way, at))),
            Shape::Call(site) => self.perhaps_filled(&arg.term, AbstractValue::Call(*site, at.clone()), at),
            Shape::Opaque | Shape::Null | Shape::Number(_) => self.term(&arg.term, at),
        })
    }

    /// A list or map, with what calls put into it if it has a name.
    fn perhaps_filled(&self, name: &Term, value: AbstractValue<'f>, at: &Context<'f>) -> AbstractValue<'f> {
        match name {
            Term::Path(AccessPath { root: Root::Value(local), fields })
                if fields.is_empty() && !self.filled(at.function, *local).is_empty() =>
            {
                AbstractValue::Filled(at.function, *local, Arc::new(value))
            }
            _ => value,
        }
    }

    /// What a term is.
    pub(crate) fn term(&self, term: &'f Term, at: &Context<'f>) -> AbstractValue<'f> {
        match term {
            Term::Literal(text) => AbstractValue::Text(text.clone()),
            Term::Path(path) => self.path(path, at),
            Term::Join(parts) => self.join(parts, at),
            _ => AbstractValue::Unknown,
        }
    }

    fn join(&self, parts: &'f [Term], at: &Context<'f>) -> AbstractValue<'f> {
        if let [Term::Literal(text)] = parts {
            return AbstractValue::Text(text.clone());
        }
        let mut joined = String::new();
        for part in parts {
            match self.deeper(|| self.text(self.term(part, at))) {
                AbstractValue::Text(text) if joined.len() + text.len() <= LONG => joined.push_str(&text),
                unbound @ AbstractValue::Unbound(_) => return unbound,
                _ => return AbstractValue::Unknown,
            }
        }
        AbstractValue::Text(joined.into())
    }

    /// What is found at a path.
    pub(crate) fn path(&self, path: &'f AccessPath, at: &Context<'f>) -> AbstractValue<'f> {
        self.walk(&path.root, &path.fields, at)
    }

    /// What is found at the end of some fields.
    pub(crate) fn walk(&self, root: &Root, fields: &'f [Field], at: &Context<'f>) -> AbstractValue<'f> {
        self.deeper(|| self.eval.asking.again(|| self.walk_fields(root, fields, at)))
    }

    fn walk_fields(&self, root: &Root, fields: &'f [Field], at: &Context<'f>) -> AbstractValue<'f> {
        let (mut found, used) = match root {
            Root::Value(value) => (self.value(*value, at), 0),
            Root::Global(_) => self.named(root, fields, None, at),
            Root::This => self.own(root, fields, at),
        };
        for field in fields.iter().skip(used) {
            found = match exact_name(field) {
                Some(name) => self.member(found, name),
                None => self.entry(found, field, at),
            };
        }
        // A method of something that is written out, and whose type says that it has one.
        let typed = self.eval.semantics.tuples
            && matches!((root, fields), (Root::Value(_) | Root::Global(_), [_]) | (Root::This, [_, _]));
        if typed && matches!(found, AbstractValue::Unknown) {
            let path = AccessPath { root: root.clone(), fields: fields.into() };
            if let Some(function) = self.declared_method(&path, at.function) {
                return AbstractValue::Function(FunctionId(function), at.env.clone());
            }
        }
        found
    }

    /// The same from `this`. Where classes that extend it have the member as well, it is undecided which is meant.
    fn own(&self, root: &Root, fields: &'f [Field], at: &Context<'f>) -> (AbstractValue<'f>, usize) {
        let Some(class) = self.owner(at.function).and_then(|owner| self.class(owner)) else {
            return (AbstractValue::Unknown, 0);
        };
        let actual = at.env.this(class);
        let first = fields.first().and_then(exact_name);
        if actual.is_none() && first.is_some_and(|member| self.overridden(class, member)) {
            return (AbstractValue::Unbound(Unbound::This(class)), fields.len());
        }
        let name = actual.and_then(|actual| self.class_at(actual)).map(|class| &class.name);
        self.named(root, fields, name.or_else(|| self.owner(at.function)), at)
    }

    /// What the longest beginning of a path is that something is known of, and how many of its fields that takes.
    fn named(
        &self,
        root: &Root,
        fields: &'f [Field],
        owner: Option<&Name>,
        at: &Context<'f>,
    ) -> (AbstractValue<'f>, usize) {
        let fixed = fields.iter().take_while(|field| exact_name(field).is_some()).count();
        let longest = if self.is_foreign(root) { 0..0 } else { 0..fixed + 1 };
        for used in longest.rev() {
            let known = fields.get(..used).unwrap_or_default();
            let Some(place) = exact_place(root, known, owner) else { continue };
            let found = self.at_place(&place, at);
            if !found.is_unknown() {
                return (found, used);
            }
        }
        let found = match (root, owner) {
            (Root::This, Some(owner)) => {
                self.class(owner).map_or(AbstractValue::Unknown, AbstractValue::of_class)
            }
            (Root::Global(name), _) => match self.eval.names.exported(name) {
                Some((library, path)) => AbstractValue::Export(library.into(), path.into()),
                None => match split_global(name) {
                    Some((file, "*")) => AbstractValue::Exports(file.into()),
                    _ => AbstractValue::Unknown,
                },
            },
            _ => AbstractValue::Unknown,
        };
        (found, 0)
    }

    /// What a place holds.
    pub(crate) fn at_place(&self, place: &str, at: &Context<'f>) -> AbstractValue<'f> {
        if let Some(function) = self.bound(place) {
            return AbstractValue::Function(function, at.env.clone());
        }
        if let Some(class) = self.class(place) {
            return AbstractValue::Class(class);
        }
        let of_class = place.rsplit_once('.').and_then(|(class, member)| Some((self.class(class)?, member)));
        of_class
            .map_or(AbstractValue::Unknown, |(class, member)| self.of_class(class, member, at))
            .or_else(|| self.assigned(place, at))
    }

    /// What is assigned to a place, if anything that is understood.
    fn assigned(&self, place: &str, at: &Context<'f>) -> AbstractValue<'f> {
        let initial =
            self.variables(place).filter_map(|variable| Some((variable.within, variable.initial.as_ref()?)));
        self.deeper(|| {
            AbstractValue::first(initial.map(|(within, initial)| self.evaluate(initial, &at.go(within))))
        })
    }

    /// What a value is.
    pub(crate) fn value(&self, value: Value, at: &Context<'f>) -> AbstractValue<'f> {
        let Some(number) = self.eval.index.number(FunctionId(at.function), value) else {
            return AbstractValue::Unknown;
        };
        // In a loop a value may be defined by itself.
        let (asking, look) = (&self.eval.asking, || self.deeper(|| self.defined(value, at)));
        let found = match at.env.is_empty() {
            true => self.values.answer(asking, number, AbstractValue::Unknown, look),
            false => self.values.answer_again(asking, number, AbstractValue::Unknown, look),
        };
        let fillable =
            matches!(found, AbstractValue::Unknown | AbstractValue::List(..) | AbstractValue::Call(..));
        if fillable && !self.filled(at.function, value).is_empty() {
            return AbstractValue::Filled(at.function, value, Arc::new(found));
        }
        found
    }

    fn defined(&self, value: Value, at: &Context<'f>) -> AbstractValue<'f> {
        match at.env.get(at.function, value) {
            Some(Assumed::Value(value)) => return value,
            Some(Assumed::Arg(arg, within)) => return self.evaluate(arg, &at.go(within)),
            Some(Assumed::Term(term, within)) => return self.term(term, &at.go(within)),
            None => {}
        }
        if let Some(function) = self.nested(at.function, value) {
            return AbstractValue::Function(function, at.env.clone());
        }
        let Some(unit) = self.unit(at.function) else { return AbstractValue::Unknown };
        if let Some(choice) = self.choice(at.function, value) {
            let item = || AbstractValue::Unbound(Unbound::Item(at.function, value));
            return self.chosen(&choice, at).or_else(item);
        }
        let local = unit.locals.iter().find(|(local, _)| *local == value).map(|(_, arg)| arg);
        match (self.definition(at.function, value), local) {
            // What it is by default, it is where a caller hands nothing over.
            (Some(Definition::Parameter(_)), _)
                if !at.env.knows(at.function) && !self.callers(at.function).is_empty() =>
            {
                AbstractValue::Unbound(Unbound::Parameters(at.function))
            }
            (_, Some(arg)) => self.evaluate(arg, at),
            (defined, None) => self.by_definition(defined, at),
        }
    }

    fn by_definition(&self, defined: Option<&'f Definition>, at: &Context<'f>) -> AbstractValue<'f> {
        match defined {
            Some(Definition::Parameter(_)) if at.env.knows(at.function) => AbstractValue::Unknown,
            Some(Definition::Parameter(_)) => AbstractValue::Unbound(Unbound::Parameters(at.function)),
            Some(Definition::Capture(position)) => {
                let Some((within, terms)) = self.captured(at.function) else { return AbstractValue::Unknown };
                terms.get(*position).map_or(AbstractValue::Unknown, |term| self.term(term, &at.go(within)))
            }
            Some(Definition::Call(site)) => AbstractValue::Call(*site, at.clone()),
            Some(Definition::Function(function)) => AbstractValue::Function(*function, at.env.clone()),
            Some(Definition::Path(path)) => self.path(path, at),
            Some(Definition::Term(term)) => self.term(term, at),
            // One of several: the first that says something, unless it is computed from too many to be a choice.
            Some(Definition::Either(values)) => {
                AbstractValue::first(values.iter().take(2).map(|value| self.value(*value, at)))
            }
            Some(Definition::Unknown | Definition::New | Definition::Returned(_)) | None => {
                AbstractValue::Unknown
            }
        }
    }

    /// The entry that is looked up, where it is known by now what under: `handlers[name]` in a closure that was made for one name.
    fn chosen(&self, choice: &Choice<'f>, at: &Context<'f>) -> AbstractValue<'f> {
        let Choice::Among(path, before) = choice else { return AbstractValue::Unknown };
        let Some(Field::At(under)) = path.fields.get(before.len()) else { return AbstractValue::Unknown };
        match self.settle(self.term(under, at)) {
            AbstractValue::Text(name) => self.member(self.walk(&path.root, before, at), &name),
            _ => AbstractValue::Unknown,
        }
    }

    /// A member of something.
    pub(crate) fn member(&self, of: AbstractValue<'f>, name: &str) -> AbstractValue<'f> {
        self.deeper(|| self.member_of(self.settle(of), name))
    }

    fn member_of(&self, of: AbstractValue<'f>, name: &str) -> AbstractValue<'f> {
        match of {
            AbstractValue::Object(members, at) => {
                // What the type of a literal says of a field is said of all its values: the literal's own goes before it.
                let mut of_type = AbstractValue::Unknown;
                for (key, arg) in members.iter().rev() {
                    if &**key == name {
                        return self.evaluate(arg, &at);
                    }
                    if &**key == "..." {
                        let spread = self.evaluate(arg, &at);
                        let typed = matches!(spread, AbstractValue::Class(_));
                        let found = self.member(spread, name);
                        if typed {
                            of_type = found;
                        } else if !found.is_unknown() {
                            return found;
                        }
                    }
                }
                of_type
            }
            AbstractValue::Entries(entries) => entries
                .iter()
                .find(|(key, _)| &**key == name)
                .map_or(AbstractValue::Unknown, |(_, value)| value.clone()),
            AbstractValue::List(items, at) => {
                let item = name.parse::<usize>().ok().and_then(|position| items.get(position));
                item.map_or(AbstractValue::Unknown, |arg| self.evaluate(arg, &at))
            }
            AbstractValue::Items(items) => {
                let item = name.parse::<usize>().ok().and_then(|position| items.get(position));
                item.cloned().unwrap_or(AbstractValue::Unknown)
            }
            AbstractValue::Instance(class, env) => self.of_class(class, name, &Context { function: 0, env }),
            AbstractValue::Class(class) => self.of_class(class, name, &Context::plain(0)),
            AbstractValue::Function(FunctionId(function), _)
                if Some(name) == self.eval.semantics.function_name =>
            {
                let called = self.functions.get(function as usize).map(|function| last_part(&function.name));
                called.map_or(AbstractValue::Unknown, |called| AbstractValue::Text(called.into()))
            }
            AbstractValue::Exports(file) => self.at_place(&[&*file, "::", name].concat(), &Context::plain(0)),
            AbstractValue::Export(_, ref path) if path.len() < LONG => {
                self.eval.member(&of, &Name::from(name))
            }
            AbstractValue::Alternatives(all) => {
                AbstractValue::first(all.iter().map(|one| self.member(one.clone(), name)))
            }
            // An object of a library's class has what it was handed by name: `Tool(name="add", …)`.
            AbstractValue::Call(number, at) => {
                let site = self.site(number).filter(|site| site.construct && site.named);
                let named = site.and_then(|site| Some((site, site.arguments.last()?.member(name)?)));
                named.map_or(AbstractValue::Unknown, |(site, arg)| self.evaluate(arg, &at.go(site.within)))
            }
            // What a member of an enumeration stands for: `Tools.ADD.value`.
            text @ AbstractValue::Text(_) if name == "value" => text,
            unbound @ AbstractValue::Unbound(_) => unbound,
            _ => AbstractValue::Unknown,
        }
    }

    /// An entry of something, where a value says which.
    fn entry(&self, of: AbstractValue<'f>, field: &'f Field, at: &Context<'f>) -> AbstractValue<'f> {
        let Field::At(index) = field else { return AbstractValue::Unknown };
        match self.term(index, at) {
            AbstractValue::Text(name) => self.member(of, &name),
            // `getattr(tools, name)`, and a loop or a caller says which.
            unbound @ AbstractValue::Unbound(_)
                if matches!(
                    self.settle(of.clone()),
                    AbstractValue::Instance(..) | AbstractValue::Exports(_)
                ) =>
            {
                unbound
            }
            _ => of.unbound().map_or(AbstractValue::Unknown, AbstractValue::Unbound),
        }
    }

    /// A method or field of a class or of one that it extends.
    fn of_class(&self, class: usize, name: &str, at: &Context<'f>) -> AbstractValue<'f> {
        if let Some(function) = self.method(class, name) {
            return AbstractValue::Function(FunctionId(function), at.env.clone());
        }
        // A field of its objects, or of the class itself.
        let field = |class: &crate::module::Class| self.assigned(&[&*class.name, ".", name].concat(), at);
        AbstractValue::first(self.ancestry(class).map(field))
    }

    /// The text that an expression is, also as what a getter returns.
    pub(crate) fn text(&self, value: AbstractValue<'f>) -> AbstractValue<'f> {
        match self.settle(value) {
            AbstractValue::Function(function, env) => self.settle(self.returned(function.0, &env)),
            value => value,
        }
    }
}

/// One of several: all objects and lists among them, or else the first that says something.
fn one_of<'f>(values: impl Iterator<Item = AbstractValue<'f>>) -> AbstractValue<'f> {
    let is_whole = |value: &AbstractValue<'f>| {
        matches!(
            value,
            AbstractValue::Object(..)
                | AbstractValue::List(..)
                | AbstractValue::Items(_)
                | AbstractValue::Entries(_)
                | AbstractValue::Filled(..)
                | AbstractValue::Call(..)
        )
    };
    let mut several: Vec<AbstractValue<'f>> = vec![];
    for value in values {
        match value {
            AbstractValue::Unknown => {}
            AbstractValue::Alternatives(more) => several.extend(more.iter().cloned()),
            value if is_whole(&value) => several.push(value),
            value if several.is_empty() => return value,
            _ => {}
        }
    }
    match several.len() {
        0 | 1 => several.pop().unwrap_or(AbstractValue::Unknown),
        _ => AbstractValue::Alternatives(several.into()),
    }
}
