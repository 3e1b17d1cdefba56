//! Changes to Python that need no person: a mode, a file beside the file, a `with`.
//!
//! As in TypeScript, a source is changed only where it is written in one of a few plain ways.

mod opened;
mod release;
mod suites;
#[cfg(test)]
mod tests;

use super::{depth, parse};
use crate::{Edit, Repair, Repaired, Request, Source};

/// What can be done about some requests in one file. An earlier request wins over a later one that would change the same text.
pub(super) fn repair(source: &Source<'_>, requests: &[Request]) -> Repaired {
    let text = source.text;
    if !reads(source) {
        return Repaired::default();
    }
    let parsed = parse::parse(text);
    let mut repaired = Repaired::default();
    let mut imports: Vec<&'static str> = vec![];
    for (index, request) in requests.iter().enumerate() {
        for span in &request.spans {
            let place = span.start;
            let change = match request.repair {
                Repair::CreateExclusively => {
                    opened::exclusive(text, parsed.body(), place).map(|edits| (edits, &[][..]))
                }
                Repair::ReplaceAtomically => {
                    opened::beside(text, parsed.body(), place).map(|edits| (edits, &["os", "uuid"][..]))
                }
                Repair::ReleaseAlways => {
                    release::change(text, parsed.body(), place).map(|edits| (edits, &[][..]))
                }
            };
            let Some((edits, needs)) = change else { continue };
            if repaired.edits.iter().any(|done| edits.iter().any(|edit| collide(done, edit))) {
                continue;
            }
            repaired.edits.extend(edits);
            imports.extend(needs);
            if repaired.done.last() != Some(&index) {
                repaired.done.push(index);
            }
        }
    }
    repaired.edits.extend(suites::imports(parsed.body(), &imports));
    repaired.edits.sort_by_key(|edit| (edit.start, edit.end));
    repaired
}

/// Whether a text is read without complaint.
pub(super) fn reads(source: &Source<'_>) -> bool {
    let (_, cuts) = depth::bounded(source.text);
    cuts.is_empty() && parse::parse(source.text).trouble().is_none()
}

/// Whether two changes touch the same text. Insertions at one place count: which comes first would be chance.
const fn collide(one: &Edit, other: &Edit) -> bool {
    one.start <= other.end && other.start <= one.end
}
