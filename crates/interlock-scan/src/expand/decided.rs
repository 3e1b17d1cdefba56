//! Checks that are decided by what a function was called with: `send("update", note)`, and `send` does one thing for each such word.
//!
//! ```ts
//! switch (operation) {
//!   case "create": url = `${API}/notes`; break;              // not for this caller
//!   case "update": url = `${API}/notes/${note.id}`; break;   // the only way that is left, so `url` is this one behind it
//! }
//! ```
//!
//! Only where a value is a text that stands in the source is compared with another: what a caller of the tool says is not known.

use interlock_model::ir::{AccessPath, Block, Effect, Op, Root, Term, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// Through how many names a value is followed.
const NAMES: usize = 16;

/// What values were bound to; nothing for those that were bound more than once.
type Bound<'b> = FxHashMap<Value, Option<&'b Term>>;

/// A body without the ways that nobody takes; `None` if it has none of those.
pub(super) fn decided(body: &Block) -> Option<Block> {
    if !compares(body) {
        return None;
    }
    let mut bound = Bound::default();
    bind(body, &mut bound);
    if !has_decided(body, &bound) {
        return None;
    }
    let mut gone = FxHashSet::default();
    let mut left = taken(body.clone(), &bound, &mut gone);
    rejoin(&mut left, &gone);
    Some(left)
}

/// Whether any step of a body compares something with a text.
fn compares(block: &Block) -> bool {
    block.iter().any(|effect| {
        matches!(&effect.op, Op::Check { equal: Some(_), .. }) || effect.op.blocks().any(compares)
    })
}

fn bind<'b>(block: &'b Block, bound: &mut Bound<'b>) {
    for effect in block {
        if let Op::Derive { into, term, .. } = &effect.op {
            let term = Some(term).filter(|term| matches!(term, Term::Literal(_) | Term::Path(_)));
            bound.entry(*into).and_modify(|known| *known = None).or_insert(term);
        }
        effect.op.blocks().for_each(|inside| bind(inside, bound));
    }
}

/// The way that a check always takes.
fn takes_then(op: &Op, bound: &Bound<'_>) -> Option<bool> {
    let Op::Check { on, equal: Some(text), .. } = op else { return None };
    let [value] = on.as_slice() else { return None };
    let mut value = *value;
    for _ in 0..NAMES {
        match (*bound.get(&value)?)? {
            Term::Literal(known) => return Some(known == text),
            Term::Path(AccessPath { root: Root::Value(other), fields }) if fields.is_empty() => {
                value = *other
            }
            _ => return None,
        }
    }
    None
}

fn has_decided(block: &Block, bound: &Bound<'_>) -> bool {
    block.iter().any(|effect| {
        takes_then(&effect.op, bound).is_some() || effect.op.blocks().any(|inside| has_decided(inside, bound))
    })
}

/// The steps of a block that are left. What the others define is `gone`.
fn taken(block: Block, bound: &Bound<'_>, gone: &mut FxHashSet<Value>) -> Block {
    let mut left = Block::with_capacity(block.len());
    let mut steps = block.into_iter();
    while let Some(Effect { span, op }) = steps.next() {
        let decision = takes_then(&op, bound);
        match (op, decision) {
            (Op::Check { then, otherwise, .. }, Some(yes)) => {
                let (way, other) = if yes { (then, otherwise) } else { (otherwise, then) };
                defined(&other, gone);
                let leaves = matches!(way.last(), Some(Effect { op: Op::Exit(_), .. }));
                left.extend(taken(way, bound, gone));
                // Nobody gets behind the only way that there is.
                if leaves {
                    steps.for_each(|step| defined_by(&step, gone));
                    break;
                }
            }
            (mut op, _) => {
                for inside in op.blocks_mut() {
                    *inside = taken(std::mem::take(inside), bound, gone);
                }
                left.push(Effect { span, op });
            }
        }
    }
    left
}

/// Adds the values that a block defines.
fn defined(block: &Block, gone: &mut FxHashSet<Value>) {
    block.iter().for_each(|step| defined_by(step, gone));
}

fn defined_by(step: &Effect, gone: &mut FxHashSet<Value>) {
    match &step.op {
        Op::Read { into, .. } | Op::Derive { into, .. } | Op::New { into, .. } | Op::Closure { into, .. } => {
            gone.insert(*into);
        }
        Op::External { into, .. } | Op::Call { into, .. } => gone.extend(into),
        Op::Write { outcome, .. } | Op::Delete { outcome, .. } => gone.extend(outcome),
        _ => {}
    }
    step.op.blocks().for_each(|inside| defined(inside, gone));
}

/// A variable that was one thing or another is what it was set to on the way that is left.
fn rejoin(block: &mut Block, gone: &FxHashSet<Value>) {
    for effect in block {
        if let Op::Derive { from, term: term @ Term::Unknown, .. } = &mut effect.op
            && from.iter().any(|value| gone.contains(value))
        {
            from.retain(|value| !gone.contains(value));
            if let [only] = from.as_slice() {
                *term = Term::Path((*only).into());
            }
        }
        effect.op.blocks_mut().for_each(|inside| rejoin(inside, gone));
    }
}
