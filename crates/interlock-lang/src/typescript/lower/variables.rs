//! What the variables of a function stand for, and what becomes of that where ways part and meet.

use interlock_model::ir::{AccessPath, Term, Value};

use super::{
    context::{Binding, Lowerer},
    val::Val,
};
use crate::{Arg, Shape};

impl Lowerer<'_> {
    pub(super) fn binding(&self, symbol: u32) -> Option<Binding> {
        self.bindings.get(symbol as usize).copied().flatten()
    }

    pub(super) fn set(&mut self, symbol: u32, binding: Binding) {
        if let Some(slot) = self.bindings.get_mut(symbol as usize) {
            self.changes.push((symbol, slot.replace(binding)));
        }
    }

    pub(super) fn set_value(&mut self, symbol: u32, value: Value) {
        self.set(symbol, Binding { value, alias: None, shape: None });
    }

    pub(super) fn keep_path(&mut self, path: AccessPath) -> Option<u32> {
        self.paths.push(path);
        u32::try_from(self.paths.len() - 1).ok()
    }

    pub(super) fn keep_shape(&mut self, shape: Shape) -> Option<u32> {
        self.shapes.push(shape);
        u32::try_from(self.shapes.len() - 1).ok()
    }

    /// Takes back what was assigned since `mark`, and says what each variable stood for in the end.
    pub(super) fn undo(&mut self, mark: usize) -> Vec<(u32, Binding)> {
        let mut last: Vec<(u32, Binding)> = vec![];
        while self.changes.len() > mark {
            let Some((symbol, before)) = self.changes.pop() else { break };
            let Some(slot) = self.bindings.get_mut(symbol as usize) else { continue };
            if let Some(now) = std::mem::replace(slot, before)
                && !last.iter().any(|(known, _)| *known == symbol)
            {
                last.push((symbol, now));
            }
        }
        last.sort_unstable_by_key(|(symbol, _)| *symbol);
        last
    }

    /// Goes on with what one of two ways left in each variable: `None` for a way that does not come here.
    pub(super) fn join(&mut self, one: Option<Vec<(u32, Binding)>>, two: Option<Vec<(u32, Binding)>>) {
        let (one, two) = match (one, two) {
            (Some(one), Some(two)) => (one, two),
            (Some(only), None) | (None, Some(only)) => {
                for (symbol, binding) in only {
                    self.set(symbol, binding);
                }
                return;
            }
            (None, None) => return,
        };
        let mut symbols: Vec<u32> = one.iter().chain(&two).map(|(symbol, _)| *symbol).collect();
        symbols.sort_unstable();
        symbols.dedup();
        for symbol in symbols {
            let before = self.binding(symbol);
            let end = |way: &[(u32, Binding)]| {
                way.iter().find(|(known, _)| *known == symbol).map(|(_, binding)| *binding).or(before)
            };
            let (Some(a), Some(b)) = (end(&one), end(&two)) else {
                if let Some(only) = end(&one).or(end(&two)) {
                    self.set(symbol, only);
                }
                continue;
            };
            if a.value == b.value {
                self.set(symbol, a);
                continue;
            }
            let name = self.symbol_name(symbol);
            let flags = self.flags(a.value) | self.flags(b.value);
            let value = self.derive(&name, vec![a.value, b.value], Term::Unknown, flags);
            let shape = self.common_text(a, b).or_else(|| self.either_object(a, b));
            let shape = shape.and_then(|shape| self.keep_shape(shape));
            self.set(symbol, Binding { value, alias: None, shape });
        }
    }

    /// One of two objects that are written out in full: `if (token) headers.Authorization = …`.
    fn either_object(&self, one: Binding, two: Binding) -> Option<Shape> {
        let object = |binding: Binding| match self.shapes.get(binding.shape? as usize)? {
            shape @ Shape::Object(members) if members.iter().all(|(name, _)| &**name != "...") => {
                Some(Arg { shape: shape.clone(), ..Val::of(binding.value, 0).into_arg() })
            }
            _ => None,
        };
        Some(Shape::Choice(vec![object(one)?, object(two)?]))
    }

    /// What two texts begin with alike, and that they may go on: `sql += …` that only one way has taken.
    fn common_text(&self, one: Binding, two: Binding) -> Option<Shape> {
        let text = |binding: Binding| match self.shapes.get(binding.shape? as usize)? {
            Shape::Text(parts) => Some(parts),
            _ => None,
        };
        let (one, two) = (text(one)?, text(two)?);
        let alike = one.iter().zip(two).take_while(|(one, two)| one == two);
        let mut parts: Vec<Term> = alike.map(|(part, _)| part.clone()).collect();
        if parts.is_empty() || parts.len() == one.len() && parts.len() == two.len() {
            return None;
        }
        parts.push(Term::Unknown);
        Some(Shape::Text(parts))
    }
}
