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

fn main() -> ExitCode {
    let engine = Arc::new(catalogue::engine());
    let trial = |(name, case): (String, Case)| {
        let engine = Arc::clone(&engine);
        Trial::test(name, move || judge(&engine, &case))
    };
    libtest_mimic::run(&Arguments::from_args(), examples().chain(cases()).map(trial).collect()).exit_code()
}

/// The examples of the pages.
fn examples() -> impl Iterator<Item = (String, Case)> {
    hazards().flat_map(|hazard| {
        let page = Page::parse(hazard.page);
        let of_section = |(section, _): &(&str, _)| {
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
        let examples: Vec<Case> = LANGUAGES.iter().flat_map(of_section).collect();
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
