//! How `unversioned-record` is stopped.

use interlock_model::{Primitive, Remedy, Site, ToolPolicy};

use crate::{Example, policies};

/// The site of the page.
pub(super) const EXAMPLE: Example =
    Example { tools: &["save_article"], readers: &["get_article"], keys: &["article:{args.id}"] };

pub(super) fn remedy(site: &Site) -> Remedy {
    Remedy {
        code: "Give the record a version, hand it out with every read, and write only over the version \
               that the caller names."
            .into(),
        policy: policies::observing(site)
            .into_iter()
            .chain([ToolPolicy {
                requires_fresh: Some(policies::keys(site)),
                ..policies::exclusive_change(site)
            }])
            .collect(),
        primitive: Some(Primitive("versioned record")),
    }
}
