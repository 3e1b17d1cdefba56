//! What a look at a tree came to: the findings, how much was understood, and the score.

use serde::{Deserialize, Serialize};
use std::{collections::BTreeSet, fmt};

use crate::{Finding, Loss};

/// The result of a scan or an audit, as every format prints it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// What the tree is worth, or why nobody can say.
    pub rating: Rating,
    /// What was looked at.
    pub coverage: Coverage,
    /// Sorted by file, line and hazard.
    pub findings: Vec<Finding>,
}

/// What a tree is worth. What was not seen is not graded: silence over it would read as praise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rating {
    /// From 0 to 100.
    Score(u8),
    /// Why there is none, and what to do about it.
    NotGraded(String),
}

/// How much of the tree was understood. A report says it instead of staying silent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Coverage {
    /// Files that were read.
    pub files: usize,
    /// Functions that were lowered.
    pub functions: usize,
    /// Tools that were found, by name.
    pub handlers: usize,
    /// How far the analysis got with each tool, by name.
    pub tools: Vec<ToolCoverage>,
    /// What was not followed, in sum.
    pub not_followed: NotFollowed,
    /// What the running server lists, where it was asked.
    pub listed: Option<Listed>,
    /// What was left out or not understood, sorted.
    pub notes: Vec<String>,
}

/// What the running server lists, held against what was found in the sources.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed {
    /// How many tools it lists.
    pub tools: usize,
    /// Those of them that were not found in the sources, sorted.
    pub missed: Vec<String>,
    /// Those that were found and that it does not list, sorted: tools of other servers of the tree, or of other settings.
    pub unlisted: Vec<String>,
}

/// How far the analysis got with one tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCoverage {
    /// Its name.
    pub name: String,
    /// Whether the analysis got to the end of everything it does that calls share.
    pub followed: bool,
    /// Where the way was lost so that something [could be hidden](Loss::hides), in order, each place once.
    pub lost: Vec<Loss>,
}

/// What was not followed and could hide something, in sum over all entry points, each place once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct NotFollowed {
    /// Calls of functions of libraries of which nothing is known.
    pub unknown_libraries: usize,
    /// Calls of something whose import leads to no file of the tree.
    pub unresolved_imports: usize,
    /// Calls of methods on something of which nothing is known.
    pub unresolved_receivers: usize,
    /// Calls of values of which it is not known which function they hold.
    pub unknown_functions: usize,
    /// Calls of which not every function that may be meant was followed.
    pub alternatives: usize,
    /// Calls of known functions whose steps were left out for their size.
    pub not_inlined: usize,
    /// Calls that the budget for the whole program left out.
    pub budget: usize,
    /// Calls that run another program, which may change what calls share.
    #[serde(default)]
    pub other_programs: usize,
    /// Requests whose method or address is not known.
    #[serde(default)]
    pub unknown_requests: usize,
    /// Functions that no entry point reaches.
    pub unreached: usize,
}

/// A score as a letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Grade {
    /// From 90.
    A,
    /// From 80.
    B,
    /// From 70.
    C,
    /// From 60.
    D,
    /// Below.
    F,
}

impl Report {
    /// The findings that count for the score and the exit code.
    pub fn counted(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.counts())
    }
}

impl Coverage {
    /// How many tools were followed to the end.
    #[must_use]
    pub fn followed(&self) -> usize {
        self.tools.iter().filter(|tool| tool.followed).count()
    }

    /// Holds the tools that were found against those that the running server lists. What it lists and was not found is a tool that was
    /// not followed.
    pub fn compare_with(&mut self, listed: &[String]) {
        let listed: BTreeSet<&str> = listed.iter().map(String::as_str).collect();
        let found: BTreeSet<&str> = self.tools.iter().map(|tool| tool.name.as_str()).collect();
        let owned = |names: Vec<&&str>| names.into_iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let missed = owned(listed.difference(&found).collect());
        let unlisted = owned(found.difference(&listed).collect());
        let tools = listed.len();
        let unseen = |name: &String| ToolCoverage { name: name.clone(), followed: false, lost: Vec::new() };
        self.tools.extend(missed.iter().map(unseen));
        self.tools.sort_by(|one, other| one.name.cmp(&other.name));
        self.handlers = self.tools.len();
        self.listed = Some(Listed { tools, missed, unlisted });
    }
}

impl std::ops::AddAssign for NotFollowed {
    fn add_assign(&mut self, other: Self) {
        self.unknown_libraries += other.unknown_libraries;
        self.unresolved_imports += other.unresolved_imports;
        self.unresolved_receivers += other.unresolved_receivers;
        self.unknown_functions += other.unknown_functions;
        self.alternatives += other.alternatives;
        self.not_inlined += other.not_inlined;
        self.budget += other.budget;
        self.other_programs += other.other_programs;
        self.unknown_requests += other.unknown_requests;
        self.unreached += other.unreached;
    }
}

impl Rating {
    /// The score, where there is one.
    #[must_use]
    pub const fn score(&self) -> Option<u8> {
        match self {
            Self::Score(score) => Some(*score),
            Self::NotGraded(_) => None,
        }
    }

    /// The score as a letter, where there is one.
    #[must_use]
    pub fn grade(&self) -> Option<Grade> {
        self.score().map(Grade::of)
    }

    /// Why there is none.
    #[must_use]
    pub fn not_graded(&self) -> Option<&str> {
        match self {
            Self::Score(_) => None,
            Self::NotGraded(why) => Some(why),
        }
    }
}

impl Grade {
    /// The letter of a score.
    #[must_use]
    pub const fn of(score: u8) -> Self {
        match score {
            90.. => Self::A,
            80.. => Self::B,
            70.. => Self::C,
            60.. => Self::D,
            _ => Self::F,
        }
    }
}

impl fmt::Display for Grade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::A => "A",
            Self::B => "B",
            Self::C => "C",
            Self::D => "D",
            Self::F => "F",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_that_the_server_lists_and_the_sources_do_not_show_is_named_and_not_followed() {
        let tool = |name: &str| ToolCoverage { name: name.into(), followed: true, lost: vec![] };
        let mut coverage =
            Coverage { handlers: 2, tools: vec![tool("add"), tool("old")], ..Coverage::default() };
        coverage.compare_with(&["add".into(), "Zap".into(), "add".into()]);
        let listed = coverage.listed.clone().unwrap();
        assert_eq!(listed, Listed { tools: 2, missed: vec!["Zap".into()], unlisted: vec!["old".into()] });
        let tools: Vec<(&str, bool)> =
            coverage.tools.iter().map(|tool| (tool.name.as_str(), tool.followed)).collect();
        assert_eq!(tools, [("Zap", false), ("add", true), ("old", true)]);
        assert_eq!((coverage.handlers, coverage.followed()), (3, 2));
    }

    #[test]
    fn grades_change_at_their_lowest_score() {
        let letters = [100, 90, 89, 80, 79, 70, 69, 60, 59, 0].map(|score| Grade::of(score).to_string());
        assert_eq!(letters.concat(), "AABBCCDDFF");
    }
}
