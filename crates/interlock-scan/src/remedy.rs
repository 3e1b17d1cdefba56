//! What is said against a hazard at a place that several tools come to, each in its own words.
//!
//! One rule of the guard has one list of keys, so tools that name the thing by different arguments need a rule each. Where one of them
//! does not say which of many it touches, or they touch different things, they all hold all of it: slow, and right.

use std::collections::{BTreeMap, BTreeSet};

use interlock_hazards::{Hazard, Issue};
use interlock_model::{KeyTemplate, Remedy, Site};

/// More different things than this are everything.
const MOST_KINDS: usize = 4;

/// A way to a place: through which tools, and what the guard can lock on it.
#[derive(Debug, Clone)]
pub(crate) struct Route {
    tools: Vec<String>,
    keys: Vec<KeyTemplate>,
}

impl Route {
    pub(crate) fn of(issue: &Issue) -> Self {
        Self { tools: issue.tools.iter().map(ToString::to_string).collect(), keys: issue.keys.clone() }
    }
}

/// Keys, in the order of their texts.
type Keys = BTreeMap<String, KeyTemplate>;

/// The remedy of a hazard for all ways to a place.
pub(crate) fn remedy(hazard: &Hazard, ways: &[Route]) -> Remedy {
    let mut tools: BTreeMap<&str, Keys> = BTreeMap::new();
    for way in ways {
        for tool in &way.tools {
            let keys = way.keys.iter().map(|key| (key.to_string(), key.clone()));
            tools.entry(tool).or_default().extend(keys);
        }
    }
    let mut sites: BTreeMap<Vec<&str>, Site> = BTreeMap::new();
    for (tool, keys) in &tools {
        let site = sites.entry(keys.keys().map(String::as_str).collect()).or_default();
        site.tools.push((*tool).to_owned());
        site.keys = keys.values().cloned().collect();
    }
    let mut sites: Vec<Site> = sites.into_values().collect();
    if sites.is_empty() {
        let keys = ways.first().map(|way| way.keys.clone()).unwrap_or_default();
        sites.push(Site { keys, ..Site::default() });
    } else if sites.len() > 1 && !are_one_of_the_same(&sites) {
        let of_all = tools.keys().map(|tool| (*tool).to_owned()).collect();
        sites = vec![Site { tools: of_all, readers: vec![], keys: kinds_of(&sites) }];
    }
    let mut remedies = sites.iter().map(|site| (hazard.remedy)(site));
    let first = remedies.next().unwrap_or_else(|| (hazard.remedy)(&Site::default()));
    remedies.fold(first, |mut all, one| {
        all.policy.extend(one.policy);
        all
    })
}

/// Whether every tool says which one it touches, of the same things.
fn are_one_of_the_same(sites: &[Site]) -> bool {
    fn kinds(site: &Site) -> BTreeSet<Option<&str>> {
        site.keys.iter().map(KeyTemplate::kind).collect()
    }
    let all: BTreeSet<BTreeSet<Option<&str>>> = sites.iter().map(kinds).collect();
    all.len() == 1
        && all.iter().flatten().all(Option::is_some)
        && sites.iter().all(|site| !site.keys.is_empty())
}

/// The keys of all that is touched; none where that is not known.
fn kinds_of(sites: &[Site]) -> Vec<KeyTemplate> {
    let kind = |key: &KeyTemplate| key.kind().map_or_else(|| key.to_string(), str::to_owned);
    let kinds: BTreeSet<String> = sites.iter().flat_map(|site| &site.keys).map(kind).collect();
    let is_known = kinds.len() <= MOST_KINDS
        && sites.iter().all(|site| !site.keys.is_empty())
        && !kinds.iter().any(|kind| kind.contains('{'));
    if is_known { kinds.iter().map(|kind| KeyTemplate::fixed(kind)).collect() } else { vec![] }
}
