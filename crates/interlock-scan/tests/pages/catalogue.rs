//! The hazards that have a rule, with the examples of their pages and their cases.

use std::{fs, path::PathBuf};

use interlock_hazards::{ALL, Hazard};
use interlock_scan::Engine;
use interlock_testkit::cases::Cases;

/// The sections of a page whose examples can be scanned, by the endings of their language.
pub(crate) const LANGUAGES: &[(&str, &[&str])] =
    &[("In TypeScript", &["ts", "js", "tsx", "jsx", "mts", "mjs", "cts", "cjs"])];

/// The hazards that are judged.
pub(crate) fn hazards() -> impl Iterator<Item = &'static Hazard> {
    ALL.iter().filter(|hazard| hazard.rule.is_some())
}

/// The cases of every hazard that has some and a rule to judge by them.
pub(crate) fn pages() -> impl Iterator<Item = (&'static Hazard, Cases)> {
    hazards().filter_map(|hazard| Some((hazard, cases_of(hazard)?)))
}

/// The cases of one hazard.
pub(crate) fn cases_of(hazard: &Hazard) -> Option<Cases> {
    let folder =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../interlock-hazards/src").join(hazard.id.module());
    fs::read_to_string(folder.join("cases.md")).ok().map(|text| Cases::parse(&text))
}

/// An engine of all languages.
pub(crate) fn engine() -> Engine<'static> {
    Engine::new(interlock_lang::ALL, None, None).expect("what is known of libraries is well-formed")
}
