//! How `interleaved-output` is stopped.

use interlock_model::{Primitive, Remedy, Site};

use crate::{Example, policies};

/// The site of the page.
pub(super) const EXAMPLE: Example = Example { tools: &["index_file"], readers: &[], keys: &["indexer"] };

pub(super) fn remedy(site: &Site) -> Remedy {
    Remedy {
        code: "Hold one lock over the whole frame, or let one task own the stream and take frames from \
               a queue."
            .into(),
        policy: vec![policies::exclusive(site)],
        primitive: Some(Primitive("keyed lock")),
    }
}
