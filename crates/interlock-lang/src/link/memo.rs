//! What was found out about things that are numbered through.

use std::cell::RefCell;

/// Answers by number. What is asked for next is mostly a neighbour of what was asked for last, so what leads to the answers lies side
/// by side, and nothing is searched for.
#[derive(Debug)]
pub(super) struct Answers<T> {
    known: RefCell<Known<T>>,
}

#[derive(Debug)]
struct Known<T> {
    /// For each number, one more than the place of its answer; zero where there is none.
    places: Vec<u32>,
    answers: Vec<T>,
}

impl<T: Clone> Answers<T> {
    /// For so many things, of which about every fourth is asked for. Of what has a higher number nothing is remembered.
    pub(super) fn new(things: usize) -> Self {
        let (places, answers) = (vec![0; things], Vec::with_capacity(things / 4));
        Self { known: RefCell::new(Known { places, answers }) }
    }

    /// What is known.
    pub(super) fn get(&self, number: usize) -> Option<T> {
        let known = self.known.borrow();
        let place = known.places.get(number)?.checked_sub(1)?;
        known.answers.get(place as usize).cloned()
    }

    /// Remembers an answer.
    pub(super) fn set(&self, number: usize, answer: T) {
        let Known { places, answers } = &mut *self.known.borrow_mut();
        let Some(place) = places.get_mut(number) else { return };
        match place.checked_sub(1).and_then(|place| answers.get_mut(place as usize)) {
            Some(known) => *known = answer,
            None => {
                answers.push(answer);
                *place = u32::try_from(answers.len()).unwrap_or(0);
            }
        }
    }

    /// What is known, or else what is found; who asks for the same meanwhile is told something else.
    pub(super) fn or_look(&self, number: usize, meanwhile: T, look: impl FnOnce() -> T) -> T {
        if let Some(known) = self.get(number) {
            return known;
        }
        self.set(number, meanwhile);
        let found = look();
        self.set(number, found.clone());
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_looked_for_once_and_may_be_asked_for_meanwhile() {
        let answers = Answers::new(3);
        assert_eq!(answers.get(1), None);
        let found = answers.or_look(1, "open", || {
            assert_eq!(answers.get(1), Some("open"));
            answers.or_look(2, "open", || "two");
            "one"
        });
        assert_eq!(
            (found, answers.get(1), answers.get(2), answers.get(0)),
            ("one", Some("one"), Some("two"), None)
        );
        assert_eq!(answers.or_look(1, "open", || "other"), "one");
        assert_eq!(answers.or_look(9, "open", || "far"), "far");
        assert_eq!(answers.get(9), None, "what has no number is not remembered");
    }
}
