//! Transfer of single operations: what steps and blocks do by themselves, wherever they stand.

use interlock_model::ir::{Block, Exit, Op, Resource};

/// What a step reads, writes or deletes, as it is written there.
pub(in crate::view) const fn touched(op: &Op) -> Option<&Resource> {
    match op {
        Op::Read { of: resource, .. }
        | Op::Delete { of: resource, .. }
        | Op::Write { to: resource, .. }
        | Op::Rename { to: resource, .. } => Some(resource),
        _ => None,
    }
}

/// Whether a block returns from the function that it stands in.
pub(in crate::view) fn returns(block: &Block) -> bool {
    block.iter().any(|effect| match &effect.op {
        Op::Exit(Exit::Return(_)) => true,
        Op::Inlined { .. } | Op::Spawn { .. } => false,
        op => op.blocks().any(returns),
    })
}

/// Whether nothing happens in a block but in memory.
pub(in crate::view) fn is_quiet(block: &Block) -> bool {
    block.iter().all(|effect| match &effect.op {
        Op::Read { of: Resource::Shared(_), .. }
        | Op::Write { to: Resource::Shared(_), .. }
        | Op::Derive { .. }
        | Op::New { .. }
        | Op::Closure { .. }
        | Op::Call { .. }
        | Op::Suspend => true,
        Op::Check { .. } | Op::Inlined { .. } => effect.op.blocks().all(is_quiet),
        _ => false,
    })
}

/// Whether a step can fail by itself: what talks to something outside the function. Writing to a stream only hands over what is
/// written; that it does not arrive is reported elsewhere.
pub(in crate::view) fn may_fail(op: &Op) -> bool {
    match op {
        Op::Write { to: Resource::Stream(_), .. } => false,
        Op::Read { of: resource, .. }
        | Op::Write { to: resource, .. }
        | Op::Delete { of: resource, .. }
        | Op::Rename { from: resource, .. } => {
            matches!(
                resource,
                Resource::File(_) | Resource::Row { .. } | Resource::Key(_) | Resource::Stream(_)
            )
        }
        Op::External { .. } | Op::Call { .. } | Op::Suspend | Op::Open { .. } | Op::Begin { .. } => true,
        Op::End { .. } => true,
        _ => false,
    }
}

/// Whether a step by itself lets others run. Who waits for a lock lets others go first; a sleep that lets others run has a
/// suspension of its own.
pub(in crate::view) const fn pauses(op: &Op) -> bool {
    matches!(op, Op::Suspend | Op::Acquire { outcome: None, .. })
}
