//! The function that is being lowered.

use interlock_model::{
    Span,
    ir::{AccessPath, Block, Function, Interleaving, Name, Role, Value, ValueInfo},
};
use rustc_hash::FxHashMap;

use super::mutex::{Plan, Slot};
use crate::{Arg, module::Lowered};

/// The function that is being lowered.
#[derive(Debug)]
pub(super) struct Cx {
    pub(super) id: u32,
    pub(super) name: Name,
    pub(super) owner: Option<Name>,
    pub(super) this: AccessPath,
    pub(super) asynchronous: bool,
    pub(super) generator: bool,
    pub(super) values: Vec<ValueInfo>,
    pub(super) flags: Vec<u8>,
    /// The steps so far, those of the blocks around this place included: a block is cut off when it ends, so that it is made once
    /// and has no room to spare.
    pub(super) block: Block,
    /// Where the innermost block starts.
    pub(super) start: usize,
    pub(super) captured: FxHashMap<u32, Value>,
    pub(super) types: Vec<(Value, AccessPath)>,
    pub(super) locals: Vec<(Value, Arg)>,
    pub(super) items: Vec<(Value, Arg)>,
    pub(super) returned: Vec<Arg>,
    pub(super) effects: usize,
    /// How many conditions and loops are around this place.
    pub(super) conditions: u32,
    /// How many `try` blocks with something behind them are around it.
    pub(super) tries: u32,
    /// Whether `break` here ends a `switch` and no loop.
    pub(super) in_switch: bool,
    /// The loops around here, outermost first, with what their variables stood for where a turn was left.
    pub(super) left: Vec<super::loops::Left>,
    /// Whether it is the function that settles a promise: `new Promise((resolve) => …)`.
    pub(super) settles: bool,
    /// The lock that the function builds.
    pub(super) plan: Option<Box<Plan>>,
    /// The lock that the function does nothing but take (`true`) or give back.
    pub(super) whole: Option<(Slot, bool)>,
    /// For a function that does not stand in the source: what it takes along.
    pub(super) made: Option<Vec<u32>>,
}

/// Empty lists that have grown with another function: the next one need not make them grow again.
#[derive(Debug, Default)]
pub(super) struct SpareBuffers {
    values: Vec<ValueInfo>,
    flags: Vec<u8>,
    block: Block,
    captured: FxHashMap<u32, Value>,
    types: Vec<(Value, AccessPath)>,
    locals: Vec<(Value, Arg)>,
    items: Vec<(Value, Arg)>,
    returned: Vec<Arg>,
}

/// What a function has besides its steps.
#[derive(Default)]
pub(super) struct Head {
    pub(super) span: Span,
    pub(super) captures: Vec<Value>,
    pub(super) parameters: Vec<Value>,
    pub(super) parent: Option<u32>,
    pub(super) returns: Option<AccessPath>,
    pub(super) bound: Option<AccessPath>,
}

impl Cx {
    pub(super) fn new(
        id: u32,
        name: Name,
        owner: Option<Name>,
        this: AccessPath,
        room: SpareBuffers,
    ) -> Self {
        let SpareBuffers { values, flags, block, captured, types, locals, items, returned } = room;
        Self {
            id,
            name,
            owner,
            this,
            asynchronous: false,
            generator: false,
            values,
            flags,
            block,
            start: 0,
            captured,
            types,
            locals,
            items,
            returned,
            effects: 0,
            conditions: 0,
            tries: 0,
            in_switch: false,
            left: vec![],
            settles: false,
            plan: None,
            whole: None,
            made: None,
        }
    }

    /// The function, lowered, and the room for another. What is kept has nothing to spare: a scan keeps all functions of a tree, and
    /// most of their lists are short.
    pub(super) fn finish(self, head: Head) -> (Lowered, SpareBuffers) {
        let Self {
            mut values,
            mut flags,
            mut block,
            mut captured,
            mut types,
            mut locals,
            mut items,
            mut returned,
            ..
        } = self;
        let function = Function {
            name: self.name,
            span: head.span,
            role: Role::Helper,
            owner: self.owner,
            interleaving: Interleaving::AtSuspension,
            asynchronous: self.asynchronous,
            unwinds: true,
            captures: head.captures,
            parameters: head.parameters,
            values: cut_off(&mut values, 0),
            body: cut_off(&mut block, 0),
        };
        let lowered = Lowered {
            function,
            parent: head.parent,
            types: cut_off(&mut types, 0),
            returns: head.returns,
            side_by_side: vec![],
            gathers: None,
            bound: head.bound,
            locals: cut_off(&mut locals, 0),
            items: cut_off(&mut items, 0),
            returned: cut_off(&mut returned, 0),
        };
        flags.clear();
        captured.clear();
        (lowered, SpareBuffers { values, flags, block, captured, types, locals, items, returned })
    }
}

/// Takes the end of a list off: what is taken has no room to spare, and what is left keeps its room. To shrink a list would leave it
/// where it is, in a place for one up to twice as long.
pub(super) fn cut_off<T>(list: &mut Vec<T>, start: usize) -> Vec<T> {
    if start >= list.len() {
        return vec![];
    }
    if start == 0 {
        let mut all = Vec::with_capacity(list.len());
        all.append(list);
        return all;
    }
    list.split_off(start)
}
