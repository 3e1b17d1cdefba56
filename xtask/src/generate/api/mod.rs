//! The public API of what strangers use, as a sorted list of lines: what a change adds, takes away or alters stands in its diff, and is meant.
//!
//! The list is made from the sources, because the compiler's own (rustdoc's JSON) is for nightly only. A name is public if public modules
//! and re-exports lead to it from the root; what is hidden from the documentation is not promised and not listed. What only a macro makes is
//! not seen. All features count as on.

mod crawl;
mod lines;

use anyhow::Result;

use crate::root::Root;

/// The list of `interlock-sync`.
pub(super) fn sync(root: &Root) -> Result<String> {
    list(root, "interlock-sync")
}

/// The list of `interlock-store`.
pub(super) fn store(root: &Root) -> Result<String> {
    list(root, "interlock-store")
}

fn list(root: &Root, package: &str) -> Result<String> {
    let modules = crawl::modules(root, &format!("crates/{package}/src"))?;
    let mut lines = lines::public(&modules, &package.replace('-', "_"));
    lines.sort();
    lines.dedup();
    Ok(format!("# Written by `cargo xtask gen`; do not edit.\n{}\n", lines.join("\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(files: &[(&str, &str)], expected: &[&str]) {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::of_test(folder.path());
        for (path, text) in files {
            root.write(&format!("crates/x/src/{path}"), text).unwrap();
        }
        let text = list(&root, "x").unwrap();
        assert_eq!(text.lines().skip(1).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn what_re_exports_lead_to_is_listed_under_the_name_that_people_use() {
        let lib = "mod inner; pub mod outer { pub fn free(x: u8) -> u8 { x } fn private() {} }\n\
                   pub use inner::deep::{Thing, Kind as Sort}; mod unused;";
        let inner = "pub mod deep;";
        let deep = "pub struct Thing { pub a: u8, b: u8 } pub enum Kind { One, Two { x: u8 }, Three(u8) }\n\
                    impl Thing { pub fn new(a: u8) -> Self { todo!() } fn hidden(&self) {} }\n\
                    impl std::fmt::Display for Thing { fn fmt(&self) {} } #[derive(Debug, Clone)] pub struct Lost;";
        check(
            &[
                ("lib.rs", lib),
                ("inner.rs", inner),
                ("inner/deep.rs", deep),
                ("unused.rs", "pub struct Gone;"),
            ],
            &[
                "x::Sort enum",
                "x::Sort::One variant",
                "x::Sort::Three (u8)",
                "x::Sort::Two { x: u8 }",
                "x::Thing impl Display",
                "x::Thing struct",
                "x::Thing.a: u8",
                "x::Thing::new fn new(a: u8) -> Self",
                "x::outer::free fn free(x: u8) -> u8",
            ],
        );
    }

    #[test]
    fn tests_and_what_is_hidden_are_not_promised() {
        let lib = "#[doc(hidden)] pub mod secret { pub struct A; } #[cfg(test)] pub mod tests { pub struct B; }\n\
                   #[non_exhaustive] #[derive(Debug)] pub enum Why { Other } pub trait Able { fn can(&self) -> bool; }\n\
                   pub const MOST: usize = 3; pub type Short = Vec<u8>;";
        check(
            &[("lib.rs", lib)],
            &[
                "x::Able trait",
                "x::Able::can fn can(&self) -> bool",
                "x::MOST const: usize",
                "x::Short type = Vec<u8>",
                "x::Why enum, non-exhaustive",
                "x::Why impl Debug",
                "x::Why::Other variant",
            ],
        );
    }
}
