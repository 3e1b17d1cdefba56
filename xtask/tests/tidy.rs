//! `tidy` on a copy.

use crate::copy::Copy;

#[test]
fn a_source_file_without_an_opening_fails_tidy() {
    let copy = Copy::new();
    copy.write("crates/interlock-model/src/stray.rs", b"use std::fs;\n");
    copy.xtask(&["tidy"]).bad(&[
        "tidy opening: FAILED",
        "crates/interlock-model/src/stray.rs:1: the first line must be a `//!` sentence",
        "crates/interlock-model/src/stray.rs:1: interlock-model is pure and may not mention `std::fs`",
    ]);
}

#[test]
fn a_dependency_against_the_directions_fails_tidy() {
    let copy = Copy::new();
    let manifest = "crates/interlock-model/Cargo.toml";
    let text =
        copy.read(manifest).replace("[dependencies]", "[dependencies]\ninterlock-testkit.workspace = true");
    copy.write(manifest, text.as_bytes());
    copy.xtask(&["tidy"]).bad(&["tidy edges: FAILED", "interlock-model may not depend on interlock-testkit"]);
}
