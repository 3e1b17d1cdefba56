//! How `call-after-close` is stopped.

use interlock_model::{Primitive, Remedy, Site};

use crate::{Example, policies};

/// The site of the page.
pub(super) const EXAMPLE: Example =
    Example { tools: &["forecast", "disconnect"], readers: &[], keys: &["weather"] };

pub(super) fn remedy(site: &Site) -> Remedy {
    Remedy {
        code: "Test the flag and count the call in under the lock under which close sets the flag, and \
               let close wait for the count."
            .into(),
        policy: vec![policies::exclusive(site)],
        primitive: Some(Primitive("gate")),
    }
}
