//! Calls of functions that a decorator of the tree stands at, by the name that they have behind it.
//!
//! ```python
//! def locked(function):
//!     def wrapper(*args, **kwargs):
//!         with LOCK:
//!             return function(*args, **kwargs)
//!     return wrapper
//!
//! @locked
//! def save(note): ...
//!
//! save(note)      # is locked(save)(note), and locked(other)(note) has nothing to do with it
//! ```
//!
//! The name stands for the closure that the decorator gives back, and that closure is one function for everything that is decorated. What
//! it takes along is only known where the decorator is called; so that call stands before each call of the name, and is followed with it.
//! Tools have copies of their own, in [`wrap`](crate::tools). A decorator that changes something besides is left as it was: to repeat
//! that with each call would make it up.

use interlock_model::ir::{AccessPath, Argument, Callee, Effect, FunctionId, Op, Root, Term, Value};

use super::rewrite::{Rewriter, Standing};
use crate::{
    Arg, Shape,
    eval::{Definition, Reached},
};

/// How many decorators may stand above each other, each with the call that makes it.
const DEEPEST: usize = 8;

impl<'f> Rewriter<'_, 'f> {
    /// The closure that is called where a name stands for what a decorator gave back, made anew.
    pub(super) fn decorated(
        &mut self,
        standing: &Standing<'f>,
        function: FunctionId,
        out: &mut Vec<Effect>,
    ) -> Option<Value> {
        let eval = self.eval;
        if eval.index.heads.get(function.0 as usize)?.captures == 0 {
            return None;
        }
        let callee = standing.site.callee.as_ref()?;
        if !matches!(callee.root, Root::Global(_)) {
            return None;
        }
        let place = eval.place_of(self.id, callee)?;
        let mut variables = eval.index.variables(&place);
        let (Some(only), None) = (variables.next(), variables.next()) else { return None };
        let variable = eval.flat.variables.get(only)?;
        let Shape::Call(made) = variable.initial.as_ref()?.shape else { return None };
        self.can_be_made(made, DEEPEST).then(|| self.make(standing, made, out))?
    }

    /// Whether a call is that of a decorator, or of what makes one, which changes nothing itself.
    fn can_be_made(&self, number: u32, left: usize) -> bool {
        let eval = self.eval;
        let (Some(site), Some(left)) = (eval.flat.sites.get(number as usize), left.checked_sub(1)) else {
            return false;
        };
        let about = eval.flat.about.get(site.within as usize);
        // What is made elsewhere than in a module may be another one each time.
        if site.construct || site.named || about.is_none_or(|about| about.module != site.within) {
            return false;
        }
        let Reached::Function(maker, _) = eval.reached(site) else { return false };
        if eval.index.heads.get(maker.0 as usize).is_none_or(|head| head.changes) {
            return false;
        }
        let makes = |arg: &Arg| match arg.shape {
            Shape::Call(inner) if self.decorates(arg, inner) => self.can_be_made(inner, left),
            _ => true,
        };
        let maker = match self.maker(site.within, number) {
            Some(maker) => self.can_be_made(maker, left),
            None => eval.index.heads.get(maker.0 as usize).is_some_and(|head| head.captures == 0),
        };
        maker && site.arguments.iter().all(makes)
    }

    /// The call that makes the decorator, where that is made by one: `@retried(3)`.
    fn maker(&self, within: u32, number: u32) -> Option<u32> {
        let callee = self.eval.flat.sites.get(number as usize)?.callee.as_ref()?;
        let (Root::Value(value), []) = (&callee.root, callee.fields.as_slice()) else { return None };
        match self.eval.definition(FunctionId(within), *value)? {
            Definition::Call(maker) => Some(*maker),
            _ => None,
        }
    }

    /// Whether an argument is what another decorator gave back.
    fn decorates(&self, arg: &Arg, number: u32) -> bool {
        let site = self.eval.flat.sites.get(number as usize);
        let first = site.and_then(|site| site.arguments.first());
        let is_function = |first: &Arg| matches!(first.shape, Shape::Function { .. } | Shape::Call(_));
        matches!(&arg.term, Term::Path(AccessPath { root: Root::Value(_), fields }) if fields.is_empty())
            && first.is_some_and(is_function)
    }

    /// The steps that make what a decorator gives back.
    fn make(&mut self, standing: &Standing<'f>, number: u32, out: &mut Vec<Effect>) -> Option<Value> {
        let eval = self.eval;
        let site = eval.flat.sites.get(number as usize)?;
        let callee = match self.maker(site.within, number) {
            Some(maker) => Callee::Value(self.make(standing, maker, out)?),
            None => match eval.reached(site) {
                Reached::Function(maker, _) => Callee::Function(maker),
                _ => return None,
            },
        };
        let mut arguments = vec![];
        for arg in &site.arguments {
            arguments.push(match &arg.shape {
                Shape::Function { function, .. } => Argument::Closure {
                    function: *function,
                    captures: eval.captures(self.id, *function).unwrap_or_default(),
                },
                Shape::Call(inner) if self.decorates(arg, *inner) => {
                    Argument::Term(self.make(standing, *inner, out)?.into())
                }
                _ => Argument::Term(crate::eval::builtins::term(&arg.from_outside())),
            });
        }
        let into = self.declare("decorated");
        let op = Op::Call { into: Some(into), callee, receiver: None, arguments, awaited: false };
        out.push(Effect { span: standing.span, op });
        Some(into)
    }
}
