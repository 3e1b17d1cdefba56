//! The few shapes that most remedies share.

use std::num::NonZeroU32;

use interlock_model::{KeyTemplate, Per, Rate, Site, ToolPolicy};

/// A start for somebody who has not measured: more than a person needs, less than a runaway loop sends.
pub(crate) const SIXTY_A_MINUTE: Rate =
    Rate { count: NonZeroU32::new(60).expect("it is not zero"), per: Per::Minute };

/// A rule for the site's tools that says nothing yet. Where the tools are not known it is a rule for all, because a rule that matches
/// none would look like protection.
pub(crate) fn of_tools(site: &Site) -> ToolPolicy {
    let matches = if site.tools.is_empty() { vec!["*".into()] } else { site.tools.clone() };
    ToolPolicy { matches, ..ToolPolicy::default() }
}

/// The site's keys. Where the state is not known it is one key for everything: slow, and right. An empty list would take back what
/// earlier rules lock.
pub(crate) fn keys(site: &Site) -> Vec<KeyTemplate> {
    if site.keys.is_empty() { vec![KeyTemplate::fixed("everything")] } else { site.keys.clone() }
}

/// One of the site's tools at a time.
pub(crate) fn exclusive(site: &Site) -> ToolPolicy {
    ToolPolicy { lock: Some(keys(site)), ..of_tools(site) }
}

/// One at a time, and whoever has read the state before is known to be out of date afterwards.
pub(crate) fn exclusive_change(site: &Site) -> ToolPolicy {
    ToolPolicy { changes: Some(keys(site)), ..exclusive(site) }
}

/// A rule for the tools that read the state, if any are known, so that the guard knows what each reader has seen.
pub(crate) fn observing(site: &Site) -> Option<ToolPolicy> {
    let matches = site.readers.clone();
    (!matches.is_empty()).then(|| ToolPolicy { matches, observes: Some(keys(site)), ..ToolPolicy::default() })
}
