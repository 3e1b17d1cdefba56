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

/// An address without what is asked there: `/labels` of `/labels?page=2`.
pub(crate) fn without_question(address: Term) -> Term {
    let parts = match address {
        Term::Join(parts) => parts,
        other => vec![other],
    };
    let mut plain = vec![];
    for part in parts {
        match &part {
            Term::Literal(text) => match text.split_once('?') {
                Some(("", _)) => break,
                Some((path, _)) => {
                    plain.push(Term::Literal(path.into()));
                    break;
                }
                None => plain.push(part),
            },
            _ => plain.push(part),
        }
    }
    if plain.len() == 1 { plain.swap_remove(0) } else { Term::Join(plain) }
}
