//! Statements that pass through a function of the program's own on their way to a library.
//!
//! ```text
//! def _sql(self, query):
//!     return query.replace("%s", self.placeholder)
//!
//! cursor.execute(self._sql("UPDATE items SET status = %s WHERE id = %s"), (status, item))
//! ```
//!
//! A function that gives back what it is handed, as it is or put into another form, leaves a statement the statement that it was. So the
//! call of it is replaced by its argument, before calls are resolved. What puts a statement together of several parts is not this;
//! whoever runs a statement for others is looked at in `forward`.

use interlock_model::ir::{AccessPath, Field, FunctionId, Root, Term, Value};
use rustc_hash::FxHashMap;

use super::{flat::Flat, forward::is_statement};
use crate::{
    Arg, Shape,
    eval::{Definition, Evaluator, Reached},
    module::Site,
};

/// Through how many steps of a function its argument is followed.
const STEPS: usize = 8;

/// An argument of a call, and what stands in its place: by the call, the position, the call that passes a text on, and the position there.
pub(super) struct Passed {
    site: u32,
    position: usize,
    text: Arg,
}

/// The arguments of calls that are statements which were passed on.
pub(super) fn statements(eval: &Evaluator<'_, '_>) -> Vec<Passed> {
    let flat = eval.flat;
    let mut passes: FxHashMap<u32, &Arg> = FxHashMap::default();
    for (number, site) in (0_u32..).zip(&flat.sites) {
        if let Some(text) = passed_on(eval, site) {
            passes.insert(number, text);
        }
    }
    if passes.is_empty() {
        return vec![];
    }
    let call_of = |within: u32, arg: &Arg| match (&arg.shape, &arg.term) {
        (Shape::Call(number), _) => Some(*number),
        (Shape::Opaque, Term::Path(AccessPath { root: Root::Value(value), fields })) if fields.is_empty() => {
            match eval.definition(FunctionId(within), *value) {
                Some(Definition::Call(number)) => Some(*number),
                _ => None,
            }
        }
        _ => None,
    };
    let mut found = vec![];
    for (site, known) in (0_u32..).zip(&flat.sites) {
        for (position, arg) in known.arguments.iter().enumerate() {
            let text = call_of(known.within, arg).and_then(|call| passes.get(&call));
            if let Some(text) = text {
                found.push(Passed { site, position, text: Arg::clone(text) });
            }
        }
    }
    found
}

/// Puts the statements where they were passed to.
pub(super) fn put(flat: &mut Flat, passed: Vec<Passed>) {
    for Passed { site, position, text } in passed {
        let argument = flat.sites.get_mut(site as usize).and_then(|site| site.arguments.get_mut(position));
        if let Some(argument) = argument {
            argument.shape = text.shape;
        }
    }
}

/// The statement that a call is handed, if the function of the program that it reaches gives it back.
fn passed_on<'f>(eval: &Evaluator<'_, 'f>, site: &'f Site) -> Option<&'f Arg> {
    let name = called(site.callee.as_ref()?)?;
    if site.construct || !site.arguments.iter().any(is_statement) || !is_function(eval, name) {
        return None;
    }
    let Reached::Function(function, _) = eval.reached(site) else { return None };
    let head = eval.index.heads.get(function.0 as usize)?;
    let mut returned = eval.index.returns(head).iter();
    let position = handed_back(eval, function, *returned.next()?, STEPS)?;
    if !returned.all(|value| handed_back(eval, function, *value, STEPS) == Some(position)) {
        return None;
    }
    site.arguments.get(position).filter(|arg| is_statement(arg))
}

/// The parameter that a value of a function is, as it is or put into another form.
fn handed_back(eval: &Evaluator<'_, '_>, function: FunctionId, value: Value, steps: usize) -> Option<usize> {
    let steps = steps.checked_sub(1)?;
    let of = |path: &AccessPath| match path.root {
        Root::Value(value) => handed_back(eval, function, value, steps),
        _ => None,
    };
    match eval.definition(function, value)? {
        Definition::Parameter(position) => Some(*position),
        Definition::Path(path) | Definition::Term(Term::Path(path)) if path.fields.is_empty() => of(path),
        Definition::Call(number) => {
            let callee = eval.flat.sites.get(*number as usize)?.callee.as_ref()?;
            let is_form = callee.fields.len() == 1
                && called(callee).is_some_and(|method| eval.builtins.keeps_text(method));
            is_form.then(|| of(callee)).flatten()
        }
        Definition::Either(values) => {
            let mut positions = values.iter().map(|value| handed_back(eval, function, *value, steps));
            let first = positions.next()??;
            positions.all(|other| other == Some(first)).then_some(first)
        }
        _ => None,
    }
}

/// The name by which something is called.
fn called(callee: &AccessPath) -> Option<&str> {
    match (callee.fields.last(), &callee.root) {
        (Some(Field::Name(name)), _) | (None, Root::Global(name)) => Some(name),
        _ => None,
    }
}

/// Whether a function of the program goes by a name; asked first, because it is cheap.
fn is_function(eval: &Evaluator<'_, '_>, name: &str) -> bool {
    eval.index.methods.contains_key(name)
        || eval.index.place(name).is_some_and(|(_, known)| known.bound.is_some())
}
