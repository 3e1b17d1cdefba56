//! The few shapes that most remedies share.

use std::num::NonZeroU32;

use interlock_model::{Per, Rate, Site, ToolPolicy};

/// A start for somebody who has not measured: more than a person needs, less than a runaway loop sends.
pub(crate) const SIXTY_A_MINUTE: Rate =
    Rate { count: NonZeroU32::new(60).expect("it is not zero"), per: Per::Minute };

/// A rule for the site's tools that says nothing yet.
pub(crate) fn of_tools(site: &Site) -> ToolPolicy {
    ToolPolicy { matches: site.tools.clone(), ..ToolPolicy::default() }
}

/// One of the site's tools at a time.
pub(crate) fn exclusive(site: &Site) -> ToolPolicy {
    ToolPolicy { lock: Some(site.keys.clone()), ..of_tools(site) }
}

/// One at a time, and whoever has read the state before is known to be out of date afterwards.
pub(crate) fn exclusive_change(site: &Site) -> ToolPolicy {
    ToolPolicy { changes: Some(site.keys.clone()), ..exclusive(site) }
}

/// A rule for the tools that read the state, so that the guard knows what each reader has seen.
pub(crate) fn observing(site: &Site) -> ToolPolicy {
    ToolPolicy { matches: site.readers.clone(), observes: Some(site.keys.clone()), ..ToolPolicy::default() }
}
