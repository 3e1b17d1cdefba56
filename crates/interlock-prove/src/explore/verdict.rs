//! What all sets together come to.

use std::collections::BTreeSet;

use interlock_model::{CallSet, Oracle, Verdict};

use super::Case;

/// What one set says for the whole.
#[derive(Debug)]
pub(super) struct Said<'c> {
    verdict: Verdict,
    /// The tools that it calls.
    tools: BTreeSet<&'c str>,
    /// Whether nothing can be said of its calls, and nobody asked for them.
    is_mute: bool,
}

impl<'c> Said<'c> {
    pub(super) fn by(case: &'c Case) -> Self {
        let tools = case.set.calls.iter().map(|call| call.tool.as_str()).collect();
        Self { verdict: case.verdict(), tools, is_mute: case.says_nothing() }
    }
}

/// Whether what the calls of a set come to is held against what they come to in turn. Where only successes are counted nothing is said of what the
/// calls change.
pub(super) fn is_compared(set: &CallSet) -> bool {
    matches!(set.oracle, Oracle::Serial | Oracle::Once)
}

/// The worst of the sets. One that says nothing, because its calls cannot be compared, takes nothing from what was tried of each of its writers in
/// others; one of readers only takes nothing from any writer.
pub(super) fn over(
    sets: &[Said<'_>],
    writers: Option<&BTreeSet<String>>,
    tried: &BTreeSet<String>,
) -> Verdict {
    let is_covered = |set: &&Said<'_>| {
        let Some(writers) = writers.filter(|_| set.is_mute && !tried.is_empty()) else { return false };
        let mut its_own = set.tools.iter().filter(|tool| writers.contains(**tool));
        its_own.all(|tool| tried.contains(*tool))
    };
    Verdict::worst(sets.iter().filter(|set| !is_covered(set)).map(|set| set.verdict))
}

/// The writers that were not tried, by why.
#[derive(Debug, Default)]
pub(super) struct Untried {
    /// No set let a call of theirs meet another that may change something.
    met_nobody: Vec<String>,
    /// None of their calls was accepted; and in which words.
    refused: Vec<(String, String)>,
    /// It would not show if their calls were lost in those that they met.
    would_not_show: Vec<String>,
    /// The budget ended before that was known.
    not_looked_at: Vec<String>,
}

impl Untried {
    /// Of these writers, those that the sets did not try. What the survey could not call is known with the words of the refusal.
    pub(super) fn of(
        writers: &BTreeSet<String>,
        tried: &BTreeSet<String>,
        never_accepted: &[(String, String)],
        cases: &[Case],
    ) -> Self {
        let mut untried = Self::default();
        for writer in writers.difference(tried) {
            let in_survey =
                never_accepted.iter().find(|(tool, _)| tool == writer).map(|(_, why)| why.as_str());
            let in_sets = || cases.iter().flat_map(Case::refused).find(|(tool, _)| tool == writer);
            let meets = |case: &&Case| case.met().any(|tool| tool == writer);
            let mut met = cases.iter().filter(meets).peekable();
            if met.peek().is_some() {
                let is_known = met.any(Case::was_looked_at);
                let of_them = if is_known { &mut untried.would_not_show } else { &mut untried.not_looked_at };
                of_them.push(writer.clone());
            } else if let Some(words) = in_survey.or_else(|| in_sets().map(|(_, words)| words)) {
                untried.refused.push((writer.clone(), words.to_owned()));
            } else {
                untried.met_nobody.push(writer.clone());
            }
        }
        untried
    }

    /// How many they are.
    pub(super) fn count(&self) -> usize {
        self.met_nobody.len() + self.refused.len() + self.would_not_show.len() + self.not_looked_at.len()
    }

    /// Why nothing is said of a server although nothing broke, if there are any.
    pub(super) fn why(&self) -> Option<String> {
        let mut parts = Vec::new();
        if !self.met_nobody.is_empty() {
            parts.push(format!("{} met nobody, a larger --budget goes on", named(&self.met_nobody)));
        }
        let refused = self.refused.iter().take(MOST_WORDS);
        parts.extend(refused.map(|(tool, words)| format!("no call of `{tool}` was accepted ({words})")));
        if self.refused.len() > MOST_WORDS {
            let rest: Vec<String> =
                self.refused.iter().skip(MOST_WORDS).map(|(tool, _)| tool.clone()).collect();
            parts.push(format!("nor of {}", named(&rest)));
        }
        if !self.would_not_show.is_empty() {
            parts.push(format!(
                "{} met others only in calls of which it would not show if nothing came of them",
                named(&self.would_not_show)
            ));
        }
        if !self.not_looked_at.is_empty() {
            parts.push(format!(
                "it ended before it was known whether a loss of {} would show, a larger --budget goes on",
                named(&self.not_looked_at)
            ));
        }
        (!parts.is_empty()).then(|| {
            format!("not every writer was tried: {}; --call 'TOOL {{json}}' names a call", parts.join("; "))
        })
    }
}

/// So many are named in one sentence.
const MOST_NAMED: usize = 5;
/// The words of so many refusals stand in one sentence.
const MOST_WORDS: usize = 2;

fn named(names: &[String]) -> String {
    let told: Vec<String> = names.iter().take(MOST_NAMED).map(|name| format!("`{name}`")).collect();
    let others = if names.len() > MOST_NAMED { " and others" } else { "" };
    format!("{}{others}", told.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held<'c>(tools: impl IntoIterator<Item = &'c str>) -> Said<'c> {
        Said { verdict: Verdict::Held, tools: tools.into_iter().collect(), is_mute: false }
    }

    fn mute<'c>(tools: impl IntoIterator<Item = &'c str>) -> Said<'c> {
        Said { verdict: Verdict::Unknown, is_mute: true, ..held(tools) }
    }

    fn names(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn over_all(sets: &[Said<'_>], tried: &[&str]) -> Verdict {
        over(sets, Some(&names(&["add", "remove"])), &names(tried))
    }

    #[test]
    fn a_set_that_says_nothing_takes_nothing_from_writers_that_were_tried_in_others() {
        let sets = [held(["add"]), held(["remove"]), mute(["add", "remove"]), mute(["add", "list"])];
        assert_eq!(over_all(&sets, &["add", "remove"]), Verdict::Held);
    }

    #[test]
    fn a_writer_that_was_tried_in_no_set_leaves_the_whole_unknown() {
        assert_eq!(over_all(&[held(["add"]), mute(["add", "remove"])], &["add"]), Verdict::Unknown);
        assert_eq!(over_all(&[held(["add", "list"]), mute(["add"])], &[]), Verdict::Unknown);
        assert_eq!(over_all(&[mute(["add"])], &[]), Verdict::Unknown);
    }

    #[test]
    fn readers_that_never_say_the_same_take_nothing_from_writers_that_were_tried() {
        let sets = [held(["add"]), mute(["stats"]), mute(["list", "stats"])];
        assert_eq!(over_all(&sets, &["add", "remove"]), Verdict::Held);
        assert_eq!(over_all(&sets, &[]), Verdict::Unknown, "there is nothing that they could take from");
        assert_eq!(over(&sets, None, &names(&["add"])), Verdict::Unknown);
    }

    #[test]
    fn what_somebody_asked_for_is_not_passed_over() {
        let asked = Said { is_mute: false, ..mute(["add"]) };
        assert_eq!(over_all(&[held(["add"]), asked], &["add", "remove"]), Verdict::Unknown);
        assert_eq!(over(&[held(["add"]), mute(["add"])], None, &names(&["add"])), Verdict::Unknown);
    }

    #[test]
    fn what_broke_counts_whatever_held_beside_it() {
        let broken = Said { verdict: Verdict::Broken, ..held(["remove"]) };
        assert_eq!(over_all(&[held(["add"]), broken, mute(["add"])], &["add"]), Verdict::Broken);
    }

    #[test]
    fn writers_that_were_not_tried_are_named_with_the_reason_of_each() {
        let named = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<String>>();
        let words = |tool: &str, words: &str| (tool.to_owned(), words.to_owned());
        let tried = Untried {
            met_nobody: named(&["a", "b"]),
            refused: vec![words("c", "Call d first.")],
            would_not_show: named(&["e"]),
            not_looked_at: named(&["f"]),
        };
        expect_test::expect![[r"
            not every writer was tried: `a`, `b` met nobody, a larger --budget goes on; no call of `c` was accepted (Call d first.); `e` met others only in calls of which it would not show if nothing came of them; it ended before it was known whether a loss of `f` would show, a larger --budget goes on; --call 'TOOL {json}' names a call"]]
        .assert_eq(&tried.why().unwrap());
        assert_eq!(Untried::default().why(), None);
        assert_eq!(tried.count(), 5);
    }
}
