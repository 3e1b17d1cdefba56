//! How `retry-storm` is stopped.

use std::{num::NonZeroU32, time::Duration};

use interlock_model::{Primitive, Remedy, Site, ToolPolicy};

use crate::{Example, policies};

/// The site of the page.
pub(super) const EXAMPLE: Example =
    Example { tools: &["edit_page"], readers: &[], keys: &["page:{args.id}"] };

pub(super) fn remedy(site: &Site) -> Remedy {
    Remedy {
        code: "Bound the tries, let the delay grow, and draw it at random between zero and that delay."
            .into(),
        policy: vec![ToolPolicy {
            in_flight: NonZeroU32::new(4),
            timeout: Some(Duration::from_secs(30)),
            ..policies::exclusive(site)
        }],
        primitive: Some(Primitive("retry policy")),
    }
}
