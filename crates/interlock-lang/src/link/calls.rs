//! Calls of functions of the program: with their receiver and with what closures take along; objects that are made; one of several
//! functions by name.

use interlock_model::ir::{
    AccessPath, Argument, Block, Callee, Effect, Field, FunctionId, Name, Op, Resource, Root, Term,
    UnresolvedReason, Value, WriteMode,
};

use super::rewrite::{Rewriter, Standing, fresh};
use crate::{
    Arg, Shape,
    eval::{AbstractValue, Definition, Reached, builtins, context::Context},
    tables::Builtins,
};

/// More functions than this in one object are not told apart by their key.
const MOST_MEMBERS: usize = 48;

/// One of several functions that a call may reach.
pub(super) struct Way {
    /// Under which name it is found.
    pub(super) name: Option<Name>,
    pub(super) function: FunctionId,
    pub(super) receiver: Option<AccessPath>,
}

impl<'f> Rewriter<'_, 'f> {
    pub(super) fn call_function(
        &mut self,
        standing: &Standing<'f>,
        function: FunctionId,
        receiver: Option<AccessPath>,
        out: &mut Block,
    ) {
        let method = standing.site.callee.as_ref().and_then(|callee| callee.fields.last());
        let borrowed = match method {
            Some(Field::Name(name)) if matches!(&**name, "call" | "apply") => Some(&**name),
            _ => None,
        };
        let is_own = |meaning: AbstractValue<'_>| matches!(meaning, AbstractValue::Function(own, _) if own == function);
        let whole = standing.site.callee.as_ref();
        if let (Some(how), false) =
            (borrowed, whole.is_some_and(|callee| is_own(self.eval.path(self.id, callee))))
        {
            let this = standing.site.arguments.first().and_then(|arg| match &arg.term {
                Term::Path(path) => Some(path.clone()),
                _ => None,
            });
            let callee = self.callee(function);
            let mut arguments = self.arguments(standing);
            if !arguments.is_empty() {
                arguments.remove(0);
            }
            if how == "apply" {
                arguments.clear();
            }
            let op = Op::Call {
                into: standing.into,
                callee,
                receiver: this,
                arguments,
                awaited: standing.awaited,
            };
            out.push(Effect { span: standing.span, op });
            return;
        }
        let receiver = receiver.map(|receiver| self.eval.alias(self.id, &receiver));
        let callee = self.callee(function);
        self.push_call(standing, callee, receiver, out);
    }

    /// How a function is called from here: one that takes something along is a closure, and what it takes along has a name here if
    /// it is written here; else it gets one by which all closures that share it agree.
    pub(super) fn callee(&self, function: FunctionId) -> Callee {
        match self.captures(function) {
            Some(captures) => Callee::Closure { function, captures },
            None => Callee::Function(function),
        }
    }

    fn captures(&self, function: FunctionId) -> Option<Vec<Term>> {
        self.eval.captures(self.id, function)
    }

    fn arguments(&self, standing: &Standing<'f>) -> Vec<Argument> {
        let given = &standing.arguments;
        standing
            .site
            .arguments
            .iter()
            .enumerate()
            .map(|(number, arg)| match given.get(number) {
                Some(closure @ Argument::Closure { .. }) => closure.clone(),
                // What was put together for the call has a name of its own by then.
                Some(Argument::Term(given)) => match self.argument(arg) {
                    Argument::Term(Term::Unknown) => Argument::Term(given.clone()),
                    known => known,
                },
                None => self.argument(arg),
            })
            .collect()
    }

    /// The arguments for a function, with what its parameters are by default where nothing is handed over for them.
    fn arguments_for(&self, standing: &Standing<'f>, callee: &Callee) -> Vec<Argument> {
        let mut arguments = self.arguments(standing);
        let (Callee::Function(function) | Callee::Closure { function, .. }) = callee else {
            return arguments;
        };
        let Some(defaults) = self.eval.index.defaults.get(function) else { return arguments };
        // What is nothing by default has no name, and what stands behind it may have one.
        let default = |arg: &&Arg| match (named(self.eval.builtins, &arg.from_outside()), &arg.shape) {
            (Term::Unknown, Shape::Null) => Some(Argument::Term(Term::Unknown)),
            (Term::Unknown, _) => None,
            (term, _) => Some(Argument::Term(term)),
        };
        let missing = defaults.iter().skip(arguments.len());
        let mut known: Vec<Argument> = missing.map_while(|arg| arg.as_ref().and_then(default)).collect();
        while known.last().is_some_and(|last| matches!(last, Argument::Term(Term::Unknown))) {
            known.pop();
        }
        arguments.extend(known);
        arguments
    }

    /// Whether an argument is a function that this one was handed itself, and which one depends on who called it.
    fn is_passed_on(&self, arg: &Arg) -> bool {
        match &arg.term {
            Term::Path(AccessPath { root: Root::Value(value), fields }) if fields.is_empty() => {
                self.eval.is_for_callers_to_say(self.id, *value)
            }
            _ => false,
        }
    }

    /// An argument; a function that is named is handed over as one.
    fn argument(&self, arg: &'f Arg) -> Argument {
        match &arg.shape {
            Shape::Function { function, captures } => {
                Argument::Closure { function: *function, captures: captures.clone() }
            }
            Shape::Opaque | Shape::Call(_) | Shape::Choice(_) => match self.eval.arg(self.id, arg) {
                AbstractValue::Function(..) | AbstractValue::Alternatives(_) if self.is_passed_on(arg) => {
                    Argument::Term(named(self.eval.builtins, arg))
                }
                // Of several functions a call is handed the first: an argument is one value.
                AbstractValue::Function(function, _) => self.closure(function),
                several @ AbstractValue::Alternatives(_) => match several.function() {
                    Some(function) => self.closure(function),
                    None => Argument::Term(named(self.eval.builtins, arg)),
                },
                _ => Argument::Term(named(self.eval.builtins, arg)),
            },
            _ => Argument::Term(named(self.eval.builtins, arg)),
        }
    }

    fn closure(&self, function: FunctionId) -> Argument {
        Argument::Closure { function, captures: self.captures(function).unwrap_or_default() }
    }

    pub(super) fn push_call(
        &mut self,
        standing: &Standing<'f>,
        callee: Callee,
        receiver: Option<AccessPath>,
        out: &mut Block,
    ) {
        let mut arguments = self.arguments_for(standing, &callee);
        self.name_together(standing, &mut arguments, out);
        // An object is there at once: what is waited for is its methods.
        let awaited = standing.awaited && !(standing.site.construct && matches!(callee, Callee::Named(_)));
        let op = Op::Call { into: standing.into, callee, receiver, arguments, awaited };
        out.push(Effect { span: standing.span, op });
    }

    /// Gives what was put together of arguments by name one of its own, so that what the callee does with it leads back to them.
    fn name_together(&mut self, standing: &Standing<'f>, arguments: &mut [Argument], out: &mut Block) {
        for (argument, arg) in arguments.iter_mut().zip(standing.site.arguments.iter()) {
            if matches!(argument, Argument::Term(Term::Unknown))
                && matches!(arg.shape, Shape::Object(_))
                && !arg.values.is_empty()
            {
                let into = self.declare("fields");
                let op = Op::Derive { into, from: arg.values.clone(), term: Term::Unknown };
                out.push(Effect { span: standing.span, op });
                *argument = Argument::Term(into.into());
            }
        }
    }

    /// An object is made, and its constructor runs on it.
    pub(super) fn construct(&mut self, standing: &Standing<'f>, class: usize, out: &mut Block) {
        let name =
            self.eval.flat.classes.get(class).map_or("object", |class| {
                class.name.rsplit_once("::").map_or(&*class.name, |(_, name)| name)
            });
        let into = standing.into.unwrap_or_else(|| self.declare(name));
        out.push(Effect { span: standing.span, op: Op::New { into, lock: None } });
        if let Some(constructor) = self.eval.constructor(class) {
            let (callee, receiver) = (self.callee(constructor), Some(into.into()));
            let mut arguments = self.arguments_for(standing, &callee);
            self.name_together(standing, &mut arguments, out);
            let op = Op::Call { into: None, callee, receiver, arguments, awaited: true };
            out.push(Effect { span: standing.span, op });
        }
    }

    /// An object of one of several classes is made: `importer = IMPORTERS[kind](options)`.
    pub(super) fn construct_one_of(&mut self, standing: &Standing<'f>, classes: &[usize], out: &mut Block) {
        let (mut results, mut rest): (Vec<Value>, Block) = (vec![], vec![]);
        for class in classes.iter().rev() {
            let into = self.declare("object");
            results.push(into);
            let way = Standing { into: Some(into), arguments: standing.arguments.clone(), ..*standing };
            let mut then = vec![];
            self.construct(&way, *class, &mut then);
            if rest.is_empty() {
                rest = then;
            } else {
                let check = Op::Check { on: vec![], equal: None, asks: vec![], then, otherwise: rest };
                rest = vec![Effect { span: standing.span, op: check }];
            }
        }
        out.extend(rest);
        if let Some(into) = standing.into {
            results.reverse();
            let op = Op::Derive { into, from: results, term: Term::Unknown };
            out.push(Effect { span: standing.span, op });
        }
    }

    /// A variable of a module that is declared with what a function of the program gives back is where that is from then on: what a
    /// constructor has loaded into its object is what calls find there.
    pub(super) fn keep_declared(&self, standing: &Standing<'f>, out: &mut Block) {
        let is_module = || {
            let about = self.eval.flat.about.get(self.id.0 as usize);
            about.is_some_and(|about| about.module == self.id.0)
        };
        let Some(value) = standing.into.filter(|_| is_module()) else { return };
        if let Some(path) = self.eval.declared_with(standing.number) {
            let to = Resource::Shared(path.clone());
            let op = Op::Write { to, from: vec![value], mode: WriteMode::Blind, outcome: None, via: None };
            out.push(Effect { span: standing.span, op });
        }
    }

    /// One of several functions by key: each behind a check of its name.
    pub(super) fn member(
        &mut self,
        standing: &Standing<'f>,
        whole: &AbstractValue<'f>,
        receiver: AccessPath,
        key: &Term,
        out: &mut Block,
    ) {
        let members = self.functions_of(whole, &receiver);
        if members.is_empty() || members.len() > MOST_MEMBERS {
            let element = receiver.clone().at(key.clone());
            match self.eval.path(self.id, &element) {
                AbstractValue::Function(function, _) => {
                    let callee = self.callee(function);
                    self.push_call(standing, callee, Some(receiver), out);
                }
                _ => {
                    self.note_unresolved(standing, UnresolvedReason::Computed);
                    self.push_call(standing, Callee::Named("?".into()), Some(receiver), out);
                }
            }
            return;
        }
        let on = match key {
            Term::Path(AccessPath { root: Root::Value(value), .. }) => Some(*value),
            _ => None,
        };
        let way = |(name, function, bound): (Name, FunctionId, Option<AccessPath>)| Way {
            name: Some(name),
            function,
            receiver: Some(bound.unwrap_or_else(|| receiver.clone())),
        };
        self.alternatives(standing, on, members.into_iter().map(way).collect(), out);
    }

    /// One of several functions: each behind a check of its name, the last behind none where it has none.
    pub(super) fn alternatives(
        &mut self,
        standing: &Standing<'f>,
        on: Option<Value>,
        ways: Vec<Way>,
        out: &mut Block,
    ) {
        let (mut results, mut rest): (Vec<Value>, Block) = (vec![], vec![]);
        for Way { name, function, receiver } in ways.into_iter().rev() {
            let into = standing.into.map(|_| self.declare("result"));
            results.extend(into);
            let way = Standing { into, arguments: standing.arguments.clone(), ..*standing };
            let mut then = vec![];
            if !self.request(&way, (function, receiver.as_ref()), &mut then) {
                let callee = self.callee(function);
                let arguments = self.arguments_for(standing, &callee);
                let op = Op::Call { into, callee, receiver, arguments, awaited: standing.awaited };
                then.push(Effect { span: standing.span, op });
            }
            if name.is_none() && rest.is_empty() {
                rest = then;
                continue;
            }
            let check =
                Op::Check { on: on.into_iter().collect(), equal: name, asks: vec![], then, otherwise: rest };
            rest = vec![Effect { span: standing.span, op: check }];
        }
        out.extend(rest);
        if let Some(into) = standing.into {
            results.reverse();
            out.push(Effect {
                span: standing.span,
                op: Op::Derive { into, from: results, term: Term::Unknown },
            });
        }
    }

    /// The functions in an object, by name, and what those are called on that are methods of this object: `{"add": self.add}`.
    fn functions_of(
        &self,
        whole: &AbstractValue<'f>,
        receiver: &AccessPath,
    ) -> Vec<(Name, FunctionId, Option<AccessPath>)> {
        let AbstractValue::Object(members, Context { function: within, .. }) = whole else { return vec![] };
        members
            .iter()
            .filter_map(|(name, arg)| {
                let place = receiver.clone().field(name.clone());
                let found = match self.eval.arg(FunctionId(*within), arg) {
                    AbstractValue::Unknown => self.eval.path(self.id, &place),
                    known => known,
                };
                match found {
                    AbstractValue::Function(function, _) => {
                        Some((name.clone(), function, self.bound_by(*within, &arg.term)))
                    }
                    _ => None,
                }
            })
            .collect()
    }

    /// The object whose method a name in an object is, where that is `self` there and here.
    fn bound_by(&self, within: u32, term: &Term) -> Option<AccessPath> {
        let Term::Path(AccessPath { root: Root::This, fields }) = term else { return None };
        let (_, fields) = fields.split_last()?;
        let owner = |function: FunctionId| self.eval.index.heads.get(function.0 as usize)?.owner.as_ref();
        let is_same = self.eval.semantics.called.is_some() && owner(FunctionId(within)) == owner(self.id);
        is_same.then(|| AccessPath { root: Root::This, fields: fields.into() })
    }

    /// A call of what a value holds, if that is a library's function; one that holds a function of the program becomes a call of it.
    pub(super) fn called_value(&self, effect: &mut Effect) -> Option<Standing<'f>> {
        let Op::Call { into, callee: callee @ Callee::Value(_), receiver, arguments, awaited } =
            &mut effect.op
        else {
            return None;
        };
        let Callee::Value(value) = *callee else { return None };
        let meaning = self.eval.value(self.id, value);
        let is_function = meaning.function().is_some();
        let is_computed = matches!(meaning, AbstractValue::Plain)
            && !matches!(
                self.eval.definition(self.id, value),
                Some(Definition::Parameter(_) | Definition::Capture(_))
            );
        if !is_function
            && !is_computed
            && !self.is_class_or_called(&meaning)
            && !matches!(
                meaning,
                AbstractValue::Kind(_) | AbstractValue::Bound(_) | AbstractValue::Export(..)
            )
        {
            return None;
        }
        if is_function && self.eval.is_for_callers_to_say(self.id, value) {
            return None;
        }
        if let Some(function) = meaning.function()
            && self.is_made_by_call(value, function)
        {
            return None;
        }
        let key = (self.id.0, effect.span.start, effect.span.end);
        if let Some(number) = self.eval.index.by_value.get(&key) {
            let site = self.eval.flat.sites.get(*number as usize)?;
            let (number, span, arguments) = (*number, effect.span, std::mem::take(arguments));
            return Some(Standing { number, site, span, into: *into, awaited: *awaited, arguments });
        }
        if let AbstractValue::Function(function, _) = meaning {
            *callee = self.callee(function);
            *receiver = self.bound_to(value);
        }
        None
    }

    /// What is handed over by position to something that only those know who hand it over: the names behind that are for the function
    /// that it turns out to be, and are not led there.
    pub(super) fn hand_by_position(&self, effect: &mut Effect) {
        let key = (self.id.0, effect.span.start, effect.span.end);
        let Op::Call { callee: Callee::Value(_), arguments, .. } = &mut effect.op else { return };
        let number = self.eval.index.by_value.get(&key).filter(|_| arguments.is_empty());
        let Some(site) = number.and_then(|number| self.eval.flat.sites.get(*number as usize)) else { return };
        let named = usize::from(site.named);
        let positional = site.arguments.len().saturating_sub(named);
        arguments.extend(site.arguments.iter().take(positional).map(|arg| self.argument(arg)));
    }

    /// The parameter that is called, if the function that callers hand over captures something. Also where there is only one such
    /// function: what it captures has a name where it is written, and what it is about shows there.
    pub(super) fn handed(&self, standing: &Standing<'f>, function: FunctionId) -> Option<Value> {
        let heads = &self.eval.index.heads;
        if heads.get(function.0 as usize)?.captures == 0 {
            return None;
        }
        let callee = standing.site.callee.as_ref().filter(|callee| callee.fields.is_empty())?;
        let Root::Value(value) = callee.root else { return None };
        let is_parameter = matches!(self.eval.definition(self.id, value), Some(Definition::Parameter(_)));
        let (outer, _) = self.eval.index.captured(function)?;
        (is_parameter && *outer != self.id).then_some(value)
    }

    /// Whether something is a class or an object that can be called, or one of several.
    fn is_class_or_called(&self, meaning: &AbstractValue<'f>) -> bool {
        match meaning {
            AbstractValue::Class(_) => true,
            AbstractValue::Alternatives(all) => all.iter().all(|one| self.is_class_or_called(one)),
            object => self.eval.called_object(object).is_some(),
        }
    }

    /// Whether a function is made here by a call, and takes along what that call was given: `guarded(handler)(args)`. What it takes
    /// along is known where the call is followed; elsewhere it could be anybody's.
    fn is_made_by_call(&self, value: Value, function: FunctionId) -> bool {
        let maker = match self.eval.definition(self.id, value) {
            Some(Definition::Call(site)) => {
                let site = self.eval.flat.sites.get(*site as usize);
                match site.map(|site| self.eval.reached(site)) {
                    Some(Reached::Function(maker, _)) => maker,
                    _ => return false,
                }
            }
            Some(Definition::Returned(maker)) => *maker,
            _ => return false,
        };
        let parent = self.eval.flat.about.get(function.0 as usize).and_then(|about| about.parent);
        let takes_along =
            self.eval.index.heads.get(function.0 as usize).is_some_and(|head| head.captures > 0);
        takes_along && parent == Some(maker.0)
    }

    /// The object that a function was bound to: `this.handle.bind(this)`.
    fn bound_to(&self, value: Value) -> Option<AccessPath> {
        let Some(Definition::Call(site)) = self.eval.definition(self.id, value) else { return None };
        let site = self.eval.flat.sites.get(*site as usize)?;
        match (site.callee.as_ref()?.fields.last()?, &site.arguments.first()?.term) {
            (Field::Name(name), Term::Path(path)) if &**name == "bind" => Some(path.clone()),
            _ => None,
        }
    }

    /// Gives what a closure takes along a name where it has none yet.
    pub(super) fn refine(&self, function: FunctionId, captures: &mut [Term]) {
        for (capture, known) in captures.iter_mut().zip(self.captures(function).unwrap_or_default()) {
            if *capture == Term::Unknown {
                *capture = known;
            }
        }
    }
}

/// What an argument is called, a text put together from its parts included.
fn named(builtins: &Builtins, arg: &Arg) -> Term {
    let mut term = builtins::term(arg);
    fresh(builtins, &mut term);
    term
}
