//! How `leak-on-partial-init` is stopped.

use interlock_model::{Primitive, Remedy, Site};

use crate::Example;

/// The site of the page.
pub(super) const EXAMPLE: Example = Example { tools: &["ping_upstreams"], readers: &[], keys: &[] };

pub(super) fn remedy(_site: &Site) -> Remedy {
    Remedy {
        code: "Register the close of each thing before the next one is opened.".into(),
        policy: vec![],
        primitive: Some(Primitive("gate")),
    }
}
