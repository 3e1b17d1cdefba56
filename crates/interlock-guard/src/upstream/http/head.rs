//! Headers that repeat what is in the body, which the revision of 2026-07-28 asks for.

use base64::{Engine, prelude::BASE64_STANDARD};
use http::{HeaderMap, HeaderValue};

use crate::{headers, session::revision, traceparent, upstream::parcel::Parcel};

/// Those of a request, in place of what its conversation agreed on otherwise: which trace it belongs to, and if it states its revision, what
/// that wants to be repeated.
pub(super) fn repeated(parcel: &Parcel, agreed: Option<&HeaderValue>) -> HeaderMap {
    let (mut headers, message) = (HeaderMap::new(), &parcel.message);
    for (name, value) in parcel.headers.iter() {
        if !parcel.is_bridged || [traceparent::HEADER, traceparent::STATE_HEADER].contains(&name.as_str()) {
            headers.insert(name.clone(), value.clone());
        }
    }
    if let Some(ours) = parcel.traceparent
        && let Ok(value) = HeaderValue::from_str(&ours.to_string())
    {
        headers.insert(traceparent::HEADER, value);
    }
    if parcel.is_bridged {
        return headers;
    }
    if let Some(version) = message.stated_version()
        && let Ok(value) = HeaderValue::from_str(&version)
    {
        headers.insert(headers::VERSION.clone(), value);
    } else if !parcel.meta.is_empty() {
        headers.insert(headers::VERSION.clone(), HeaderValue::from_static(revision::STATELESS));
    }
    let version = headers.get(&headers::VERSION).or(agreed);
    if !version.is_some_and(|version| revision::is_stateless(version.as_bytes())) {
        return headers;
    }
    let method = message.method();
    if let Ok(value) = HeaderValue::from_str(&method) {
        headers.insert(headers::METHOD.clone(), value);
    }
    let name = match revision::named_by(&method) {
        Some(revision::Named::Name) => parcel.name.as_deref().map(Into::into).or_else(|| message.name()),
        Some(revision::Named::Uri) => message.parts().uri.and_then(|span| message.text(span)),
        Some(revision::Named::Task) => message.parts().task_id.and_then(|span| message.text(span)),
        None => None,
    };
    if let Some(name) = name
        && let Ok(value) = HeaderValue::from_str(&encoded(&name))
    {
        headers.insert(headers::NAME.clone(), value);
    }
    headers
}

const OPEN: &str = "=?base64?";
const CLOSE: &str = "?=";

/// A text as a header can carry it.
fn encoded(text: &str) -> String {
    let is_sentinel = text.starts_with(OPEN) && text.ends_with(CLOSE);
    let is_padded = text.starts_with(' ') || text.ends_with(' ');
    let is_plain = !is_sentinel && !is_padded && text.bytes().all(|byte| matches!(byte, 0x20..=0x7e));
    if is_plain { text.to_owned() } else { format!("{OPEN}{}{CLOSE}", BASE64_STANDARD.encode(text)) }
}

/// What a header says. `None` if it is encoded and cannot be decoded.
pub(crate) fn decoded(value: &HeaderValue) -> Option<String> {
    let text = value.to_str().ok()?;
    match text.strip_prefix(OPEN).and_then(|rest| rest.strip_suffix(CLOSE)) {
        Some(inner) => String::from_utf8(BASE64_STANDARD.decode(inner).ok()?).ok(),
        None => Some(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_comes_back_from_its_header() {
        for name in ["plain", "with space", " padded ", "größe", "=?base64?literal?=", "line\nbreak", ""] {
            let header = HeaderValue::from_str(&encoded(name)).unwrap();
            assert_eq!(decoded(&header).as_deref(), Some(name));
        }
        assert_eq!(decoded(&HeaderValue::from_static("=?base64?***?=")), None);
    }
}
