//! Changes to TypeScript and JavaScript that need no person: a flag, a temporary file, a `finally`.
//!
//! The text is parsed again and changed only where it is written in one of a few plain ways. Everything else is left alone: a
//! change that is not made costs a reader a minute, a wrong one costs more.

mod bindings;
mod exclusive;
mod expression;
mod file;
mod layout;
mod release;
mod replace;
mod search;
#[cfg(test)]
mod tests;

use oxc_allocator::Allocator;

use self::{bindings::Additions, file::File};
use super::{
    depth,
    parse::{Parsed, parse},
};
use crate::{Edit, Repair, Repaired, Request, Source};

/// What can be done about some requests in one file. An earlier request wins over a later one that would change the same text.
#[must_use]
pub fn repair(source: &Source<'_>, requests: &[Request]) -> Repaired {
    let allocator = Allocator::default();
    let Some(parsed) = whole(&allocator, source) else { return Repaired::default() };
    let file = File::new(source.text, &parsed.program);
    let mut additions = Additions::default();
    let mut repaired = Repaired::default();
    for (index, request) in requests.iter().enumerate() {
        for found in search::calls(file.program, &request.spans) {
            // What a change needs is wanted only if the change is made.
            let mut wanted = additions.clone();
            let change = match request.repair {
                Repair::CreateExclusively => exclusive::change(&file, &found),
                Repair::ReplaceAtomically => replace::change(&file, &found, &mut wanted),
                Repair::ReleaseAlways => release::change(&file, &found),
            };
            let Some(edits) = change else { continue };
            if repaired.edits.iter().any(|done| edits.iter().any(|edit| collide(done, edit))) {
                continue;
            }
            repaired.edits.extend(edits);
            additions = wanted;
            if repaired.done.last() != Some(&index) {
                repaired.done.push(index);
            }
        }
    }
    if !repaired.edits.is_empty() {
        repaired.edits.extend(additions.edits(&file));
    }
    repaired.edits.sort_by_key(|edit| (edit.start, edit.end));
    repaired
}

/// Whether a text is read without complaint.
#[must_use]
pub fn reads(source: &Source<'_>) -> bool {
    let allocator = Allocator::default();
    whole(&allocator, source).is_some()
}

/// The syntax tree of a text, if all of it can be read. What the scan had to cut out would end the process here.
fn whole<'a>(allocator: &'a Allocator, source: &Source<'a>) -> Option<Parsed<'a>> {
    if !depth::measure(source.text).cuts.is_empty() {
        return None;
    }
    let parsed = parse(allocator, source.path, source.text);
    (parsed.usable && parsed.trouble.is_none()).then_some(parsed)
}

/// Whether two changes touch the same text. Insertions at one place count: which comes first would be chance.
fn collide(one: &Edit, other: &Edit) -> bool {
    one.start <= other.end && other.start <= one.end
}
