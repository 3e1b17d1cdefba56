//! Control-flow edges.

use crate::view::{At, Control};

/// Where control may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::view) enum Next {
    /// To a step.
    Step(At),
    /// Out, with success.
    Return,
    /// Out, with a failure.
    Throw,
}

/// Where control may go from a step. Hardly any has more than two ways, and there are many steps, so it is kept small.
#[derive(Debug, Default)]
pub(in crate::view) enum Edges {
    #[default]
    None,
    One([Packed; 1]),
    Two([Packed; 2]),
    #[expect(clippy::box_collection, reason = "all steps would be larger for the few that have a third way")]
    More(Box<Vec<Packed>>),
}

/// A [`Next`] in little space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::view) struct Packed(u32);

const RETURN: Packed = Packed(u32::MAX);
const THROW: Packed = Packed(u32::MAX - 1);

impl From<Next> for Packed {
    fn from(next: Next) -> Self {
        match next {
            Next::Return => RETURN,
            Next::Throw => THROW,
            // An entry never has that many steps; one that did would end there.
            Next::Step(at) => u32::try_from(at).map_or(RETURN, Self),
        }
    }
}

impl From<Packed> for Next {
    fn from(packed: Packed) -> Self {
        match packed {
            RETURN => Self::Return,
            THROW => Self::Throw,
            Packed(at) => Self::Step(at as usize),
        }
    }
}

impl Edges {
    fn as_slice(&self) -> &[Packed] {
        match self {
            Self::None => &[],
            Self::One(next) => next,
            Self::Two(next) => next,
            Self::More(next) => next,
        }
    }

    /// One way more, unless it is known.
    pub(in crate::view) fn add(&mut self, to: Next) {
        let to = Packed::from(to);
        if self.as_slice().contains(&to) {
            return;
        }
        *self = match std::mem::take(self) {
            Self::None => Self::One([to]),
            Self::One([one]) => Self::Two([one, to]),
            Self::Two([one, other]) => Self::More(Box::new(vec![one, other, to])),
            Self::More(mut next) => {
                next.push(to);
                Self::More(next)
            }
        };
    }
}

impl<'v, 'e> Control<'v, 'e> {
    /// Where control may go from a step.
    pub(in crate::view) fn next(self, at: At) -> impl Iterator<Item = Next> {
        let next = self.0.steps.get(at).map(|step| step.next.as_slice()).unwrap_or_default();
        next.iter().map(|next| Next::from(*next))
    }

    /// The steps to which control may go from a step.
    pub(in crate::view) fn after(self, at: At) -> impl Iterator<Item = At> {
        self.next(at).filter_map(|next| match next {
            Next::Step(at) => Some(at),
            Next::Return | Next::Throw => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_is_kept_once_and_in_order() {
        let mut edges = Edges::default();
        let branches = [Next::Step(7), Next::Throw, Next::Step(7), Next::Return, Next::Step(0), Next::Throw];
        branches.into_iter().for_each(|next| edges.add(next));
        let kept: Vec<Next> = edges.as_slice().iter().map(|next| Next::from(*next)).collect();
        assert_eq!(kept, [Next::Step(7), Next::Throw, Next::Return, Next::Step(0)]);
    }
}
