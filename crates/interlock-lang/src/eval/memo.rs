//! What was answered before, for all threads, and the question that one thread is at.
//!
//! Who asks first must make no difference, so an answer is kept for everybody only if it is the same whoever asks: nothing on the way
//! to it led back to a question that was still open, and nothing was given up as too deep. Every other answer is good for the
//! outermost question alone; that one starts from nothing, so its answer is kept for whoever asks it as the outermost.
//!
//! What is kept for everybody is found once, so a tree pays for it in proportion to its size. All else is found again for each outermost
//! question, and that is what [`Fuel`] bounds. How much of it a question uses up does not depend on what is known already.

use std::{
    cell::{Cell, RefCell},
    hash::{BuildHasher, Hash},
    sync::{Mutex, PoisonError},
};

use rustc_hash::{FxBuildHasher, FxHashMap};

/// How deep one question may lead to others. Real programs need a dozen; what is deeper is given up.
const DEPTH: u32 = 48;

/// Into how many parts answers are divided, so that threads seldom wait for each other; a power of two.
const SHARDS: usize = 64;

/// The answers to questions of one kind.
#[derive(Debug)]
pub(crate) struct Answers<K, T> {
    shards: Box<[Shard<K, T>]>,
}

type Shard<K, T> = Mutex<FxHashMap<K, Kept<T>>>;

#[derive(Debug, Clone)]
struct Kept<T> {
    answer: T,
    /// How deep it led; `None` where it is only good for the outermost question.
    height: Option<u32>,
}

impl<K, T> Default for Answers<K, T> {
    fn default() -> Self {
        Self { shards: std::iter::repeat_with(Mutex::default).take(SHARDS).collect() }
    }
}

impl<K: Hash + Eq, T: Clone> Answers<K, T> {
    fn shard(&self, key: &K) -> Option<&Shard<K, T>> {
        let hash = FxBuildHasher.hash_one(key).rotate_left(24);
        self.shards.get(usize::try_from(hash).unwrap_or_default() & (SHARDS - 1))
    }

    fn get(&self, key: &K) -> Option<Kept<T>> {
        self.shard(key)?.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    fn keep(&self, key: K, kept: Kept<T>) {
        if let Some(shard) = self.shard(&key) {
            shard.lock().unwrap_or_else(PoisonError::into_inner).insert(key, kept);
        }
    }
}

/// How many answers that are good for one question alone that question may find on its way. When they are used up, nothing deeper is
/// asked, and the question ends with what it has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fuel {
    /// What one question may use up.
    each: u32,
    /// What all of them may use up that one thread asks.
    all: usize,
}

impl Fuel {
    /// What all questions together may use up, and the bounds for one. Real questions need some hundred.
    const IN_SUM: usize = 100_000_000;
    const LEAST: usize = 2_000;
    const MOST: usize = 50_000;

    /// For a tree about which so many things are asked.
    pub(crate) fn for_questions(number: usize) -> Self {
        let share = (Self::IN_SUM / number.max(1)).clamp(Self::LEAST, Self::MOST);
        Self { each: u32::try_from(share).unwrap_or(u32::MAX), all: usize::MAX }
    }

    /// For questions [in contexts](super::context), in a tree with so many calls. They are asked on one thread and in one order, so
    /// they can share what there is. Real trees need a few answers per call.
    pub(crate) const fn in_contexts(calls: usize) -> Self {
        Self { each: 2_000, all: calls.saturating_mul(50).saturating_add(200_000) }
    }
}

/// Where one thread is with its questions.
#[derive(Debug)]
pub(crate) struct Asking {
    fuel: Fuel,
    /// What the outermost question has used up of it, and all of them.
    spent: Cell<u32>,
    in_sum: Cell<usize>,
    /// How many questions are open.
    open: Cell<u32>,
    depth: Cell<u32>,
    /// The deepest that the question of this moment has led to.
    deepest: Cell<u32>,
    /// How often something was given up, or taken from what is only good for the outermost question.
    cuts: Cell<u32>,
    /// How many outermost questions were answered.
    turn: Cell<u32>,
}

/// What a question returns to.
struct Outer {
    is_outermost: bool,
    depth: u32,
    deepest: u32,
    cuts: u32,
}

impl Asking {
    pub(crate) fn new(fuel: Fuel) -> Self {
        Self {
            fuel,
            spent: Cell::default(),
            in_sum: Cell::default(),
            open: Cell::default(),
            depth: Cell::default(),
            deepest: Cell::default(),
            cuts: Cell::default(),
            turn: Cell::default(),
        }
    }

    /// How deep it may be asked by now.
    fn limit(&self) -> u32 {
        let is_left = self.spent.get() < self.fuel.each && self.in_sum.get() < self.fuel.all;
        if is_left { DEPTH } else { 0 }
    }

    /// Asks one thing more; `None` if that is too deep.
    pub(crate) fn deeper<T>(&self, ask: impl FnOnce() -> T) -> Option<T> {
        let depth = self.depth.get();
        if depth >= self.limit() {
            self.cut();
            return None;
        }
        self.depth.set(depth + 1);
        self.deepest.set(self.deepest.get().max(depth + 1));
        let answer = ask();
        self.depth.set(depth);
        Some(answer)
    }

    /// Asks something of its own, however deep it is asked. Whoever asks sees to it that this does not go on for ever.
    pub(super) fn anew<T>(&self, ask: impl FnOnce() -> T) -> T {
        let depth = self.depth.replace(0);
        let answer = ask();
        self.depth.set(depth);
        answer
    }

    /// Asks what nobody keeps the answer to, because it depends on assumptions.
    pub(super) fn again<T>(&self, ask: impl FnOnce() -> T) -> T {
        let outer = self.begin();
        let answer = ask();
        self.end(&outer, false);
        answer
    }

    /// Notes that something was given up.
    pub(super) fn cut(&self) {
        self.cuts.set(self.cuts.get().wrapping_add(1));
    }

    /// Whether a kept answer is what would be found from here.
    fn accepts<T>(&self, kept: &Kept<T>) -> bool {
        let is_outermost = self.open.get() == 0;
        let depth = if is_outermost { 0 } else { self.depth.get() };
        match kept.height {
            Some(height) if depth + height <= self.limit() => {
                self.deepest.set(self.deepest.get().max(self.depth.get() + height));
                true
            }
            None if is_outermost => {
                self.cut();
                true
            }
            _ => false,
        }
    }

    fn begin(&self) -> Outer {
        let outer = Outer {
            is_outermost: self.open.get() == 0,
            depth: self.depth.get(),
            deepest: self.deepest.get(),
            cuts: self.cuts.get(),
        };
        self.open.set(self.open.get() + 1);
        if outer.is_outermost {
            self.depth.set(0);
        }
        self.deepest.set(self.depth.get());
        outer
    }

    /// How deep the question led, if its answer is the same for everybody. What is not kept then is found again each time.
    fn end(&self, outer: &Outer, is_kept: bool) -> Option<u32> {
        let height = self.deepest.get() - self.depth.get();
        self.open.set(self.open.get() - 1);
        self.depth.set(outer.depth);
        self.deepest.set(outer.deepest.max(outer.depth + height));
        let is_for_everybody = self.cuts.get() == outer.cuts;
        let is_found_again = !(is_for_everybody && is_kept);
        if is_found_again {
            self.in_sum.set(self.in_sum.get().saturating_add(1));
        }
        if outer.is_outermost {
            self.turn.set(self.turn.get().wrapping_add(1));
            self.spent.set(0);
        } else if is_found_again {
            self.spent.set(self.spent.get().saturating_add(1));
        }
        is_for_everybody.then_some(height)
    }
}

/// What one thread knows of one kind of questions.
#[derive(Debug)]
pub(crate) struct Memo<'w, K, T> {
    shared: &'w Answers<K, T>,
    /// The questions that are open.
    open: RefCell<Vec<K>>,
    /// What is good for the outermost question alone, and which one that is.
    own: RefCell<FxHashMap<K, T>>,
    turn: Cell<u32>,
}

impl<'w, K: Hash + Eq + Clone, T: Clone> Memo<'w, K, T> {
    pub(crate) fn of(shared: &'w Answers<K, T>) -> Self {
        Self { shared, open: RefCell::default(), own: RefCell::default(), turn: Cell::new(0) }
    }

    /// What is known, or else what is found; who asks for the same meanwhile gets something else.
    pub(crate) fn answer(&self, asking: &Asking, key: K, meanwhile: T, look: impl FnOnce() -> T) -> T {
        if let Some(kept) = self.shared.get(&key)
            && asking.accepts(&kept)
        {
            return kept.answer;
        }
        if self.turn.replace(asking.turn.get()) != asking.turn.get() {
            self.own.borrow_mut().clear();
        }
        let own = self.own.borrow().get(&key).cloned();
        if let Some(given) = own.or_else(|| self.open.borrow().contains(&key).then_some(meanwhile)) {
            asking.cut();
            return given;
        }
        let outer = asking.begin();
        self.open.borrow_mut().push(key.clone());
        let answer = look();
        self.open.borrow_mut().pop();
        let height = asking.end(&outer, true);
        if height.is_some() || outer.is_outermost {
            self.shared.keep(key, Kept { answer: answer.clone(), height });
        } else {
            self.own.borrow_mut().insert(key, answer.clone());
        }
        answer
    }

    /// The same where the answer depends on assumptions, and is found again each time.
    pub(crate) fn answer_again(&self, asking: &Asking, key: K, meanwhile: T, look: impl FnOnce() -> T) -> T {
        if self.open.borrow().contains(&key) {
            asking.cut();
            return meanwhile;
        }
        self.open.borrow_mut().push(key);
        let answer = asking.again(look);
        self.open.borrow_mut().pop();
        answer
    }

    /// Forgets all answers: they were given before everything was known.
    pub(crate) fn forget(&self) {
        self.own.borrow_mut().clear();
        for shard in &self.shared.shards {
            shard.lock().unwrap_or_else(PoisonError::into_inner).clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FUEL: Fuel = Fuel { each: 100, all: usize::MAX };

    /// What things say of themselves and of others: a graph in which a question leads to the questions it names.
    struct Graph<'w> {
        leads_to: &'w [&'w [u32]],
        asking: Asking,
        memo: Memo<'w, u32, Vec<u32>>,
    }

    impl<'w> Graph<'w> {
        fn of(leads_to: &'w [&'w [u32]], answers: &'w Answers<u32, Vec<u32>>) -> Self {
            Self { leads_to, asking: Asking::new(FUEL), memo: Memo::of(answers) }
        }

        /// The numbers that one leads to, itself included.
        fn ask(&self, number: u32) -> Vec<u32> {
            self.memo.answer(&self.asking, number, vec![], || {
                let mut found = vec![number];
                for next in self.leads_to[number as usize] {
                    found.extend(self.asking.deeper(|| self.ask(*next)).unwrap_or_default());
                }
                found
            })
        }
    }

    #[test]
    fn the_answer_is_the_same_whoever_is_asked_first() {
        // A cycle of three with a way in and a way out, and a number that leads to itself.
        let leads_to: &[&[u32]] = &[&[1], &[2, 4], &[3], &[1, 5], &[], &[5, 4]];
        let alone: Vec<Vec<u32>> =
            (0..6).map(|number| Graph::of(leads_to, &Answers::default()).ask(number)).collect();
        for first in 0..6 {
            let answers = Answers::default();
            let graph = Graph::of(leads_to, &answers);
            for number in (first..6).chain(0..first) {
                assert_eq!(graph.ask(number), alone[number as usize], "{number} after {first}");
                assert_eq!(Graph::of(leads_to, &answers).ask(number), alone[number as usize]);
            }
        }
    }

    #[test]
    fn what_is_too_deep_is_too_deep_whatever_is_known() {
        let lists: Vec<Vec<u32>> = (1..100).map(|next| vec![next]).chain([vec![]]).collect();
        let leads_to: Vec<&[u32]> = lists.iter().map(Vec::as_slice).collect();
        let alone = Graph::of(&leads_to, &Answers::default()).ask(0).len();
        assert_eq!(alone, DEPTH as usize + 1);
        let answers = Answers::default();
        let graph = Graph::of(&leads_to, &answers);
        (0..100).rev().for_each(|number| drop(graph.ask(number)));
        assert_eq!(graph.ask(0).len(), alone, "the end of the way is known by now, and still too deep");
    }
    #[test]
    fn what_leads_back_to_itself_is_given_up_when_the_fuel_is_used_up_whoever_asks_first() {
        // Each leads to three others and all of them back to each other: nothing is kept for everybody.
        let lists: Vec<Vec<u32>> =
            (0..1_000).map(|n| vec![(n + 1) % 1_000, (n + 7) % 1_000, n / 2]).collect();
        let leads_to: Vec<&[u32]> = lists.iter().map(Vec::as_slice).collect();
        let alone: Vec<Vec<u32>> =
            (0..20).map(|number| Graph::of(&leads_to, &Answers::default()).ask(number)).collect();
        let most = FUEL.each as usize + DEPTH as usize;
        for found in &alone {
            let distinct: std::collections::BTreeSet<&u32> = found.iter().collect();
            assert!((10..=most).contains(&distinct.len()), "{}", distinct.len());
        }
        let answers = Answers::default();
        for number in (0..20).rev() {
            assert_eq!(Graph::of(&leads_to, &answers).ask(number), alone[number as usize]);
        }
    }

    #[test]
    fn a_question_in_a_context_uses_up_its_share_and_leaves_the_rest_to_the_others() {
        let asking = Asking::new(Fuel { each: 100, all: 1_000 });
        let ask_on = || std::iter::from_fn(|| asking.deeper(|| asking.again(|| ()))).count();
        assert_eq!(asking.again(ask_on), 100);
        assert_eq!(asking.again(ask_on), 100, "the next begins anew");
        let questions = std::iter::from_fn(|| asking.deeper(|| asking.again(ask_on))).count();
        assert_eq!(questions, 8, "all of them together have an end");
    }

    #[test]
    fn a_large_tree_leaves_less_to_each_question() {
        assert_eq!(Fuel::for_questions(0).each as usize, Fuel::MOST);
        assert_eq!(Fuel::for_questions(10_000).each as usize, Fuel::IN_SUM / 10_000);
        assert_eq!(Fuel::for_questions(usize::MAX).each as usize, Fuel::LEAST);
    }
}
