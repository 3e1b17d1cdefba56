//! The derived pages. They are written by the program itself, so that the documentation says what the program says.

use anyhow::{Context, Result};

use super::{api, cases};
use crate::{
    census,
    root::Root,
    run::{Run, cargo},
    target_folder,
};

/// A page and what makes its text.
pub(super) struct Page {
    pub(super) path: &'static str,
    pub(super) text: fn(&Root) -> Result<String>,
}

/// The pages. Adding one is one line.
pub(super) const PAGES: &[Page] = &[
    Page { path: "docs/hazards.md", text: hazards },
    Page { path: "docs/languages.md", text: cases::by_language },
    Page { path: "docs/census.md", text: census::derive },
    Page { path: "docs/guard.schema.json", text: guard_schema },
    Page { path: "docs/api/interlock-sync.txt", text: api::sync },
    Page { path: "docs/api/interlock-store.txt", text: api::store },
];

/// The index of the hazards: the program's own table, with a way to each page.
fn hazards(root: &Root) -> Result<String> {
    let table = interlock(root, &["explain", "--format", "markdown"])?;
    let rows: Vec<String> = table.lines().map(linked).collect();
    Ok(format!(
        "# The hazards\n\nWritten by `cargo xtask gen`; do not edit. Which faces exist today stands in the [README](../README.md).\n\n{}\n",
        rows.join("\n")
    ))
}

/// The JSON Schema of `guard.toml`, for editors.
fn guard_schema(root: &Root) -> Result<String> {
    interlock(root, &["guard", "--schema"])
}

/// A row whose name leads to its page.
fn linked(row: &str) -> String {
    match row.strip_prefix("| `").and_then(|rest| rest.split_once('`')) {
        Some((id, rest)) => {
            format!("| [`{id}`](../crates/interlock-hazards/src/{}/doc.md){rest}", id.replace('-', "_"))
        }
        None => row.to_owned(),
    }
}

/// What our own program prints.
fn interlock(root: &Root, args: &[&str]) -> Result<String> {
    // As the tests have built it: the package alone would have other features, and be compiled anew with all that it needs.
    cargo(root, &["build", "--quiet", "--locked", "--workspace", "--bin", "interlock"])?;
    let program =
        target_folder::of(root)?.join("debug/interlock").with_extension(std::env::consts::EXE_EXTENSION);
    Run::new(root, &program.display().to_string())
        .args(args)
        .text()
        .context("failed to run the program that writes this page")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_leads_to_its_page_and_the_head_stays_as_it_is() {
        let row = "[`lost-update`](../crates/interlock-hazards/src/lost_update/doc.md)";
        assert_eq!(linked("| `lost-update` | high |"), format!("| {row} | high |"));
        assert_eq!(linked("| hazard | severity |"), "| hazard | severity |");
        assert_eq!(linked("|---|---|"), "|---|---|");
    }
}
