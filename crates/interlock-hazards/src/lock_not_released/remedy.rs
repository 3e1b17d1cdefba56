//! How `lock-not-released` is stopped.

use interlock_model::{Primitive, Remedy, Site};

use crate::Example;

/// The site of the page.
pub(super) const EXAMPLE: Example = Example { tools: &["job_status"], readers: &[], keys: &[] };

pub(super) fn remedy(_site: &Site) -> Remedy {
    Remedy {
        code: "Release in `finally`, `defer` or a guard that is dropped, so that every way out goes \
               past it."
            .into(),
        policy: vec![],
        primitive: Some(Primitive("keyed lock")),
    }
}
