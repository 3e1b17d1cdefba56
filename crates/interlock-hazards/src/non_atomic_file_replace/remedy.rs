//! How `non-atomic-file-replace` is stopped.

use interlock_model::{Primitive, Remedy, Site};

use crate::{Example, policies};

/// The site of the page.
pub(super) const EXAMPLE: Example =
    Example { tools: &["save_draft", "read_draft"], readers: &[], keys: &["draft:{args.id}"] };

pub(super) fn remedy(site: &Site) -> Remedy {
    Remedy {
        code: "Write to a random name in the same directory, sync it, and rename it over the file.".into(),
        policy: vec![policies::exclusive(site)],
        primitive: Some(Primitive("files under a root")),
    }
}
