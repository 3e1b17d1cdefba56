//! Replaces the calls that are to be looked up by what they reach: a function, the steps of a library's function, a read or write of
//! a map.

use interlock_model::{
    Span,
    ir::{
        AccessPath, Argument, Aspect, Block, Body, Callee, Effect, Field, Function, FunctionId, Name, Op,
        Origin, Resource, Root, Term, Unresolved, UnresolvedReason, Value, ValueInfo,
    },
};

use super::{calls::Way, collections, flat::number};
use crate::{
    eval::{AbstractValue, Alternatives, CallAt, Evaluator, Reached, builtins, further, last_name, library},
    module::{Site, split_global},
    tables::{Builtins, Does},
};

/// Rewrites one function.
pub(super) fn rewrite(eval: &Evaluator<'_, '_>, id: FunctionId, function: &mut Function) {
    let body = std::mem::take(&mut function.body);
    let mut rewriter = Rewriter { eval, id, values: &mut function.values };
    function.body = rewriter.block(body);
}

/// The function that is being rewritten.
pub(super) struct Rewriter<'r, 'f> {
    pub(super) eval: &'r Evaluator<'r, 'f>,
    pub(super) id: FunctionId,
    pub(super) values: &'r mut Vec<ValueInfo>,
}

/// A call as it stands among the steps.
pub(super) struct Standing<'f> {
    pub(super) number: u32,
    pub(super) site: &'f Site,
    pub(super) span: Span,
    pub(super) into: Option<Value>,
    pub(super) awaited: bool,
    pub(super) arguments: Vec<Argument>,
}

impl<'f> Rewriter<'_, 'f> {
    fn block(&mut self, mut block: Block) -> Block {
        let may_become_several = |effect: &Effect| {
            matches!(
                effect.op,
                Op::Call { callee: Callee::Pending(_) | Callee::Value(_), .. } | Op::Check { .. }
            ) || self.names_getter(&effect.op)
                || self.may_be_kept(&effect.op)
        };
        if !block.iter().any(may_become_several) {
            block.iter_mut().for_each(|effect| self.step(effect));
            return block;
        }
        let mut rewritten = Vec::with_capacity(block.len());
        for effect in block {
            if let Op::Check { then, .. } = &effect.op
                && self.is_always_yes(&effect.op)
            {
                let ends = matches!(then.last(), Some(Effect { op: Op::Exit(_), .. }));
                if let Op::Check { then, .. } = effect.op {
                    rewritten.extend(self.block(then));
                }
                // Nobody gets behind the only way that there is.
                if ends {
                    break;
                }
                continue;
            }
            self.effect(effect, &mut rewritten);
        }
        // A call becomes several steps, and a list that grows for them doubles. All of them are kept until the rules have looked.
        if rewritten.capacity() > rewritten.len() + 1 {
            let mut exact = Vec::with_capacity(rewritten.len());
            exact.append(&mut rewritten);
            return exact;
        }
        rewritten
    }

    /// Whether a check only asks for something that is surely there.
    fn is_always_yes(&self, op: &Op) -> bool {
        match op {
            Op::Check { on, equal: None, asks, .. } if asks.is_empty() => {
                matches!(on.as_slice(), [only] if self.eval.is_surely_given(self.id, *only))
            }
            _ => false,
        }
    }

    fn effect(&mut self, mut effect: Effect, out: &mut Block) {
        match effect.op {
            Op::Call { into, callee: Callee::Pending(number), arguments, awaited, .. } => {
                if let Some(site) = self.eval.flat.sites.get(number as usize) {
                    let standing = Standing { number, site, span: effect.span, into, awaited, arguments };
                    self.call(standing, out);
                }
                return;
            }
            Op::Call { callee: Callee::Value(_), .. } => {
                if let Some(standing) = self.called_value(&mut effect) {
                    self.call(standing, out);
                    return;
                }
                self.hand_by_position(&mut effect);
            }
            ref op => {
                if self.run_entry(&effect, out) {
                    return;
                }
                if let Some(op) = self.run_named(op) {
                    out.push(Effect { span: effect.span, op });
                    return;
                }
            }
        }
        self.step(&mut effect);
        out.push(effect);
    }

    /// A step that stays where it is.
    fn step(&mut self, effect: &mut Effect) {
        match &mut effect.op {
            Op::Call { callee: Callee::Closure { function, captures }, .. }
                if captures.contains(&Term::Unknown) =>
            {
                self.refine(*function, captures);
            }
            Op::Check { then, otherwise, .. } => {
                *then = self.block(std::mem::take(then));
                *otherwise = self.block(std::mem::take(otherwise));
            }
            Op::Spawn { body, .. } | Op::Loop { body, .. } | Op::Inlined { body, .. } => {
                *body = self.block(std::mem::take(body));
            }
            Op::Together { branches } => {
                for branch in branches {
                    *branch = self.block(std::mem::take(branch));
                }
            }
            Op::Try { body, catch, finally } => {
                *body = self.block(std::mem::take(body));
                if let Some(catch) = catch {
                    catch.body = self.block(std::mem::take(&mut catch.body));
                }
                *finally = self.block(std::mem::take(finally));
            }
            _ => {}
        }
        self.settle(&mut effect.op);
    }

    /// Gives the places that a step touches their shared names. What only names a value stays: it is what it was when it was read.
    fn settle(&self, op: &mut Op) {
        let place = match op {
            Op::Read { of: Resource::Flag(at) | Resource::Stream(at), .. }
            | Op::Write { to: Resource::Flag(at) | Resource::Stream(at), .. }
            | Op::Delete { of: Resource::Flag(at) | Resource::Stream(at), .. } => Some(at),
            Op::Acquire { lock, .. } | Op::Release { lock } => Some(&mut lock.object),
            Op::Open { handle } | Op::Close { handle } => Some(handle),
            Op::CountIn { group } | Op::CountOut { group } | Op::Drain { group } => Some(group),
            Op::Call { receiver, .. } => receiver.as_mut(),
            Op::Derive { term, .. } => {
                fresh(self.eval.builtins, term);
                self.read_imported(op);
                return;
            }
            // A member that is only looked at is what was put there; what is inside of it is where it always was.
            Op::Read { of: Resource::Shared(at), .. }
            | Op::Write { to: Resource::Shared(at), .. }
            | Op::Delete { of: Resource::Shared(at), .. } => {
                if at.fields.len() > 1
                    && let Some(shared) = self.eval.member_place(self.id, at)
                {
                    *at = shared;
                }
                None
            }
            _ => None,
        };
        if let Some(place) = place
            && let Root::Value(value) = place.root
            && !place.fields.is_empty()
            && let Some(mut alias) = self.eval.alias_of(self.id, value)
        {
            alias.fields.extend(place.fields.iter().cloned());
            *place = alias;
        }
        self.rewrite_nested(op);
    }

    /// A member of what is the function's own is no state: looking at it only computes.
    fn rewrite_nested(&self, op: &mut Op) {
        let Op::Read { into, of: Resource::Shared(path), aspect, .. } = op else { return };
        let Root::Value(value) = path.root else {
            // So is naming a function: functions do not change.
            let is_function = || {
                matches!(self.eval.path(self.id, path), AbstractValue::Function(..) | AbstractValue::Class(_))
            };
            if self.may_be_function(path) && is_function() {
                *op = Op::Derive { into: *into, from: vec![], term: Term::Path(path.clone()) };
            }
            return;
        };
        if !self.eval.is_state(self.id, path) {
            let term = if *aspect == Aspect::Content { Term::Path(path.clone()) } else { Term::Unknown };
            *op = Op::Derive { into: *into, from: vec![value], term };
        }
    }

    /// Whether a path ends in a name that some function has; asked first, because it is cheap.
    fn may_be_function(&self, path: &AccessPath) -> bool {
        match (path.fields.last(), &path.root) {
            (Some(Field::Name(name)), _) => self.eval.index.methods.contains_key(&**name),
            (None, Root::Global(name)) => {
                let known = self.eval.index.place(name);
                known.is_some_and(|(_, known)| known.bound.is_some() || known.class.is_some())
            }
            _ => false,
        }
    }

    /// A variable of another file that is assigned to somewhere is memory, and naming it reads it.
    fn read_imported(&self, op: &mut Op) {
        let Op::Derive { into, term: Term::Path(path), .. } = op else { return };
        let Root::Global(name) = &path.root else { return };
        if path.fields.is_empty() && self.eval.index.assigned.contains(name) {
            let of = Resource::Shared(path.clone());
            *op = Op::look(*into, of, Aspect::Content, None);
        }
    }

    fn call(&mut self, standing: Standing<'f>, out: &mut Block) {
        self.getters_before(standing.site, out);
        let reached = self.eval.reached(standing.site);
        let of_library = match &reached {
            Reached::Collection(kind, ..) => kind.is_none(),
            Reached::Export(library, path) => {
                if collections::function(self, &standing, library, path, out) {
                    return;
                }
                true
            }
            Reached::Other(..) | Reached::Method(..) => true,
            _ => false,
        };
        if of_library && self.library(&standing, &reached, out) {
            return;
        }
        match reached {
            Reached::Function(function, ref receiver)
                if self.statement(&standing, (function, receiver.as_ref()), out)
                    || self.request(&standing, (function, receiver.as_ref()), out) => {}
            Reached::Function(function, receiver) => {
                if let Some(value) = self.handed(&standing, function) {
                    self.push_call(&standing, Callee::Value(value), None, out);
                } else if let Some(value) = self.decorated(&standing, function, out) {
                    self.push_call(&standing, Callee::Value(value), receiver, out);
                } else {
                    self.call_function(&standing, function, receiver, out);
                }
                self.keep_declared(&standing, out);
            }
            Reached::Wrapped(function) => {
                // That it runs the function, and at once, nobody says.
                self.note_unresolved(&standing, UnresolvedReason::Guessed);
                self.call_function(&standing, function, None, out);
                self.keep_declared(&standing, out);
            }
            Reached::Class(class) => {
                self.construct(&standing, class, out);
                self.keep_declared(&standing, out);
            }
            Reached::OneOfClasses(classes) => {
                self.construct_one_of(&standing, &classes, out);
                self.keep_declared(&standing, out);
            }
            Reached::Super => {
                let parent = match self.eval.this(self.id) {
                    AbstractValue::Instance(class, _) => self.eval.parent(class),
                    _ => None,
                };
                if let Some(constructor) = parent.and_then(|parent| self.eval.constructor(parent)) {
                    self.push_call(&standing, Callee::Function(constructor), Some(AccessPath::this()), out);
                }
            }
            // What a library has given back it also does: `const end = histogram.startTimer(); … end();`.
            Reached::Value(value) if matches!(self.eval.value(self.id, value), AbstractValue::Foreign) => {
                self.note_unresolved(&standing, UnresolvedReason::Library);
                let name =
                    self.values.get(value.0 as usize).map_or_else(|| "?".into(), |info| info.name.clone());
                self.push_call(&standing, Callee::Named(name), None, out);
            }
            Reached::Value(value) => self.push_call(&standing, Callee::Value(value), None, out),
            Reached::OneOf(Alternatives { functions, left_out }, receiver) => {
                if left_out > 0 {
                    let left_out = number(left_out);
                    self.note_unresolved(&standing, UnresolvedReason::Alternatives { left_out });
                }
                if functions.is_empty() {
                    let callee = standing.site.callee.as_ref();
                    let name = callee.and_then(last_name).map_or_else(|| "?".into(), Name::from);
                    return self.other(&standing, receiver, &name, false, out);
                }
                let receiver = receiver.map(|receiver| self.eval.alias(self.id, &receiver));
                let way = |function| Way { name: None, function, receiver: receiver.clone() };
                self.alternatives(&standing, None, functions.into_iter().map(way).collect(), out);
                self.keep_declared(&standing, out);
            }
            Reached::Member(whole, receiver, key) => self.member(&standing, &whole, receiver, &key, out),
            Reached::Collection(kind, receiver, name) => {
                collections::method(self, &standing, kind, &receiver, &name, out);
            }
            Reached::Export(library, path) => self.unknown_export(&standing, &library, &path, out),
            Reached::Method(_, receiver, name) => {
                if self.remote_method(&standing, Some(&receiver), &name, true, out) {
                    self.note_client(&standing, name, UnresolvedReason::Library);
                } else {
                    self.note_unresolved(&standing, UnresolvedReason::Library);
                    self.other(&standing, Some(receiver), &name, false, out);
                }
            }
            // Whatever made a list, its methods run what they are handed at once.
            Reached::Other(Some(ref receiver), ref name, AbstractValue::Foreign)
                if self.eval.builtins.does(name) == Some(Does::Each)
                    && hands_over_function(&standing.arguments) =>
            {
                collections::each(self, &standing, receiver, name, out);
            }
            Reached::Other(None, _, AbstractValue::Unknown)
                if standing
                    .site
                    .callee
                    .as_ref()
                    .is_some_and(|callee| self.eval.is_left_to_others(callee)) =>
            {
                self.compute(&standing, None, out);
            }
            Reached::Other(receiver, name, whole) => {
                let reason = match (&receiver, &whole) {
                    (None, _) if standing.site.callee.is_none() => UnresolvedReason::Computed,
                    (None, AbstractValue::Foreign) => UnresolvedReason::Library,
                    (None, _) => UnresolvedReason::Function,
                    (Some(_), AbstractValue::Unknown) => UnresolvedReason::Receiver,
                    (Some(_), AbstractValue::Foreign | AbstractValue::Kind(_)) => UnresolvedReason::Library,
                    (Some(_), _) => UnresolvedReason::Method,
                };
                let is_known =
                    matches!(whole, AbstractValue::Plain) || self.eval.builtins.computes(&name).is_some();
                if !is_known {
                    let is_library = reason == UnresolvedReason::Library && receiver.is_some();
                    let may_be = is_library || reason == UnresolvedReason::Receiver;
                    if may_be && self.remote_method(&standing, receiver.as_ref(), &name, is_library, out) {
                        self.note_client(&standing, name, reason);
                        return;
                    }
                    self.note_unresolved(&standing, reason);
                }
                self.other(&standing, receiver, &name, matches!(whole, AbstractValue::Plain), out);
            }
        }
    }

    /// Notes that it is not known what a call does, or not all of it.
    pub(super) fn note_unresolved(&self, standing: &Standing<'f>, reason: UnresolvedReason) {
        let callee = standing.site.callee.as_ref().map_or_else(|| "?".to_owned(), |path| self.written(path));
        let (function, span) = (self.id, standing.span);
        let unresolved = Unresolved { function, span, callee: callee.into(), reason };
        self.eval.unresolved.borrow_mut().push(unresolved);
    }

    /// Notes that a call was taken for a request of a client of which nothing is known: for what it is, and that it was guessed.
    fn note_client(&self, standing: &Standing<'f>, callee: Name, reason: UnresolvedReason) {
        let (function, span) = (self.id, standing.span);
        self.eval.unresolved.borrow_mut().push(Unresolved { function, span, callee, reason });
        self.note_unresolved(standing, UnresolvedReason::Guessed);
    }

    /// Notes that a call runs another program: what that one changes is not seen.
    fn note_program(&self, standing: &Standing<'f>, program: &Name) {
        if program.is_empty() {
            return self.note_unresolved(standing, UnresolvedReason::Program);
        }
        let (function, span, callee) = (self.id, standing.span, program.clone());
        let unresolved = Unresolved { function, span, callee, reason: UnresolvedReason::Program };
        self.eval.unresolved.borrow_mut().push(unresolved);
    }

    /// A path about as it is written.
    pub(super) fn written(&self, path: &AccessPath) -> String {
        let mut text = match &path.root {
            Root::Global(name) => split_global(name).map_or(&**name, |(_, name)| name).to_owned(),
            Root::This => "this".to_owned(),
            Root::Value(value) => self.values.get(value.0 as usize).map_or("?", |info| &info.name).to_owned(),
        };
        further(&mut text, &path.fields);
        text
    }

    /// Lets the knowledge write the steps of the call; `false` if it does not know it.
    fn library(&mut self, standing: &Standing<'f>, reached: &Reached<'f>, out: &mut Block) -> bool {
        let mut body = Body::over(self.values, standing.span);
        let at = CallAt { into: standing.into, awaited: standing.awaited };
        let Some(outcome) = library::apply(self.eval, standing.number, reached, at, &mut body) else {
            return false;
        };
        let mut steps = body.finish();
        if outcome.guessed && !steps.is_empty() {
            self.note_unresolved(standing, UnresolvedReason::Guessed);
        }
        if let Some(program) = &outcome.program {
            self.note_program(standing, program);
        }
        if outcome.open_request {
            self.note_unresolved(standing, UnresolvedReason::Request);
        }
        self.define_if_not(standing, &mut steps);
        out.extend(steps);
        true
    }

    /// What the result of a call is called must come about somewhere, so that what depends on it depends on its arguments.
    pub(super) fn define_if_not(&self, standing: &Standing<'f>, steps: &mut Block) {
        let Some(into) = standing.into else { return };
        if !steps.iter().any(|step| defines(step, into)) {
            let from = self.depends(standing.site, None);
            steps.push(Effect { span: standing.span, op: Op::Derive { into, from, term: Term::Unknown } });
        }
    }

    /// Everything that the result of a call may depend on.
    pub(super) fn depends(&self, site: &Site, receiver: Option<&AccessPath>) -> Vec<Value> {
        let mut from = vec![];
        let receiver = receiver.or(site.callee.as_ref());
        if let Some(AccessPath { root: Root::Value(value), .. }) = receiver {
            from.push(*value);
        }
        for value in site.arguments.iter().flat_map(|argument| &argument.values) {
            if !from.contains(value) && from.len() < 256 {
                from.push(*value);
            }
        }
        from
    }

    /// What was found in an export whose method is called, and the method.
    fn of_exported(standing: &Standing<'f>) -> Option<(AccessPath, &'f str)> {
        let AccessPath { root, fields } = standing.site.callee.as_ref()?;
        let (Field::Name(name), receiver) = fields.split_last()? else { return None };
        let is_member = !receiver.is_empty() || matches!(root, Root::Value(_));
        is_member.then(|| (AccessPath { root: root.clone(), fields: receiver.into() }, &**name))
    }

    /// A function of a library of which nothing is known.
    fn unknown_export(&mut self, standing: &Standing<'f>, library: &str, path: &str, out: &mut Block) {
        let builtins = self.eval.builtins;
        let is_pure =
            if library.is_empty() { builtins.is_pure(path) } else { builtins.is_pure_library(library) };
        let hands = hands_over_function(&standing.arguments);
        // What an SDK of the protocol exports puts answers together: `createToolResult(found)`.
        let of_protocol = || !library.is_empty() && self.eval.knowledge.tables().sdk().answers(library, path);
        if !hands && (is_pure || !standing.site.construct && of_protocol()) {
            self.compute(standing, None, out);
            return;
        }
        // What text, numbers and lists have, a member of something that a library exports has as well: `endpoint.path.includes(x)`.
        if let Some((receiver, name)) = Self::of_exported(standing) {
            let does = builtins.does(name);
            if builtins.computes(name).is_some()
                || matches!(does, Some(Does::Contains | Does::Look)) && !hands
            {
                self.compute(standing, None, out);
                return;
            }
            if does == Some(Does::Each) && hands {
                collections::each(self, standing, &receiver, name, out);
                return;
            }
        }
        let reason = if self.eval.names.is_lost(library) {
            UnresolvedReason::Function
        } else {
            UnresolvedReason::Library
        };
        let (object, method) = path.rsplit_once('.').unwrap_or(("", path));
        let object = match object {
            "" => library.rsplit('/').next().unwrap_or(library).to_owned(),
            object => format!("{}.{object}", library.rsplit('/').next().unwrap_or(library)),
        };
        let asks = standing.awaited && !library.is_empty() && !standing.site.construct;
        let name: Name = match (library, path) {
            ("", path) => path.into(),
            (library, "") => library.into(),
            (library, path) => [library, ".", path].concat().into(),
        };
        if asks && self.remote(standing, &object, method, out) {
            self.note_client(standing, name, reason);
            return;
        }
        self.note_unresolved(standing, reason);
        self.push_call(standing, Callee::Named(name), None, out);
    }

    /// A call of which nothing is known, on something that perhaps is text, a number or a date.
    fn other(
        &mut self,
        standing: &Standing<'f>,
        receiver: Option<AccessPath>,
        name: &Name,
        is_plain: bool,
        out: &mut Block,
    ) {
        if let (Some(same), Some(receiver)) = (self.eval.builtins.computes(name), &receiver) {
            let same = same || self.eval.builtins.reshapes.contains(&**name) && is_fresh(receiver, out);
            let term = if same { Term::Path(receiver.clone()) } else { Term::Unknown };
            self.compute(standing, Some((receiver, term)), out);
            return;
        }
        if is_plain && !hands_over_function(&standing.arguments) || &**name == "bind" {
            self.compute(standing, None, out);
            return;
        }
        let receiver = receiver.map(|receiver| self.eval.alias(self.id, &receiver));
        self.push_call(standing, Callee::Named(name.clone()), receiver, out);
    }

    /// The result is computed, and nothing else happens.
    pub(super) fn compute(
        &mut self,
        standing: &Standing<'f>,
        named: Option<(&AccessPath, Term)>,
        out: &mut Block,
    ) {
        let Some(into) = standing.into else { return };
        let (receiver, term) = match named {
            Some((receiver, term)) => (Some(receiver), term),
            None => (None, Term::Unknown),
        };
        let from = self.depends(standing.site, receiver);
        out.push(Effect { span: standing.span, op: Op::Derive { into, from, term } });
    }

    /// A value that is called like the place it is read from.
    pub(super) fn declare_like(&mut self, path: &AccessPath) -> Value {
        let name = match (last_name(path), &path.root) {
            (Some(name), _) => name.into(),
            (None, Root::Value(value)) => self
                .values
                .get(value.0 as usize)
                .map_or_else(|| Name::from("found"), |info| info.name.clone()),
            (None, _) => Name::from("found"),
        };
        self.declare(&name)
    }

    pub(super) fn declare(&mut self, name: &str) -> Value {
        Body::over(self.values, Span::default()).declare(name, Origin::Step)
    }
}

fn hands_over_function(arguments: &[Argument]) -> bool {
    arguments.iter().any(|argument| matches!(argument, Argument::Closure { .. }))
}

fn defines(effect: &Effect, value: Value) -> bool {
    let own = match &effect.op {
        Op::Read { into, .. } | Op::Derive { into, .. } | Op::New { into, .. } => Some(*into),
        Op::Write { outcome, .. } | Op::Delete { outcome, .. } | Op::Acquire { outcome, .. } => *outcome,
        Op::External { into, .. } | Op::Call { into, .. } => *into,
        _ => None,
    };
    own == Some(value) || effect.op.blocks().flatten().any(|inner| defines(inner, value))
}

/// Puts in what the language has a name for.
pub(super) fn fresh(builtins: &Builtins, term: &mut Term) {
    match term {
        Term::Path(path) => {
            if let Some(fresh) = builtins::fresh(builtins, path) {
                *term = fresh;
            }
        }
        Term::Join(parts) => parts.iter_mut().for_each(|part| fresh(builtins, part)),
        Term::Parent(inner) => fresh(builtins, inner),
        _ => {}
    }
}

/// Whether a value is one that differs from use to use, by the steps right before: `new Date().toISOString()`.
fn is_fresh(receiver: &AccessPath, steps: &Block) -> bool {
    let mut path = receiver;
    for step in steps.iter().rev() {
        let (Root::Value(value), []) = (&path.root, path.fields.as_slice()) else { return false };
        match &step.op {
            Op::Derive { into, term: Term::Fresh(_), .. } if into == value => return true,
            Op::Derive { into, term: Term::Path(other), .. } if into == value => path = other,
            Op::Derive { into, .. } if into == value => return false,
            _ => {}
        }
    }
    false
}
