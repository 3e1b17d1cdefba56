//! Where inlining lost its way: the calls that are still calls in what the rules get to see.
//!
//! ```ts
//! server.tool("a", async () => { await unknown.run(); await known(); })   // `unknown.run` is lost, `known` is not
//! ```
//!
//! A call of a function that the same entry point has inlined elsewhere, or of one that it is inside of, is not lost: its steps are seen.

use std::collections::{BTreeMap, BTreeSet};

use interlock_hazards::view::{Expanded, Runs};
use interlock_model::{
    Location, Loss, LossKind, Span, ToolCoverage,
    ir::{
        Block, Callee, Function, FunctionId, Name, Op, Program, Role, Tool, UnresolvedReason, Value,
        ValueInfo,
    },
};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use rustc_hash::{FxHashMap, FxHashSet};

/// How many losses are listed for one tool. A tool that loses its way more often is not understood, however long the list is.
const MOST_LISTED: usize = 100;

/// How far the analysis got with each tool of a program, by what each entry point has lost.
pub(super) fn coverage(program: &Program, entries: &[Expanded], lost: &[Vec<Loss>]) -> Vec<ToolCoverage> {
    let mut tools: BTreeMap<&str, BTreeSet<Loss>> = BTreeMap::new();
    for tool in program.functions.iter().flat_map(tools_of) {
        tools.entry(&tool.name).or_default();
    }
    for (entry, losses) in entries.iter().zip(lost) {
        let (Runs::Call(announced) | Runs::Part(announced)) = &entry.runs else { continue };
        for tool in announced {
            tools.entry(&tool.name).or_default().extend(losses.iter().cloned());
        }
    }
    let covered = |(name, lost): (&str, BTreeSet<Loss>)| ToolCoverage {
        name: name.to_owned(),
        followed: lost.iter().all(|loss| loss.kind == LossKind::UnknownLibrary),
        lost: lost.into_iter().take(MOST_LISTED).collect(),
    };
    tools.into_iter().map(covered).collect()
}

fn tools_of(function: &Function) -> &[Tool] {
    match &function.role {
        Role::Handler(tools) => tools,
        _ => &[],
    }
}

/// What each entry point has lost, in order and each once. `crowded` says that the budget for the whole program ran out.
pub(super) fn losses(program: &Program, entries: &[Expanded], crowded: bool) -> Vec<Vec<Loss>> {
    let reasons = program.unresolved.iter().map(|unresolved| (unresolved.span, unresolved.reason)).collect();
    entries.par_iter().map(|entry| losses_of(program, &reasons, entry, crowded)).collect()
}

fn losses_of(program: &Program, reasons: &Reasons, entry: &Expanded, crowded: bool) -> Vec<Loss> {
    let mut walk = Walk {
        program,
        reasons,
        values: &entry.values,
        crowded,
        inlined: FxHashSet::from_iter([entry.function]),
        calls: vec![],
    };
    walk.block(&entry.body);
    let calls = walk.calls.iter().filter_map(|(span, op)| walk.loss(*span, op));
    let mut losses: Vec<Loss> = calls.chain(walk.alternatives()).collect();
    losses.sort();
    losses.dedup();
    losses
}

/// Why the linker could not resolve calls.
type Reasons = FxHashMap<Span, UnresolvedReason>;

struct Walk<'e> {
    program: &'e Program,
    reasons: &'e Reasons,
    values: &'e [ValueInfo],
    crowded: bool,
    /// The functions whose steps are seen.
    inlined: FxHashSet<FunctionId>,
    /// The calls that are left.
    calls: Vec<(Span, &'e Op)>,
}

impl<'e> Walk<'e> {
    fn block(&mut self, block: &'e Block) {
        for effect in block {
            match &effect.op {
                Op::Call { .. } => self.calls.push((effect.span, &effect.op)),
                Op::Inlined { function, .. } => {
                    self.inlined.insert(*function);
                }
                _ => {}
            }
            effect.op.blocks().for_each(|inner| self.block(inner));
        }
    }

    fn loss(&self, span: Span, op: &Op) -> Option<Loss> {
        let Op::Call { callee, receiver, .. } = op else { return None };
        let (kind, callee) = match callee {
            Callee::Named(name) => (self.kind(span, name, receiver.is_some()), name.to_string()),
            Callee::Value(value) => (LossKind::UnknownFunction, self.name_of(*value)?.to_string()),
            Callee::Function(id) | Callee::Closure { function: id, .. } => {
                let function = self.program.function(*id).filter(|_| !self.inlined.contains(id))?;
                let kind = if self.crowded { LossKind::Budget } else { LossKind::NotInlined };
                (kind, function.name.to_string())
            }
            Callee::Pending(_) => return None,
        };
        Some(Loss { location: location(self.program, span), kind, callee })
    }

    /// Why nothing is known of what is only known by name: as the linker says, or by what can be seen of the call.
    fn kind(&self, span: Span, name: &str, has_receiver: bool) -> LossKind {
        match self.reasons.get(&span) {
            Some(UnresolvedReason::Library) => LossKind::UnknownLibrary,
            Some(UnresolvedReason::Computed) => LossKind::UnknownFunction,
            Some(UnresolvedReason::Function) => LossKind::UnresolvedImport,
            Some(UnresolvedReason::Alternatives { .. }) => LossKind::Alternatives,
            Some(UnresolvedReason::Receiver | UnresolvedReason::Method) => LossKind::UnresolvedReceiver,
            None if has_receiver => LossKind::UnresolvedReceiver,
            None if name.starts_with('.') => LossKind::UnresolvedImport,
            None => LossKind::UnknownLibrary,
        }
    }

    /// The calls in what was inlined of which some alternatives were left out.
    fn alternatives(&self) -> impl Iterator<Item = Loss> {
        let left_out = self.program.unresolved.iter().filter(|unresolved| {
            matches!(unresolved.reason, UnresolvedReason::Alternatives { .. })
                && self.inlined.contains(&unresolved.function)
        });
        left_out.map(|unresolved| Loss {
            location: location(self.program, unresolved.span),
            kind: LossKind::Alternatives,
            callee: unresolved.callee.to_string(),
        })
    }

    fn name_of(&self, value: Value) -> Option<&Name> {
        self.values.get(value.0 as usize).map(|info| &info.name)
    }
}

/// A span as a report names it.
pub(crate) fn location(program: &Program, span: Span) -> Location {
    Location {
        file: program.files.get(span.file.0 as usize).map(ToString::to_string).unwrap_or_default(),
        line: span.line,
        end_line: span.end_line.max(span.line),
    }
}
