//! Calls. What a call reaches is looked up when all files are known; here it gets a number, its arguments and its place in the order.

use interlock_model::ir::{AccessPath, Argument, Callee, Field, Name, Op, Origin, Root, Term, Value};

use super::{
    super::ast::{Call, Expr, Kind, Place},
    Lowerer,
};
use crate::{
    Arg, Shape,
    eval::bare,
    module::{Site, split_global},
    val::{Val, argument, flag, merge},
};

/// What becomes of the result of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// Nobody looks at it.
    Nothing,
    /// It is used.
    Value,
}

impl<'a> Lowerer<'a> {
    pub(super) fn call(&mut self, at: Place, call: &'a Call<'a>, wanted: Use) -> Val {
        if self.is_lock_of_copy(&call.callee) {
            return Val::nothing();
        }
        if let Some(val) = self
            .builtin_call(at, call)
            .or_else(|| self.looked_up(at, call))
            .or_else(|| self.library_form(at, call))
        {
            return val;
        }
        let target = self.callee(&call.callee);
        let mut arguments: Vec<Arg> =
            call.arguments.iter().map(|it| self.expression(it).into_arg()).collect();
        if call.spread
            && let Some(last) = arguments.last_mut()
            && !matches!(last.shape, Shape::List(_))
        {
            // `f(xs...)`: what is in it, and not the whole.
            last.shape = Shape::Opaque;
            let tail = bare(&last.term).and_then(|list| self.tails.get(&(self.work.cx.id, list)));
            if let Some(tail) = tail.cloned() {
                let before = Arg { shape: Shape::Choice(vec![last.clone()]), ..last.clone() };
                last.shape = Shape::List(std::iter::once(before).chain(tail).collect());
            }
        }
        self.stand(at);
        let gathers = self.gathered_by(&call.callee);
        let gathered: Vec<Value> = match gathers {
            Some(_) => arguments.iter().flat_map(|arg| arg.values.iter().copied()).collect(),
            None => vec![],
        };
        if !call.arguments.iter().any(|it| matches!(it.kind, Kind::Unary("&", _))) {
            self.set_by_method(&call.callee, &arguments);
            let val = self.invoke(target, arguments, false, wanted);
            if let Some(symbol) = gathers.filter(|_| !gathered.is_empty()) {
                self.filled_local(symbol, &gathered, true);
            }
            return val;
        }
        // What is filled is put in place of what was there: it depends on the rest.
        let mut depends = Val::nothing();
        for (argument, arg) in call.arguments.iter().zip(&arguments) {
            if !matches!(argument.kind, Kind::Unary("&", _)) {
                merge(&mut depends.values, &arg.values);
            }
        }
        let val = self.invoke(target, arguments, false, Use::Value);
        merge(&mut depends.values, &val.values);
        let name = match &call.callee.kind {
            Kind::Selector(_, name) | Kind::Name(name) => *name,
            _ => "",
        };
        for argument in &call.arguments {
            match &argument.kind {
                Kind::Unary("&", inner) if matches!(inner.kind, Kind::Name(_)) => {
                    self.filled(inner, &depends.values);
                }
                Kind::Unary("&", inner) => self.filled_member(inner, name, &depends.values),
                _ => {}
            }
        }
        val
    }

    /// Whether a method is one of a lock inside of a copy: each call has its own, and nobody ever waits for it.
    pub(super) fn is_lock_of_copy(&self, callee: &Expr<'a>) -> bool {
        let Kind::Selector(lock, _) = &callee.kind else { return false };
        let Kind::Selector(object, field) = &lock.kind else { return false };
        let Kind::Name(_) = object.kind else { return false };
        let Some(symbol) = self.facts.meant(object.at.0) else { return false };
        let is_receiver = self.facts.symbol(symbol).is_some_and(|found| found.receiver);
        self.uncopied.contains(field) && (is_receiver && self.copies || self.copied_locals.contains(&symbol))
    }

    /// The local that a call puts what it is handed into: `text.WriteString(line)`, and `encoder.Encode(value)` where the encoder was made
    /// for it.
    fn gathered_by(&self, callee: &Expr<'a>) -> Option<u32> {
        let Kind::Selector(object, method) = &callee.kind else { return None };
        let Kind::Name(_) = object.kind else { return None };
        if !super::super::tables().builtin().gathers.contains(*method) {
            return None;
        }
        let symbol = self.facts.meant(object.at.0)?;
        Some(self.writes_to.get(&symbol).copied().unwrap_or(symbol))
    }

    /// Remembers what a local writes to that was made for that.
    pub(super) fn remember_writer(&mut self, left: &'a Expr<'a>, right: &'a Expr<'a>) {
        let (Kind::Name(_), Kind::Call(call)) = (&left.kind, &right.kind) else { return };
        let Kind::Selector(_, name) = &call.callee.kind else { return };
        if !super::super::tables().builtin().writers.contains(*name) {
            return;
        }
        let to = call.arguments.first().map(|first| match &first.kind {
            Kind::Unary("&", inner) => &**inner,
            _ => first,
        });
        let to = to.filter(|to| matches!(to.kind, Kind::Name(_))).and_then(|to| self.facts.meant(to.at.0));
        if let (Some(symbol), Some(to)) = (self.facts.meant(left.at.0), to) {
            self.writes_to.insert(symbol, to);
        }
    }

    /// The same for a member: of something that others see only where the name of what is called says that it fills.
    fn filled_member(&mut self, target: &'a Expr<'a>, called: &str, from: &[Value]) {
        if !matches!(target.kind, Kind::Selector(..) | Kind::Index(..))
            || !super::super::tables().builtin().fills.contains(called)
        {
            return;
        }
        self.assign_to(target, Val::from_values(from.to_vec(), 0));
    }

    /// What a call was given the address of depends on what it was handed: `json.Unmarshal(data, &graph)`.
    fn filled(&mut self, target: &'a Expr<'a>, from: &[Value]) {
        let Kind::Name(_) = target.kind else { return };
        if let Some(symbol) = self.facts.meant(target.at.0) {
            self.filled_local(symbol, from, false);
        }
    }

    /// A local depends on something from now on, and where that is added also on what it was before.
    fn filled_local(&mut self, symbol: u32, from: &[Value], adds: bool) {
        let own = self.facts.symbol(symbol).is_some_and(|found| found.function == self.cx.id);
        let Some(binding) = self.bindings.get(&symbol).cloned().filter(|_| own) else { return };
        if self.facts.is_cell(symbol) {
            let rest = from.iter().copied().filter(|value| *value != binding.value).collect();
            return self.write(binding.value.into(), rest);
        }
        let name = self.symbol_name(symbol);
        let flags = self.flags(binding.value);
        let mut from: Vec<Value> = from.iter().copied().filter(|value| *value != binding.value).collect();
        if adds {
            from.insert(0, binding.value);
        }
        let value = self.derive(&name, from, binding.value.into(), flags);
        self.keep_type(binding.value, value);
        self.set(symbol, crate::lower::Binding { value, alias: None, shape: None });
    }

    /// What is called: where it is, unread.
    pub(super) fn callee(&mut self, callee: &'a Expr<'a>) -> Val {
        match &callee.kind {
            // `f[T](x)` and `handlers[name](x)` look alike; a type is nothing that is evaluated.
            Kind::Index(function, index) if self.is_type(index) => self.callee(function),
            Kind::Convert(_, _) => Val::nothing(),
            _ => self.place(callee),
        }
    }

    /// Whether what stands in brackets behind a name is a type: `New[Config]`.
    fn is_type(&self, index: &Expr<'a>) -> bool {
        match &index.kind {
            Kind::Convert(_, None) => true,
            Kind::Name(name) => {
                self.facts.meant(index.at.0).is_none()
                    && (super::super::is_type(name) || name.starts_with(char::is_uppercase))
            }
            Kind::Selector(package, name) => match &package.kind {
                Kind::Name(package) => {
                    self.imports.contains_key(package) && name.starts_with(char::is_uppercase)
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// The path and name of a library's function that is called by the name of its package.
    pub(super) fn library_function(&self, callee: &Expr<'a>) -> Option<(&'a str, &'a str)> {
        let Kind::Selector(package, name) = &callee.kind else { return None };
        let Kind::Name(local) = &package.kind else { return None };
        if self.facts.meant(package.at.0).is_some() {
            return None;
        }
        Some((self.imports.get(local)?, name))
    }

    /// The arguments as the IR hands them over. What is computed gets a name, so that the callee's parameter leads back to it.
    fn handed_over(&mut self, arguments: &mut [Arg]) -> Vec<Argument> {
        let mut handed = Vec::with_capacity(arguments.len());
        for arg in arguments {
            let is_function = matches!(arg.shape, Shape::Function { .. });
            if arg.term == Term::Unknown && !arg.values.is_empty() && !is_function {
                let value = self.derive(&"arg".into(), arg.values.clone(), Term::Unknown, 0);
                if arg.shape == Shape::Opaque {
                    arg.term = value.into();
                }
                handed.push(value.into());
            } else {
                handed.push(argument(arg));
            }
        }
        handed
    }

    /// Records a call that is looked up later, or one that others want to see.
    fn site(
        &mut self,
        callee: Option<AccessPath>,
        construct: bool,
        arguments: Vec<Arg>,
        function: Option<u32>,
    ) -> u32 {
        let number = u32::try_from(self.module.sites.len()).unwrap_or(u32::MAX);
        let site = Site {
            within: self.cx.id,
            span: self.at,
            callee,
            construct,
            named: false,
            arguments: arguments.into(),
            function,
            decorates: false,
            unconditional: self.unconditional(),
        };
        self.work.module.sites.push(site);
        number
    }

    /// Pushes a call of something with arguments.
    pub(super) fn invoke(
        &mut self,
        target: Val,
        mut arguments: Vec<Arg>,
        construct: bool,
        wanted: Use,
    ) -> Val {
        let given = self.handed_over(&mut arguments);
        let name = match target.path_ref() {
            Some(path) => self.last_name(path),
            None => "result".into(),
        };
        let called_back = if construct { None } else { self.called_back(&target) };
        let Val { term, shape, .. } = target;
        let path = match term {
            Term::Path(path) => Some(path),
            _ => None,
        };
        // What a function makes of a counter is its own affair: a delay that it works out may grow, and may be spread.
        let values = arguments.iter().flat_map(|arg| &arg.values);
        let counts = values.copied().any(|value| self.flags(value) & flag::COUNTER != 0);
        let flags = if construct { 0 } else { flag::STATE }
            | if counts && !construct { flag::GROWS | flag::CHANCE } else { 0 };
        let into = (wanted != Use::Nothing || construct).then(|| self.step(&name, flags));
        let receiver = path.as_ref().and_then(|path| {
            let (_, fields) = path.fields.split_last()?;
            Some(AccessPath { root: path.root.clone(), fields: fields.into() })
        });
        let is_global = path.as_ref().is_some_and(|path| matches!(path.root, Root::Global(_)));
        let (callee, site) = match (shape, called_back) {
            (Shape::Function { function, captures }, _) if !is_global => {
                let site = self.site(path, construct, arguments, Some(function.0));
                (Callee::Closure { function, captures }, site)
            }
            (_, Some(value)) => (Callee::Value(value), self.site(path, construct, arguments, None)),
            _ => {
                let site = self.site(path, construct, arguments, None);
                (Callee::Pending(site), site)
            }
        };
        self.push(Op::Call { into, callee, receiver, arguments: given, awaited: true });
        match into {
            Some(into) => Val { shape: Shape::Call(site), direct: Some(into), ..Val::of(into, flags) },
            None => Val::nothing(),
        }
    }

    /// The value, if what is called is a parameter of this function or of one around it, or was read from a variable.
    fn called_back(&self, target: &Val) -> Option<Value> {
        let value = target.only_value()?;
        let origin = self.cx.values.get(value.0 as usize)?.origin;
        (matches!(origin, Origin::Argument | Origin::Capture) || target.direct.is_some()).then_some(value)
    }

    pub(super) fn last_name(&self, path: &AccessPath) -> Name {
        let named = path.fields.iter().rev().find_map(|field| match field {
            Field::Name(name) => Some(name.clone()),
            Field::At(_) => None,
        });
        named.unwrap_or_else(|| match &path.root {
            Root::Global(name) => split_global(name).map_or_else(|| name.clone(), |(_, last)| last.into()),
            Root::Value(value) => {
                self.cx.values.get(value.0 as usize).map_or_else(|| "result".into(), |info| info.name.clone())
            }
            Root::This => "receiver".into(),
        })
    }
}
