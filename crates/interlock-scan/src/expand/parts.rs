//! What the members of objects are that a call makes for itself and shows to nobody: `Product(url=url)`, of which `product.url` is asked further in.
//!
//! Resolved:
//! ```text
//! product = Product(url=url)           # `this.url = url` in the constructor, once and on every way
//! UPDATE … WHERE url = {product.url}   # the same row as that of `url`
//! ```
//! Not resolved:
//! ```text
//! product = Product(url=url); current.product = product   # others may change it from here on, as where a handler takes it along
//! if given: product.url = given                           # one of two
//! ```
//!
//! Literals that are handed on are taken apart while calls are followed (`bind.rs`); here it is objects whose constructor was copied in.

use interlock_model::ir::{
    AccessPath, Argument, Block, Callee, Effect, Field, Member, Name, Op, Resource, Root, Term, Value,
    WriteMode,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    bind::Values,
    rename::{Apart, Rename},
};

/// How many members of members are followed.
const DEEPEST: usize = 12;

/// The members of what one body makes.
pub(super) struct Parts<'v, 'p> {
    /// What is put into an object, by member; `None` where that is not one value on every way.
    members: FxHashMap<(Value, Name), Option<Value>>,
    /// The objects that are made here.
    made: FxHashSet<Value>,
    /// Those that others see, and those into which more is put than members.
    open: FxHashSet<Value>,
    /// Other names for a place.
    names: FxHashMap<Value, Option<AccessPath>>,
    /// What functions have put together and given back.
    given: &'v Values<'p>,
}

impl<'v, 'p> Parts<'v, 'p> {
    /// Looks through a body whose calls were followed.
    pub(super) fn of(body: &Block, given: &'v Values<'p>) -> Self {
        let mut parts = Self {
            members: FxHashMap::default(),
            made: FxHashSet::default(),
            open: FxHashSet::default(),
            names: FxHashMap::default(),
            given,
        };
        if begins(body) {
            parts.name_all(body);
        }
        if !parts.made.is_empty() {
            let mut stored = vec![];
            parts.block(body, &mut FxHashSet::default(), &mut stored);
            parts.close(&stored);
        }
        parts
    }

    /// Whether there is nothing to resolve.
    pub(super) fn is_empty(&self) -> bool {
        self.members.is_empty() && !self.given.has_members()
    }

    /// Calls what is a member by what was put there.
    pub(super) fn resolve(&self, block: &mut Block) {
        if self.is_empty() {
            return;
        }
        for effect in block {
            let Effect { op, .. } = effect;
            if op.blocks().next().is_some() {
                op.blocks_mut().for_each(|inner| self.resolve(inner));
                continue;
            }
            *op = match std::mem::replace(op, Op::Suspend) {
                Op::Read { into, of: Resource::Shared(path), aspect, locking, unique, demands, via } => {
                    match self.member(&path) {
                        Some(is) if is.fields.is_empty() => Op::Derive {
                            into,
                            from: root_of(&is).into_iter().collect(),
                            term: Term::Path(is),
                        },
                        is => {
                            let of = Resource::Shared(is.unwrap_or(path));
                            Op::Read { into, of, aspect, locking, unique, demands, via }
                        }
                    }
                }
                Op::Derive { into, from, term: Term::Path(path) } => match self.member(&path) {
                    Some(is) => {
                        let whole = root_of(&path);
                        let mut from: Vec<Value> =
                            from.into_iter().filter(|value| Some(*value) != whole).collect();
                        from.extend(root_of(&is).filter(|root| !from.contains(root)));
                        Op::Derive { into, from, term: Term::Path(is) }
                    }
                    None => Op::Derive { into, from, term: Term::Path(path) },
                },
                op => Rename { ports: &[], offset: 0, this: None, apart: Some(self) }.op(&op),
            };
        }
    }

    /// The members of an object that nobody else sees, as something that is given back.
    pub(super) fn members_of(&self, value: Value) -> Vec<Member> {
        let Some(object) = self.object(value) else { return vec![] };
        let mut members: Vec<Member> = self
            .members
            .iter()
            .filter(|((of, _), _)| *of == object)
            .filter_map(|((_, name), put)| Some(Member { names: vec![name.clone()], is: (*put)?.into() }))
            .collect();
        members.sort_by(|one, other| one.names.cmp(&other.names));
        members
    }

    /// The object made here, and seen by nobody else, that a value is a name for.
    fn object(&self, value: Value) -> Option<Value> {
        let mut value = value;
        for _ in 0..DEEPEST {
            if self.made.contains(&value) {
                return (!self.open.contains(&value)).then_some(value);
            }
            value = self.bare_name(value)?;
        }
        None
    }

    fn bare_name(&self, value: Value) -> Option<Value> {
        match self.names.get(&value)? {
            Some(AccessPath { root: Root::Value(other), fields }) if fields.is_empty() => Some(*other),
            _ => None,
        }
    }

    fn name_all(&mut self, block: &Block) {
        for effect in block {
            let (into, path) = match &effect.op {
                Op::New { into, .. } => {
                    self.made.insert(*into);
                    continue;
                }
                Op::Derive { into, term: Term::Path(path), .. }
                | Op::Read { into, of: Resource::Shared(path), .. } => (into, path),
                op => {
                    op.blocks().for_each(|inner| self.name_all(inner));
                    continue;
                }
            };
            let known = self.names.entry(*into).or_insert_with(|| Some(path.clone()));
            if known.as_ref() != Some(path) {
                *known = None;
            }
        }
    }

    /// Notes what is put where. `here` are the objects that are made on the way that a block is on: what is put into others may not be put there.
    fn block(
        &mut self,
        block: &Block,
        here: &mut FxHashSet<Value>,
        stored: &mut Vec<(Option<Value>, Value)>,
    ) {
        for effect in block {
            match &effect.op {
                Op::New { into, .. } => {
                    here.insert(*into);
                }
                Op::Write { to: Resource::Shared(path), from, mode, .. } => {
                    let container = root_of(path).and_then(|root| self.object(root));
                    stored.extend(from.iter().map(|value| (container, *value)));
                    let Some(object) = container else { continue };
                    match path.fields.as_slice() {
                        [Field::Name(name)] => {
                            let put = match from.as_slice() {
                                [only] if *mode == WriteMode::Blind && here.contains(&object) => Some(*only),
                                _ => None,
                            };
                            let known = self.members.entry((object, name.clone())).or_insert(put);
                            if *known != put {
                                *known = None;
                            }
                        }
                        [Field::Name(_), ..] => {}
                        _ => {
                            self.open.insert(object);
                        }
                    }
                }
                Op::Delete { of: Resource::Shared(path), .. } => {
                    self.open.extend(root_of(path).and_then(|root| self.object(root)));
                }
                // More is put into it than can be told apart.
                Op::Derive { into, term, .. }
                    if !matches!(term, Term::Path(_)) && self.made.contains(into) =>
                {
                    self.open.insert(*into);
                }
                // Whoever takes it along runs when others do.
                Op::Closure { captures, .. } => self.share(captures),
                Op::Call { callee, arguments, .. } => {
                    if let Callee::Closure { captures, .. } = callee {
                        self.share(captures);
                    }
                    for argument in arguments {
                        if let Argument::Closure { captures, .. } = argument {
                            self.share(captures);
                        }
                    }
                }
                Op::Inlined { receiver, body, .. } => {
                    // A function inside of a method takes the receiver along.
                    if hands_functions_over(body) {
                        let object = receiver.as_ref().and_then(root_of).and_then(|root| self.object(root));
                        self.open.extend(object);
                    }
                    self.block(body, here, stored);
                }
                op => op.blocks().for_each(|inner| self.block(inner, &mut FxHashSet::default(), stored)),
            }
        }
    }

    /// Notes what a function takes along.
    fn share(&mut self, captures: &[Term]) {
        let mut taken = vec![];
        captures.iter().for_each(|term| term.mention(&mut taken));
        let objects: Vec<Value> = taken.into_iter().filter_map(|value| self.object(value)).collect();
        self.open.extend(objects);
    }

    /// What is put where others see it is seen by others, and so is what was put into that.
    fn close(&mut self, stored: &[(Option<Value>, Value)]) {
        for _ in 0..DEEPEST {
            let is_seen =
                |container: &Option<Value>| container.is_none_or(|object| self.open.contains(&object));
            let seen: Vec<Value> = stored
                .iter()
                .filter(|(container, _)| is_seen(container))
                .filter_map(|(_, value)| self.object(*value))
                .collect();
            if seen.is_empty() {
                return;
            }
            self.open.extend(seen);
        }
    }

    /// One member taken out.
    fn member_once(&self, path: &AccessPath, depth: usize) -> Option<AccessPath> {
        let depth = depth.checked_sub(1)?;
        let mut root = root_of(path)?;
        let (Field::Name(name), rest) = path.fields.split_first()? else { return None };
        for _ in 0..DEEPEST {
            if self.made.contains(&root) {
                let put = *self.members.get(&(root, name.clone())).filter(|_| !self.open.contains(&root))?;
                return Some(AccessPath { root: Root::Value(put?), fields: rest.into() });
            }
            let whole = AccessPath { root: Root::Value(root), fields: path.fields.clone() };
            if let Some(is) = self.given.member_once(&whole) {
                return Some(is);
            }
            match self.names.get(&root)?.as_ref()? {
                AccessPath { root: Root::Value(other), fields } if fields.is_empty() => root = *other,
                // A member of something else may be known by what was put there.
                further => {
                    let mut whole = self.member_once(further, depth)?;
                    whole.fields.extend(path.fields.iter().cloned());
                    return Some(whole);
                }
            }
        }
        None
    }
}

impl Apart for Parts<'_, '_> {
    fn member(&self, path: &AccessPath) -> Option<AccessPath> {
        let mut found = self.member_once(path, DEEPEST)?;
        for _ in 0..DEEPEST {
            match self.member_once(&found, DEEPEST) {
                Some(further) => found = further,
                None => break,
            }
        }
        Some(found)
    }
}

/// The value that a path begins at.
fn root_of(path: &AccessPath) -> Option<Value> {
    match path.root {
        Root::Value(value) => Some(value),
        Root::This | Root::Global(_) => None,
    }
}

/// Whether something is made in a body and given members there.
fn begins(block: &Block) -> bool {
    block.iter().any(|effect| match &effect.op {
        Op::Write { to: Resource::Shared(path), .. } => root_of(path).is_some(),
        op => op.blocks().any(begins),
    })
}

/// Whether functions are handed over in a body, to run when others do.
fn hands_functions_over(block: &Block) -> bool {
    block.iter().any(|effect| match &effect.op {
        Op::Closure { .. } => true,
        Op::Call { callee, arguments, .. } => {
            matches!(callee, Callee::Closure { .. })
                || arguments.iter().any(|argument| matches!(argument, Argument::Closure { .. }))
        }
        op => op.blocks().any(hands_functions_over),
    })
}
