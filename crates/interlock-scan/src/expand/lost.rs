//! Where inlining lost its way: the calls that are still calls in what the rules get to see, and which of them could hide something.
//!
//! ```ts
//! server.tool("a", async () => {
//!   await unknown.save();          // hides: it is waited for, or a function of the tree that is called so touches something
//!   await client.getStatus();      // does not: nothing of that name in the tree does, and it only asks
//!   const all = text.parse();      // does not: nobody waits for it
//!   await known();                 // inlined
//! })
//! ```
//!
//! A call of a function that the same tool sees elsewhere is not lost. What counts, and why, is decision 75.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    path::Path,
};

use interlock_hazards::{
    Lexicon,
    view::{Expanded, Runs},
};
use interlock_model::{
    Location, Loss, LossKind, Span, ToolCoverage,
    ir::{
        Callee, Doubtful, Effect, Exit, Field, Function, FunctionId, Name, Op, OutOfSight, Program, Resource,
        Role, Root, Tool, Unresolved, UnresolvedReason, ValueInfo, WriteMode,
    },
};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use rustc_hash::{FxHashMap, FxHashSet};

/// How many losses are listed for one tool. A tool that loses its way more often is not understood, however long the list is.
const MOST_LISTED: usize = 100;

/// The functions of a program that do something which other calls could notice, or of which that is not known.
#[derive(Debug, Default)]
pub(crate) struct Touching {
    functions: FxHashSet<FunctionId>,
    /// What they are called, without what they are members of, and whether one of that name is over when it returns.
    names: FxHashMap<Name, bool>,
}

impl Touching {
    pub(super) fn of(program: &Program, touches: impl Fn(FunctionId) -> bool) -> Self {
        let ids = (0..).map(FunctionId).zip(&program.functions);
        let mut all = Self::default();
        for (id, function) in ids.filter(|(id, _)| touches(*id)) {
            all.functions.insert(id);
            *all.names.entry(last_part(&function.name).into()).or_default() |= !function.asynchronous;
        }
        all
    }
}

/// What one entry point has lost.
pub(super) struct Lost {
    /// The places, in order and each once.
    pub(super) losses: Vec<Loss>,
    /// Calls of known functions whose steps are not seen in it.
    left_out: Vec<(FunctionId, Loss)>,
    /// The functions whose steps are seen in it.
    seen: FxHashSet<FunctionId>,
}

/// How far the analysis got with each tool of a program, by what each entry point has lost.
pub(super) fn coverage(program: &Program, entries: &[Expanded], lost: &[Lost]) -> Vec<ToolCoverage> {
    let mut tools: BTreeMap<&str, (BTreeSet<&Loss>, Vec<&Lost>)> = BTreeMap::new();
    let mut changing: BTreeSet<&str> = BTreeSet::new();
    for tool in program.functions.iter().flat_map(tools_of) {
        tools.entry(&tool.name).or_default();
        if !tool.read_only {
            changing.insert(&tool.name);
        }
    }
    for (entry, lost) in entries.iter().zip(lost) {
        let (Runs::Call(announced) | Runs::Part(announced)) = &entry.runs else { continue };
        for tool in announced {
            tools.entry(&tool.name).or_default().1.push(lost);
        }
    }
    let covered = |(name, (mut losses, entries)): (&str, (BTreeSet<&Loss>, Vec<&Lost>))| {
        let is_seen = |function: &FunctionId| entries.iter().any(|lost| lost.seen.contains(function));
        losses.extend(entries.iter().flat_map(|lost| &lost.losses));
        let left_out = entries.iter().flat_map(|lost| &lost.left_out);
        losses.extend(left_out.filter(|(function, _)| !is_seen(function)).map(|(_, loss)| loss));
        let read_only = !changing.contains(name);
        losses.retain(|loss| loss.hides && !is_harmless(loss, read_only));
        ToolCoverage {
            name: name.to_owned(),
            followed: losses.is_empty(),
            lost: losses.into_iter().take(MOST_LISTED).cloned().collect(),
        }
    };
    let announced = program.out_of_sight.iter().filter_map(|announced| unseen(program, announced));
    let announced: Vec<ToolCoverage> =
        announced.filter(|tool| !tools.contains_key(tool.name.as_str())).collect();
    let mut covered: Vec<ToolCoverage> = tools.into_iter().map(covered).collect();
    covered.extend(announced);
    covered.sort_by(|one, other| one.name.cmp(&other.name));
    covered
}

/// A tool that is announced and whose function is not known.
fn unseen(program: &Program, announced: &OutOfSight) -> Option<ToolCoverage> {
    let name = announced.tool.as_ref()?.to_string();
    Some(ToolCoverage { name, followed: false, lost: vec![loss_of(program, announced)] })
}

fn loss_of(program: &Program, unseen: &OutOfSight) -> Loss {
    Loss {
        location: location(program, unseen.span),
        kind: if unseen.is_lost { LossKind::UnresolvedImport } else { LossKind::UnknownFunction },
        callee: unseen.callee.to_string(),
        hides: true,
    }
}

/// Where a server is handed to something unknown, which may announce any number of tools.
pub(crate) fn registrars(program: &Program) -> Vec<Loss> {
    let unseen = program.out_of_sight.iter().filter(|unseen| unseen.tool.is_none());
    let mut found: Vec<Loss> = unseen.map(|unseen| loss_of(program, unseen)).collect();
    found.sort();
    found.dedup();
    found
}

fn tools_of(function: &Function) -> &[Tool] {
    match &function.role {
        Role::Handler(tools) => tools,
        _ => &[],
    }
}

/// What each entry point has lost. `crowded` says that the budget for the whole program ran out.
pub(super) fn losses(
    program: &Program,
    entries: &[Expanded],
    touching: &Touching,
    crowded: bool,
) -> Vec<Lost> {
    let mut reasons: FxHashMap<Span, &Unresolved> = FxHashMap::default();
    for unresolved in &program.unresolved {
        let known = reasons.entry(unresolved.span).or_insert(unresolved);
        // What was guessed of a call says less than what it is.
        if unresolved.reason != UnresolvedReason::Guessed {
            *known = unresolved;
        }
    }
    let judge = Judge { program, reasons, touching, lexicon: Lexicon::of(program), crowded };
    let mut lost: Vec<Lost> = entries.par_iter().map(|entry| losses_of(&judge, entry)).collect();
    hand_on(program, entries, &mut lost);
    lost
}

/// What is done for a tool by somebody who works off a list of it: `this.queue.push(command)`, and a loop of the same class that writes what
/// is in `this.queue` to another program. The tool has lost what that has lost.
fn hand_on(program: &Program, entries: &[Expanded], lost: &mut [Lost]) {
    struct Worker {
        owner: Name,
        lists: FxHashSet<Name>,
        losses: Vec<Loss>,
    }
    let owner_of = |id: FunctionId| program.function(id).and_then(|function| function.owner.clone());
    let is_call = |entry: &Expanded| matches!(entry.runs, Runs::Call(_) | Runs::Part(_));
    let mut workers = vec![];
    for (entry, lost) in entries.iter().zip(&*lost).filter(|(entry, _)| !is_call(entry)) {
        let told = lost.losses.iter().filter(|loss| loss.hides && loss.kind == LossKind::OtherProgram);
        let losses: Vec<Loss> = told.cloned().collect();
        let Some(owner) = owner_of(entry.function).filter(|_| !losses.is_empty()) else { continue };
        let mut lists = FxHashSet::default();
        members(&entry.body, false, &mut lists);
        workers.push(Worker { owner, lists, losses });
    }
    if workers.is_empty() {
        return;
    }
    for (entry, lost) in entries.iter().zip(lost).filter(|(entry, _)| is_call(entry)) {
        let owners: FxHashSet<Name> = lost.seen.iter().filter_map(|id| owner_of(*id)).collect();
        let mut adds = FxHashSet::default();
        for worker in workers.iter().filter(|worker| owners.contains(&worker.owner)) {
            if adds.is_empty() {
                members(&entry.body, true, &mut adds);
            }
            if adds.iter().any(|list| worker.lists.contains(list)) {
                lost.losses.extend(worker.losses.iter().cloned());
            }
        }
        lost.losses.sort();
        lost.losses.dedup();
    }
}

/// The last names of what is shared and added to, or read.
fn members(block: &[Effect], adds: bool, found: &mut FxHashSet<Name>) {
    for effect in block {
        let shared = match &effect.op {
            Op::Write { to: Resource::Shared(path), mode: WriteMode::Append, .. } if adds => Some(path),
            Op::Read { of: Resource::Shared(path), .. } if !adds => Some(path),
            _ => None,
        };
        let last = shared.and_then(|path| {
            path.fields.iter().rev().find_map(|field| match field {
                Field::Name(name) => Some(name.clone()),
                Field::At(_) => None,
            })
        });
        found.extend(last);
        effect.op.blocks().for_each(|inner| members(inner, adds, found));
    }
}

impl Lost {
    /// All losses, also those that another entry point of the same tool makes up for.
    pub(super) fn all(self) -> impl Iterator<Item = Loss> {
        self.losses.into_iter().chain(self.left_out.into_iter().map(|(_, loss)| loss))
    }
}

fn losses_of(judge: &Judge<'_>, entry: &Expanded) -> Lost {
    let mut walk = Walk {
        settled: &judge.program.settled_requests,
        seen: FxHashSet::from_iter([entry.function]),
        open: FxHashSet::default(),
        calls: vec![],
    };
    // Who calls a part with what is not seen here, so nothing of its requests is called open.
    let settled = matches!(entry.runs, Runs::Part(_));
    if !settled {
        walk.open.insert(entry.function);
    }
    // The protocol waits for what a handler gives back.
    walk.block(&entry.body, Then { block: true, function: true }, settled);
    let Walk { seen, open, calls, .. } = walk;
    let of_call = |call: &Left<'_>| judge.loss(call, &entry.values);
    let calls_left = calls.iter().filter_map(of_call);
    let mut losses: Vec<Loss> =
        calls_left.chain(judge.alternatives(&seen)).chain(judge.unseen(&seen, &open)).collect();
    losses.extend(judge.damaged(&seen));
    losses.sort();
    losses.dedup();
    let left_out = |call: &Left<'_>| judge.left_out(call).filter(|(id, _)| !seen.contains(id));
    let left_out = calls.iter().filter_map(left_out).collect();
    Lost { losses, left_out, seen }
}

struct Walk<'e> {
    /// The calls that leave nothing open of the requests behind them.
    settled: &'e HashSet<Span>,
    /// The functions whose steps are seen.
    seen: FxHashSet<FunctionId>,
    /// Those of them that are called by somebody who leaves open what their requests are.
    open: FxHashSet<FunctionId>,
    /// The calls that are left.
    calls: Vec<Left<'e>>,
}

/// A call that is left.
struct Left<'e> {
    span: Span,
    op: &'e Op,
    /// Whether somebody waits for its end: here, or whoever is given what it gives back.
    waited: bool,
}

/// Whether somebody waits at what comes behind.
#[derive(Clone, Copy)]
struct Then {
    /// Behind the end of the block.
    block: bool,
    /// Behind a return of the function.
    function: bool,
}

impl Then {
    /// The same behind a step that these steps follow: values may get other names before anybody waits for them.
    fn behind(self, steps: &[Effect]) -> bool {
        match steps.iter().map(|step| &step.op).find(|op| !matches!(op, Op::Derive { .. })) {
            Some(Op::Suspend) => true,
            Some(Op::Exit(Exit::Return(_))) => self.function,
            Some(_) => false,
            None => self.block,
        }
    }
}

impl<'e> Walk<'e> {
    /// `settled` where the request of a call around it is known.
    fn block(&mut self, block: &'e [Effect], then: Then, settled: bool) {
        for (at, effect) in block.iter().enumerate() {
            let waits = then.behind(block.get(at + 1..).unwrap_or_default());
            let mut settled = settled;
            let inside = match &effect.op {
                op @ Op::Call { awaited, .. } => {
                    self.calls.push(Left { span: effect.span, op, waited: *awaited && waits });
                    then
                }
                // Only what is waited for was taken for a request.
                op @ Op::External { .. } => {
                    self.calls.push(Left { span: effect.span, op, waited: true });
                    Then { block: waits, ..then }
                }
                Op::Inlined { function, .. } => {
                    self.seen.insert(*function);
                    settled |= self.settled.contains(&effect.span);
                    if !settled {
                        self.open.insert(*function);
                    }
                    Then { block: waits, function: waits }
                }
                _ => Then { block: waits, ..then },
            };
            effect.op.blocks().for_each(|inner| self.block(inner, inside, settled));
        }
    }
}

/// What decides whether a call that is left could hide something.
struct Judge<'p> {
    program: &'p Program,
    /// Why the linker could not resolve calls.
    reasons: FxHashMap<Span, &'p Unresolved>,
    touching: &'p Touching,
    lexicon: Lexicon,
    crowded: bool,
}

impl Judge<'_> {
    /// A call of something that is not known.
    fn loss(&self, call: &Left<'_>, values: &[ValueInfo]) -> Option<Loss> {
        let (callee, receiver) = match call.op {
            Op::Call { callee, receiver, .. } => (callee, receiver),
            _ => return self.client(call),
        };
        let (kind, callee, hides) = match callee {
            Callee::Named(name) => {
                let kind = self.kind(call.span, name, receiver.is_some());
                let object = receiver.as_ref().and_then(|path| match (&path.root, path.fields.as_slice()) {
                    (Root::Value(value), []) => Some(&values.get(value.0 as usize)?.name),
                    _ => None,
                });
                let answers = object.is_some_and(|object| self.lexicon.gives_answer(object, last_part(name)));
                let changes = kind == LossKind::UnknownLibrary
                    && receiver.is_some()
                    && self.blocks(call.span)
                    && self.lexicon.changes_outside(last_part(name));
                (kind, name.to_string(), !answers && (changes || self.hides(kind, name, call.waited)))
            }
            Callee::Value(value) => {
                let name = &values.get(value.0 as usize)?.name;
                let known = self.lexicon.settles_promise(name) || self.lexicon.tells_client(name);
                (LossKind::UnknownFunction, name.to_string(), !known)
            }
            Callee::Function(_) | Callee::Closure { .. } | Callee::Pending(_) => return None,
        };
        Some(Loss { location: location(self.program, call.span), kind, callee, hides })
    }

    /// A request of a client of which nothing is known but its names: what else it does is not seen (decision 177).
    fn client(&self, call: &Left<'_>) -> Option<Loss> {
        let Unresolved { callee, reason, .. } = self.reasons.get(&call.span)?;
        let is_client = matches!(
            reason,
            UnresolvedReason::Library
                | UnresolvedReason::Receiver
                | UnresolvedReason::Method
                | UnresolvedReason::Function
        );
        let kind = self.kind(call.span, callee, true);
        let hides = is_client && self.hides(kind, callee, call.waited);
        is_client.then(|| Loss {
            location: location(self.program, call.span),
            kind,
            callee: callee.to_string(),
            hides,
        })
    }

    /// Whether a call stands in a language whose clients of services block, so that nothing shows who waits for an answer.
    fn blocks(&self, span: Span) -> bool {
        let file = self.program.files.get(span.file.0 as usize);
        file.is_some_and(|file| Path::new(&**file).extension().is_some_and(|ending| ending == "py"))
    }

    /// A call of a known function that is left.
    fn left_out(&self, call: &Left<'_>) -> Option<(FunctionId, Loss)> {
        let Op::Call { callee: Callee::Function(id) | Callee::Closure { function: id, .. }, .. } = call.op
        else {
            return None;
        };
        let kind = if self.crowded { LossKind::Budget } else { LossKind::NotInlined };
        let callee = self.program.function(*id)?.name.to_string();
        let hides = self.touching.functions.contains(id);
        Some((*id, Loss { location: location(self.program, call.span), kind, callee, hides }))
    }

    /// Why nothing is known of what is only known by name: as the linker says, or by what can be seen of the call.
    fn kind(&self, span: Span, name: &str, has_receiver: bool) -> LossKind {
        match self.reasons.get(&span).map(|unresolved| unresolved.reason) {
            Some(UnresolvedReason::Library) => LossKind::UnknownLibrary,
            Some(UnresolvedReason::Computed) => LossKind::UnknownFunction,
            Some(UnresolvedReason::Function) => LossKind::UnresolvedImport,
            Some(UnresolvedReason::Alternatives { .. }) => LossKind::Alternatives,
            Some(UnresolvedReason::Program) => LossKind::OtherProgram,
            Some(UnresolvedReason::Request) => LossKind::UnknownRequest,
            Some(UnresolvedReason::Tools) => LossKind::UnknownFunction,
            Some(UnresolvedReason::Receiver | UnresolvedReason::Method | UnresolvedReason::Guessed) => {
                LossKind::UnresolvedReceiver
            }
            None if has_receiver => LossKind::UnresolvedReceiver,
            None if name.starts_with('.') => LossKind::UnresolvedImport,
            None => LossKind::UnknownLibrary,
        }
    }

    /// Whether a call could hide a change of something that calls share.
    fn hides(&self, kind: LossKind, name: &str, waited: bool) -> bool {
        let method = last_part(name);
        // Nobody leaves off in the middle what has to be waited for.
        let may_be_own = || self.touching.names.get(method).is_some_and(|at_once| waited || *at_once);
        // `pending.resolve(answer)`: what is done then is done by whoever waits.
        let settles = || !waited && self.lexicon.settles_promise(method);
        // Who is not waited for works on what it is handed, who only asks leaves all as it was, and so does who lets go.
        let acts_outside = || waited && !self.lexicon.only_asks(method) && !self.lexicon.lets_go(method);
        match kind {
            // A method of a client may make a client of the business; a function that is exported makes what its library is for.
            LossKind::UnknownLibrary => {
                acts_outside() && !(method != name && self.lexicon.makes_handle(method))
            }
            // Where calls block, nothing shows who waits, but some names say enough.
            LossKind::UnresolvedReceiver => {
                !settles() && (may_be_own() || acts_outside() || self.lexicon.changes_rows(method))
            }
            LossKind::Alternatives => self.touching.names.contains_key(method),
            LossKind::UnresolvedImport
            | LossKind::UnknownFunction
            | LossKind::NotInlined
            | LossKind::Budget
            | LossKind::OtherProgram
            | LossKind::UnknownRequest
            | LossKind::DamagedFile => true,
        }
    }

    /// The files that do not parse and have functions which were inlined.
    fn damaged(&self, seen: &FxHashSet<FunctionId>) -> impl Iterator<Item = Loss> {
        let damaged = self.program.doubts.iter().filter(|doubt| doubt.why == Doubtful::DamagedFile);
        damaged.filter_map(|doubt| {
            let is_there = |function: &Function| function.span.file == doubt.span.file;
            seen.iter().any(|id| self.program.function(*id).is_some_and(is_there)).then(|| {
                let location = location(self.program, doubt.span);
                Loss { callee: location.file.clone(), location, kind: LossKind::DamagedFile, hides: true }
            })
        })
    }

    /// The calls in what was inlined of which some alternatives were left out.
    fn alternatives(&self, seen: &FxHashSet<FunctionId>) -> impl Iterator<Item = Loss> {
        let left_out = self.program.unresolved.iter().filter(|unresolved| {
            matches!(unresolved.reason, UnresolvedReason::Alternatives { .. })
                && seen.contains(&unresolved.function)
        });
        left_out.map(|unresolved| Loss {
            location: location(self.program, unresolved.span),
            kind: LossKind::Alternatives,
            callee: last_part(&unresolved.callee).to_owned(),
            hides: self.hides(LossKind::Alternatives, &unresolved.callee, false),
        })
    }

    /// The calls in what was inlined whose effect is outside and not seen: they run other programs, or send requests that are open.
    fn unseen(
        &self,
        seen: &FxHashSet<FunctionId>,
        open: &FxHashSet<FunctionId>,
    ) -> impl Iterator<Item = Loss> {
        self.program.unresolved.iter().filter_map(move |unresolved| {
            let (kind, functions) = match unresolved.reason {
                UnresolvedReason::Program => (LossKind::OtherProgram, seen),
                UnresolvedReason::Request => (LossKind::UnknownRequest, open),
                UnresolvedReason::Tools => (LossKind::UnknownFunction, seen),
                _ => return None,
            };
            functions.contains(&unresolved.function).then(|| Loss {
                location: location(self.program, unresolved.span),
                kind,
                callee: unresolved.callee.to_string(),
                hides: true,
            })
        })
    }
}

/// Whether a tool says of itself that it changes nothing: then the programs that it runs and the requests that it sends do not either.
fn is_harmless(loss: &Loss, read_only: bool) -> bool {
    read_only && matches!(loss.kind, LossKind::OtherProgram | LossKind::UnknownRequest)
}

/// What a function is called inside of what it is a member of.
fn last_part(name: &str) -> &str {
    let name = name.trim_end_matches(".closure");
    name.rsplit(['.', ':', '/']).next().unwrap_or(name)
}

/// A span as a report names it.
pub(crate) fn location(program: &Program, span: Span) -> Location {
    Location {
        file: program.files.get(span.file.0 as usize).map(ToString::to_string).unwrap_or_default(),
        line: span.line,
        end_line: span.end_line.max(span.line),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_of_something_unknown_hides_what_one_of_its_name_in_the_tree_could_do() {
        let program = Program::default();
        let names = [(Name::from("save"), false), (Name::from("apply"), true), (Name::from("resolve"), true)];
        let touching = Touching { functions: FxHashSet::default(), names: names.into_iter().collect() };
        let judge = Judge {
            program: &program,
            reasons: FxHashMap::default(),
            touching: &touching,
            lexicon: Lexicon::of(&program),
            crowded: false,
        };
        let hides = |name: &str, waited: bool| judge.hides(LossKind::UnresolvedReceiver, name, waited);
        assert!(hides("store.save", true) && hides("rules.apply", false) && hides("paths.resolve", true));
        assert!(!hides("context.save", false), "the own one has to be waited for");
        assert!(!hides("pending.resolve", false), "it settles a promise");
        assert!(
            !hides("schema.parse", false) && !hides("schema.parse", true),
            "none in the tree, and it only asks"
        );
        assert!(judge.hides(LossKind::Alternatives, "store.save", false));
        assert!(judge.lexicon.gives_answer("res", "end"), "who has asked gets the answer");
        assert!(!judge.lexicon.gives_answer("pool", "end"), "and a pool is closed for all");
    }
}
