//! How `lost-update` is stopped.

use interlock_model::{Primitive, Remedy, Site};

use crate::{Example, policies};

/// The site of the page.
pub(super) const EXAMPLE: Example = Example { tools: &["add_note"], readers: &[], keys: &["notes"] };

pub(super) fn remedy(site: &Site) -> Remedy {
    Remedy {
        code: "Hold one lock from the read to the write, as wide as the state itself, or write only \
               over the version that was read."
            .into(),
        policy: vec![policies::exclusive_change(site)],
        primitive: Some(Primitive("versioned record")),
    }
}
