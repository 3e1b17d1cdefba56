//! A choice in steps: what a scan found first, then what makes things, then the rest. What is known after a step meets before the next one is
//! taken: a race that is shown needs no rest.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use interlock_model::{CallSet, Fingerprint, Surface};

use super::choose::{Choice, Chosen, left_out, only_reads, writers};
use crate::{
    plan::{
        from::{self, Found},
        listing::Listing,
        pick,
        survey::{Bounds, Surveyor},
    },
    request::Progress,
    trouble::Trouble,
};

/// What is left of a choice that is made in steps.
pub(super) struct Stages<'l> {
    surveyor: Surveyor<'l>,
    /// Findings that no set was made for yet.
    findings: Vec<Found>,
    /// Sets that were chosen already.
    chosen: Vec<CallSet>,
    next: Stage,
    is_fresh: bool,
    /// How long tools were called so far to find out what they do.
    surveyed: Duration,
}

/// The steps, in their order. Tools that make things can be called on an empty server, the others may need what they make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    FoundMakers,
    Found,
    /// The first tools that make things, each with itself: where one of them loses what it made, nothing else has to be known.
    FirstMakers,
    /// Whatever else makes things.
    Makers,
    Rest,
    Over,
}

/// So many times the usual share of the time goes to the survey where it is made in stages.
const MOST_SURVEYED: u32 = 2;
/// Of the survey's time so much goes to what a scan found in tools that make things, and as much to its other tools.
const STAGE_SHARE: u32 = 2;

impl<'l> Stages<'l> {
    /// For these findings, with a surveyor that has asked the readers, which took so long.
    pub(super) fn new(surveyor: Surveyor<'l>, findings: Vec<Found>, surveyed: Duration) -> Self {
        let chosen = Vec::new();
        Self { surveyor, findings, chosen, next: Stage::FoundMakers, is_fresh: false, surveyed }
    }

    /// The next sets.
    pub(super) async fn step(
        &mut self,
        bounds: &Bounds,
        progress: &dyn Progress,
        notes: &mut Vec<String>,
    ) -> Result<Choice, Trouble> {
        while matches!(self.next, Stage::FoundMakers | Stage::Found) {
            let found: BTreeSet<String> =
                self.findings.iter().flat_map(|found| found.tools.clone()).collect();
            let only_makers = self.next == Stage::FoundMakers;
            let is_meant = |tool: &Listing| {
                // What else makes things may be what a tool of a finding needs.
                if only_makers {
                    found.contains(&tool.name) && tool.looks_like_maker()
                } else {
                    found.contains(&tool.name) || (!found.is_empty() && tool.looks_like_maker())
                }
            };
            self.next = if only_makers { Stage::Found } else { Stage::FirstMakers };
            if !self.surveyor.has_open(is_meant) {
                continue;
            }
            progress.doing("finding out what the tools do in which something was found");
            self.explore(is_meant, bounds.time / STAGE_SHARE, bounds).await;
            let surface = self.surveyor.surface();
            let can_be_called = |name: &String| {
                surface.tools.iter().any(|tool| tool.name == *name && !tool.samples.is_empty())
            };
            let (now, later): (Vec<Found>, Vec<Found>) = std::mem::take(&mut self.findings)
                .into_iter()
                .partition(|found| found.tools.iter().any(can_be_called));
            self.findings = later;
            let from = from::sets(&now, &surface, self.surveyor.left_alone());
            // A later step may know the calls that this one did not.
            let again = |found: &&Found| from.left_out.iter().any(|(left, _)| *left == found.fingerprint);
            self.findings.extend(now.iter().filter(again).cloned());
            // Who only reads waits until all that write have met.
            let (now, later): (Vec<_>, Vec<_>) =
                from.sets.into_iter().partition(|(set, _)| !only_reads(set, &surface));
            for (_, found) in later {
                let of_others = |one: &&Found| !self.findings.contains(one);
                let waiting: Vec<Found> = found.iter().filter(of_others).cloned().collect();
                self.findings.extend(waiting);
            }
            if now.is_empty() {
                continue;
            }
            self.check_fresh().await?;
            self.chosen.extend(now.iter().map(|(set, _)| set.clone()));
            let chosen = |(set, findings)| Chosen::picked(set, findings, &surface);
            let sets = now.into_iter().map(chosen).collect();
            return Ok(Choice { more: true, learnt: self.surveyor.learnt(), ..Choice::wanted(sets) });
        }
        if self.next == Stage::Over {
            return Ok(Choice::wanted(Vec::new()));
        }
        progress.doing("finding out what the other tools do");
        if self.next == Stage::FirstMakers {
            self.next = Stage::Makers;
            if self.surveyor.has_open(Listing::looks_like_maker) {
                let begin = Instant::now();
                self.surveyor.explore_first_makers(bounds.time / STAGE_SHARE).await;
                self.surveyed += begin.elapsed();
                if let Some(choice) = self.known_by_now().await? {
                    return Ok(choice);
                }
            }
        }
        if self.next == Stage::Makers {
            self.next = Stage::Rest;
            let makes = |tool: &Listing| tool.looks_like_maker();
            if self.surveyor.has_open(makes) && self.surveyor.has_open(|tool| !makes(tool)) {
                self.explore(makes, bounds.time / STAGE_SHARE, bounds).await;
                if let Some(choice) = self.known_by_now().await? {
                    return Ok(choice);
                }
            }
        }
        // Where that takes long, what is known by then meets before the rest is looked at: a race that is shown needs no rest.
        while self.next == Stage::Rest {
            let before = self.surveyor.open().len();
            self.explore(|_| true, bounds.time / STAGE_SHARE, bounds).await;
            let after = self.surveyor.open().len();
            if after == 0 || after == before || self.surveyed >= bounds.time * MOST_SURVEYED {
                self.next = Stage::Over;
                break;
            }
            if let Some(choice) = self.known_by_now().await? {
                return Ok(choice);
            }
        }
        self.check_fresh().await?;
        let mut found = self.surveyor.close(None);
        notes.append(&mut found.notes);
        let (mut sets, not_shown) = self.new_sets(&found.surface, &found.left_alone);
        notes.extend(left_out(not_shown));
        // Stable: what a scan found comes first among its like.
        sets.sort_by_key(|chosen| only_reads(&chosen.set, &found.surface));
        Ok(Choice::of_survey(sets, &found))
    }

    /// The sets that can be tried while the survey goes on, if there are any: of each writer the first few that show most. The others are chosen
    /// at the end, when there is nothing left to find out, so that every writer has met somebody before one of them has met all.
    async fn known_by_now(&mut self) -> Result<Option<Choice>, Trouble> {
        let surface = self.surveyor.surface();
        let mut sets = self.new_sets(&surface, self.surveyor.left_alone()).0;
        sets.retain(|chosen| !only_reads(&chosen.set, &surface) && !says_the_same(&chosen.set));
        let sets = first_of_each(sets, &self.chosen);
        if sets.is_empty() {
            return Ok(None);
        }
        self.check_fresh().await?;
        self.chosen.extend(sets.iter().map(|chosen| chosen.set.clone()));
        let learnt = self.surveyor.learnt();
        let writers = Some(writers(&surface, &self.surveyor.open()));
        Ok(Some(Choice { more: true, writers, learnt, ..Choice::wanted(sets) }))
    }

    /// What has not been chosen yet: for findings first, then what the probes pick. And the findings that no call can show.
    fn new_sets(
        &self,
        surface: &Surface,
        left_alone: &[String],
    ) -> (Vec<Chosen>, Vec<(Fingerprint, String)>) {
        let from = from::sets(&self.findings, surface, left_alone);
        let of_findings = from.sets.into_iter().map(|(set, findings)| Chosen::picked(set, findings, surface));
        let picked = pick::pick(surface).into_iter().map(|set| Chosen::picked(set, Vec::new(), surface));
        let mut sets: Vec<Chosen> = Vec::new();
        for one in of_findings.chain(picked) {
            let mut known = sets.iter().map(|known| &known.set).chain(&self.chosen);
            if !known.any(|known| pick::same(known, &one.set)) {
                sets.push(one);
            }
        }
        (sets, from.left_out)
    }

    /// Calls the writers that are meant, for so long; all stages together take no more than their share, or nothing would be left for the calls to
    /// meet in.
    async fn explore(&mut self, is_meant: impl Fn(&Listing) -> bool, time: Duration, bounds: &Bounds) {
        let left = (bounds.time * MOST_SURVEYED).saturating_sub(self.surveyed);
        let begin = Instant::now();
        self.surveyor.explore(is_meant, time.min(left)).await;
        self.surveyed += begin.elapsed();
    }

    /// Instances that see what others did cannot be compared; looked at once there is a writer, and once is enough.
    async fn check_fresh(&mut self) -> Result<(), Trouble> {
        if self.is_fresh || self.surveyor.surface().writers().next().is_none() {
            return Ok(());
        }
        self.is_fresh = true;
        match self.surveyor.left_behind().await {
            Some(reader) => Err(Trouble::NotFresh(reader)),
            None => Ok(()),
        }
    }
}

/// Whether all calls of a set have the same words. What two of them do to each other is a weaker symptom than what is lost where words differ, and
/// while a survey goes on the words that differ may only not be known yet.
fn says_the_same(set: &CallSet) -> bool {
    set.calls.windows(2).all(|pair| pair.first() == pair.last())
}

/// So many sets that begin with one tool are tried while the survey goes on.
const MOST_EARLY: usize = 2;

/// The first sets that begin with each tool, together with those that were chosen before; what a finding is about is always among them.
fn first_of_each(sets: Vec<Chosen>, before: &[CallSet]) -> Vec<Chosen> {
    let first = |set: &CallSet| set.calls.first().map(|call| call.tool.clone());
    let mut kept: Vec<Chosen> = Vec::new();
    for one in sets {
        let tool = first(&one.set);
        let known = kept.iter().map(|kept| &kept.set).chain(before);
        if !one.findings.is_empty() || known.filter(|set| first(set) == tool).count() < MOST_EARLY {
            kept.push(one);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use interlock_model::PlannedCall;
    use serde_json::json;

    use super::*;

    #[test]
    fn while_a_survey_goes_on_each_tool_meets_itself_a_few_times_and_no_more() {
        let set = |tool: &str, text: u32| {
            let call = |text: u32| PlannedCall::new(tool, json!({ "text": text }));
            CallSet { calls: vec![call(0), call(text)], ..CallSet::default() }
        };
        let picked = |set: CallSet| Chosen::picked(set, Vec::new(), &Surface::default());
        let sets = || [set("save", 1), set("save", 2), set("save", 3), set("drop", 1)].map(picked).into();
        let texts = |sets: Vec<Chosen>| {
            let said =
                |one: &Chosen| (one.set.calls[1].tool.clone(), one.set.calls[1].arguments["text"].clone());
            sets.iter().map(said).map(|(tool, text)| format!("{tool} {text}")).collect::<Vec<_>>()
        };
        let first = ["save 1", "save 2", "drop 1"];
        assert_eq!(texts(first_of_each(sets(), &[])), first);
        let before = [set("save", 8), set("save", 9)];
        assert_eq!(texts(first_of_each(sets(), &before)), ["drop 1"], "the others come at the end");
    }
}
