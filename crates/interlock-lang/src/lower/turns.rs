//! Loops: what a variable stands for at the head of each turn, and behind the last.

use interlock_model::{
    Span,
    ir::{Block, Bound, Effect, Op, Term, Value},
};

use super::{Binding, Opened, Work, leaves};
use crate::val::flag;

/// As many values of variables are noted where turns are left.
const MOST_LEFT: usize = 64;

/// A variable that a loop assigns: what stood for it before, and what stands for it at the head of each turn.
#[derive(Debug)]
struct Carried {
    symbol: u32,
    before: Binding,
    head: Value,
}

/// What the variables of a loop stood for where a turn was left early.
#[derive(Debug, Default)]
pub(super) struct Left {
    symbols: Vec<u32>,
    /// The next turn sees it.
    continued: Vec<(u32, Value)>,
    /// What follows the loop sees it.
    broken: Vec<(u32, Value)>,
}

/// A loop that was begun.
#[derive(Debug)]
pub(crate) struct Turn {
    carried: Vec<Carried>,
    opened: Opened,
    mark: usize,
    at: Span,
    item: Option<Value>,
}

impl Work {
    /// Notes what the variables of the innermost loop stand for where it is left, or where its next turn begins.
    pub(crate) fn leave_turn(&mut self, for_good: bool) {
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

    /// Begins a loop that assigns to some variables of this function. What the loop assigns is, at the head of each turn, either what it
    /// was before or what the turn before left.
    pub(crate) fn begin_turn(&mut self, assigned: &[u32], item: Option<Value>) -> Turn {
        let (mark, at) = (self.mark(), self.at);
        let opened = self.open(true);
        let mut carried = vec![];
        for symbol in assigned {
            let Some(before) = self.bindings.get(symbol).cloned() else { continue };
            let name = self.symbol_name(*symbol);
            let flags = self.flags(before.value);
            let head = self.derive(&name, vec![before.value], Term::Unknown, flags);
            self.keep_common_type(&[before.value], head);
            self.set(*symbol, Binding { value: head, alias: None, shape: before.shape.clone() });
            carried.push(Carried { symbol: *symbol, before, head });
        }
        let symbols = carried.iter().map(|carried| carried.symbol).collect();
        self.cx.left.push(Left { symbols, ..Left::default() });
        Turn { carried, opened, mark, at, item }
    }

    /// Ends it. Where it is `tested`, a test at the head of each turn is the way out.
    pub(crate) fn end_turn(&mut self, turn: Turn, bound: Bound, tested: bool) {
        let Turn { carried, opened, mark, at, item } = turn;
        let mut block = self.close(opened);
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
            let value = self.derive(&name, ends.clone(), head.map_or(Term::Unknown, Term::from), flags);
            self.keep_common_type(&ends, value);
            self.set(symbol, Binding::of(value));
        }
    }

    /// Whether a loop without a limit of its own ends because it counts its turns.
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
}
