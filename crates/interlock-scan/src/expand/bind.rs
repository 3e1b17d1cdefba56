//! What the values of a function under expansion stand for: the functions that some of them hold.

use interlock_model::{
    Span,
    ir::{
        AccessPath, Argument, Block, Callee, Effect, Field, Function, FunctionId, Member, Name, Op, Origin,
        Resource, Root, Term, Value, ValueInfo,
    },
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::rename::{Apart, Rename};

/// What is known of a value while calls are followed. It is copied wherever its function is, so it refers to the program instead of
/// holding a name.
#[derive(Clone, Copy)]
pub(super) struct Info<'p> {
    /// The value as its own function has it.
    pub(super) known: &'p ValueInfo,
    /// Where it comes from, in the function that it was copied into.
    pub(super) origin: Origin,
}

/// The values of a function under expansion.
pub(super) struct Values<'p> {
    pub(super) infos: Vec<Info<'p>>,
    /// Functions that were handed over as values, with what they take along.
    closures: FxHashMap<Value, (FunctionId, Vec<Term>)>,
    /// For each value that is another name for a value, the number of that one; [`NONE`] for the others.
    aliases: Vec<u32>,
    /// Methods of objects that were handed over as values: `every(client.notes)`.
    methods: FxHashMap<Value, AccessPath>,
    /// What was made here.
    made: Vec<bool>,
    /// What functions have put together and given back, member by member.
    members: FxHashMap<Value, Vec<Member>>,
    /// The values with members that have been made by a step.
    begun: FxHashSet<Value>,
    /// What parameters have gathered that take whatever is handed over: `*args`.
    gathered: FxHashMap<Value, Vec<Argument>>,
    /// The parameters that nothing was handed over for, and that are nothing then.
    nothing: FxHashSet<Value>,
}

/// No other name.
const NONE: u32 = u32::MAX;

impl Info<'_> {
    /// The value as those see it to whom nothing is copied any more.
    pub(super) fn whole(&self) -> ValueInfo {
        ValueInfo { origin: self.origin, ..self.known.clone() }
    }
}

impl<'p> Values<'p> {
    pub(super) fn of(function: &'p Function) -> Self {
        Self::new(function.values.iter().map(|known| Info { known, origin: known.origin }).collect())
    }

    pub(super) fn new(infos: Vec<Info<'p>>) -> Self {
        Self {
            aliases: vec![NONE; infos.len()],
            made: vec![false; infos.len()],
            infos,
            closures: FxHashMap::default(),
            methods: FxHashMap::default(),
            members: FxHashMap::default(),
            begun: FxHashSet::default(),
            gathered: FxHashMap::default(),
            nothing: FxHashSet::default(),
        }
    }

    /// Notes what a parameter has gathered.
    pub(super) fn gather(&mut self, value: Value, arguments: &[Argument]) {
        self.gathered.insert(value, arguments.to_vec());
    }

    /// Arguments with what was gathered in its place: `work(*args)`. What is handed on behind that has the names of others.
    pub(super) fn spread(&self, op: Op) -> Op {
        let Op::Call { into, callee, receiver, mut arguments, awaited } = op else { return op };
        if !self.gathered.is_empty() {
            let all = |argument: &Argument| match argument {
                Argument::Term(Term::Path(AccessPath { root: Root::Value(value), fields }))
                    if fields.is_empty() =>
                {
                    self.through_aliases(*value, |value| self.gathered.get(&value))
                }
                _ => None,
            };
            let found = arguments.iter().enumerate().find_map(|(at, argument)| Some((at, all(argument)?)));
            if let Some((at, gathered)) = found {
                arguments.truncate(at);
                arguments.extend(gathered.iter().cloned());
            }
        }
        Op::Call { into, callee, receiver, arguments, awaited }
    }

    /// Notes that nothing was handed over for a parameter.
    pub(super) fn leave_out(&mut self, value: Value) {
        self.nothing.insert(value);
    }

    /// Whether a value is a parameter that nothing was handed over for.
    pub(super) fn is_left_out(&self, value: Value) -> bool {
        !self.nothing.is_empty() && self.through_aliases(value, |value| self.nothing.get(&value)).is_some()
    }

    /// What is known of a value, or of one that it is another name for.
    fn through_aliases<T>(&self, value: Value, known: impl Fn(Value) -> Option<T>) -> Option<T> {
        let mut value = value;
        for _ in 0..64 {
            if let Some(found) = known(value) {
                return Some(found);
            }
            value = Value(self.aliases.get(value.0 as usize).copied().filter(|other| *other != NONE)?);
        }
        None
    }

    /// Adds the values of a function whose steps are copied in, and says by how much their numbers move. `bound` are its own captures.
    pub(super) fn adopt(&mut self, infos: &[Info<'p>], bound: &[Value]) -> u32 {
        let offset = u32::try_from(self.infos.len()).unwrap_or(u32::MAX);
        // Parameters and captures are bound to something of this function now. Who the caller is stays known, and that something was taken
        // along from a place that is not.
        let adopted = (0..).map(Value).zip(infos).map(|(value, info)| {
            let origin = match info.origin {
                Origin::Argument | Origin::Arguments => Origin::Step,
                Origin::Capture if bound.contains(&value) => Origin::Step,
                other => other,
            };
            Info { origin, known: info.known }
        });
        self.infos.extend(adopted);
        self.aliases.resize(self.infos.len(), NONE);
        self.made.resize(self.infos.len(), false);
        offset
    }

    /// Adds the values of a function that is put in, whose first values are called `ports` here, and says what they are called.
    pub(super) fn adopt_behind<'r>(
        &mut self,
        infos: &[Info<'p>],
        ports: &'r [Value],
        this: Option<&'r AccessPath>,
    ) -> Rename<'r> {
        let own = self.adopt(infos.get(ports.len()..).unwrap_or_default(), &[]);
        let offset = own.wrapping_sub(u32::try_from(ports.len()).unwrap_or(u32::MAX));
        Rename { ports, offset, this, apart: None }
    }

    /// Notes that a value is taken along from a place that is not known, so that it is not known either who else has it.
    pub(super) fn capture(&mut self, value: Value) {
        if let Some(info) = self.infos.get_mut(value.0 as usize) {
            info.origin = Origin::Capture;
        }
    }

    pub(super) fn hold(&mut self, value: Value, function: FunctionId, captures: Vec<Term>) {
        self.closures.insert(value, (function, captures));
    }

    /// Notes what a function has put together and given back.
    pub(super) fn given_back(&mut self, value: Value, members: Vec<Member>) {
        if !members.is_empty() {
            self.members.insert(value, members);
            self.begun.insert(value);
        }
    }

    /// Notes what is going to be put together here.
    pub(super) fn put_together(&mut self, objects: &[(Value, Vec<Member>)]) {
        self.members.extend(objects.iter().cloned());
    }

    /// The members of what a function has put together and given back.
    pub(super) fn members(&self, value: Value) -> &[Member] {
        let mut value = value;
        for _ in 0..64 {
            if let Some(members) = self.members.get(&value) {
                return members;
            }
            match self.aliases.get(value.0 as usize) {
                Some(other) if *other != NONE => value = Value(*other),
                _ => break,
            }
        }
        &[]
    }

    /// Whether members of anything are known.
    pub(super) fn has_members(&self) -> bool {
        !self.members.is_empty()
    }

    /// The place that one member is.
    pub(super) fn member_once(&self, path: &AccessPath) -> Option<AccessPath> {
        let Root::Value(value) = path.root else { return None };
        self.members(value).iter().find_map(|member| {
            let (own, behind) = path.fields.split_at_checked(member.names.len())?;
            let is_it = |(field, name): (&Field, &_)| matches!(field, Field::Name(own) if own == name);
            if !own.iter().zip(&member.names).all(is_it) {
                return None;
            }
            let mut is = member.is.clone();
            is.fields.extend(behind.iter().cloned());
            Some(is)
        })
    }

    /// A step with the members of what was put together under the names that they had there. What is taken out of it still depends on the
    /// whole: on what decided that it was put together so.
    pub(super) fn taken_apart(&mut self, span: Span, op: Op, out: &mut Block) -> Op {
        if self.members.is_empty() {
            return op;
        }
        self.forget_changed(&op);
        match op {
            Op::Read { into, of: Resource::Shared(path), .. } if self.is_member_itself(&path) => {
                self.take_out(into, &path)
            }
            Op::Call { into, callee, receiver, mut arguments, awaited } => {
                for argument in &mut arguments {
                    if let Argument::Term(Term::Path(path)) = argument
                        && self.is_member_itself(path)
                        && let Some(taken) = self.declare_like(path)
                    {
                        let op = self.take_out(taken, path);
                        self.note(&op);
                        out.push(Effect { span, op });
                        *argument = Argument::Term(taken.into());
                    }
                }
                self.renamed(&Op::Call { into, callee, receiver, arguments, awaited })
            }
            op if op.blocks().next().is_some() => op,
            op => self.renamed(&op),
        }
    }

    fn renamed(&self, op: &Op) -> Op {
        Rename { ports: &[], offset: 0, this: None, apart: Some(self) }.op(op)
    }

    /// Whether a path is a member of what was put together, and that is a value of this function.
    fn is_member_itself(&self, path: &AccessPath) -> bool {
        self.member(path).is_some_and(|is| matches!(is.root, Root::Value(_)) && is.fields.is_empty())
    }

    /// Takes a member out of what was put together.
    fn take_out(&self, into: Value, path: &AccessPath) -> Op {
        let is = self.member(path).unwrap_or_else(|| path.clone());
        let mut from = vec![];
        path.mention(&mut from);
        is.mention(&mut from);
        from.dedup();
        Op::Derive { into, from, term: Term::Path(is) }
    }

    /// A new value that is called like the one that a path begins at.
    fn declare_like(&mut self, path: &AccessPath) -> Option<Value> {
        let Root::Value(value) = self.member(path)?.root else { return None };
        let known = self.infos.get(value.0 as usize)?.known;
        let new = Value(u32::try_from(self.infos.len()).ok()?);
        self.infos.push(Info { known, origin: Origin::Step });
        self.aliases.push(NONE);
        self.made.push(false);
        Some(new)
    }

    /// Forgets members in whose place a step puts something else.
    fn forget_changed(&mut self, op: &Op) {
        match op {
            // What was put together is changed afterwards: it depends on what is put into it.
            Op::Derive { into, .. } if self.members.contains_key(into) && !self.begun.insert(*into) => {
                self.members.remove(into);
            }
            Op::Write { to: Resource::Shared(path), .. } | Op::Delete { of: Resource::Shared(path), .. } => {
                let (Root::Value(value), [Field::Name(name), ..]) = (&path.root, path.fields.as_slice())
                else {
                    return;
                };
                let is_inside = |one: &Member| one.names.len() >= path.fields.len();
                if self.member(path).is_some() && self.members(*value).iter().any(is_inside) {
                    let name = name.clone();
                    let others =
                        |members: &mut Vec<Member>| members.retain(|one| one.names.first() != Some(&name));
                    self.members.values_mut().for_each(others);
                }
            }
            _ => {}
        }
    }

    /// Notes what a step makes of values.
    pub(super) fn note(&mut self, op: &Op) {
        match op {
            Op::Derive { into, term, .. } => self.alias(*into, term),
            Op::New { into, .. } => self.make(*into),
            Op::Closure { into, function, captures } => self.hold(*into, *function, captures.clone()),
            _ => {}
        }
    }

    /// Notes that something is made here.
    fn make(&mut self, value: Value) {
        if let Some(made) = self.made.get_mut(value.0 as usize) {
            *made = true;
        }
    }

    /// Whether a value is something that was made here.
    pub(super) fn is_made(&self, value: Value) -> bool {
        self.made(value).is_some()
    }

    /// What was made here and is called by this value.
    pub(super) fn made(&self, value: Value) -> Option<Value> {
        let mut value = value;
        for _ in 0..64 {
            if self.made.get(value.0 as usize).is_some_and(|made| *made) {
                return Some(value);
            }
            value = Value(self.aliases.get(value.0 as usize).copied().filter(|other| *other != NONE)?);
        }
        None
    }

    pub(super) fn alias(&mut self, value: Value, term: &Term) {
        let Term::Path(path) = term else { return };
        match (&path.root, path.fields.last()) {
            (Root::Value(other), None) => {
                if let Some(alias) = self.aliases.get_mut(value.0 as usize) {
                    *alias = other.0;
                }
            }
            (_, Some(Field::Name(_))) => {
                self.methods.insert(value, path.clone());
            }
            _ => {}
        }
    }

    /// A call of a value as that of a method, where the value is one that an object was asked for by name.
    pub(super) fn by_method(&self, op: Op) -> Op {
        match op {
            Op::Call { into, callee: Callee::Value(value), receiver: None, arguments, awaited } => {
                let (callee, receiver) = match self.method(value) {
                    Some((object, name)) => (Callee::Named(name), Some(object)),
                    None => (Callee::Value(value), None),
                };
                Op::Call { into, callee, receiver, arguments, awaited }
            }
            op => op,
        }
    }

    /// The object and the name of the method that a value is.
    fn method(&self, value: Value) -> Option<(AccessPath, Name)> {
        let mut value = value;
        for _ in 0..64 {
            if let Some(AccessPath { root, fields }) = self.methods.get(&value) {
                let (Field::Name(name), object) = fields.split_last()? else { return None };
                return Some((AccessPath { root: root.clone(), fields: object.into() }, name.clone()));
            }
            value = Value(self.aliases.get(value.0 as usize).copied().filter(|other| *other != NONE)?);
        }
        None
    }

    /// Whether it is known what a call of a value comes to.
    pub(super) fn is_bound(&self, value: Value) -> bool {
        self.function(value).is_some() || self.is_made(value)
    }

    /// The function that a value holds.
    pub(super) fn function(&self, value: Value) -> Option<&(FunctionId, Vec<Term>)> {
        let mut value = value;
        // Aliases form chains as long as the calls are deep.
        for _ in 0..64 {
            if let Some(found) = self.closures.get(&value) {
                return Some(found);
            }
            value = Value(self.aliases.get(value.0 as usize).copied().filter(|other| *other != NONE)?);
        }
        None
    }
}

impl Apart for Values<'_> {
    /// The place that a member of what was given back is: `found.file`, where `find` returns `{ file }`.
    fn member(&self, path: &AccessPath) -> Option<AccessPath> {
        let mut found = self.member_once(path)?;
        // What is a member of another one that was put together.
        for _ in 0..8 {
            match self.member_once(&found) {
                Some(further) => found = further,
                None => break,
            }
        }
        Some(found)
    }
}
