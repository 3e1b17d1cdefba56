//! Comprehensions and generator expressions: loops whose results are gathered.

use interlock_model::ir::{Bound, Op};
use ruff_python_ast::{Comprehension, Expr};

use super::{calls::Use, context::Lowerer};
use crate::{
    Shape,
    val::{Val, flag},
};

impl<'a> Lowerer<'a> {
    pub(super) fn comprehension(&mut self, generators: &'a [Comprehension], parts: &[&'a Expr]) -> Val {
        let mark = self.mark();
        let val = self.gathered(generators, parts, Use::Value);
        self.undo(mark);
        val
    }

    /// One loop inside the other; in the innermost the parts are evaluated.
    pub(super) fn gathered(
        &mut self,
        generators: &'a [Comprehension],
        parts: &[&'a Expr],
        wanted: Use,
    ) -> Val {
        let Some((first, rest)) = generators.split_first() else {
            let mut val = Val::nothing();
            for part in parts {
                let part = self.expression_for(part, wanted);
                val.depend(&part);
                val.flags |= part.flags & flag::STATE;
                val.term = part.term;
                val.shape = part.shape;
            }
            return val;
        };
        let whole = self.all_of(&first.iter);
        self.stand(first);
        let at = self.at;
        let name = super::loops::item_name(&first.target);
        let name = self.name(name);
        let item = self.step(&name, whole.flags & flag::STATE);
        if !matches!(whole.shape, Shape::Opaque | Shape::Null) || whole.path_ref().is_some() {
            self.cx.items.push((item, whole.clone().into_arg()));
        }
        let (body, inner) = self.branch(|this| {
            if first.is_async {
                this.push(Op::Suspend);
            }
            let term = whole.entry();
            this.push(Op::Derive { into: item, from: whole.values.clone(), term });
            let val = Val { direct: Some(item), ..Val::of(item, whole.flags & flag::STATE) };
            this.assign_to(&first.target, val);
            this.filtered(&first.ifs, rest, parts, wanted)
        });
        // A loop that only picks is what it picks from.
        self.push_at(at, Op::Loop { bound: Bound::Each, item: Some(item), body });
        let taken = picks(first, rest, parts).then(|| whole.clone().into_arg());
        let mut val = Val::from_values(whole.values, whole.flags & flag::STATE);
        val.shape = taken.map_or(Shape::Opaque, |taken| match taken.shape {
            Shape::List(_) => taken.shape,
            _ => Shape::Choice(vec![taken]),
        });
        val.depend(&Val { direct: None, ..inner });
        val
    }

    fn filtered(
        &mut self,
        ifs: &'a [Expr],
        rest: &'a [Comprehension],
        parts: &[&'a Expr],
        wanted: Use,
    ) -> Val {
        let Some((first, others)) = ifs.split_first() else { return self.gathered(rest, parts, wanted) };
        let test = self.condition(first);
        let at = self.at;
        let on = test.on.clone();
        let (then, mut val) = self.branch(|this| this.filtered(others, rest, parts, wanted));
        if !then.is_empty() {
            self.push_at(at, test.check(then, vec![]));
        }
        crate::val::merge(&mut val.values, &on);
        val
    }
}

/// Whether what is gathered is what is gone over, all of it or some: `{tool.name: tool for tool in tools}`.
fn picks(first: &Comprehension, rest: &[Comprehension], parts: &[&Expr]) -> bool {
    match (&first.target, parts.last()) {
        (Expr::Name(item), Some(Expr::Name(part))) => rest.is_empty() && item.id == part.id,
        _ => false,
    }
}
