//! How `call-after-close` is stopped.

use interlock_model::{Primitive, Remedy, Site};

use crate::{Example, policies};

/// The site of the page.
pub(super) const EXAMPLE: Example =
    Example { tools: &["forecast", "disconnect"], readers: &[], keys: &["weather"] };

/// What helps where something is closed while other calls still find it.
pub(super) const TAKE_OUT_FIRST: &str = "Take it out of where other calls find it before it is closed, and let the close wait for those \
                                         that have it already.";

pub(super) fn remedy(site: &Site) -> Remedy {
    Remedy {
        code: "Test the flag and count the call in under the lock under which close sets the flag, and \
               let close wait for the count."
            .into(),
        policy: vec![policies::exclusive(site)],
        primitive: Some(Primitive("gate")),
    }
}
