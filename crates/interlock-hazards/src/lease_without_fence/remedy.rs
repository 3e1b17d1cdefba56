//! How `lease-without-fence` is stopped.

use std::time::Duration;

use interlock_model::{Primitive, Remedy, Site, ToolPolicy};

use crate::{Example, policies};

/// The site of the page.
pub(super) const EXAMPLE: Example =
    Example { tools: &["summarise_case"], readers: &[], keys: &["case:{args.id}"] };

pub(super) fn remedy(site: &Site) -> Remedy {
    Remedy {
        code: "Let the write carry the fencing token of the lease, and let the place that takes the \
               write refuse an older one."
            .into(),
        policy: vec![ToolPolicy { timeout: Some(Duration::from_secs(90)), ..policies::exclusive(site) }],
        primitive: Some(Primitive("lease")),
    }
}
