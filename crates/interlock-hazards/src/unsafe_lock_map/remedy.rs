//! How `unsafe-lock-map` is stopped.

use std::time::Duration;

use interlock_model::{Primitive, Remedy, Site, ToolPolicy};

use crate::{Example, policies};

/// The site of the page.
pub(super) const EXAMPLE: Example =
    Example { tools: &["read_sensors"], readers: &[], keys: &["bmc:{args.host}"] };

pub(super) fn remedy(site: &Site) -> Remedy {
    Remedy {
        code: "Remove an entry only when nobody holds it or waits for it, decided in the same step as \
               the removal."
            .into(),
        policy: vec![ToolPolicy { timeout: Some(Duration::from_secs(30)), ..policies::exclusive(site) }],
        primitive: Some(Primitive("keyed lock")),
    }
}
