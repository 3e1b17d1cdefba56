//! What texts a test asks for, put together from its parts.

use interlock_model::ir::{Asked, Term};

use crate::val::merge;

/// What a test asks for, and of what.
pub(crate) type Asks = Vec<(Term, Asked)>;

/// One of two tests: what it asks for, and whether a yes of the comparison is a no of the test.
pub(crate) struct Part<'t> {
    pub(crate) asks: &'t Asks,
    pub(crate) negated: bool,
}

/// What texts two tests ask for together, where a yes of `both` or of one is a yes.
pub(crate) fn together(both: bool, first: &Part<'_>, second: &Part<'_>) -> Asks {
    // Two tests that say no are one that says no to the opposite: `a !== "x" && b !== "y"` to whether one of them is so.
    let negated = first.negated && second.negated;
    let asks = |part: &Part<'_>| if part.negated == negated { part.asks.clone() } else { vec![] };
    let (one, two) = (asks(first), asks(second));
    if both != negated {
        let mut all = [one, two].concat();
        all.iter_mut().for_each(|(_, asked)| asked.enough = false);
        return all;
    }
    // One of two is enough: it says something where both ask for texts of the same thing.
    let mut found = vec![];
    for (subject, asked) in &one {
        let same = |other: &&(Term, Asked)| other.0 == *subject && *subject != Term::Unknown;
        if let Some((_, other)) = two.iter().find(same) {
            let mut on = asked.on.clone();
            merge(&mut on, &other.on);
            let texts = asked.texts.iter().chain(&other.texts).cloned().collect();
            let enough = asked.enough && other.enough;
            found.push((subject.clone(), Asked { on, texts, enough }));
        }
    }
    found
}
