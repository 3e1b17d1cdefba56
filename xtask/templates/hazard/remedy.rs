//! How `{id}` is stopped.

use interlock_model::{Remedy, Site};

use crate::Example;

/// The site of the page.
pub(super) const EXAMPLE: Example = Example { tools: &[], readers: &[], keys: &[] };

pub(super) fn remedy(_site: &Site) -> Remedy {
    Remedy { code: "(write here) How the code is written right.".into(), policy: vec![], primitive: None }
}
