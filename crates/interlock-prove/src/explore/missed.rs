//! What a set that held is worth: whether it would have shown if one of its calls had been lost.
//!
//! ```text
//! create a + create b        held: without the first call `a` is missing        both would be missed
//! complete a + complete a    held: one of them alone comes to the same          none would be missed
//! ```

use std::collections::BTreeSet;

use interlock_model::{Fault, Verdict};

use super::{Case, Setting, verdict::is_compared};
use crate::serial::Unstable;

impl Case {
    /// Its calls that may change something.
    pub(super) fn writing(&self) -> Vec<usize> {
        let calls = self.set.calls.iter().enumerate();
        calls.filter(|(_, call)| !self.readers.contains(&call.tool)).map(|(index, _)| index).collect()
    }

    /// Whether a set held in which calls that may change something meet each other, so that one of them could have been lost.
    fn lets_writers_meet(&self) -> bool {
        self.set.fault == Fault::None
            && is_compared(&self.set)
            && self.verdict() == Verdict::Held
            && self.writing().len() > 1
    }

    /// Finds out of which calls it would show if nothing came of them, if one of these tools is among them and that is not known.
    pub(super) async fn look_what_it_would_miss(&mut self, setting: &Setting<'_>, wanted: &BTreeSet<String>) {
        let is_wanted =
            |index: &usize| self.set.calls.get(*index).is_some_and(|call| wanted.contains(&call.tool));
        if self.missed.is_some() || !self.lets_writers_meet() || !self.writing().iter().any(is_wanted) {
            return;
        }
        setting.progress.doing(&format!("{}: would a loss show?", self.set.name));
        let before = setting.lab.calls();
        // What varies by itself would look like what a call does.
        let known = async {
            if self.serial.is_known_once(&self.set) {
                self.serial.again(setting.lab, &self.set, setting.side_by_side).await?;
            }
            self.serial.look_at_parts(setting.lab, &self.set, setting.side_by_side).await
        };
        let done = tokio::time::timeout(setting.left(), known).await;
        let done = match done {
            Ok(Err(Unstable::Differs(why))) => Ok(self.without_noise(setting, why).await),
            done => done,
        };
        self.explored.calls += setting.lab.calls() - before;
        match done {
            Ok(Ok(())) => {
                let calls = 0..self.set.calls.len();
                self.missed = Some(calls.map(|index| self.serial.would_miss(&self.set, index)).collect());
            }
            // It was only thought to be comparable, because no order had been run twice.
            Ok(Err(unstable @ Unstable::Differs(_))) => self.give_up_comparing(unstable.to_string()),
            Ok(Err(_)) | Err(_) => {}
        }
    }

    /// The writers that its calls met others of as they should: where one of them was lost it would have shown, and the other one does something.
    pub(super) fn tried(&self) -> BTreeSet<String> {
        let Some(missed) = self.missed.as_ref().filter(|_| self.lets_writers_meet()) else {
            return BTreeSet::new();
        };
        let writing = self.writing();
        let meets = |index: &&usize| {
            missed.get(**index) == Some(&true)
                && writing.iter().any(|other| other != *index && self.serial.works(&self.set, *other))
        };
        let calls = writing.iter().filter(meets).filter_map(|index| self.set.calls.get(*index));
        calls.map(|call| call.tool.clone()).collect()
    }

    /// Whether it is known of which of its calls it would show if nothing came of them.
    pub(super) fn was_looked_at(&self) -> bool {
        self.missed.is_some()
    }

    /// The writers that met another call that may change something.
    pub(super) fn met(&self) -> impl Iterator<Item = &str> {
        let writing = if self.explored.trials > 0 { self.writing() } else { Vec::new() };
        let writing = if writing.len() > 1 { writing } else { Vec::new() };
        writing.into_iter().filter_map(|index| Some(self.set.calls.get(index)?.tool.as_str()))
    }
}
