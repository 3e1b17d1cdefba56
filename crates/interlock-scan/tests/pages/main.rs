//! The pages are the tests: every example of a hazard's `doc.md` and every case of its `cases.md` is scanned, and exactly the marked
//! lines must be reported. What fails is shown with its IR.
//!
//! Each is a test of its own, found by the ordinary filter:
//! `cargo test -p interlock-scan --test pages lost_update::silent::`, or any other part of `HAZARD::page|reports|silent::NAME`.

mod catalogue;
mod judge;

use std::{process::ExitCode, sync::Arc};

use interlock_testkit::{
    cases::{Case, File},
    page::Page,
};
use libtest_mimic::{Arguments, Trial};

use self::{
    catalogue::{LANGUAGES, hazards, pages},
    judge::judge,
};

/// The sections of languages that have no cases of their own for every hazard yet.
const PAGES_ONLY: &[&str] = &["In Go", "In Python"];

/// The vulnerable examples that a scan does not report yet: section and hazard. One that is reported has to leave this list.
const NOT_YET: &[(&str, &str)] = &[];

fn main() -> ExitCode {
    let engine = Arc::new(catalogue::engine());
    let trial = |(name, case): (String, Case)| {
        let engine = Arc::clone(&engine);
        let not_yet = NOT_YET.iter().any(|(section, hazard)| {
            case.reports && case.name.starts_with(section) && name.starts_with(&format!("{hazard}::page::"))
        });
        Trial::test(name, move || match (judge(&engine, &case), not_yet) {
            (Ok(()), true) => Err("it is reported now: take it from the list of those that are not".into()),
            (Err(_), true) => Ok(()),
            (judged, false) => judged,
        })
    };
    libtest_mimic::run(&Arguments::from_args(), examples().chain(cases()).map(trial).collect()).exit_code()
}

/// The examples of the pages.
fn examples() -> impl Iterator<Item = (String, Case)> {
    hazards().flat_map(|hazard| {
        let page = Page::parse(hazard.page);
        let of_section = |section: &'static str| {
            let blocks = page.section(section).map(|section| section.blocks.as_slice()).unwrap_or_default();
            let named = blocks.iter().zip(["the vulnerable example", "the safe example"]);
            let examples = named.map(|(block, which)| Case {
                name: format!("{section}, {which}"),
                reports: !block.marks.is_empty(),
                also: Vec::new(),
                confidence: None,
                files: vec![File::from_block(&block.tag, &block.code)],
            });
            examples.collect::<Vec<_>>()
        };
        let sections = LANGUAGES.iter().map(|(section, _)| *section).chain(PAGES_ONLY.iter().copied());
        let examples: Vec<Case> = sections.flat_map(of_section).collect();
        examples
            .into_iter()
            .map(move |case| (format!("{}::page::{}", hazard.id.module(), case.test_name()), case))
    })
}

/// The cases beside them.
fn cases() -> impl Iterator<Item = (String, Case)> {
    pages().flat_map(|(hazard, cases)| {
        cases.cases.into_iter().map(move |case| {
            let kind = if case.reports { "reports" } else { "silent" };
            (format!("{}::{kind}::{}", hazard.id.module(), case.test_name()), case)
        })
    })
}
