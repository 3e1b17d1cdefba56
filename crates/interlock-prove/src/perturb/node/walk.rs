//! Which schedule is next: all of them, those that change from call to call least often first, none twice.
//!
//! The tree of schedules is only known as far as it was run. A run that was given a prefix of choices goes on with the default,
//! and shows what else could have been chosen on its way; each of those is the prefix of a schedule to come. A prefix never ends
//! with the default, so it stands for one schedule only.

use std::collections::{BTreeMap, VecDeque};

use crate::perturb::Choice;

/// How many numbers the prefixes that are still to be tried may have together. What does not fit is left out, and said to be.
const ROOM: usize = 4 << 20;

/// How often a schedule is tried that could not be followed.
const ATTEMPTS: u32 = 3;

/// The schedules of one set of calls. Ask for [`next`](Self::next), run it, then say how it went with [`ran`](Self::ran) or
/// [`lost`](Self::lost).
#[derive(Debug, Clone)]
pub struct Walk {
    /// By the number of switches; of those with the same number the deepest is the last.
    pending: BTreeMap<usize, VecDeque<Vec<usize>>>,
    /// Numbers in `pending`.
    size: usize,
    room: usize,
    under_way: Option<(usize, Vec<usize>)>,
    attempts: u32,
    schedules: u64,
    complete: bool,
}

impl Default for Walk {
    fn default() -> Self {
        Self::new()
    }
}

impl Walk {
    /// From the beginning.
    #[must_use]
    pub fn new() -> Self {
        Self::with_room(ROOM)
    }

    fn with_room(room: usize) -> Self {
        Self {
            pending: BTreeMap::from([(0, VecDeque::from([Vec::new()]))]),
            size: 0,
            room,
            under_way: None,
            attempts: 0,
            schedules: 0,
            complete: true,
        }
    }

    /// The choices of the schedule to run; `None` when there is none left. Until it is said how it went, it is the same one.
    #[expect(clippy::should_implement_trait, reason = "what comes next depends on how the last one went")]
    pub fn next(&mut self) -> Option<Vec<usize>> {
        if self.under_way.is_none() {
            let mut level = self.pending.first_entry()?;
            let prefix = level.get_mut().pop_back()?;
            let switches = *level.key();
            if level.get().is_empty() {
                level.remove();
            }
            self.size -= prefix.len();
            self.under_way = Some((switches, prefix));
        }
        self.under_way.as_ref().map(|(_, prefix)| prefix.clone())
    }

    /// The schedule was run, and these were its choices. Says whether they are the ones that were asked for; if not, it counts as
    /// [`lost`](Self::lost).
    pub fn ran(&mut self, choices: &[Choice]) -> bool {
        let Some((switches, prefix)) = self.under_way.take() else { return false };
        let taken: Vec<usize> = choices.iter().map(|choice| choice.taken).collect();
        if !taken.starts_with(&prefix) {
            self.under_way = Some((switches, prefix));
            self.lost();
            return false;
        }
        self.attempts = 0;
        self.schedules += 1;
        let mut spent = switches;
        for (at, choice) in choices.iter().enumerate().skip(prefix.len()) {
            let before = at.checked_sub(1).and_then(|before| choices.get(before));
            for index in (0..choice.waiting.len()).rev().filter(|&index| index != choice.taken) {
                let mut prefix: Vec<usize> = taken.iter().copied().take(at).collect();
                prefix.push(index);
                self.keep(spent + price(before, choice, index), prefix);
            }
            spent += price(before, choice, choice.taken);
        }
        true
    }

    /// The schedule could not be followed. It is handed out again a few times, then given up.
    pub fn lost(&mut self) {
        self.attempts += 1;
        if self.attempts >= ATTEMPTS {
            self.attempts = 0;
            self.under_way = None;
            self.complete = false;
        }
    }

    /// How many different schedules were run.
    #[must_use]
    pub fn schedules(&self) -> u64 {
        self.schedules
    }

    /// Whether there is nothing left to hand out.
    #[must_use]
    pub fn over(&self) -> bool {
        self.pending.is_empty() && self.under_way.is_none()
    }

    /// Whether those that were run are all there are, for requests that arrive in this order.
    #[must_use]
    pub fn exhausted(&self) -> bool {
        self.complete && self.over()
    }

    fn keep(&mut self, switches: usize, prefix: Vec<usize>) {
        self.size += prefix.len();
        self.pending.entry(switches).or_default().push_back(prefix);
        // What is furthest away is least likely to be reached.
        while self.size > self.room {
            let Some(mut furthest) = self.pending.last_entry() else { return };
            self.complete = false;
            let dropped = furthest.get_mut().pop_front();
            self.size -= dropped.map_or(0, |prefix| prefix.len());
            if furthest.get().is_empty() {
                furthest.remove();
            }
        }
    }
}

/// What a choice adds: one for leaving a call that could have gone on, one for overtaking an operation of the same call. Whoever
/// goes first at the beginning, or after a call that has come to its end, is no switch.
fn price(before: Option<&Choice>, choice: &Choice, index: usize) -> usize {
    if index == 0 {
        return 0;
    }
    let Some((call, _)) = choice.waiting.get(index) else { return 0 };
    let overtakes = choice.waiting.iter().take(index).any(|(other, _)| other == call);
    let last = before.and_then(|before| before.waiting.get(before.taken)).map(|(call, _)| call);
    let could_go_on = last.is_some_and(|last| choice.waiting.iter().any(|(other, _)| other == last));
    usize::from(overtakes) + usize::from(could_go_on && (last != Some(call) || !overtakes))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Runs calls of so many operations each, all of a call's operations one after another.
    fn run(lengths: &[usize], choices: &[usize]) -> (Vec<Choice>, String) {
        let mut left = lengths.to_vec();
        let mut made = Vec::new();
        let mut word = String::new();
        let mut last = 0;
        loop {
            let mut waiting: Vec<usize> = (0..left.len()).filter(|&call| left[call] > 0).collect();
            waiting.sort_by_key(|&call| (call != last, call));
            let Some(&first) = waiting.first() else { return (made, word) };
            let mut call = first;
            if waiting.len() > 1 {
                let taken = choices.get(made.len()).copied().unwrap_or_default();
                call = waiting[taken];
                let waiting =
                    waiting.iter().map(|&call| (call as i64, format!("step {}", left[call]))).collect();
                made.push(Choice { waiting, taken });
            }
            left[call] -= 1;
            last = call;
            word.push(char::from(b'A' + call as u8));
        }
    }

    /// How often a call was left that had not come to its end.
    fn switches(word: &str) -> usize {
        let letters: Vec<char> = word.chars().collect();
        let left = |at: usize| letters[at + 1..].contains(&letters[at]);
        (0..letters.len() - 1).filter(|&at| letters[at] != letters[at + 1] && left(at)).count()
    }

    fn walk_all(lengths: &[usize], walk: &mut Walk) -> Vec<String> {
        let mut words = Vec::new();
        while let Some(choices) = walk.next() {
            let (made, word) = run(lengths, &choices);
            assert!(walk.ran(&made));
            words.push(word);
            assert!(words.len() < 100_000, "it has to end");
        }
        words
    }

    #[test]
    fn two_calls_of_three_operations_have_twenty_schedules_fewest_switches_first() {
        let mut walk = Walk::new();
        let words = walk_all(&[3, 3], &mut walk);
        assert_eq!(words.len(), 20);
        assert_eq!(words.iter().collect::<BTreeSet<_>>().len(), 20, "all of them are different");
        assert_eq!(words[..2], ["AAABBB", "BBBAAA"]);
        assert!(words.iter().map(|word| switches(word)).is_sorted(), "{words:?}");
        assert!(walk.exhausted());
        assert_eq!(walk.schedules(), 20);
    }

    #[test]
    fn three_calls_are_walked_completely_and_in_order_too() {
        let mut walk = Walk::new();
        let words = walk_all(&[2, 2, 2], &mut walk);
        assert_eq!(words.len(), 90);
        assert_eq!(words.iter().collect::<BTreeSet<_>>().len(), 90);
        assert!(words.iter().map(|word| switches(word)).is_sorted(), "{words:?}");
    }

    #[test]
    fn nothing_to_choose_is_one_schedule() {
        let mut walk = Walk::new();
        assert_eq!(walk.next(), Some(vec![]));
        assert!(!walk.exhausted(), "it has not been run yet");
        assert!(walk.ran(&[]));
        assert_eq!(walk.next(), None);
        assert!(walk.exhausted());
    }

    #[test]
    fn a_schedule_that_cannot_be_followed_is_tried_again_then_given_up() {
        let mut walk = Walk::new();
        walk.next();
        let (made, _) = run(&[1, 1], &[]);
        assert!(walk.ran(&made));
        for _ in 0..ATTEMPTS {
            assert_eq!(walk.next(), Some(vec![1]));
            assert!(!walk.ran(&made), "the other one went");
        }
        assert_eq!(walk.next(), None);
        assert!(!walk.exhausted());
        assert_eq!(walk.schedules(), 1);
    }

    #[test]
    fn what_does_not_fit_is_left_out_and_said_to_be() {
        let mut walk = Walk::with_room(40);
        let words = walk_all(&[5, 5], &mut walk);
        assert!(words.len() < 252, "{}", words.len());
        assert_eq!(words.iter().collect::<BTreeSet<_>>().len(), words.len());
        assert!(!walk.exhausted());
    }

    #[test]
    fn operations_of_one_call_that_wait_together_are_reordered_later_than_calls_are_switched() {
        let one = |word: &str| (1, word.to_owned());
        let choice = Choice { waiting: vec![one("a"), one("b"), (2, "c".to_owned())], taken: 0 };
        assert_eq!(price(None, &choice, 1), 1, "overtakes");
        assert_eq!(price(None, &choice, 2), 0, "nobody went before");
        assert_eq!(price(Some(&choice), &choice, 1), 1);
        assert_eq!(price(Some(&choice), &choice, 2), 1);
    }
}
