//! Edges under construction: the steps whose control goes to whatever comes next.

use crate::view::At;

/// The steps whose control goes to whatever comes next. Mostly that is one.
#[derive(Default)]
pub(in crate::view) struct Dangling {
    /// Nothing has been walked yet, so there is nobody to connect.
    start: bool,
    first: Option<At>,
    more: Vec<At>,
}

impl Dangling {
    /// Where nothing has been walked yet.
    pub(in crate::view) const fn start() -> Self {
        Self { start: true, first: None, more: vec![] }
    }

    /// Where control never gets to.
    pub(in crate::view) const fn dead() -> Self {
        Self { start: false, first: None, more: vec![] }
    }

    pub(in crate::view) const fn after(at: At) -> Self {
        Self { start: false, first: Some(at), more: vec![] }
    }

    pub(in crate::view) const fn of(steps: Vec<At>) -> Self {
        Self { start: false, first: None, more: steps }
    }

    pub(in crate::view) const fn is_dead(&self) -> bool {
        !self.start && self.first.is_none() && self.more.is_empty()
    }

    pub(in crate::view) fn each(&self) -> impl Iterator<Item = At> {
        self.first.into_iter().chain(self.more.iter().copied())
    }

    /// Puts one step in the place of all.
    pub(in crate::view) fn only(&mut self, at: At) {
        self.start = false;
        self.first = Some(at);
        self.more.clear();
    }

    pub(in crate::view) fn join(&mut self, other: Self) {
        self.start |= other.start;
        // Whoever has none takes over what there is.
        if self.first.is_none() && self.more.is_empty() {
            (self.first, self.more) = (other.first, other.more);
        } else {
            self.more.extend(other.first);
            self.more.extend(other.more);
        }
    }

    pub(in crate::view) fn extend(&mut self, steps: &[At]) {
        self.more.extend(steps);
    }
}
