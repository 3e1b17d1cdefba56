//! How `db-check-then-act` is stopped.

use interlock_model::{Primitive, Remedy, Site};

use crate::{Example, policies};

/// The site of the page.
pub(super) const EXAMPLE: Example =
    Example { tools: &["spend_credits"], readers: &[], keys: &["account:{args.account}"] };

pub(super) fn remedy(site: &Site) -> Remedy {
    Remedy {
        code: "Repeat the judgement in the statement that writes and test its row count, or lock the \
               row when it is read."
            .into(),
        policy: vec![policies::exclusive_change(site)],
        primitive: Some(Primitive("versioned record")),
    }
}
