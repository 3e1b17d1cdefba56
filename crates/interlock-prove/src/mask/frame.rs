//! Texts with gaps where repeats differ.

use std::collections::BTreeSet;

use super::{Means, Words, shape::shape};

/// The words of a text, without those that vary.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Frame(Vec<Slot>);

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Slot {
    Word(String),
    Gap(Means),
}

/// More frames than this are not kept for one place; what a server answers may have no end.
const MOST: usize = 64;

impl Frame {
    /// What two texts of equally many words have in common.
    pub(super) fn of(one: &[&str], two: &[&str]) -> Self {
        let slot = |(one, two): (&&str, &&str)| {
            if one == two { Slot::Word((*one).to_owned()) } else { Slot::Gap(Means::of([*one, *two])) }
        };
        Self(one.iter().zip(two).map(slot).collect())
    }

    /// Whether both could be of one text: they have the same words wherever both have one.
    fn agrees(&self, other: &Self) -> bool {
        let same = |pair: (&Slot, &Slot)| match pair {
            (Slot::Word(one), Slot::Word(two)) => one == two,
            _ => true,
        };
        self.0.len() == other.0.len() && self.0.iter().zip(&other.0).all(same)
    }

    /// Whether all gaps of another are gaps here, and mean no more here than there.
    fn has_gaps_of(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|pair| match pair {
            (_, Slot::Word(_)) => true,
            (Slot::Word(_), Slot::Gap(_)) => false,
            (Slot::Gap(one), Slot::Gap(two)) => one >= two,
        })
    }

    fn add_gaps_of(&mut self, other: &Self) {
        for (one, two) in self.0.iter_mut().zip(&other.0) {
            *one = match (&*one, two) {
                (_, Slot::Word(_)) => continue,
                (Slot::Word(_), Slot::Gap(means)) => Slot::Gap(*means),
                (Slot::Gap(one), Slot::Gap(two)) => Slot::Gap(*one.max(two)),
            };
        }
    }
}

impl Words {
    /// What varies in a text whose words, in two repeats, are these.
    pub(super) fn between(one: &[&str], two: &[&str]) -> Self {
        let mut words = Self { frames: BTreeSet::from([Frame::of(one, two)]), ..Self::default() };
        for (a, b) in one.iter().zip(two).filter(|(a, b)| a != b) {
            let means = Means::of([*a, *b]);
            words.add_shapes([a, b].map(|word| (shape(word), means)));
        }
        words
    }

    fn add_shapes(&mut self, shapes: impl IntoIterator<Item = (String, Means)>) {
        for (shape, means) in shapes {
            let known = self.shapes.entry(shape).or_insert(means);
            *known = means.max(*known);
        }
    }

    pub(super) fn extend(&mut self, other: Self) {
        self.add_shapes(other.shapes);
        for frame in other.frames {
            if self.frames.len() < MOST {
                self.frames.insert(frame);
            }
        }
    }

    /// For each word of a text, what it means if it varies. Two texts that differ only in what varies have the same answer: gaps are added until no
    /// frame has more of them to add, and what stands in a gap no longer decides which frames agree.
    pub(super) fn vary(&self, words: &[&str]) -> Vec<Option<Means>> {
        let mut text = Frame(words.iter().map(|word| Slot::Word((*word).to_owned())).collect());
        while let Some(frame) =
            self.frames.iter().find(|frame| frame.agrees(&text) && !text.has_gaps_of(frame))
        {
            text.add_gaps_of(frame);
        }
        let means = |slot: &Slot| match slot {
            Slot::Gap(means) => Some(*means),
            Slot::Word(word) => self.shapes.get(&shape(word)).copied(),
        };
        text.0.iter().map(means).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gaps(words: &Words, text: &[&str]) -> String {
        let sign = |means: Option<Means>| if means.is_some() { '?' } else { '.' };
        words.vary(text).into_iter().map(sign).collect()
    }

    #[test]
    fn a_word_varies_where_it_did_before_whatever_it_looks_like() {
        let words = Words::between(&["id", " ", "k3x9a1b"], &["id", " ", "7pq2zzm"]);
        assert_eq!(gaps(&words, &["id", " ", "hivbqqm"]), "..?");
        assert_eq!(gaps(&words, &["id", " ", "1234567"]), "..?");
        assert_eq!(gaps(&words, &["no", " ", "hivbqqm"]), "...");
    }

    #[test]
    fn texts_that_differ_only_in_gaps_have_the_same_gaps() {
        let mut words = Words::between(&["a", " ", "x1"], &["a", " ", "y22"]);
        // Agrees with the second text below as it stands, with the first only once the last word is a gap.
        words.extend(Words::between(&["b7", " ", "zz"], &["c77", " ", "zz"]));
        assert_eq!(gaps(&words, &["a", " ", "zz"]), "?.?");
        assert_eq!(gaps(&words, &["a", " ", "x1"]), "?.?");
    }
}
