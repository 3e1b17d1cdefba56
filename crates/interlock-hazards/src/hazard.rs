//! What every hazard says of itself, and how one is found by name.

use std::fmt;

use interlock_model::{CallSet, HazardId, Remedy, Severity, Site, Surface};

use crate::{ALL, Issue, view::View};

/// One way in which concurrent calls go wrong.
#[derive(Debug)]
pub struct Hazard {
    /// Its name everywhere.
    pub id: HazardId,
    /// The danger in one line; the heading of its page.
    pub title: &'static str,
    /// How bad it is at its worst.
    pub severity: Severity,
    /// What the first finding takes off the score.
    pub deduction: u8,
    /// Whether it only says that a server could bear more: no call loses anything by it, and one line for each server is enough.
    pub hardening: bool,
    /// Its entries in the Common Weakness Enumeration, the closest first.
    pub cwe: &'static [u16],
    /// Who deals with it.
    pub faces: &'static [Face],
    /// Its page, in Markdown.
    pub page: &'static str,
    /// What stops it at a site.
    pub remedy: fn(&Site) -> Remedy,
    /// The site that its page speaks of.
    pub example: Example,
    /// What finds it in a program; `None` where scan does not look for it yet.
    pub rule: Option<Rule>,
    /// What makes it happen on a live server; `None` where calls cannot show it.
    pub probe: Option<Probe>,
}

/// Finds the places where a hazard stands.
pub type Rule = fn(&View<'_>) -> Vec<Issue>;

/// Picks the calls that should meet, the most promising first.
pub type Probe = fn(&Surface) -> Vec<CallSet>;

/// The sides from which Interlock looks at a hazard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Face {
    /// Static analysis finds it.
    Scan,
    /// Calls on the live server show it.
    Prove,
    /// The gateway stops it.
    Guard,
    /// The library avoids it.
    Sync,
}

/// A [`Site`] that can stand in a constant.
#[derive(Debug, Clone, Copy)]
pub struct Example {
    /// The tools that change the state.
    pub tools: &'static [&'static str],
    /// The tools that only read it.
    pub readers: &'static [&'static str],
    /// The state, as key templates.
    pub keys: &'static [&'static str],
}

/// The hazard of this exact name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Hazard> {
    ALL.iter().find(|hazard| hazard.id.as_str() == name)
}

/// The hazard that is nearest by a distance between names that the caller brings.
#[must_use]
pub fn nearest<D: PartialOrd>(distance: impl Fn(&str) -> D) -> Option<&'static Hazard> {
    let mut ranked: Vec<_> = ALL.iter().map(|hazard| (distance(hazard.id.as_str()), hazard)).collect();
    ranked.sort_by(|(one, _), (other, _)| one.partial_cmp(other).unwrap_or(std::cmp::Ordering::Equal));
    ranked.first().map(|(_, hazard)| *hazard)
}

impl Hazard {
    /// What goes wrong, in a sentence: the first paragraph of the page.
    #[must_use]
    pub fn summary(&self) -> String {
        let paragraph =
            self.page.lines().skip(1).skip_while(|line| line.is_empty()).take_while(|line| !line.is_empty());
        paragraph.collect::<Vec<_>>().join(" ")
    }

    /// What stops it at the site that the page speaks of.
    #[must_use]
    pub fn example_remedy(&self) -> Remedy {
        (self.remedy)(&self.example.site())
    }
}

impl Example {
    fn site(&self) -> Site {
        let owned = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        Site {
            tools: owned(self.tools),
            readers: owned(self.readers),
            // A key that is no template would be missing here, and the page's test would say so.
            keys: self.keys.iter().filter_map(|key| key.parse().ok()).collect(),
        }
    }
}

impl fmt::Display for Face {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Scan => "scan",
            Self::Prove => "prove",
            Self::Guard => "guard",
            Self::Sync => "sync",
        })
    }
}
