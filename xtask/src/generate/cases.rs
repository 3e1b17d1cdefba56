//! The page that says which hazards are told in which language, by the cases that hold it to that.

use std::fmt::Write as _;

use anyhow::{Context, Result};

use super::registry::HAZARDS;
use crate::root::Root;

/// A language: what it is called, what its code is marked with in the cases, and how the section on a hazard's page begins.
const LANGUAGES: [(&str, &[&str], &str); 3] = [
    ("TypeScript, JavaScript", &["ts", "tsx", "js", "mjs"], "In TypeScript"),
    ("Python", &["py"], "In Python"),
    ("Go", &["go"], "In Go"),
];

/// From how many on they are not counted any further, so that the page does not change with every case.
const ENOUGH: usize = 6;

/// Where the examples are listed that are not found yet.
const NOT_YET: &str = "crates/interlock-scan/tests/pages/main.rs";

/// What is told in which language.
pub(super) fn by_language(root: &Root) -> Result<String> {
    let not_yet = root.read(NOT_YET)?;
    let mut page = "# What is told in which language\n\nWritten by `cargo xtask gen`; do not edit. Each cell counts the cases that hold \
        `scan` to it: how many must be reported, and how many must stay silent. They stand in the `cases.md` of the hazard.\n\n| hazard |"
        .to_owned();
    LANGUAGES.iter().for_each(|(name, ..)| page.extend([" ", name, " |"]));
    page.push_str("\n|---|---|---|---|\n");
    for module in HAZARDS.names(&root.read(HAZARDS.source)?)? {
        let path = format!("crates/interlock-hazards/src/{module}/cases.md");
        let cases = root.read(&path).with_context(|| format!("failed to read the cases of {module}"))?;
        write!(
            page,
            "| [`{}`](../crates/interlock-hazards/src/{module}/doc.md) |",
            module.replace('_', "-")
        )?;
        for (_, tags, section) in LANGUAGES {
            let open = not_yet.contains(&format!("(\"{section}\", \"{module}\")"));
            write!(page, " {} |", cell(count(&cases, tags), open))?;
        }
        page.push('\n');
    }
    Ok(page)
}

/// How many cases of a page are in a language: to report, and to stay silent.
fn count(cases: &str, tags: &[&str]) -> (usize, usize) {
    let (mut report, mut silent) = (0, 0);
    let (mut stays_silent, mut is_new) = (false, false);
    for line in cases.lines() {
        if let Some(section) = line.strip_prefix("## ") {
            stays_silent = section.starts_with("Must stay silent");
        } else if line.starts_with("### ") {
            is_new = true;
        } else if let Some(tag) = line.strip_prefix("```").filter(|_| is_new) {
            // The first block says which language it is.
            is_new = false;
            if tags.contains(&tag.trim()) {
                *(if stays_silent { &mut silent } else { &mut report }) += 1;
            }
        }
    }
    (report, silent)
}

fn cell((report, silent): (usize, usize), open: bool) -> String {
    let some = |number: usize| match number {
        ENOUGH.. => format!("{ENOUGH}+"),
        few => few.to_string(),
    };
    let open = if open { "; the example on its page is not found yet" } else { "" };
    match (report, silent) {
        (0, 0) => format!("none yet{open}"),
        _ => format!("{} to report, {} silent{open}", some(report), some(silent)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CASES: &str = "# Cases\n\n## Must report\n\n### a\n\n```py\nx\n```\n\n### b\n\n```ts\n// file: a.ts\n```\n\n```py\n```\n\n\
                         ## Must stay silent\n\n### c\n\nalso: other\n\n```py\n```\n";

    #[test]
    fn a_case_counts_once_by_its_first_block() {
        assert_eq!(count(CASES, &["py"]), (1, 1));
        assert_eq!(count(CASES, &["ts", "js"]), (1, 0));
        assert_eq!(count(CASES, &["go"]), (0, 0));
    }

    #[test]
    fn a_cell_says_how_many_and_what_is_open() {
        assert_eq!(cell((9, 2), false), "6+ to report, 2 silent");
        assert_eq!(cell((0, 0), true), "none yet; the example on its page is not found yet");
    }
}
