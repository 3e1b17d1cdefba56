//! Every page has the same form, so that a reader finds the same thing in the same place.
//!
//! Whether the vulnerable blocks are found and the safe ones left alone is for the scanner's tests to show; here the blocks are
//! held to the form that those tests rely on.

use interlock_hazards::{ALL, Face, Hazard, find};
use interlock_model::Primitive;
use interlock_testkit::page::{Page, Section};

const LANGUAGES: [(&str, &str); 4] =
    [("In TypeScript", "ts"), ("In Python", "python"), ("In Go", "go"), ("In Rust", "rust")];

fn for_every_page(check: impl Fn(&Hazard, &Page)) {
    for hazard in ALL {
        check(hazard, &Page::parse(hazard.page));
    }
}

fn section<'p>(page: &'p Page, title: &str) -> &'p Section {
    page.section(title).unwrap_or_else(|| panic!("`{}` has no section `{title}`", page.title))
}

#[test]
fn a_page_opens_with_the_title_and_the_summary() {
    for_every_page(|hazard, page| {
        assert_eq!(page.title, hazard.title, "{}", hazard.id);
        assert_eq!(page.summary, hazard.summary().replace('`', ""), "{}", hazard.id);
        assert!(hazard.summary().ends_with('.'), "{}", hazard.id);
    });
}

#[test]
fn a_page_has_the_sections_in_the_order_that_readers_know() {
    for_every_page(|hazard, page| {
        let titles: Vec<&str> = page.sections.iter().map(|section| section.title.as_str()).collect();
        let languages = LANGUAGES.iter().map(|(title, _)| *title).filter(|title| titles.contains(title));
        let before = ["What goes wrong", "How an agent hits it"];
        let after = ["How scan finds it", "How prove shows it", "How to stop it"];
        let expected: Vec<&str> = before.into_iter().chain(languages).chain(after).collect();
        assert_eq!(titles, expected, "{}", hazard.id);
        assert!(titles.iter().any(|title| title.starts_with("In ")), "{} shows no code", hazard.id);
        for section in &page.sections {
            assert!(!section.prose.trim().is_empty(), "{}: `{}` says nothing", hazard.id, section.title);
        }
    });
}

#[test]
fn a_language_shows_a_vulnerable_file_with_its_line_marked_and_a_safe_one_without() {
    for_every_page(|hazard, page| {
        for (title, tag) in LANGUAGES {
            let Some(section) = page.section(title) else { continue };
            let [vulnerable, safe] = &section.blocks[..] else {
                panic!(
                    "{}: `{title}` has {} blocks, not a vulnerable and a safe one",
                    hazard.id,
                    section.blocks.len()
                )
            };
            assert_eq!((vulnerable.tag.as_str(), safe.tag.as_str()), (tag, tag), "{}", hazard.id);
            let own = vulnerable.marks.iter().any(|mark| mark.hazard == hazard.id.as_str());
            assert!(own, "{}: `{title}` marks no line", hazard.id);
            assert_eq!(safe.marks, [], "{}: `{title}` marks a line of the safe file", hazard.id);
            for mark in &vulnerable.marks {
                assert!(find(&mark.hazard).is_some(), "{}: there is no hazard `{}`", hazard.id, mark.hazard);
            }
        }
    });
}

#[test]
fn a_page_shows_the_policy_that_the_remedy_makes() {
    for_every_page(|hazard, page| {
        let blocks = &section(page, "How to stop it").blocks;
        let shown: Vec<&str> =
            blocks.iter().filter(|block| block.tag == "toml").map(|block| &*block.code).collect();
        let rules =
            hazard.example_remedy().policy.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
        assert_eq!(shown.concat(), rules, "{}", hazard.id);
    });
}

#[test]
fn a_page_names_the_primitive_that_the_remedy_names() {
    for_every_page(|hazard, page| {
        let primitive = hazard.example_remedy().primitive;
        assert_eq!(primitive.is_some(), hazard.faces.contains(&Face::Sync), "{}", hazard.id);
        let Some(Primitive(name)) = primitive else { return };
        let prose = &section(page, "How to stop it").prose;
        assert!(prose.contains(name), "{} does not mention the {name}", hazard.id);
    });
}

#[test]
fn a_page_says_so_where_prove_cannot_show_the_hazard() {
    for_every_page(|hazard, page| {
        let prose = section(page, "How prove shows it").prose.to_lowercase();
        let cannot = prose.starts_with("it cannot.") || prose.starts_with("prove cannot show this one");
        let face = hazard.faces.contains(&Face::Prove);
        let id = &hazard.id;
        assert!(
            cannot != face,
            "{id}: `mod.rs` says prove covers it: {face}; the page says prove cannot: {cannot}"
        );
    });
}

#[test]
fn nothing_is_left_of_the_scaffold() {
    for_every_page(|hazard, _| {
        for text in [hazard.page, hazard.title, &hazard.example_remedy().code] {
            assert!(!text.contains("(write here)"), "{} is not written yet", hazard.id);
        }
    });
}
