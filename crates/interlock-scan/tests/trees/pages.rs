//! What a page must be so that its examples and cases mean something.

use interlock_testkit::page::Page;

use crate::catalogue::{LANGUAGES, cases_of, hazards, pages};

/// How many cases of each kind a hazard with a rule must have in each language.
const ENOUGH: usize = 8;

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
    for hazard in hazards() {
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
