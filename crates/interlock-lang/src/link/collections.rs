//! Maps, sets and lists of the language: what their methods read and write, and the functions that work on them.

use interlock_model::ir::{
    AccessPath, Argument, Aspect, Block, Bound, Callee, Effect, Op, Resource, Root, Term, Value, WriteMode,
};

use super::rewrite::{Rewriter, Standing};
use crate::{
    Arg,
    eval::{AbstractValue, builtins},
    tables::{Collection, Does, Gives, Makes},
};

/// A method of a collection, or of something unknown whose method is called like one.
pub(super) fn method<'f>(
    rewriter: &mut Rewriter<'_, 'f>,
    standing: &Standing<'f>,
    kind: Option<Collection>,
    receiver: &AccessPath,
    name: &str,
    out: &mut Block,
) {
    let table = rewriter.eval.builtins;
    let Some(does) = table.does(name) else { return };
    let at = rewriter.id;
    let hands_over = standing.arguments.iter().any(|argument| matches!(argument, Argument::Closure { .. }));
    let keyed = matches!(does, Does::Get | Does::Has | Does::Set | Does::Add | Does::Delete | Does::Clear);
    if kind.is_none()
        && (keyed && hands_over || matches!(does, Does::Get) && standing.site.arguments.is_empty())
    {
        // A route of a web server, or a getter that somebody wrote: no map has such a method.
        rewriter.push_call(standing, Callee::Named(name.into()), Some(receiver.clone()), out);
        return;
    }
    let is_state = rewriter.eval.is_state(at, receiver);
    let place = rewriter.eval.alias(at, receiver);
    let mut steps = Steps { rewriter, standing, is_state, place, receiver };
    let vague = kind.is_none() && table.also_of_text.contains(name);
    if vague && (receiver.fields.is_empty() || !is_state) {
        steps.compute(out);
        return;
    }
    match does {
        Does::Get => steps.read(steps.entry(), Aspect::Content, out),
        Does::Has | Does::Contains => steps.read(steps.entry(), Aspect::Existence, out),
        Does::Look => steps.read(steps.place.clone(), Aspect::Content, out),
        Does::Set => {
            let from = steps.values(1);
            steps.write(steps.entry(), from, WriteMode::Blind, out);
        }
        Does::Add if kind == Some(Collection::Set) || kind == Some(Collection::Weak) => {
            let from = steps.values(0);
            steps.write(steps.entry(), from, WriteMode::Ensure, out);
        }
        Does::Add | Does::Push => {
            let from = steps.values(0);
            steps.write(steps.place.clone(), from, WriteMode::Append, out);
        }
        Does::Splice => {
            let from = steps.values(0);
            // So many at a place that is written down are taken from what is there, as one is by `shift`.
            let fixed = |arg: &Arg| matches!(arg.shape, crate::Shape::Number(_));
            let takes = matches!(&*steps.standing.site.arguments, [at, many] if fixed(at) && fixed(many));
            let mode = if takes { WriteMode::Atomic } else { WriteMode::Blind };
            steps.write(steps.place.clone(), from, mode, out);
        }
        Does::Rearrange => {
            let from = steps.values(0);
            steps.write(steps.place.clone(), from, WriteMode::Atomic, out);
        }
        Does::Take => {
            let (to, outcome) = (Resource::Shared(steps.place.clone()), standing.into);
            steps.push(Op::Write { to, from: vec![], mode: WriteMode::Atomic, outcome, via: None }, out);
        }
        Does::Delete => steps.delete(steps.entry(), out),
        Does::Clear => steps.delete(steps.place.clone(), out),
        Does::Each => steps.each(name, out),
    }
}

/// A list that a library made, each entry of which is handed to a function. What is in it is the library's.
pub(super) fn each<'f>(
    rewriter: &mut Rewriter<'_, 'f>,
    standing: &Standing<'f>,
    receiver: &AccessPath,
    name: &str,
    out: &mut Block,
) {
    Steps { rewriter, standing, is_state: false, place: receiver.clone(), receiver }.each(name, out);
}

/// A function of the language that works on a collection or only makes a name; `false` if it is neither.
pub(super) fn function<'f>(
    rewriter: &mut Rewriter<'_, 'f>,
    standing: &Standing<'f>,
    library: &str,
    path: &str,
    out: &mut Block,
) -> bool {
    let (table, arguments) = (rewriter.eval.builtins, &standing.site.arguments);
    if let Some(term) = builtins::name(table, library, path, arguments) {
        if let Some(into) = standing.into {
            let from = rewriter.depends(standing.site, None);
            out.push(Effect { span: standing.span, op: Op::Derive { into, from, term } });
        }
        return true;
    }
    if table.collection(library, path).is_some() && standing.site.construct {
        if let Some(into) = standing.into {
            out.push(Effect { span: standing.span, op: Op::New { into, lock: None } });
            // One that is made of something holds what that has said: `new Map(JSON.parse(text))`.
            let from = rewriter.depends(standing.site, None);
            if !from.is_empty() {
                let op = Op::Derive { into, from, term: Term::Unknown };
                out.push(Effect { span: standing.span, op });
            }
        }
        return true;
    }
    let first = arguments.first().and_then(place_of);
    match (table.makes(library, path), first) {
        (Some(Makes::Assigned), Some(receiver)) => {
            let is_state = rewriter.eval.is_state(rewriter.id, receiver);
            let place = rewriter.eval.alias(rewriter.id, receiver);
            let mut steps = Steps { rewriter, standing, is_state, place, receiver };
            let from = steps.values(1);
            steps.write(steps.place.clone(), from, WriteMode::Blind, out);
            true
        }
        (Some(Makes::Keys | Makes::Values | Makes::Pairs | Makes::Copied), Some(receiver)) => {
            let is_state = rewriter.eval.is_state(rewriter.id, receiver);
            let place = rewriter.eval.alias(rewriter.id, receiver);
            let mut steps = Steps { rewriter, standing, is_state, place, receiver };
            if standing.arguments.iter().any(|argument| matches!(argument, Argument::Closure { .. })) {
                steps.each("map", out);
            } else {
                steps.read(steps.place.clone(), Aspect::Content, out);
            }
            true
        }
        (Some(Makes::Text), _) => {
            written_out(rewriter, standing, out);
            true
        }
        _ => false,
    }
}

/// What is written out is read as a whole. A variable that is never set again is no step where it is named, but what is in it is
/// what it is at this moment.
fn written_out<'f>(rewriter: &mut Rewriter<'_, 'f>, standing: &Standing<'f>, out: &mut Block) {
    let Some(into) = standing.into else { return };
    let mut from = rewriter.depends(standing.site, None);
    let whole = standing.site.arguments.first();
    let members = whole.into_iter().flat_map(|whole| match &whole.shape {
        crate::Shape::Object(members) => members.iter().map(|(_, member)| member).collect(),
        _ => vec![whole],
    });
    for place in members.filter(|part| part.values.is_empty()).filter_map(place_of) {
        let is_state = matches!(place.root, Root::Global(_)) && rewriter.eval.is_state(rewriter.id, place);
        if is_state
            && !matches!(
                rewriter.eval.path(rewriter.id, place),
                AbstractValue::Function(..) | AbstractValue::Class(_)
            )
        {
            let value = rewriter.declare_like(place);
            let of = Resource::Shared(place.clone());
            let op = Op::look(value, of, Aspect::Content, None);
            out.push(Effect { span: standing.span, op });
            from.push(value);
        }
    }
    out.push(Effect { span: standing.span, op: Op::Derive { into, from, term: Term::Unknown } });
}

fn place_of(arg: &Arg) -> Option<&AccessPath> {
    match &arg.term {
        Term::Path(path) => Some(path),
        _ => None,
    }
}

/// The steps of one call.
struct Steps<'s, 'r, 'f> {
    rewriter: &'s mut Rewriter<'r, 'f>,
    standing: &'s Standing<'f>,
    is_state: bool,
    /// Where the collection is.
    place: AccessPath,
    /// What the source calls it.
    receiver: &'s AccessPath,
}

impl Steps<'_, '_, '_> {
    fn push(&mut self, op: Op, out: &mut Block) {
        out.push(Effect { span: self.standing.span, op });
    }

    /// The entry of the key that is the first argument.
    fn entry(&self) -> AccessPath {
        let key = self.standing.site.arguments.first().map_or(Term::Unknown, builtins::term);
        self.place.clone().at(key)
    }

    /// What the arguments from one on depend on.
    fn values(&self, from: usize) -> Vec<Value> {
        let mut values: Vec<Value> = vec![];
        for value in self.standing.site.arguments.iter().skip(from).flat_map(|argument| &argument.values) {
            if !values.contains(value) {
                values.push(*value);
            }
        }
        values
    }

    fn compute(&mut self, out: &mut Block) {
        self.rewriter.compute(self.standing, Some((self.receiver, Term::Unknown)), out);
    }

    fn read(&mut self, of: AccessPath, aspect: Aspect, out: &mut Block) {
        if !self.is_state {
            self.compute(out);
            return;
        }
        let into = self.standing.into.unwrap_or_else(|| self.rewriter.declare_like(&of));
        self.push(Op::look(into, Resource::Shared(of), aspect, None), out);
    }

    fn write(&mut self, to: AccessPath, from: Vec<Value>, mode: WriteMode, out: &mut Block) {
        self.push(Op::Write { to: Resource::Shared(to), from, mode, outcome: None, via: None }, out);
        if let Some(into) = self.standing.into {
            // These methods hand back the collection itself, or its new length.
            let root = match &self.receiver.root {
                Root::Value(value) => vec![*value],
                _ => vec![],
            };
            let term = Term::Path(self.receiver.clone());
            self.push(Op::Derive { into, from: root, term }, out);
        }
    }

    fn delete(&mut self, of: AccessPath, out: &mut Block) {
        let outcome = self.standing.into;
        self.push(Op::Delete { of: Resource::Shared(of), when: None, outcome, via: None }, out);
    }

    /// All of it is read, then each entry is handed to a function.
    fn each(&mut self, method: &str, out: &mut Block) {
        let (standing, span) = (self.standing, self.standing.span);
        let whole = if self.is_state {
            let into = self.rewriter.declare_like(&self.place);
            let of = Resource::Shared(self.place.clone());
            self.push(Op::look(into, of, Aspect::Content, None), out);
            Some(into)
        } else {
            match &self.receiver.root {
                Root::Value(value) => Some(*value),
                _ => None,
            }
        };
        let callback = standing.site.arguments.iter().find_map(|arg| {
            match self.rewriter.eval.arg(self.rewriter.id, arg) {
                AbstractValue::Function(function, _) => Some((function, arg)),
                _ => None,
            }
        });
        let mut from: Vec<Value> = whole.into_iter().collect();
        let mut term = Term::Unknown;
        if let Some((function, arg)) = callback {
            let item = self.rewriter.declare("item");
            let result = self.rewriter.declare("result");
            let callee = match &arg.shape {
                crate::Shape::Function { function, captures } => {
                    Callee::Closure { function: *function, captures: captures.clone() }
                }
                _ => self.rewriter.callee(function),
            };
            let (mut body, mut handed) = (vec![], item);
            let derive = |into, term| Effect {
                span,
                op: Op::Derive { into, from: whole.into_iter().collect(), term },
            };
            body.push(derive(item, Term::Unknown));
            if self.is_state {
                // An entry is reached through the collection, so that a change of it is a change there.
                handed = self.rewriter.declare("entry");
                let entry = Term::Path(self.place.clone().at(item));
                body.push(derive(handed, entry.clone()));
                // So is the one that was looked for.
                if self.rewriter.eval.builtins.gives(method) == Some(Gives::Entry) {
                    term = entry;
                }
            }
            // A reducer is handed what has been gathered so far before the entry.
            let mut arguments = vec![Argument::from(handed)];
            if method.starts_with("reduce") {
                arguments.insert(0, Argument::Term(Term::Unknown));
            }
            let call = Op::Call { into: Some(result), callee, receiver: None, arguments, awaited: false };
            body.push(Effect { span, op: call });
            self.push(Op::Loop { bound: Bound::Each, item: Some(item), body }, out);
            from.push(result);
        }
        if let Some(into) = standing.into {
            for value in self.values(0) {
                if !from.contains(&value) {
                    from.push(value);
                }
            }
            self.push(Op::Derive { into, from, term }, out);
        }
    }
}
