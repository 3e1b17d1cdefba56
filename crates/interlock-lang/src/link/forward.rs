//! Statements that go through a function of the program's own: `query("UPDATE …", [id])`, where `query` hands its text to a library.
//!
//! What such a function does depends on the text, and the text stands where it is called. So the call is taken for the library's call
//! that it comes to.

use std::sync::Arc;

use interlock_model::ir::{AccessPath, Block, Body, Field, FunctionId, Op, Resource, Root, Term, Via};

use super::{
    handed::Helper,
    rewrite::{Rewriter, Standing},
};
use crate::{
    Arg, Kind, Outcome, Shape,
    eval::{CallAt, Definition, Evaluator, Reached, library},
};

/// How many functions hand a statement on to each other.
pub(super) const DEPTH: usize = 3;

/// Through how many closures and variables a parameter is followed.
pub(super) const WAYS: usize = 8;

/// How many calls of libraries are tried: a helper also logs, counts and traces.
const MOST_CALLS: usize = 8;

/// How many calls are looked at for one statement, however large the helpers are.
const MOST_SITES: usize = 400;

/// How a statement begins.
const VERBS: &[&str] = &[
    "select", "insert", "update", "delete", "replace", "with", "merge", "begin", "start", "commit",
    "rollback",
];

/// The calls in each function and in the closures that are written in it.
#[derive(Debug)]
pub(crate) struct Inside {
    /// For each function, where its calls end among all; they begin where those of the function before it end.
    ends: Vec<u32>,
    sites: Vec<u32>,
}

impl Inside {
    pub(super) fn of(&self, function: FunctionId) -> &[u32] {
        let function = function.0 as usize;
        let start = function.checked_sub(1).map_or(Some(&0), |before| self.ends.get(before));
        let (Some(start), Some(end)) = (start, self.ends.get(function)) else { return &[] };
        self.sites.get(*start as usize..*end as usize).unwrap_or_default()
    }
}

/// The library's call that a call of the program's own function comes to.
pub(super) struct Forwarded<'f> {
    /// Its site, in that function.
    pub(super) number: u32,
    reached: Reached<'f>,
    /// What it is handed, as the caller of the function sees it.
    arguments: Vec<Arg>,
    /// The function that it stands in.
    helper: Arc<Helper>,
}

/// What a helper is looked into for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sought {
    /// The call that runs a statement which the helper is handed.
    Statement,
    /// The call that sends a request, whatever of it the helper is handed.
    Request,
}

/// The calls of libraries that have been found, and how many calls may still be looked at.
pub(super) struct ForwardedCalls<'f> {
    sought: Sought,
    pub(super) calls: Vec<Forwarded<'f>>,
    left: usize,
}

impl ForwardedCalls<'_> {
    pub(super) const fn nothing(sought: Sought) -> Self {
        Self { sought, calls: vec![], left: MOST_SITES }
    }
}

impl<'f> Rewriter<'_, 'f> {
    /// Writes the steps of a statement that is handed to a function; `false` if this is no such call.
    pub(super) fn statement(
        &mut self,
        standing: &Standing<'f>,
        (function, receiver): (FunctionId, Option<&AccessPath>),
        out: &mut Block,
    ) -> bool {
        let arguments = &standing.site.arguments;
        if !arguments.iter().any(is_statement) {
            return false;
        }
        let mut found = ForwardedCalls::nothing(Sought::Statement);
        self.eval.forwarded(&self.helper(standing, function, receiver), DEPTH, &mut found);
        let Some(mut steps) = found.calls.iter().find_map(|call| self.steps_of(standing, call)) else {
            return false;
        };
        self.define_if_not(standing, &mut steps);
        out.extend(steps);
        true
    }

    /// The steps of a statement that a library's call runs, or that is run by the next call on what this one has prepared.
    fn steps_of(&mut self, standing: &Standing<'f>, call: &Forwarded<'f>) -> Option<Block> {
        let is_statement = |steps: &Block| steps.iter().any(|step| is_of_statement(&step.op));
        let (steps, outcome) = self.forward(standing, call)?;
        if is_statement(&steps) {
            return Some(steps);
        }
        let run = self.eval.run(call, &outcome.kind?)?;
        self.forward(standing, &run).map(|(steps, _)| steps).filter(is_statement)
    }

    /// A function as a call of it sees it.
    pub(super) fn helper(
        &self,
        standing: &Standing<'f>,
        function: FunctionId,
        receiver: Option<&AccessPath>,
    ) -> Arc<Helper> {
        let this = receiver.map(|receiver| self.eval.alias(self.id, receiver));
        Arc::new(Helper { function, this, handed: standing.site.arguments.to_vec(), from: None })
    }

    /// What the knowledge says of a library's call that a call comes to: its steps, and what is known of it besides.
    pub(super) fn forward(
        &mut self,
        standing: &Standing<'f>,
        forwarded: &Forwarded<'f>,
    ) -> Option<(Block, Outcome)> {
        let mut body = Body::over(self.values, standing.span);
        let call = library::Applied {
            number: forwarded.number,
            arguments: forwarded.arguments.as_slice().into(),
            within: self.id,
            span: standing.span,
            at: CallAt { into: standing.into, awaited: standing.awaited },
        };
        let outcome = library::apply_to(self.eval, &call, &forwarded.reached, &mut body)?;
        Some((body.finish(), outcome))
    }
}

impl<'f> Evaluator<'_, 'f> {
    /// The calls of libraries to which a function hands on what it is handed.
    pub(super) fn forwarded(&self, helper: &Arc<Helper>, depth: usize, found: &mut ForwardedCalls<'f>) {
        let Some(depth) = depth.checked_sub(1) else { return };
        let inside = self.inside.get_or_init(|| self.sites_inside());
        for number in inside.of(helper.function) {
            let Some(site) = self.flat.sites.get(*number as usize) else { continue };
            if found.calls.len() >= MOST_CALLS || found.left == 0 {
                return;
            }
            found.left -= 1;
            let within = FunctionId(site.within);
            let arguments = self.arguments_from(helper, site, found.sought);
            let of_statement =
                || arguments.iter().any(is_statement) && !site.arguments.iter().any(is_statement);
            if found.sought == Sought::Statement && !of_statement() {
                continue;
            }
            let call = |reached| Forwarded {
                number: *number,
                reached,
                arguments: arguments.clone(),
                helper: helper.clone(),
            };
            let known = site.function.map(|function| Reached::Function(FunctionId(function), None));
            match known.unwrap_or_else(|| self.reached(site)) {
                Reached::Function(function, _)
                    if found.sought == Sought::Request && !self.sends_request(function, depth) => {}
                Reached::Function(function, receiver) => {
                    let this = receiver.map(|receiver| self.seen_from_outside(within, &receiver, helper));
                    let from = Some((*number, helper.clone()));
                    let next = Helper { function, this, handed: arguments, from };
                    self.forwarded(&Arc::new(next), depth, found);
                }
                Reached::Method(..) | Reached::Export(..)
                    if found.sought == Sought::Request && !self.is_open_request(*number) => {}
                Reached::Method(kind, receiver, name) => {
                    let mut kind = kind.from_outside();
                    let is_global =
                        |via: &Via| matches!(via, Via::Client(path) | Via::Pool(path) if is_global(path));
                    kind.via = kind.via.filter(is_global);
                    let receiver = self.seen_from_outside(within, &receiver, helper);
                    found.calls.push(call(Reached::Method(Arc::new(kind), receiver, name)));
                }
                reached @ Reached::Export(..) => found.calls.push(call(reached)),
                _ => {}
            }
        }
    }

    /// The call on what a library's call has made: in the same function, or in the one that has asked that function for it, as one that keeps
    /// prepared statements is asked.
    fn run(&self, prepared: &Forwarded<'f>, kind: &Kind) -> Option<Forwarded<'f>> {
        let mut helper = &prepared.helper;
        let mut maker = (prepared.number, None);
        loop {
            if let Some(run) = self.run_in(helper, maker, kind) {
                return Some(run);
            }
            let (number, from) = helper.from.as_ref()?;
            maker = (*number, Some(helper.function));
            helper = from;
        }
    }

    /// The call in a function on what another call there has made, or a function that it calls.
    fn run_in(
        &self,
        helper: &Arc<Helper>,
        (maker, asked): (u32, Option<FunctionId>),
        kind: &Kind,
    ) -> Option<Forwarded<'f>> {
        self.inside.get()?.of(helper.function).iter().find_map(|number| {
            let site = self.flat.sites.get(*number as usize)?;
            let callee = site.callee.as_ref()?;
            let (Root::Value(value), Some(Field::Name(name))) = (&callee.root, callee.fields.last()) else {
                return None;
            };
            let made = match self.definition(FunctionId(site.within), *value)? {
                Definition::Call(by) => *by == maker,
                Definition::Returned(by) => Some(*by) == asked,
                _ => false,
            };
            if !made {
                return None;
            }
            let (within, value) = (FunctionId(site.within), AccessPath::from(*value));
            let receiver = self.seen_from_outside(within, &value, helper);
            Some(Forwarded {
                number: *number,
                reached: Reached::Method(Arc::new(kind.clone()), receiver, name.clone()),
                arguments: self.arguments_from(helper, site, Sought::Statement),
                helper: helper.clone(),
            })
        })
    }

    /// A place of a function under the name that its caller has for it, or else one that all who call it share, as they share the
    /// connection that it holds.
    fn seen_from_outside(&self, within: FunctionId, path: &AccessPath, helper: &Helper) -> AccessPath {
        let path = self.alias(within, path);
        let path = self.place_given(within, &path).unwrap_or(path);
        let outside = match &path.root {
            Root::Global(_) => return path,
            Root::This => helper.this.as_ref(),
            Root::Value(value) => {
                let parameter = self.parameter_of(helper.function, within, *value, WAYS);
                match parameter.and_then(|parameter| helper.handed.get(parameter)).map(|given| &given.term) {
                    Some(Term::Path(given)) => Some(given),
                    _ => None,
                }
            }
        };
        if let Some(outside) = outside {
            let mut outside = outside.clone();
            outside.fields.extend(path.fields.iter().cloned());
            return outside;
        }
        let root = match &path.root {
            Root::Global(_) => return path,
            Root::This => self
                .index
                .heads
                .get(within.0 as usize)
                .and_then(|head| head.owner.clone())
                .unwrap_or_default(),
            Root::Value(value) => {
                let about = self.flat.about.get(within.0 as usize);
                let (file, module) = about.map_or((0, 0), |about| (about.file, about.module));
                let file = self.flat.files.get(file as usize).map_or("", |file| file);
                format!("{file}::{}.{}", within.0.saturating_sub(module), value.0).into()
            }
        };
        AccessPath { root: Root::Global(root), fields: path.fields }
    }

    /// The place that a function gives whoever asks it, wherever it is asked: `getDb()` behind `let db`.
    fn place_given(&self, within: FunctionId, path: &AccessPath) -> Option<AccessPath> {
        let Root::Value(value) = path.root else { return None };
        let Some(Definition::Call(site)) = self.definition(within, value) else { return None };
        let Reached::Function(function, _) = self.reached(self.flat.sites.get(*site as usize)?) else {
            return None;
        };
        let head = self.index.heads.get(function.0 as usize)?;
        let mut places = self.index.returns(head).iter().map(|value| self.alias(function, &(*value).into()));
        let mut place = places.next().filter(|place| matches!(place.root, Root::Global(_)))?;
        if places.any(|other| other != place) {
            return None;
        }
        place.fields.extend(path.fields.iter().cloned());
        Some(place)
    }

    pub(super) fn sites_inside(&self) -> Inside {
        let mut ends = vec![0_u32; self.flat.about.len()];
        for site in &self.flat.sites {
            for within in self.around(FunctionId(site.within)) {
                if let Some(many) = ends.get_mut(within.0 as usize) {
                    *many += 1;
                }
            }
        }
        let mut all = 0;
        for end in &mut ends {
            // What is a count becomes where they begin, and moves to where they end as they are put in.
            all += std::mem::replace(end, all);
        }
        let mut sites = vec![0; all as usize];
        for (number, site) in (0..).zip(&self.flat.sites) {
            for within in self.around(FunctionId(site.within)) {
                let Some(end) = ends.get_mut(within.0 as usize) else { continue };
                if let Some(place) = sites.get_mut(*end as usize) {
                    *place = number;
                }
                *end += 1;
            }
        }
        Inside { ends, sites }
    }

    /// A function and those around it.
    fn around(&self, function: FunctionId) -> impl Iterator<Item = FunctionId> {
        let outer = |within: &FunctionId| match self.index.captured(*within) {
            Some((outer, _)) if outer.0 < within.0 => Some(*outer),
            _ => None,
        };
        std::iter::successors(Some(function), outer).take(WAYS)
    }
}

/// Whether an argument is a statement of SQL, by its first word, or has one as a member.
pub(super) fn is_statement(arg: &Arg) -> bool {
    match &arg.shape {
        Shape::Object(members) => members.iter().any(|(_, member)| is_text_of_statement(member)),
        _ => is_text_of_statement(arg),
    }
}

fn is_text_of_statement(arg: &Arg) -> bool {
    let parts = match &arg.shape {
        Shape::Text(parts) => parts,
        Shape::Choice(ways) => {
            return ways.iter().any(|way| matches!(way.shape, Shape::Text(_)) && is_text_of_statement(way));
        }
        _ => return false,
    };
    let Some(Term::Literal(text)) = parts.first() else { return false };
    let text = text.trim_start();
    let end = text.bytes().position(|byte| !byte.is_ascii_alphabetic()).unwrap_or(text.len());
    text.get(..end).is_some_and(|word| VERBS.iter().any(|verb| word.eq_ignore_ascii_case(verb)))
}

fn is_of_statement(op: &Op) -> bool {
    match op {
        Op::Read { of: Resource::Row { .. }, .. }
        | Op::Write { to: Resource::Row { .. }, .. }
        | Op::Delete { of: Resource::Row { .. }, .. }
        | Op::Begin { .. }
        | Op::End { .. } => true,
        // One of several statements.
        Op::Check { then, otherwise, .. } => {
            then.iter().chain(otherwise).any(|step| is_of_statement(&step.op))
        }
        _ => false,
    }
}

fn is_global(path: &AccessPath) -> bool {
    matches!(path.root, Root::Global(_))
}
