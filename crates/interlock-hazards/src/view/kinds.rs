//! What kinds of steps an entry has. A rule looks for a few kinds, most steps are of none of them, and many entries have no such step
//! at all: whoever asks by kind does not have to look at the steps themselves.

use std::ops::BitOr;

use interlock_model::ir::Op;

use super::entry::{At, Entry};

/// A set of kinds of steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Kinds(u16);

impl Kinds {
    /// [`Op::Read`].
    pub const READ: Self = Self(1);
    /// [`Op::Write`].
    pub const WRITE: Self = Self(1 << 1);
    /// [`Op::Delete`].
    pub const DELETE: Self = Self(1 << 2);
    /// [`Op::Rename`].
    pub const RENAME: Self = Self(1 << 3);
    /// [`Op::Derive`].
    pub const DERIVE: Self = Self(1 << 4);
    /// [`Op::New`].
    pub const NEW: Self = Self(1 << 5);
    /// [`Op::Check`].
    pub const CHECK: Self = Self(1 << 6);
    /// [`Op::Acquire`].
    pub const ACQUIRE: Self = Self(1 << 7);
    /// [`Op::Release`].
    pub const RELEASE: Self = Self(1 << 8);
    /// [`Op::Open`].
    pub const OPEN: Self = Self(1 << 9);
    /// [`Op::Close`].
    pub const CLOSE: Self = Self(1 << 10);
    /// [`Op::Try`].
    pub const TRY: Self = Self(1 << 11);
    /// [`Op::External`].
    pub const EXTERNAL: Self = Self(1 << 12);
    /// [`Op::Call`].
    pub const CALL: Self = Self(1 << 13);
    /// [`Op::Loop`].
    pub const LOOP: Self = Self(1 << 14);
    /// Every other kind.
    pub const OTHER: Self = Self(1 << 15);

    /// What changes state: [`Op::Write`], [`Op::Delete`] and [`Op::Rename`].
    pub const CHANGES: Self = Self(Self::WRITE.0 | Self::DELETE.0 | Self::RENAME.0);
    /// What touches a resource.
    pub const TOUCHES: Self = Self(Self::READ.0 | Self::CHANGES.0);

    /// The kind of a step.
    pub(super) const fn of(op: &Op) -> Self {
        match op {
            Op::Read { .. } => Self::READ,
            Op::Write { .. } => Self::WRITE,
            Op::Delete { .. } => Self::DELETE,
            Op::Rename { .. } => Self::RENAME,
            Op::Derive { .. } => Self::DERIVE,
            Op::New { .. } => Self::NEW,
            Op::Check { .. } => Self::CHECK,
            Op::Acquire { .. } => Self::ACQUIRE,
            Op::Release { .. } => Self::RELEASE,
            Op::Open { .. } => Self::OPEN,
            Op::Close { .. } => Self::CLOSE,
            Op::Try { .. } => Self::TRY,
            Op::External { .. } => Self::EXTERNAL,
            Op::Call { .. } => Self::CALL,
            Op::Loop { .. } => Self::LOOP,
            _ => Self::OTHER,
        }
    }

    /// Whether two sets have a kind in common.
    pub(super) const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

impl BitOr for Kinds {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// The kind of each step of an entry.
#[derive(Debug, Default)]
pub(super) struct KindOfStep {
    each: Vec<Kinds>,
    any: Kinds,
}

impl KindOfStep {
    pub(super) fn reserve_exact(&mut self, steps: usize) {
        self.each.reserve_exact(steps);
    }

    /// Whether a step is of one of some kinds.
    pub(super) fn is_one_of(&self, at: At, kinds: Kinds) -> bool {
        self.each.get(at).is_some_and(|kind| kind.meets(kinds))
    }

    pub(super) fn push(&mut self, kind: Kinds) {
        self.each.push(kind);
        self.any = self.any | kind;
    }
}

impl Entry<'_> {
    /// The kinds of all its steps.
    pub(super) const fn kinds(&self) -> Kinds {
        self.kinds.any
    }

    /// Whether it has a step of one of some kinds.
    #[must_use]
    pub fn has(&self, kinds: Kinds) -> bool {
        self.kinds.any.meets(kinds)
    }

    /// The steps of some kinds.
    pub fn steps_of(&self, kinds: Kinds) -> impl Iterator<Item = At> {
        let each: &[Kinds] = if self.has(kinds) { &self.kinds.each } else { &[] };
        (0..).zip(each).filter(move |(_, kind)| kind.meets(kinds)).map(|(at, _)| at)
    }

    /// The steps of some kinds of which something holds.
    pub fn all(&self, kinds: Kinds, holds: impl Fn(&Op) -> bool) -> impl Iterator<Item = At> {
        self.steps_of(kinds).filter(move |at| self.op(*at).is_some_and(&holds))
    }
}
