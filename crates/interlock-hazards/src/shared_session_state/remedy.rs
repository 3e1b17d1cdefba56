//! How `shared-session-state` is stopped.

use interlock_model::{Primitive, Remedy, Site};

use crate::{Example, policies};

/// The site of the page.
pub(super) const EXAMPLE: Example = Example { tools: &["add_item"], readers: &[], keys: &["baskets"] };

pub(super) fn remedy(site: &Site) -> Remedy {
    Remedy {
        code: "Read and write the entry with no suspension in between, or hold one lock per session \
               over both."
            .into(),
        policy: vec![policies::exclusive_change(site)],
        primitive: Some(Primitive("session counter")),
    }
}
