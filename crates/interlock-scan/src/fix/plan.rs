//! From findings to changed texts.

use std::{collections::BTreeMap, thread};

use interlock_lang::{Frontend, Request, Source};
use interlock_model::HazardId;

use super::{Spot, spot::repair_of};

/// A file that can be changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// The file, relative to the scanned root.
    pub file: String,
    /// Its text as it was scanned.
    pub before: String,
    /// Its text with the changes. It reads without complaint.
    pub after: String,
    /// What the changes put an end to, one for each spot, in their order.
    pub hazards: Vec<HazardId>,
}

/// As much as the scan itself gives to a parser.
const STACK: usize = 128 << 20;

/// What can be changed. `sources` gives the text of a file as it was scanned; a file without one, or of no known language, stays.
///
/// The outcome does not depend on the order of the spots.
#[must_use]
pub fn plan(
    spots: &[Spot],
    sources: &(dyn Fn(&str) -> Option<String> + Sync),
    frontends: &[&dyn Frontend],
) -> Vec<Fix> {
    let mut by_file: BTreeMap<&str, Vec<&Spot>> = BTreeMap::new();
    for spot in spots {
        by_file.entry(&spot.file).or_default().push(spot);
    }
    let work = move || {
        let fix = |(file, spots): (&str, Vec<&Spot>)| fix(file, spots, sources(file)?, frontends);
        by_file.into_iter().filter_map(fix).collect()
    };
    thread::scope(|scope| {
        let worker = thread::Builder::new().name("fix".into()).stack_size(STACK).spawn_scoped(scope, work);
        // Without a thread, or with one that failed, nothing is changed.
        worker.ok().and_then(|worker| worker.join().ok()).unwrap_or_default()
    })
}

fn fix(file: &str, spots: Vec<&Spot>, before: String, frontends: &[&dyn Frontend]) -> Option<Fix> {
    let (_, ending) = file.rsplit_once('.')?;
    let frontend = frontends.iter().find(|frontend| frontend.extensions().contains(&ending))?;
    let mut wanted: Vec<(Request, &HazardId)> = spots
        .into_iter()
        .filter_map(|spot| {
            let request = Request { repair: repair_of(&spot.hazard)?, spans: spot.spans.clone() };
            Some((request, &spot.hazard))
        })
        .collect();
    // The smaller change wins where two want the same text, whatever the order of the findings.
    wanted.sort_by(|(one, _), (other, _)| (one.repair, &one.spans).cmp(&(other.repair, &other.spans)));
    wanted.dedup_by(|one, other| one.0 == other.0);
    let (requests, hazards): (Vec<Request>, Vec<&HazardId>) = wanted.into_iter().unzip();
    let repaired = frontend.repair(&Source { path: file, text: &before }, &requests);
    let after = repaired.apply(&before)?;
    let hazards: Vec<HazardId> = repaired
        .done
        .iter()
        .filter_map(|index| hazards.get(*index))
        .map(|hazard| (*hazard).clone())
        .collect();
    let good = !hazards.is_empty() && after != before && frontend.reads(&Source { path: file, text: &after });
    good.then(|| Fix { file: file.to_owned(), before, after, hazards })
}
