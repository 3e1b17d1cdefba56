//! What the language itself offers, and the few library functions whose arguments say more than a table can.

use interlock_model::ir::{Backoff, Callee, Field, LockKind, Name, Op, Resource, Start, Term, WriteMode};

use super::{
    super::{
        ast::{Call, Expr, Kind, Place},
        is_builtin, is_type,
    },
    Lowerer,
    calls::Use,
    expressions::joined,
    types::{is_lock, is_lock_name},
};
use crate::{
    Shape,
    val::{Val, flag, merge},
};

impl<'a> Lowerer<'a> {
    /// Functions and conversions of the language.
    pub(super) fn builtin_call(&mut self, at: Place, call: &'a Call<'a>) -> Option<Val> {
        let Kind::Name(name) = call.callee.kind else {
            if let Kind::Convert(_, None) = &call.callee.kind {
                return Some(call.arguments.first().map_or_else(Val::nothing, |only| self.expression(only)));
            }
            return None;
        };
        let own = self.facts.meant(call.callee.at.0).is_some() || self.declared.contains(name);
        if own || !is_builtin(name) {
            return None;
        }
        let first = call.arguments.first();
        match name {
            "make" => {
                let (name, of) = match &first?.kind {
                    Kind::Convert(type_, None) => match type_ {
                        super::super::ast::Type::Map(_) => ("map", None),
                        super::super::ast::Type::List(_) => ("slice", None),
                        super::super::ast::Type::Channel(_) => ("chan", None),
                        other => ("make", self.type_path(other)),
                    },
                    _ => ("make", None),
                };
                let sizes = call.arguments.iter().skip(1).map(|it| self.expression(it).into_arg()).collect();
                self.stand(at);
                if name == "make" {
                    return Some(self.new_value(&"made".into(), of));
                }
                Some(self.made(name, sizes))
            }
            "new" => {
                let type_ = match &first?.kind {
                    Kind::Convert(type_, None) => self.type_path(type_),
                    Kind::Name(_) | Kind::Selector(..) => self.nested_place(first?).path_ref().cloned(),
                    _ => None,
                };
                self.stand(at);
                let is_lock = match &first?.kind {
                    Kind::Convert(type_, None) => is_lock(type_),
                    Kind::Selector(package, name) => {
                        matches!(package.kind, Kind::Name(package) if is_lock_name(package, name))
                    }
                    _ => false,
                };
                let lock = is_lock.then_some(LockKind::Mutex);
                Some(self.new_value_of(&"new".into(), type_, lock))
            }
            "append" => {
                let list = self.expression(first?);
                let mut val = Val::from_values(list.values.clone(), 0);
                let mut items = match &list.shape {
                    Shape::List(items) => Some(items.clone()),
                    _ => None,
                };
                let mut appended = vec![];
                for more in call.arguments.iter().skip(1) {
                    let more = self.expression(more);
                    val.depend(&more);
                    if !call.spread {
                        appended.push(more.clone());
                    }
                    if let Some(items) = &mut items {
                        items.push(more.into_arg());
                    }
                }
                if let Some(items) = items {
                    val.shape = Shape::List(items);
                }
                self.appended = appended;
                Some(val)
            }
            "delete" => {
                let (object, key) = (first?, call.arguments.get(1)?);
                let place = self.index_place(object, key);
                self.stand(at);
                if let Some(path) = place.path_ref().filter(|path| self.is_state(path)) {
                    let of = Resource::Shared(path.clone());
                    self.push(Op::Delete { of, when: None, outcome: None, via: None });
                }
                Some(Val::nothing())
            }
            "close" => {
                let place = self.place(first?);
                let place = self.as_path(place);
                self.stand(at);
                if let Some(path) = place.path_ref().cloned() {
                    // Whoever closes it a second time panics; whoever waits for it sees that it is closed.
                    let to = Resource::Flag(path.clone());
                    let mode = WriteMode::Blind;
                    self.push(Op::Write { to, from: vec![], mode, outcome: None, via: None });
                    self.push(Op::Close { handle: path });
                }
                Some(Val::nothing())
            }
            "panic" => {
                for argument in &call.arguments {
                    self.expression(argument);
                }
                self.stand(at);
                self.push(Op::Exit(interlock_model::ir::Exit::Throw));
                Some(Val::nothing())
            }
            _ => {
                let mut val = Val::nothing();
                for argument in &call.arguments {
                    let argument = self.expression(argument);
                    if is_type(name) && val.term == Term::Unknown && val.values.is_empty() {
                        // `string(x)` is x by another type.
                        val = Val { direct: None, ..argument };
                    } else {
                        val.depend(&argument);
                    }
                }
                Some(val)
            }
        }
    }

    fn nested_place(&mut self, expression: &'a Expr<'a>) -> Val {
        let opened = self.open(false);
        let val = self.place(expression);
        self.close(opened);
        val
    }

    /// `request.GetString("path", "")` is a member of the request.
    pub(super) fn looked_up(&mut self, at: Place, call: &'a Call<'a>) -> Option<Val> {
        let Kind::Selector(object, method) = &call.callee.kind else { return None };
        let builtin = super::super::tables().builtin();
        let member: &'a str = match call.arguments.first().map(|first| &first.kind) {
            Some(Kind::Text(member)) if builtin.looks_up.contains(*method) => member,
            None if builtin.getters.contains(*method) => method,
            _ => return None,
        };
        let place = self.place(object);
        let mut place = self.as_path(place);
        for more in call.arguments.iter().skip(1) {
            let more = self.expression(more);
            place.depend(&more);
        }
        self.stand(at);
        if let Term::Path(path) = &mut place.term {
            path.fields.push(Field::Name(member.into()));
        }
        let val = self.read_place(Val { shape: Shape::Opaque, direct: None, place: None, ..place });
        if val.direct.is_some() {
            return Some(val);
        }
        // Each argument of the caller is a value of its own, however they were handed over.
        let name = self.name(member);
        let value = self.derive(&name, val.values.clone(), val.term.clone(), 0);
        Some(Val { values: vec![value], ..val })
    }

    /// Forms of the standard library: texts with holes, sleeps, functions that run beside this one.
    pub(super) fn library_form(&mut self, at: Place, call: &'a Call<'a>) -> Option<Val> {
        if let Kind::Selector(_, "Go") = &call.callee.kind
            && let [only] = call.arguments.as_slice()
            && let Kind::Function(_) = &only.kind
        {
            // `group.Go(func() error { … })`.
            let function = self.expression(only);
            self.spawn(at, function, vec![]);
            return Some(Val::nothing());
        }
        if let Kind::Selector(timer, "Stop") = &call.callee.kind
            && let Kind::Selector(_, field) = &timer.kind
            && self.timer_fields.contains(field)
        {
            self.on_timer(at, timer, "stop");
            return Some(Val::nothing());
        }
        let (package, name) = self.library_function(&call.callee)?;
        match (package, name) {
            ("fmt", "Sprintf" | "Errorf") => {
                let (format, holes) = call.arguments.split_first()?;
                let Kind::Text(format) = &format.kind else { return None };
                let vals: Vec<Val> = holes.iter().map(|it| self.expression(it)).collect();
                self.stand(at);
                Some(self.formatted(format, vals))
            }
            ("fmt", "Sprint" | "Sprintln") | ("strings", "TrimSpace" | "ToLower") => {
                let mut val = Val::nothing();
                for argument in &call.arguments {
                    let argument = self.expression(argument);
                    val.depend(&argument);
                    if call.arguments.len() == 1 && name != "ToLower" {
                        val.term = argument.term.clone();
                    }
                }
                Some(val)
            }
            ("time", "Sleep") => {
                self.sleep(at, call.arguments.first()?);
                Some(Val::nothing())
            }
            // A conversion: the same number as a span of time.
            ("time", "Duration") => {
                let val = self.expression(call.arguments.first()?);
                Some(Val { direct: None, ..val })
            }
            ("time", "AfterFunc") => {
                let function = self.expression(call.arguments.get(1)?);
                self.stand(at);
                let opened = self.open(true);
                self.invoke(function, vec![], false, Use::Nothing);
                let body = self.close(opened);
                self.push(Op::Spawn { start: Start::Timer, body });
                Some(self.new_value(&"timer".into(), None))
            }
            _ => None,
        }
    }

    /// A pause, and whether it is another one each time and for each.
    fn sleep(&mut self, at: Place, argument: &'a Expr<'a>) {
        let val = self.expression(argument);
        self.stand(at);
        let grows = val.flags & (flag::GROWS | flag::COUNTER) != 0 || self.changes_each_turn(argument);
        let backoff = if grows { Backoff::Growing } else { Backoff::Fixed };
        let jitter = val.flags & flag::CHANCE != 0 || self.draws(argument);
        self.push(Op::Sleep { backoff, jitter });
    }

    /// `<-time.After(pause)`, `<-timer.C`, `<-ticker.C`: whoever takes from such a channel waits for the time.
    pub(super) fn waits_for_time(&mut self, at: Place, channel: &'a Expr<'a>) -> Option<Val> {
        match &channel.kind {
            Kind::Call(call)
                if matches!(self.library_function(&call.callee), Some(("time", "After" | "Tick"))) =>
            {
                self.sleep(at, call.arguments.first()?);
            }
            Kind::Selector(timer, "C") => {
                let known = match timer.kind {
                    Kind::Name(_) => self.facts.meant(timer.at.0).and_then(|symbol| self.timers.get(&symbol)),
                    _ => None,
                };
                // For how long one is set that was made elsewhere is not known.
                let (backoff, jitter) = known.copied().unwrap_or((Backoff::Growing, true));
                if let Kind::Selector(..) = timer.kind {
                    self.on_timer(at, timer, "wait");
                }
                self.stand(at);
                self.push(Op::Sleep { backoff, jitter });
            }
            _ => return None,
        }
        Some(Val::nothing())
    }

    /// A timer that an object has is waited for, or stopped: whoever stops it stops those who wait.
    fn on_timer(&mut self, at: Place, timer: &'a Expr<'a>, does: &'static str) {
        let place = self.place(timer);
        self.stand(at);
        if let Some(receiver) = place.path_ref().cloned().filter(|path| self.is_state(path)) {
            let (callee, receiver) = (Callee::Named(does.into()), Some(receiver));
            self.push(Op::Call { into: None, callee, receiver, arguments: vec![], awaited: true });
        }
    }

    /// Whether an expression is a channel on which the time comes, and nothing else.
    pub(super) fn is_time(&self, channel: &Expr<'a>) -> bool {
        match &channel.kind {
            Kind::Call(call) => self.library_function(&call.callee) == Some(("time", "Tick")),
            Kind::Selector(timer, "C") => match &timer.kind {
                Kind::Name(_) => {
                    self.facts.meant(timer.at.0).is_some_and(|symbol| self.timers.contains_key(&symbol))
                }
                Kind::Selector(_, field) => self.timer_fields.contains(field),
                _ => false,
            },
            _ => false,
        }
    }

    /// Remembers for how long a timer is set that a local has.
    pub(super) fn remember_timer(&mut self, left: &'a Expr<'a>, right: &'a Expr<'a>) {
        let (Kind::Name(_), Kind::Call(call)) = (&left.kind, &right.kind) else { return };
        let Some(("time", "NewTimer" | "NewTicker")) = self.library_function(&call.callee) else { return };
        let (Some(symbol), Some(argument)) = (self.facts.meant(left.at.0), call.arguments.first()) else {
            return;
        };
        let mut names = vec![];
        names_in(argument, &mut names);
        let flags = names.iter().filter_map(|(_, at)| self.bindings.get(&self.facts.meant(at.0)?));
        let flags = flags.fold(0, |all, binding| all | self.flags(binding.value));
        let grows = flags & (flag::GROWS | flag::COUNTER) != 0 || self.changes_each_turn(argument);
        let backoff = if grows { Backoff::Growing } else { Backoff::Fixed };
        let jitter = flags & flag::CHANCE != 0 || self.draws(argument);
        self.timers.insert(symbol, (backoff, jitter));
    }

    /// Whether a variable that a loop around this computes anew is part of an expression.
    fn changes_each_turn(&self, expression: &'a Expr<'a>) -> bool {
        let mut names = vec![];
        names_in(expression, &mut names);
        let assigned =
            |symbol: u32| self.turns.iter().any(|turn| self.facts.assigned_in(*turn).contains(&symbol));
        names.iter().any(|(_, at)| self.facts.meant(at.0).is_some_and(assigned))
    }

    /// Whether chance is part of an expression: `rand.Int63n(…)`.
    fn draws(&self, expression: &'a Expr<'a>) -> bool {
        let mut names = vec![];
        names_in(expression, &mut names);
        let is_chance = |name: &str| self.imports.get(name).is_some_and(|path| path.contains("/rand"));
        names.iter().any(|(name, _)| is_chance(name))
    }

    /// Something that runs beside this from now on.
    pub(super) fn spawn(&mut self, at: Place, target: Val, arguments: Vec<crate::Arg>) {
        self.stand(at);
        let opened = self.open(true);
        self.invoke(target, arguments, false, Use::Nothing);
        let body = self.close(opened);
        self.push(Op::Spawn { start: Start::Now, body });
    }

    /// A text with verbs in it: each is a hole.
    fn formatted(&mut self, format: &str, vals: Vec<Val>) -> Val {
        let mut val = Val::nothing();
        for hole in &vals {
            val.depend(hole);
            merge(&mut val.values, &hole.values);
        }
        let mut vals = vals.into_iter();
        let mut parts: Vec<Term> = vec![];
        let mut text = String::new();
        let mut characters = format.chars().peekable();
        while let Some(character) = characters.next() {
            if character != '%' {
                text.push(character);
                continue;
            }
            while characters
                .peek()
                .is_some_and(|next| matches!(next, '+' | '-' | '#' | '0'..='9' | '.' | ' '))
            {
                characters.next();
            }
            match characters.next() {
                Some('%') => text.push('%'),
                verb => {
                    if verb == Some('q') {
                        text.push('"');
                    }
                    if !text.is_empty() {
                        parts.push(literal(&mut text));
                    }
                    match vals.next() {
                        Some(Val { shape: Shape::Text(inner), .. }) => parts.extend(inner),
                        Some(hole) => parts.push(self.part(hole)),
                        None => parts.push(Term::Unknown),
                    }
                    if verb == Some('q') {
                        text.push('"');
                    }
                }
            }
        }
        if !text.is_empty() || parts.is_empty() {
            parts.push(literal(&mut text));
        }
        joined(&mut val, parts);
        val
    }
}

/// The names that an expression is put together from.
fn names_in<'a>(expression: &Expr<'a>, found: &mut Vec<(&'a str, Place)>) {
    match &expression.kind {
        Kind::Name(name) => found.push((*name, expression.at)),
        Kind::Selector(inner, _) | Kind::Unary(_, inner) | Kind::Convert(_, Some(inner)) => {
            names_in(inner, found);
        }
        Kind::Binary(first, rest) => {
            names_in(first, found);
            rest.iter().for_each(|(_, part)| names_in(part, found));
        }
        Kind::Call(call) => {
            names_in(&call.callee, found);
            call.arguments.iter().for_each(|argument| names_in(argument, found));
        }
        _ => {}
    }
}

fn literal(text: &mut String) -> Term {
    let name: Name = std::mem::take(text).into();
    Term::Literal(name)
}
