//! How `unprotected-multi-step` is stopped.

use interlock_model::{Primitive, Remedy, Site};

use crate::{Example, policies};

/// The site of the page.
pub(super) const EXAMPLE: Example =
    Example { tools: &["transfer_credits"], readers: &[], keys: &["wallet:{args.from}", "wallet:{args.to}"] };

pub(super) fn remedy(site: &Site) -> Remedy {
    Remedy {
        code: "Make all the changes in one transaction on one connection, or in one statement.".into(),
        policy: vec![policies::exclusive_change(site)],
        primitive: Some(Primitive("versioned record")),
    }
}
