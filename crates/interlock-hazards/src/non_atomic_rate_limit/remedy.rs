//! How `non-atomic-rate-limit` is stopped.

use interlock_model::{Primitive, Remedy, Site, ToolPolicy};

use crate::{Example, policies};

/// The site of the page.
pub(super) const EXAMPLE: Example = Example { tools: &["define_word"], readers: &[], keys: &[] };

pub(super) fn remedy(site: &Site) -> Remedy {
    Remedy {
        code: "Count, compare and set the expiry in one step of the store, such as one Lua script.".into(),
        policy: vec![ToolPolicy { rate: Some(policies::SIXTY_A_MINUTE), ..policies::of_tools(site) }],
        primitive: Some(Primitive("rate limit")),
    }
}
