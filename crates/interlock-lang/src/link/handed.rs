//! What a call in a helper is handed, as the caller of the helper sees it: `fetch(BASE + path, { method, ...init })` behind
//! `send("/notes", { method: "PUT" })`.

use std::{cell::Cell, sync::Arc};

use interlock_model::ir::{AccessPath, Field, FunctionId, Name, Root, Term, Value};

use super::forward::{Sought, WAYS};
use crate::{
    Arg, Shape,
    eval::{Definition, Evaluator, Reached, bare},
    module::Site,
    val::merge,
};

/// How many parts may be put together for one call: what is handed on may be put into something that is handed on.
const MOST_PARTS: usize = 2_000;

/// How many functions are looked into for what they return, one inside of the other.
const DEEPEST: usize = 4;

/// How many arguments of a call are parts of the address that it puts together.
const MOST_OF_ADDRESS: usize = 8;

/// A function that hands on what it is handed, as its caller sees it.
pub(super) struct Helper {
    pub(super) function: FunctionId,
    /// The object whose method it is.
    pub(super) this: Option<AccessPath>,
    pub(super) handed: Vec<Arg>,
    /// The call by which another helper hands that to it, and that helper.
    pub(super) from: Option<(u32, Arc<Self>)>,
}

impl Evaluator<'_, '_> {
    /// What a call in a function is handed, as the caller of the function sees it.
    pub(super) fn arguments_from(&self, helper: &Helper, site: &Site, sought: Sought) -> Vec<Arg> {
        let (within, left) = (FunctionId(site.within), Cell::new(MOST_PARTS));
        let seen = Seen { eval: self, helper, within, sought, depth: DEEPEST, left: &left };
        // What the function does with the answer leads to what it returns; here the answer is the result.
        let is_callback = |arg: &Arg| matches!(arg.shape, Shape::Function { .. });
        let mut arguments = vec![];
        for own in &site.arguments {
            match seen.rest(own) {
                Some(rest) => arguments.extend(rest.iter().cloned()),
                None => arguments.push(seen.arg(own)),
            }
        }
        arguments.retain(|arg| !is_callback(arg));
        arguments
    }

    /// The parameter of a function that a value is, in it or in a closure that is written in it.
    pub(super) fn parameter_of(
        &self,
        function: FunctionId,
        within: FunctionId,
        value: Value,
        ways: usize,
    ) -> Option<usize> {
        let ways = ways.checked_sub(1)?;
        match self.definition(within, value)? {
            Definition::Parameter(number) => (within == function).then_some(*number),
            Definition::Capture(number) => {
                let (outer, terms) = self.index.captured(within)?;
                self.parameter_of(function, *outer, bare(terms.get(*number)?)?, ways)
            }
            Definition::Path(path) => {
                let value = bare(&Term::Path(path.clone()))?;
                self.parameter_of(function, within, value, ways)
            }
            Definition::Either(values) => {
                values.iter().find_map(|value| self.parameter_of(function, within, *value, ways / 2))
            }
            _ => None,
        }
    }
}

/// A helper from inside, under the names of its caller.
struct Seen<'s, 'w, 'f> {
    eval: &'s Evaluator<'w, 'f>,
    helper: &'s Helper,
    /// The helper, or a closure that is written in it.
    within: FunctionId,
    sought: Sought,
    /// How many functions may still be looked into for what they return.
    depth: usize,
    /// How many parts may still be put together.
    left: &'s Cell<usize>,
}

impl Seen<'_, '_, '_> {
    /// All that is handed over from a parameter on, where it is the last and takes the rest: `query(...args)`.
    fn rest(&self, own: &Arg) -> Option<&[Arg]> {
        let number = self.parameter_behind(own)?;
        let last = self.eval.index.heads.get(self.helper.function.0 as usize)?.parameters.checked_sub(1)?;
        self.helper.handed.get(number..).filter(|rest| number == last && rest.len() > 1)
    }

    fn arg(&self, own: &Arg) -> Arg {
        let Some(left) = self.left.get().checked_sub(1) else { return Arg::opaque(Term::Unknown, vec![]) };
        self.left.set(left);
        if let Some(given) = self.given(own) {
            return given;
        }
        if let (Shape::Opaque, Some(value)) = (&own.shape, bare(&own.term))
            && let Some(made) = self.made(value, WAYS)
        {
            return self.arg(made);
        }
        if let Some(returned) = self.returned_by(own) {
            return returned;
        }
        if let Some(address) = self.one_address(own, WAYS).or_else(|| self.address(own, WAYS)) {
            return address;
        }
        let shape = match &own.shape {
            Shape::Object(members) => Shape::Object(self.members(members)),
            Shape::List(items) => Shape::List(items.iter().map(|item| self.arg(item)).collect()),
            Shape::Text(parts) => Shape::Text(self.text(parts)),
            Shape::Choice(ways) => return self.choice(own, ways),
            _ => own.from_outside().shape,
        };
        Arg { term: self.term(&own.term), values: self.values(&own.values), shape }
    }

    /// The object that a function of the program returns, where an argument is the result of a call of it: `fetch(url, withHeaders(init))`.
    fn returned_by(&self, own: &Arg) -> Option<Arg> {
        let number = match (&own.shape, bare(&own.term)) {
            (Shape::Call(number), _) => *number,
            (Shape::Opaque, Some(value)) => match self.eval.definition(self.within, value)? {
                Definition::Call(number) => *number,
                _ => return None,
            },
            _ => return None,
        };
        self.returned(number).filter(|returned| matches!(returned.shape, Shape::Object(_)))
    }

    /// What a call in the helper gives back, as the caller of the helper sees it.
    fn returned(&self, number: u32) -> Option<Arg> {
        let depth = self.depth.checked_sub(1).filter(|_| self.sought == Sought::Request)?;
        let site = self.eval.flat.sites.get(number as usize)?;
        let known = site.function.map(|function| Reached::Function(FunctionId(function), None));
        let Reached::Function(function, _) = known.unwrap_or_else(|| self.eval.reached(site)) else {
            return None;
        };
        let handed = site.arguments.iter().map(|arg| self.arg(arg)).collect();
        let helper = Helper { function, this: None, handed, from: None };
        let inside = Seen { helper: &helper, within: function, depth, ..*self };
        let about = self.eval.flat.about.get(function.0 as usize)?;
        let head = self.eval.index.heads.get(function.0 as usize)?;
        match (&*about.returned, self.eval.index.returns(head)) {
            ([returned], _) => Some(inside.arg(returned)),
            ([], [returned]) => inside.value(*returned, WAYS),
            _ => None,
        }
    }

    /// What a variable of the helper is, where it is handed over, made as an object or given back by a function.
    fn value(&self, value: Value, ways: usize) -> Option<Arg> {
        let ways = ways.checked_sub(1)?;
        if let Some(number) = self.eval.parameter_of(self.helper.function, self.within, value, WAYS) {
            return Some(self.handed(number));
        }
        if let Some(made) = self.made(value, WAYS) {
            return Some(self.arg(made));
        }
        match self.eval.definition(self.within, value)? {
            Definition::Call(number) => self.returned(*number),
            Definition::Path(path) => match path.root {
                Root::Value(whole) => path
                    .fields
                    .iter()
                    .try_fold(self.value(whole, ways)?, |whole, field| member(&whole, field)),
                _ => None,
            },
            _ => None,
        }
    }

    /// What an address is made of that a call puts together: `new URL(path, BASE)`, `this.url(path).toString()`. Two are the same where
    /// that is.
    fn address(&self, own: &Arg, ways: usize) -> Option<Arg> {
        let ways = ways.checked_sub(1).filter(|_| self.sought == Sought::Request)?;
        self.left.set(self.left.get().checked_sub(1)?);
        let number = match (&own.shape, bare(&own.term)) {
            (Shape::Call(number), _) => *number,
            (Shape::Opaque, Some(value)) => match self.eval.definition(self.within, value)? {
                Definition::Call(number) => *number,
                _ => return None,
            },
            _ => return None,
        };
        let site = self.eval.flat.sites.get(number as usize)?;
        let object = site.callee.as_ref().and_then(|callee| match callee.root {
            Root::Value(value) if callee.fields.len() == 1 => Some(Arg::opaque(value.into(), vec![value])),
            _ => None,
        });
        let (mut parts, mut values) = (vec![], vec![]);
        for own in object.iter().chain(&site.arguments).take(MOST_OF_ADDRESS) {
            let seen = self.given(own).or_else(|| self.address(own, ways));
            let Some(seen) = seen.or_else(|| matches!(own.shape, Shape::Text(_)).then(|| self.arg(own)))
            else {
                continue;
            };
            merge(&mut values, &seen.values);
            match term_of(seen) {
                Term::Unknown => {}
                Term::Join(inner) => parts.extend(inner),
                part => parts.push(part),
            }
        }
        match parts.len() {
            0 => None,
            1 => Some(Arg::opaque(parts.swap_remove(0), values)),
            _ => Some(Arg::opaque(Term::Join(parts), values)),
        }
    }

    /// The object that a variable of the helper was made as, whatever was put into it afterwards.
    fn made(&self, value: Value, ways: usize) -> Option<&Arg> {
        let ways = ways.checked_sub(1)?;
        let about = self.eval.flat.about.get(self.within.0 as usize)?;
        if let Some((_, made)) = about.locals.iter().find(|(local, _)| *local == value) {
            return Some(made).filter(|made| matches!(made.shape, Shape::Object(_)));
        }
        match self.eval.definition(self.within, value)? {
            Definition::Path(path) => self.made(bare(&Term::Path(path.clone()))?, ways),
            Definition::Either(values) => values.iter().find_map(|value| self.made(*value, ways / 2)),
            _ => None,
        }
    }

    /// What a caller hands over where an argument is a parameter, or a member of one.
    fn given(&self, own: &Arg) -> Option<Arg> {
        if let Some(number) = self.parameter_behind(own) {
            return Some(self.handed(number));
        }
        let Term::Path(path) = &own.term else { return None };
        match &own.shape {
            Shape::Opaque => self.at(path),
            _ => None,
        }
    }

    /// What a caller hands over at a path that begins at a parameter.
    fn at(&self, path: &AccessPath) -> Option<Arg> {
        let Root::Value(value) = path.root else { return None };
        let (value, before) = match self.eval.definition(self.within, value)? {
            // Taken out of the parameter before: `const { method } = init`.
            Definition::Path(taken) => match taken.root {
                Root::Value(value) => (value, taken.fields.as_slice()),
                _ => return None,
            },
            _ => (value, &[][..]),
        };
        let whole = match self.eval.parameter_of(self.helper.function, self.within, value, WAYS) {
            Some(number) => self.handed(number),
            // A member of what a function of the program has put together: `const { init } = prepare(options)`.
            None if before.is_empty() && path.fields.is_empty() => return None,
            None => self.value(value, WAYS).filter(|whole| matches!(whole.shape, Shape::Object(_)))?,
        };
        before.iter().chain(&path.fields).try_fold(whole, |whole, field| member(&whole, field))
    }

    fn handed(&self, number: usize) -> Arg {
        if let Some(given) = self.helper.handed.get(number) {
            return given.clone();
        }
        let defaults = self.eval.index.defaults.get(&self.helper.function);
        let default = defaults.and_then(|defaults| defaults.get(number).copied().flatten());
        default.map_or(Arg { term: Term::Unknown, values: vec![], shape: Shape::Null }, Arg::from_outside)
    }

    /// The parameter of the helper that an argument of a call in it is, or is made of alone.
    fn parameter_behind(&self, arg: &Arg) -> Option<usize> {
        let alone = match (arg.values.as_slice(), &arg.term) {
            ([one], Term::Unknown) if matches!(arg.shape, Shape::Opaque | Shape::Choice(_)) => Some(*one),
            _ => None,
        };
        let value = bare(&arg.term).filter(|_| matches!(arg.shape, Shape::Opaque | Shape::Choice(_)));
        self.eval.parameter_of(self.helper.function, self.within, value.or(alone)?, WAYS)
    }

    /// The members of an object; what is spread into it by a caller who writes it out is seen.
    fn members(&self, members: &[(Name, Arg)]) -> Vec<(Name, Arg)> {
        let mut seen = vec![];
        for (name, own) in members {
            let arg = self.arg(own);
            match (&**name, arg.shape) {
                ("...", Shape::Object(inner)) => seen.extend(inner),
                ("...", Shape::Null) => {}
                (_, shape) => seen.push((name.clone(), Arg { shape, ..arg })),
            }
        }
        seen
    }

    fn text(&self, parts: &[Term]) -> Vec<Term> {
        let mut seen = vec![];
        for part in parts {
            let begins = seen.is_empty();
            match self.term(part) {
                Term::Join(inner) => seen.extend(inner),
                Term::Unknown if begins => seen.push(self.base(part).unwrap_or(Term::Unknown)),
                part => seen.push(part),
            }
        }
        seen
    }

    /// What an address begins with, where the helper has taken it along from the function that made it: the same in each call of it.
    fn base(&self, part: &Term) -> Option<Term> {
        let (Sought::Request, Term::Path(AccessPath { root: Root::Value(value), .. })) = (self.sought, part)
        else {
            return None;
        };
        match self.eval.definition(self.within, *value)? {
            Definition::Capture(_) => Some(self.eval.outer_term(self.within, part)),
            _ => None,
        }
    }

    /// The address that a variable is in each of the ways in which it is put together: `let url = BASE + path`, to which a key is added where
    /// one is asked for. What is asked there makes no other address.
    fn one_address(&self, own: &Arg, ways: usize) -> Option<Arg> {
        if self.sought != Sought::Request || !matches!(own.shape, Shape::Opaque | Shape::Choice(_)) {
            return None;
        }
        let value = bare(&own.term)?;
        if !matches!(self.eval.definition(self.within, value)?, Definition::Either(_)) {
            return None;
        }
        let mut found = vec![];
        self.spell(value, ways, &mut found)?;
        found.sort_by_key(Vec::len);
        let mut found = found.into_iter();
        let shortest = found.next()?;
        let is_same = |longer: Vec<Term>| {
            longer
                .strip_prefix(shortest.as_slice())
                .is_some_and(|behind| behind.is_empty() || is_question(behind))
        };
        found.all(is_same).then(|| Arg::opaque(Term::Join(shortest), self.values(&own.values)))
    }

    /// The texts that a variable may be, part by part.
    fn spell(&self, value: Value, ways: usize, found: &mut Vec<Vec<Term>>) -> Option<()> {
        let ways = ways.checked_sub(1)?;
        self.left.set(self.left.get().checked_sub(1)?);
        match self.eval.definition(self.within, value)? {
            Definition::Either(values) => {
                values.iter().try_for_each(|value| self.spell(*value, ways / 2, found))
            }
            Definition::Term(Term::Join(parts)) => {
                // What is added to one of them.
                if let Some((first, behind)) = parts.split_first()
                    && let Some(before) = bare(first)
                    && !matches!(self.eval.definition(self.within, before)?, Definition::Parameter(_))
                {
                    let mut texts = vec![];
                    if self.spell(before, ways, &mut texts).is_some() {
                        let behind = self.text(behind);
                        found.extend(texts.into_iter().map(|text| [text, behind.clone()].concat()));
                        return Some(());
                    }
                }
                found.push(self.text(parts));
                Some(())
            }
            _ => None,
        }
    }

    /// What is one thing where a caller hands it over, and another where none does: `init.method ?? "GET"`.
    fn choice(&self, own: &Arg, ways: &[Arg]) -> Arg {
        let mut seen: Vec<Arg> = vec![];
        for way in ways {
            let arg = self.arg(way);
            let is_given = self.given(way).is_some();
            match arg.shape {
                Shape::Null => {}
                Shape::Opaque => seen.push(arg),
                // What a caller writes out is taken before whatever stands behind it.
                _ if is_given && seen.is_empty() => return arg,
                _ => seen.push(arg),
            }
        }
        match seen.len() {
            0 => Arg { term: Term::Unknown, values: vec![], shape: Shape::Null },
            1 => seen.swap_remove(0),
            _ => Arg { term: Term::Unknown, values: self.values(&own.values), shape: Shape::Choice(seen) },
        }
    }

    fn term(&self, own: &Term) -> Term {
        match own {
            Term::Path(path) => match self.at(path) {
                Some(given) => term_of(given),
                None => Arg::opaque(own.clone(), vec![]).from_outside().term,
            },
            Term::Join(parts) => Term::Join(self.text(parts)),
            Term::Parent(inner) => Term::Parent(Box::new(self.term(inner))),
            term => term.clone(),
        }
    }

    /// What something depends on.
    fn values(&self, own: &[Value]) -> Vec<Value> {
        let mut values = vec![];
        for value in own {
            if let Some(given) = self.at(&(*value).into()) {
                merge(&mut values, &given.values);
            }
        }
        values
    }
}

/// Whether what stands behind an address is a question: `?page=2`, or one whose beginning was chosen: `{separator}key=1`.
fn is_question(behind: &[Term]) -> bool {
    match behind {
        [Term::Literal(text), ..] => text.starts_with(['?', '&']),
        [_, Term::Literal(text), ..] => text.split('/').next().is_some_and(|word| word.contains('=')),
        _ => false,
    }
}

/// What an argument is called.
fn term_of(arg: Arg) -> Term {
    match (arg.term, arg.shape) {
        (Term::Unknown, Shape::Text(parts)) => Term::Join(parts),
        (Term::Unknown, Shape::Number(number)) => Term::Literal(number.to_string().into()),
        (term, _) => term,
    }
}

/// A member of what was handed over: nothing where that is written out without it.
fn member(whole: &Arg, field: &Field) -> Option<Arg> {
    let Field::Name(name) = field else { return None };
    match (&whole.shape, &whole.term) {
        (Shape::Object(members), _) => {
            let spread = || members.iter().any(|(name, _)| &**name == "...");
            match whole.member(name) {
                Some(member) => Some(member.clone()),
                None if spread() => Some(Arg::opaque(Term::Unknown, whole.values.clone())),
                None => Some(Arg { term: Term::Unknown, values: vec![], shape: Shape::Null }),
            }
        }
        (Shape::Null, _) => Some(whole.clone()),
        (_, Term::Path(path)) => {
            Some(Arg::opaque(Term::Path(path.clone().field(name.clone())), whole.values.clone()))
        }
        _ => Some(Arg::opaque(Term::Unknown, whole.values.clone())),
    }
}
