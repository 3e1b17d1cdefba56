//! Texts before and after. A text that is left alone is shown as such.

mod exclusive;
mod release;
mod replace;
mod together;

use expect_test::Expect;
use interlock_model::Span;

use super::{reads, repair};
use crate::{Repair, Request, Source};

/// Where some text stands, the first time.
fn at(text: &str, part: &str) -> Span {
    let start = text.find(part).unwrap_or_else(|| panic!("{part} is not in the text"));
    let [start, end] = [start, start + part.len()].map(|at| u32::try_from(at).unwrap());
    Span { start, end, ..Span::default() }
}

/// The text after the requests, and whether it changed. Whatever changed must read, and must not change again.
fn repaired(path: &str, text: &str, wanted: &[(Repair, &str)]) -> Option<String> {
    let requests = |text: &str| -> Vec<Request> {
        let known = wanted.iter().filter(|(_, part)| text.contains(part));
        known.map(|(repair, part)| Request { repair: *repair, spans: vec![at(text, part)] }).collect()
    };
    assert!(reads(&Source { path, text }), "the text does not read");
    let first = repair(&Source { path, text }, &requests(text));
    if first.done.is_empty() {
        assert_eq!(first.edits, []);
        return None;
    }
    let after = first.apply(text).unwrap();
    assert!(reads(&Source { path, text: &after }), "{after}");
    let second = repair(&Source { path, text: &after }, &requests(&after));
    assert_eq!(second.apply(&after).as_ref(), Some(&after), "a second repair changes more");
    Some(after)
}

fn check(repair: Repair, text: &str, part: &str, expect: Expect) {
    expect.assert_eq(&repaired("a.ts", text, &[(repair, part)]).unwrap_or_else(|| "left alone".into()));
}

fn left_alone(repair: Repair, text: &str, part: &str) {
    let after = repaired("a.ts", text, &[(repair, part)]);
    assert_eq!(after, None, "{text}");
}
