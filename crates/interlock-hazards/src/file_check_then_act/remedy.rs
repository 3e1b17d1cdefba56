//! How `file-check-then-act` is stopped.

use interlock_model::{Primitive, Remedy, Site};

use crate::{Example, policies};

/// The site of the page.
pub(super) const EXAMPLE: Example =
    Example { tools: &["create_report"], readers: &[], keys: &["report:{args.name}"] };

pub(super) fn remedy(site: &Site) -> Remedy {
    Remedy {
        code: "Leave the test out and let the act decide: what is created is created with an exclusive flag, what is read or checked is \
               opened first and checked by its handle, and that a file is gone already is no failure of a removal."
            .into(),
        policy: vec![policies::exclusive_change(site)],
        primitive: Some(Primitive("files under a root")),
    }
}
