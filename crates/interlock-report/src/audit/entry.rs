//! A finding and the races that were shown of it, put together.

use std::{collections::BTreeSet, fmt};

use interlock_model::{Finding, HazardId, SetReport, Severity, Verdict};

use super::{Proved, Subject};

/// What is known of a hazard at one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Standing {
    FoundAndProven,
    ProvenOnly,
    FoundOnly,
}

impl Standing {
    pub(super) const ALL: &[Self] = &[Self::FoundAndProven, Self::ProvenOnly, Self::FoundOnly];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::FoundAndProven => "found and proven",
            Self::ProvenOnly => "proven only",
            Self::FoundOnly => "found only",
        }
    }

    /// For a class, an identifier, a value.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::FoundAndProven => "found-and-proven",
            Self::ProvenOnly => "proven-only",
            Self::FoundOnly => "found-only",
        }
    }
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// One line of the report.
pub(super) struct Entry<'e> {
    pub(super) standing: Standing,
    pub(super) finding: Option<&'e Finding>,
    /// The races, the worst first.
    pub(super) races: Vec<&'e SetReport>,
    /// How the races ended behind the guard, the worst of them; nothing if none was tried there.
    pub(super) behind: Option<Verdict>,
    /// Sorted.
    pub(super) tools: Vec<String>,
}

impl<'e> Entry<'e> {
    pub(super) fn hazard(&self) -> Option<&'e HazardId> {
        let of_race = || self.races.iter().find_map(|race| race.set.hazard.as_ref());
        self.finding.map(|finding| &finding.hazard).or_else(of_race)
    }

    /// As bad as the finding says; a race that nobody found, and of which it is not known what it is, is as bad as most are.
    pub(super) fn severity(&self, rules: &[crate::Rule<'_>]) -> Severity {
        if let Some(finding) = self.finding {
            return finding.severity;
        }
        let rule = self.hazard().and_then(|hazard| rules.iter().find(|rule| rule.id == *hazard));
        rule.map_or(Severity::High, |rule| rule.severity)
    }

    /// One sentence: what goes wrong.
    pub(super) fn message(&self) -> &'e str {
        match (self.finding, self.races.first()) {
            (Some(finding), _) => &finding.message,
            (None, Some(race)) => &race.reason,
            (None, None) => "",
        }
    }
}

/// The entries of a subject: found and proven first, then what was only proven, then what was only found; the worst first in each.
pub(super) fn of(subject: &Subject) -> Vec<Entry<'_>> {
    let findings = subject.scan.iter().flat_map(|report| &report.findings);
    let mut entries: Vec<Entry<'_>> = Vec::new();
    let mut told: Vec<&SetReport> = Vec::new();
    for finding in findings.filter(|finding| finding.hardening.is_none()) {
        let mut races: Vec<&SetReport> = Vec::new();
        for (race, made_for) in subject.proved().into_iter().flat_map(Proved::races) {
            if made_for.contains(&finding.fingerprint) || explains(finding, race) {
                races.push(race);
                told.push(race);
            }
        }
        if races.is_empty() && !finding.counts() {
            continue;
        }
        let standing = if races.is_empty() { Standing::FoundOnly } else { Standing::FoundAndProven };
        entries.push(entry(subject, standing, Some(finding), races));
    }
    for (race, _) in subject.proved().into_iter().flat_map(Proved::races) {
        if told.iter().any(|known| std::ptr::eq(*known, race)) {
            continue;
        }
        let alike = |entry: &&mut Entry<'_>| {
            entry.finding.is_none()
                && entry.hazard() == race.set.hazard.as_ref()
                && entry.tools == tools_of(race)
        };
        match entries.iter_mut().find(alike) {
            Some(entry) => entry.races.push(race),
            None => entries.push(entry(subject, Standing::ProvenOnly, None, vec![race])),
        }
    }
    for entry in &mut entries {
        entry.races.sort_by_key(|race| std::cmp::Reverse(race.verdict));
        entry.behind = worst_behind(subject, &entry.races);
    }
    // Stable: the findings are sorted by file and line, the races by when they were shown.
    entries.sort_by_key(|entry| (entry.standing, std::cmp::Reverse(entry.finding.map(|f| f.severity))));
    entries
}

fn entry<'e>(
    subject: &'e Subject,
    standing: Standing,
    finding: Option<&'e Finding>,
    races: Vec<&'e SetReport>,
) -> Entry<'e> {
    let tools = match finding {
        Some(finding) => finding.tools.clone(),
        None => races.first().map(|race| tools_of(race)).unwrap_or_default(),
    };
    let behind = worst_behind(subject, &races);
    Entry { standing, finding, races, behind, tools }
}

/// Whether a race that was not looked for because of a finding is the one that the finding speaks of: the same hazard, and all of its calls
/// are of tools that lead there.
fn explains(finding: &Finding, race: &SetReport) -> bool {
    race.set.hazard.as_ref() == Some(&finding.hazard)
        && !race.set.calls.is_empty()
        && race.set.calls.iter().all(|call| finding.tools.contains(&call.tool))
}

fn worst_behind(subject: &Subject, races: &[&SetReport]) -> Option<Verdict> {
    let proved = subject.proved()?;
    races.iter().filter_map(|race| proved.behind(race)).max()
}

/// The tools that meet in a race, each once, sorted.
pub(super) fn tools_of(race: &SetReport) -> Vec<String> {
    let tools: BTreeSet<&str> = race.set.calls.iter().map(|call| call.tool.as_str()).collect();
    tools.into_iter().map(str::to_owned).collect()
}
