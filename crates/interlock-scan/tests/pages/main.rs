//! The pages are the tests: every example of a hazard's `doc.md` and every case of its `cases.md` is scanned, and exactly the marked
//! lines must be reported.
//!
//! `CASE=words cargo test -p interlock-scan --test pages` runs only the cases whose name or hazard contains the words.

mod compiled;
mod judge;
mod trees;

use std::{fs, path::PathBuf};

use interlock_hazards::{ALL, Hazard};
use interlock_scan::Engine;
use interlock_testkit::{
    cases::{Case, Cases, File},
    page::Page,
};

use self::judge::Bench;

/// The sections of a page whose examples can be scanned, by the endings of their language.
const LANGUAGES: &[(&str, &[&str])] =
    &[("In TypeScript", &["ts", "js", "tsx", "jsx", "mts", "mjs", "cts", "cjs"])];

/// How many cases of each kind a hazard with a rule must have in each language.
const ENOUGH: usize = 8;

#[test]
fn the_examples_of_the_pages_are_reported_at_the_marked_lines_and_nowhere_else() {
    let mut bench = Bench::new();
    for hazard in ALL.iter().filter(|hazard| hazard.rule.is_some()) {
        let page = Page::parse(hazard.page);
        for (section, _) in LANGUAGES {
            let blocks = page.section(section).map(|section| section.blocks.as_slice()).unwrap_or_default();
            for (block, name) in blocks.iter().zip(["the vulnerable example", "the safe example"]) {
                let case = Case {
                    name: format!("{section}, {name}"),
                    reports: !block.marks.is_empty(),
                    also: Vec::new(),
                    files: vec![File::from_block(&block.tag, &block.code)],
                };
                bench.try_case(hazard, &case);
            }
        }
    }
    bench.finish();
}

#[test]
fn the_cases_are_reported_at_the_marked_lines_and_nowhere_else() {
    let mut bench = Bench::new();
    for (hazard, cases) in pages() {
        for case in &cases.cases {
            bench.try_case(hazard, case);
        }
    }
    bench.finish();
}

#[test]
fn a_page_of_cases_has_the_form_that_makes_it_a_test() {
    let mut mistakes = Vec::new();
    for (hazard, cases) in pages() {
        mistakes.extend(cases.mistakes.iter().map(|mistake| format!("{}: {mistake}", hazard.id)));
        for case in &cases.cases {
            let name = &case.name;
            let marks: Vec<&str> =
                case.files.iter().flat_map(|file| &file.marks).map(|mark| &*mark.hazard).collect();
            let own = marks.contains(&hazard.id.as_str());
            if own != case.reports {
                let marks = if own { "marks" } else { "does not mark" };
                mistakes.push(format!("{}: `{name}` {marks} a line of its hazard", hazard.id));
            }
            let names = marks.into_iter().chain(case.also.iter().map(String::as_str));
            for unknown in names.filter(|name| interlock_hazards::find(name).is_none()) {
                mistakes.push(format!("{}: `{name}`: there is no hazard `{unknown}`", hazard.id));
            }
        }
    }
    assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
}

#[test]
fn every_hazard_with_a_rule_has_enough_cases_of_both_kinds() {
    let mut missing = Vec::new();
    for hazard in ALL.iter().filter(|hazard| hazard.rule.is_some()) {
        let page = Page::parse(hazard.page);
        let cases = cases_of(hazard).unwrap_or_default();
        for (section, endings) in LANGUAGES.iter().filter(|(section, _)| page.section(section).is_some()) {
            let (report, silent) = cases.count(endings);
            if report < ENOUGH || silent < ENOUGH {
                missing.push(format!(
                    "{}, {section}: {report} must report, {silent} must stay silent",
                    hazard.id
                ));
            }
        }
    }
    assert!(missing.is_empty(), "fewer than {ENOUGH} of each:\n{}", missing.join("\n"));
}

/// The cases of every hazard that has some and a rule to judge by them.
fn pages() -> impl Iterator<Item = (&'static Hazard, Cases)> {
    ALL.iter().filter(|hazard| hazard.rule.is_some()).filter_map(|hazard| Some((hazard, cases_of(hazard)?)))
}

fn cases_of(hazard: &Hazard) -> Option<Cases> {
    let folder =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../interlock-hazards/src").join(hazard.id.module());
    fs::read_to_string(folder.join("cases.md")).ok().map(|text| Cases::parse(&text))
}

fn engine() -> Engine<'static> {
    Engine::new(interlock_lang::ALL, None, None).expect("what is known of libraries is well-formed")
}
