//! `cargo xtask gen`: the files that are derived from others. They are committed, so that a reader sees them and a build does not
//! need this command, and checked, so that they cannot drift.

mod api;
mod cases;
mod pages;
pub(crate) mod registry;

use anyhow::{Result, bail};

use self::{pages::PAGES, registry::REGISTRIES};
use crate::root::Root;

/// A file and the text that it should have, or why that text could not be made.
struct Derived {
    path: &'static str,
    text: Result<String>,
}

/// Writes what is stale. The registries come first, as the program that makes the pages is compiled from them.
pub(crate) fn write(root: &Root) -> Result<()> {
    for registry in REGISTRIES {
        put(root, registry.target, &registry.derive(root)?)?;
    }
    for page in PAGES {
        put(root, page.path, &(page.text)(root)?)?;
    }
    Ok(())
}

/// Writes nothing; fails with the names of the files that are stale. A stale registry does not keep the pages from being
/// checked: what is wrong is said in one run.
pub(crate) fn check(root: &Root) -> Result<()> {
    let registries =
        REGISTRIES.iter().map(|registry| Derived { path: registry.target, text: registry.derive(root) });
    let pages = PAGES.iter().map(|page| Derived { path: page.path, text: (page.text)(root) });
    let problems: Vec<String> =
        registries.chain(pages).filter_map(|derived| problem(root, derived)).collect();
    if problems.is_empty() {
        return Ok(());
    }
    bail!("derived files are not what they should be; run `cargo xtask gen`\n  {}", problems.join("\n  "));
}

/// Writes a derived file if it is stale; a file that is right keeps its time, so that nothing is built again for it.
pub(crate) fn put(root: &Root, path: &str, text: &str) -> Result<()> {
    if root.read_if_there(path)?.as_deref() == Some(text) {
        println!("{path}: up to date");
        return Ok(());
    }
    root.write(path, text)?;
    println!("{path}: written");
    Ok(())
}

fn problem(root: &Root, derived: Derived) -> Option<String> {
    let path = derived.path;
    match (derived.text, root.read_if_there(path)) {
        (Err(error), _) => Some(format!("{path}: cannot be derived: {error:#}")),
        (_, Err(error)) => Some(format!("{path}: {error:#}")),
        (Ok(_), Ok(None)) => Some(format!("{path}: missing")),
        (Ok(text), Ok(Some(there))) => (text != there).then(|| format!("{path}: stale")),
    }
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::*;

    #[test]
    fn a_file_is_right_stale_missing_or_cannot_be_derived() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::of_test(folder.path());
        root.write("a.md", "text").unwrap();
        let check = |path, text, expected: Option<&str>| {
            assert_eq!(problem(&root, Derived { path, text }).as_deref(), expected);
        };
        check("a.md", Ok("text".to_owned()), None);
        check("a.md", Ok("other".to_owned()), Some("a.md: stale"));
        check("b.md", Ok("text".to_owned()), Some("b.md: missing"));
        check("a.md", Err(anyhow!("no compiler")), Some("a.md: cannot be derived: no compiler"));
    }

    #[test]
    fn a_file_that_is_right_is_not_written_again() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::of_test(folder.path());
        let time = || std::fs::metadata(root.join("a.md")).unwrap().modified().unwrap();
        put(&root, "a.md", "text").unwrap();
        let before = time();
        put(&root, "a.md", "text").unwrap();
        assert_eq!(time(), before);
        put(&root, "a.md", "other").unwrap();
        assert_eq!(root.read("a.md").unwrap(), "other");
    }
}
