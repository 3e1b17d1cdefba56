//! Taking out of answers what varies from run to run anyway, so that what is left can be compared.
//!
//! What varies is learned from repeats of one serial order: leaves that differ between them, lists that come in another order,
//! objects whose keys are ids. A value that varies is replaced by a sign that is the same wherever the value is the same in one
//! run, so that an id that is handed out and found again later still is one id. Times and durations are replaced wherever they
//! are, because repeats within the same second would not show that they vary.

mod apply;
mod frame;
mod learn;
mod normal;
mod shape;
mod time;

use std::collections::{BTreeMap, BTreeSet};

use self::frame::Frame;
pub(crate) use self::{learn::place_of, normal::normal};
use crate::files::FILES;

/// A place in an outcome: fields and, for every element of a list, `*`.
pub(crate) type Place = Vec<String>;

/// Whether a list at a place has no order whatever the repeats say: those in the server's files, where an order may be that of a moment.
fn has_no_order(place: &Place) -> bool {
    place.iter().any(|part| part == FILES)
}

/// What varies.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Mask {
    /// Leaves, each with what is to be done.
    leaves: BTreeMap<Place, Leaf>,
    /// Lists without an order.
    unordered: BTreeSet<Place>,
    /// Objects whose keys vary.
    keyed: BTreeMap<Place, Means>,
    /// Parts of the server's files that are not compared.
    left_out: BTreeSet<Place>,
}

impl Mask {
    /// One that has learned nothing yet, and does not compare these places.
    pub(crate) fn without(left_out: BTreeSet<Place>) -> Self {
        Self { left_out, ..Self::default() }
    }

    /// The places that are not compared.
    pub(crate) fn left_out(&self) -> &BTreeSet<Place> {
        &self.left_out
    }
}

/// Which words of a text vary. A random id does not always have the shape of those that were seen before it, so the places are kept too.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
struct Words {
    /// Words of these shapes.
    shapes: BTreeMap<String, Means>,
    /// Words at these places.
    frames: BTreeSet<Frame>,
}

/// What is done to a leaf.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Leaf {
    /// In a text, some words vary.
    Words(Words),
    /// All of it varies.
    All(Means),
}

/// What a value means that varies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Means {
    /// The same value means the same thing.
    Identity,
    /// It means nothing.
    Nothing,
}

/// Shorter values are the same by accident too often for that to mean anything.
const SHORTEST_ID: usize = 4;

impl Means {
    /// What values mean that stood at the same place. It is said once, of the place: if each value said it for itself, a process's id of
    /// 999 and one of 1000 would not be alike.
    fn of<'a>(values: impl IntoIterator<Item = &'a str>) -> Self {
        let is_short = |value: &str| value.chars().nth(SHORTEST_ID - 1).is_none();
        if values.into_iter().any(is_short) { Self::Nothing } else { Self::Identity }
    }
}
