//! Texts with gaps where repeats differ.

use std::collections::BTreeSet;

use super::Words;

/// The words of a text, without those that vary.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Frame(Vec<Option<String>>);

/// More frames than this are not kept for one place; what a server answers may have no end.
const MOST: usize = 64;

impl Frame {
    /// What two texts of equally many words have in common.
    pub(super) fn of(one: &[&str], two: &[&str]) -> Self {
        let word = |(one, two): (&&str, &&str)| (one == two).then(|| (*one).to_owned());
        Self(one.iter().zip(two).map(word).collect())
    }

    /// Whether both could be of one text: they have the same words wherever both have one.
    fn agrees(&self, other: &Self) -> bool {
        let same =
            |(one, two): (&Option<String>, &Option<String>)| one.is_none() || two.is_none() || one == two;
        self.0.len() == other.0.len() && self.0.iter().zip(&other.0).all(same)
    }

    /// Whether all gaps of another are gaps here.
    fn has_gaps_of(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|(one, two)| one.is_none() || two.is_some())
    }

    fn add_gaps_of(&mut self, other: &Self) {
        for (one, two) in self.0.iter_mut().zip(&other.0) {
            if two.is_none() {
                *one = None;
            }
        }
    }
}

impl Words {
    /// What varies in a text whose words, in two repeats, are these.
    pub(super) fn between(one: &[&str], two: &[&str]) -> Self {
        let different = one.iter().zip(two).filter(|(a, b)| a != b);
        Self {
            shapes: different.flat_map(|(a, b)| [super::shape::shape(a), super::shape::shape(b)]).collect(),
            frames: BTreeSet::from([Frame::of(one, two)]),
        }
    }

    pub(super) fn extend(&mut self, other: Self) {
        self.shapes.extend(other.shapes);
        for frame in other.frames {
            if self.frames.len() < MOST {
                self.frames.insert(frame);
            }
        }
    }

    /// For each word of a text, whether it varies. Two texts that differ only in what varies have the same answer: gaps are added until no
    /// frame has more of them to add, and what stands in a gap no longer decides which frames agree.
    pub(super) fn vary(&self, words: &[&str]) -> Vec<bool> {
        let mut text = Frame(words.iter().map(|word| Some((*word).to_owned())).collect());
        while let Some(frame) =
            self.frames.iter().find(|frame| frame.agrees(&text) && !text.has_gaps_of(frame))
        {
            text.add_gaps_of(frame);
        }
        let varies = |(word, kept): (&&str, &Option<String>)| {
            kept.is_none() || self.shapes.contains(&super::shape::shape(word))
        };
        words.iter().zip(&text.0).map(varies).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gaps(words: &Words, text: &[&str]) -> String {
        let sign = |varies| if varies { '?' } else { '.' };
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
