//! What closures take along.

use super::Binder;

/// More than this a function takes along only if it names it itself. Bundles hold thousands of functions that call each other, and
/// each would otherwise take along what all of them use.
const INDIRECT_CAPTURES: usize = 32;

/// How long the chains of functions are that hand captures on through calls of each other.
const ROUNDS: usize = 4;

impl Binder<'_> {
    /// Turns the free symbols of each function into captures. One that is a function is replaced by what that function takes along,
    /// because whoever calls it has to hand that over.
    pub(super) fn settle_captures(&mut self) {
        let mut callers = vec![];
        for number in 0..self.facts.functions.len() {
            let free = self.facts.functions.get(number).map(|facts| facts.free.clone()).unwrap_or_default();
            let (held, captures): (Vec<_>, Vec<_>) =
                free.into_iter().partition(|symbol| self.facts.held(*symbol).is_some());
            if let Some(facts) = self.facts.functions.get_mut(number) {
                facts.captures = captures;
            }
            if !held.is_empty() {
                callers.push((number, held));
            }
        }
        for _ in 0..ROUNDS {
            let mut changed = false;
            for (number, held) in &callers {
                for symbol in held {
                    changed |= self.hand_on(*number, *symbol);
                }
            }
            if !changed {
                return;
            }
        }
    }

    /// Adds to a function what a function that it names takes along.
    fn hand_on(&mut self, function: usize, named: u32) -> bool {
        let Some(callee) = self.facts.held(named) else { return false };
        let wanted = self.facts.captures(callee).to_vec();
        let mut changed = false;
        for symbol in wanted {
            let Some(owner) = self.facts.symbol(symbol).map(|symbol| symbol.function) else { continue };
            let mut inner = u32::try_from(function).unwrap_or(u32::MAX);
            while inner != owner && self.seen_free.insert((inner, symbol)) {
                let Some(facts) = self.facts.functions.get_mut(inner as usize) else { break };
                if facts.captures.len() >= INDIRECT_CAPTURES {
                    break;
                }
                facts.captures.push(symbol);
                changed = true;
                let Some(parent) = facts.parent else { break };
                inner = parent;
            }
        }
        changed
    }
}
