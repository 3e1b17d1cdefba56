//! How `stale-read-across-await` is stopped.

use interlock_model::{Primitive, Remedy, Site};

use crate::{Example, policies};

/// The site of the page.
pub(super) const EXAMPLE: Example = Example { tools: &["add_leg"], readers: &[], keys: &["route"] };

pub(super) fn remedy(site: &Site) -> Remedy {
    Remedy {
        code: "Read the state again after the suspension, or hold one lock from the read to its last \
               use."
            .into(),
        policy: vec![policies::exclusive_change(site)],
        primitive: Some(Primitive("versioned record")),
    }
}
