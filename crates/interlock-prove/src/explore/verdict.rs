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
    /// Whether only successes are counted: then nothing is said of what the calls change.
    is_counted: bool,
}

impl<'c> Said<'c> {
    pub(super) fn by(case: &'c Case) -> Self {
        let tools = case.set.calls.iter().map(|call| call.tool.as_str()).collect();
        Self {
            verdict: case.verdict(),
            tools,
            is_mute: case.says_nothing(),
            is_counted: !is_compared(&case.set),
        }
    }
}

/// Whether what the calls of a set come to is held against what they come to in turn.
pub(super) fn is_compared(set: &CallSet) -> bool {
    matches!(set.oracle, Oracle::Serial | Oracle::Once)
}

/// The worst of the sets. One that says nothing, because its calls cannot be compared, takes nothing from what held of each of its writers in
/// another.
pub(super) fn over(sets: &[Said<'_>], writers: Option<&BTreeSet<String>>) -> Verdict {
    let held = |tool: &str| {
        let mut compared = sets.iter().filter(|set| set.verdict == Verdict::Held && !set.is_counted);
        compared.any(|set| set.tools.contains(tool))
    };
    let is_covered = |set: &&Said<'_>| {
        let Some(writers) = writers.filter(|_| set.is_mute) else { return false };
        let mut its_own = set.tools.iter().filter(|tool| writers.contains(**tool)).peekable();
        its_own.peek().is_some() && its_own.all(|tool| held(tool))
    };
    Verdict::worst(sets.iter().filter(|set| !is_covered(set)).map(|set| set.verdict))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held<'c>(tools: impl IntoIterator<Item = &'c str>) -> Said<'c> {
        Said { verdict: Verdict::Held, tools: tools.into_iter().collect(), is_mute: false, is_counted: false }
    }

    fn mute<'c>(tools: impl IntoIterator<Item = &'c str>) -> Said<'c> {
        Said { verdict: Verdict::Unknown, is_mute: true, ..held(tools) }
    }

    fn writers() -> BTreeSet<String> {
        ["add", "remove"].map(str::to_owned).into()
    }

    #[test]
    fn a_set_that_says_nothing_takes_nothing_from_writers_that_held_in_others() {
        let sets = [held(["add"]), held(["remove", "list"]), mute(["add", "remove"]), mute(["add", "list"])];
        assert_eq!(over(&sets, Some(&writers())), Verdict::Held);
    }

    #[test]
    fn a_writer_that_held_in_no_set_leaves_the_whole_unknown() {
        assert_eq!(over(&[held(["add"]), mute(["add", "remove"])], Some(&writers())), Verdict::Unknown);
        assert_eq!(over(&[mute(["add"])], Some(&writers())), Verdict::Unknown);
    }

    #[test]
    fn successes_that_were_counted_say_nothing_of_what_calls_change() {
        let counted = Said { is_counted: true, ..held(["add"]) };
        assert_eq!(over(&[counted, mute(["add"])], Some(&writers())), Verdict::Unknown);
    }

    #[test]
    fn a_set_without_a_writer_of_its_own_is_not_passed_over() {
        assert_eq!(over(&[held(["add"]), mute(["list"])], Some(&writers())), Verdict::Unknown);
    }

    #[test]
    fn what_somebody_asked_for_is_not_passed_over() {
        let asked = Said { is_mute: false, ..mute(["add"]) };
        assert_eq!(over(&[held(["add"]), asked], Some(&writers())), Verdict::Unknown);
        assert_eq!(over(&[held(["add"]), mute(["add"])], None), Verdict::Unknown);
    }

    #[test]
    fn what_broke_counts_whatever_held_beside_it() {
        let broken = Said { verdict: Verdict::Broken, ..held(["remove"]) };
        assert_eq!(over(&[held(["add"]), broken, mute(["add"])], Some(&writers())), Verdict::Broken);
    }
}
