//! How `duplicate-load` is stopped.

use std::time::Duration;

use interlock_model::{Primitive, Remedy, Site, ToolPolicy};

use crate::{Example, policies};

/// The site of the page.
pub(super) const EXAMPLE: Example = Example { tools: &["take_screenshot"], readers: &[], keys: &["browser"] };

pub(super) fn remedy(site: &Site) -> Remedy {
    Remedy {
        code: "Store the promise or task of the load before the first suspension, so that a second \
               caller waits for it."
            .into(),
        policy: vec![ToolPolicy { timeout: Some(Duration::from_secs(60)), ..policies::exclusive(site) }],
        primitive: Some(Primitive("single flight")),
    }
}
