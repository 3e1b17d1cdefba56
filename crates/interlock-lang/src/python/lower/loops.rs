//! Loops, and what `match` takes apart.

use interlock_model::{
    Span,
    ir::{Block, Bound, Effect, Exit, Name, Op, Term, Value},
};
use ruff_python_ast::{Expr, Pattern, StmtFor, StmtWhile};

use super::{
    context::{Binding, Lowerer, leaves},
    expressions::start,
};
use crate::{
    Shape,
    val::{Val, flag},
};

/// As many values of variables are noted where turns are left.
const MOST_LEFT: usize = 64;

/// A variable that a loop assigns: what stood for it before, and what stands for it at the head of each turn.
struct Carried {
    symbol: u32,
    before: Binding,
    head: Value,
}

/// What the variables of a loop stood for where a turn was left early.
#[derive(Debug, Default)]
pub(super) struct Left {
    symbols: Vec<u32>,
    /// By `continue`: the next turn sees it.
    continued: Vec<(u32, Value)>,
    /// By `break`: what follows the loop sees it.
    broken: Vec<(u32, Value)>,
}

impl<'a> Lowerer<'a> {
    /// Notes what the variables of the innermost loop stand for where it is left, or where its next turn begins.
    pub(super) fn leave_turn(&mut self, for_good: bool) {
        let Some(mut left) = self.cx.left.pop() else { return };
        for symbol in &left.symbols {
            let Some(binding) = self.bindings.get(symbol) else { continue };
            let ways = if for_good { &mut left.broken } else { &mut left.continued };
            if ways.len() < MOST_LEFT && !ways.contains(&(*symbol, binding.value)) {
                ways.push((*symbol, binding.value));
            }
        }
        self.cx.left.push(left);
    }

    pub(super) fn while_loop(&mut self, it: &'a StmtWhile) {
        self.stand(it);
        let at = self.at;
        self.turns(start(it), at, None, |this| {
            let test = this.condition(&it.test);
            let bound = if test.counted { Bound::Limited } else { Bound::Unlimited };
            let tested = test.always != Some(true) && !test.on.is_empty();
            if tested {
                this.stand(&*it.test);
                let out = vec![Effect { span: this.at, op: Op::Exit(Exit::Break) }];
                this.push(test.check(vec![], out));
            }
            this.statements(&it.body);
            (bound, tested)
        });
        self.statements(&it.orelse);
    }

    pub(super) fn for_loop(&mut self, it: &'a StmtFor) {
        let counts = is_range(&it.iter);
        let whole = self.all_of(&it.iter);
        self.stand(it);
        let at = self.at;
        let name = self.name(item_name(&it.target));
        let counter = if counts { flag::COUNTER } else { 0 };
        let item = self.step(&name, whole.flags & flag::STATE | counter);
        if !matches!(whole.shape, Shape::Opaque | Shape::Null) || whole.path_ref().is_some() {
            self.cx.items.push((item, whole.clone().into_arg()));
        }
        self.turns(start(it), at, Some(item), |this| {
            if it.is_async {
                this.push(Op::Suspend);
            }
            // Which entry it is is not known, but whose.
            let term = match whole.path_ref() {
                Some(path) if whole.flags & flag::STATE != 0 => Term::Path(path.clone().at(Term::Unknown)),
                _ => Term::Unknown,
            };
            this.push(Op::Derive { into: item, from: whole.values.clone(), term });
            let flags = whole.flags & flag::STATE | counter;
            this.assign_to(&it.target, Val { direct: Some(item), ..Val::of(item, flags) });
            this.statements(&it.body);
            // `for attempt in range(3)` is a loop that gives up.
            (if counts { Bound::Limited } else { Bound::Each }, false)
        });
        self.statements(&it.orelse);
    }

    /// A loop around something. What the loop assigns is, at the head of each turn, either what it was before or what the turn
    /// before left. `body` also says whether a test at the head is the way out.
    fn turns(
        &mut self,
        place: u32,
        at: Span,
        item: Option<Value>,
        body: impl FnOnce(&mut Self) -> (Bound, bool),
    ) {
        let mark = self.changes.len();
        let (mut block, (carried, (bound, tested))) = self.branch(|this| {
            let carried = this.carry(place);
            let symbols = carried.iter().map(|carried| carried.symbol).collect();
            this.cx.left.push(Left { symbols, ..Left::default() });
            let bound = body(this);
            (carried, bound)
        });
        let left = self.cx.left.pop().unwrap_or_default();
        let mut after = vec![];
        for (index, carried) in carried.iter().enumerate() {
            let Some(end) = self.bindings.get(&carried.symbol).cloned() else { continue };
            let of = |ways: &[(u32, Value)]| -> Vec<Value> {
                let own = ways.iter().filter(|(symbol, _)| *symbol == carried.symbol);
                own.map(|(_, value)| *value).collect()
            };
            let mut turns = vec![end.value];
            turns.extend(of(&left.continued));
            let mut ends = vec![carried.before.value];
            for value in turns.iter().copied().chain(of(&left.broken)) {
                if !ends.contains(&value) {
                    ends.push(value);
                }
            }
            // The head of each turn is what it was before or what a turn left.
            if let Some(Effect { op: Op::Derive { into, from, .. }, .. }) = block.get_mut(index)
                && *into == carried.head
            {
                for value in turns {
                    if value != carried.head && !from.contains(&value) {
                        from.push(value);
                    }
                }
            }
            // Who leaves by the test at the head has what was tested there: `while exists(name): name = another(name)`.
            let head = (tested && of(&left.broken).is_empty()).then_some(carried.head);
            after.push((carried.symbol, head.map_or(ends, |head| vec![head]), head));
        }
        self.undo(mark);
        let bound = if bound == Bound::Unlimited && self.gives_up(&block) { Bound::Limited } else { bound };
        self.push_at(at, Op::Loop { bound, item, body: block });
        for (symbol, ends, head) in after {
            let name = self.symbol_name(symbol);
            let flags = ends.iter().fold(0, |flags, end| flags | self.flags(*end)) & !flag::COUNTER;
            let value = self.derive(&name, ends, head.map_or(Term::Unknown, Term::from), flags);
            self.set(symbol, Binding::of(value));
        }
    }

    fn carry(&mut self, place: u32) -> Vec<Carried> {
        let assigned = self.facts.assigned_in(place).to_vec();
        let mut carried = vec![];
        for symbol in assigned {
            let own = self
                .facts
                .symbol(symbol)
                .is_some_and(|found| found.function == self.cx.id && self.cx.id != 0);
            if !own || self.facts.is_cell(symbol) {
                continue;
            }
            let Some(before) = self.bindings.get(&symbol).cloned() else { continue };
            let name = self.symbol_name(symbol);
            let flags = self.flags(before.value);
            let head = self.derive(&name, vec![before.value], Term::Unknown, flags);
            self.set(symbol, Binding { value: head, alias: None, shape: before.shape.clone() });
            carried.push(Carried { symbol, before, head });
        }
        carried
    }

    /// Whether a loop without a limit of its own ends because it counts its turns: `if attempt > 5: raise`.
    fn gives_up(&self, block: &Block) -> bool {
        block.iter().any(|effect| match &effect.op {
            Op::Check { on, then, otherwise, .. } => {
                let counts = on.iter().any(|value| self.flags(*value) & flag::COUNTER != 0);
                (counts && (leaves(then) || leaves(otherwise)))
                    || self.gives_up(then)
                    || self.gives_up(otherwise)
            }
            Op::Try { body, catch, finally } => {
                self.gives_up(body)
                    || catch.as_ref().is_some_and(|catch| self.gives_up(&catch.body))
                    || self.gives_up(finally)
            }
            _ => false,
        })
    }

    /// The texts that a pattern asks for, one of which it has to be: `case "one" | "two"`.
    pub(super) fn literals_of(&mut self, pattern: &'a Pattern) -> Vec<Name> {
        let Pattern::MatchOr(it) = pattern else { return vec![] };
        let texts = it.patterns.iter().map(|pattern| self.literal_of(pattern));
        texts.collect::<Option<Vec<Name>>>().unwrap_or_default()
    }

    /// The text that a pattern asks for.
    pub(super) fn literal_of(&mut self, pattern: &'a Pattern) -> Option<Name> {
        match pattern {
            Pattern::MatchValue(it) => match self.expression(&it.value).term {
                Term::Literal(text) => Some(text),
                _ => self.constant(&it.value),
            },
            Pattern::MatchAs(it) => self.literal_of(it.pattern.as_deref()?),
            _ => None,
        }
    }

    /// The names that a pattern binds depend on what is matched.
    pub(super) fn bind_pattern(&mut self, pattern: &'a Pattern, subject: &Val) {
        let part = || Val::from_values(subject.values.clone(), subject.flags);
        match pattern {
            Pattern::MatchAs(it) => {
                if let Some(inner) = &it.pattern {
                    self.bind_pattern(inner, subject);
                }
                if let Some(name) = &it.name {
                    self.assign_name(name.as_str(), Val { direct: None, ..subject.clone() }, None);
                }
            }
            Pattern::MatchStar(it) => {
                if let Some(name) = &it.name {
                    self.assign_name(name.as_str(), part(), None);
                }
            }
            Pattern::MatchSequence(it) => {
                it.patterns.iter().for_each(|inner| self.bind_pattern(inner, &part()));
            }
            Pattern::MatchMapping(it) => {
                it.patterns.iter().for_each(|inner| self.bind_pattern(inner, &part()));
                if let Some(name) = &it.rest {
                    self.assign_name(name.as_str(), part(), None);
                }
            }
            Pattern::MatchClass(it) => {
                it.arguments.patterns.iter().for_each(|inner| self.bind_pattern(inner, &part()));
                it.arguments.keywords.iter().for_each(|inner| self.bind_pattern(&inner.pattern, &part()));
            }
            Pattern::MatchOr(it) => it.patterns.iter().for_each(|inner| self.bind_pattern(inner, subject)),
            Pattern::MatchValue(_) | Pattern::MatchSingleton(_) => {}
        }
    }
}

/// What the items of a loop are called.
pub(super) fn item_name(target: &Expr) -> &str {
    match target {
        Expr::Name(it) => it.id.as_str(),
        _ => "item",
    }
}

/// `range(…)`: a number that is counted up.
fn is_range(iter: &Expr) -> bool {
    let Expr::Call(call) = iter else { return false };
    matches!(&*call.func, Expr::Name(name) if name.id.as_str() == "range")
}
