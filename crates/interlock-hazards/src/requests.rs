//! Requests to a service, as the rules about remote records compare them.

use interlock_model::ir::{Op, Term};

use crate::view::{At, Entry};

/// The address that a request is sent to, if it is known.
pub(crate) fn address<'e>(entry: &Entry<'e>, at: At) -> Option<&'e Term> {
    match entry.op(at) {
        Some(Op::External { service, .. }) if *service != Term::Unknown => Some(service),
        _ => None,
    }
}
