//! Requests to a service, as the rules about remote records compare them.

use interlock_model::ir::{AccessPath, Change, Field, Name, Op, Root, Term, Value};

use crate::{
    fields::is_version,
    lexicon::Topic,
    view::{At, Entry, Kinds},
};

/// The address that a request is sent to, if it is known.
pub(crate) fn address<'e>(entry: &Entry<'e>, at: At) -> Option<&'e Term> {
    match entry.op(at) {
        Some(Op::External { service, .. }) if *service != Term::Unknown => Some(service),
        _ => None,
    }
}

/// The address of a request as a message names it: the parts that it was put together from, not the variable `url` of the helper that sends it.
pub(crate) fn called(entry: &Entry<'_>, at: At) -> String {
    address(entry, at).map(|address| entry.quoted(&entry.alias().resolve(address))).unwrap_or_default()
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

/// Whether a request is known to say which one it is, or which state it was made of. In options that were put together elsewhere it is only looked for:
/// `options.headers.If-Match`.
pub(crate) fn is_given(said: &Term) -> bool {
    let Term::Path(AccessPath { fields, .. }) = said else { return true };
    let [.., _, Field::Name(last)] = fields.as_slice() else { return true };
    let last = last.to_ascii_lowercase();
    !last.contains("idempotency") && last != "if-match"
}

/// Whether a request belongs to a helper whose call only asks: the helper's own request does not show its method, but the arguments of the call do.
pub(crate) fn only_asks(entry: &Entry<'_>, act: At, together_with: At) -> bool {
    let stands = entry.position(act, &[together_with]);
    let asks = |op: &Op| matches!(op, Op::External { change: Change::None, .. });
    entry.all(Kinds::EXTERNAL, asks).any(|ask| ask > together_with && entry.span(ask) == stands)
}

/// Whether a request is about a record that this call has made itself by an earlier one, in the list that its address goes on from: nobody else knows
/// of it yet.
pub(crate) fn is_of_own_making(entry: &Entry<'_>, read: At, act: At) -> bool {
    let Some(sent) = address(entry, act) else { return false };
    let written = |address: &Term| entry.text(&without_question(entry.alias().spell(address)));
    let (one, named) = (written(sent), entry.flow().values_in(sent));
    let is_its_list = |made: At| {
        let list = address(entry, made).map(written).unwrap_or_default();
        !list.is_empty() && one.strip_prefix(&*list).is_some_and(|rest| rest.starts_with('/'))
    };
    let names_it = |made: At| match entry.op(made) {
        Some(Op::External { change: Change::Unknown | Change::Effect, into: Some(into), .. }) => {
            let flow = entry.flow();
            let is_of =
                |value: &Value| flow.depends_on(*value, *into) || flow.sources(*value).contains(&made);
            named.iter().any(is_of)
        }
        _ => false,
    };
    entry.steps_of(Kinds::EXTERNAL).any(|made| made < read && names_it(made) && is_its_list(made))
}

/// Whether a request sends a version of the record along (a revision, an ETag): in its body, or anywhere in what the body is made of where the request
/// has a header for one.
pub(crate) fn is_versioned(entry: &Entry<'_>, from: &[Value], is_said: bool) -> bool {
    let is_one = |value: &Value| names_version(entry, *value);
    from.iter().any(is_one) || is_said && entry.flow().backward_slice(from).iter().any(is_one)
}

/// Whether a value is called a version of a record, or is a field that is.
pub(crate) fn names_version(entry: &Entry<'_>, value: Value) -> bool {
    let named = |name: &str| is_version(entry.lexicon(), name);
    named(entry.name_of(value)) || entry.alias().field_of(value).is_some_and(|name| named(&name))
}

/// Whether a request changes what another has asked for, by its address.
pub(crate) fn is_same_address(entry: &Entry<'_>, read: At, act: At) -> bool {
    let (Some(asked), Some(put)) = (address(entry, read), address(entry, act)) else { return false };
    let pattern = entry.alias().pattern(asked);
    // Two arguments in the same place are two addresses, which a pattern does not tell apart.
    let put = entry.alias().spell(put);
    pattern.fits(&pattern)
        && !pattern.is_open()
        && !is_bare(asked)
        && is_one_address(
            entry,
            &without_question(entry.alias().spell(asked)),
            &without_question(put.clone()),
        )
        && (is_put(entry, act) || names_one(&put))
}

/// Whether an address is only the name of a service, such as `google`: two requests with it may be about different records.
pub(crate) fn is_bare(address: &Term) -> bool {
    matches!(address, Term::Literal(text) if !text.contains(['/', '.']))
}

/// Whether two addresses are one, word by word. Which one it is may have been put into an object by one's own hand: `update({ id, name })`, and
/// `/pages/${page.id}` in there.
fn is_one_address(entry: &Entry<'_>, asked: &Term, put: &Term) -> bool {
    let (Term::Join(asked), Term::Join(put)) = (asked, put) else { return asked == put };
    let is_put_inside = |asked: &Term, put: &Term| {
        let Term::Path(AccessPath { root: Root::Value(whole), fields }) = put else { return false };
        let [Field::Name(field)] = fields.as_slice() else { return false };
        let is_it = |part: &Value| entry.alias().spell(&(*part).into()) == *asked;
        entry.lexicon().has(Topic::OwnId, field) && entry.flow().backward_slice(&[*whole]).iter().any(is_it)
    };
    asked.len() == put.len()
        && asked.iter().zip(put).all(|(asked, put)| asked == put || is_put_inside(asked, put))
}

/// Whether a request says by its method that it puts something in place.
pub(crate) fn is_put(entry: &Entry<'_>, act: At) -> bool {
    matches!(entry.op(act), Some(Op::External { change: Change::Settled, .. }))
}

/// Whether an address ends with which one of many it is, so that whatever is sent there changes that one: `/pages/7`. What is sent to `/pages`
/// is added.
pub(crate) fn names_one(address: &Term) -> bool {
    matches!(address, Term::Join(parts) if matches!(parts.last(), Some(Term::Path(_))))
}

/// The pieces of an address.
pub(crate) fn parts_of(address: Term) -> Vec<Term> {
    match address {
        Term::Join(parts) => parts,
        other => vec![other],
    }
}

/// Whether a member is which one it is, or of which kind, and no content.
pub(crate) fn stays(entry: &Entry<'_>, name: &Name) -> bool {
    entry.lexicon().has(Topic::OwnId, name) || entry.lexicon().has(Topic::KindOfThing, name)
}
