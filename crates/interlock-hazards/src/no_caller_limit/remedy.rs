//! How `no-caller-limit` is stopped.

use std::{num::NonZeroU32, time::Duration};

use interlock_model::{Primitive, Remedy, Site, ToolPolicy};

use crate::{Example, policies};

/// The site of the page.
pub(super) const EXAMPLE: Example = Example { tools: &["count_matches"], readers: &[], keys: &[] };

pub(super) fn remedy(site: &Site) -> Remedy {
    Remedy {
        code: "Take a permit per verified caller before a tool runs, and give it back when the work has \
               ended."
            .into(),
        policy: vec![ToolPolicy {
            rate: Some(policies::SIXTY_A_MINUTE),
            in_flight: NonZeroU32::new(4),
            timeout: Some(Duration::from_secs(30)),
            ..policies::of_tools(site)
        }],
        primitive: Some(Primitive("in-flight limit")),
    }
}
