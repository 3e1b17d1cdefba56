//! How `auth-check-then-act` is stopped.

use interlock_model::{Primitive, Remedy, Site};

use crate::{Example, policies};

/// The site of the page.
pub(super) const EXAMPLE: Example =
    Example { tools: &["delete_file", "hand_over_file"], readers: &[], keys: &["file:{args.id}"] };

pub(super) fn remedy(site: &Site) -> Remedy {
    Remedy {
        code: "Name the owner or the permission in the condition of the statement that acts, and take a \
               row count of zero as a refusal."
            .into(),
        policy: vec![policies::exclusive_change(site)],
        primitive: Some(Primitive("versioned record")),
    }
}
