//! `gen --check` on a copy.

use crate::copy::Copy;

const REGISTRY: &str = "crates/interlock-hazards/src/all.rs";

#[test]
fn a_stale_registry_is_named_and_the_page_is_checked_all_the_same() {
    let copy = Copy::new();
    let stale = copy.read(REGISTRY) + "// Edited by hand.\n";
    copy.write(REGISTRY, stale.as_bytes());
    // Without its manifest the program cannot be built, which saves this test minutes and shows that both are reported.
    copy.write("crates/interlock/Cargo.toml", b"no manifest");

    copy.xtask(&["gen", "--check"]).bad(&[
        &format!("{REGISTRY}: stale"),
        "docs/hazards.md: cannot be derived",
        "run `cargo xtask gen`",
    ]);
    assert_eq!(copy.read(REGISTRY), stale, "a check writes nothing");
}
