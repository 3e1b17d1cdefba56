//! `new hazard` on a copy: what it lays out must compile and be formatted as it stands.

use crate::copy::Copy;

const SOURCES: &str = "crates/interlock-hazards/src";

#[test]
fn a_new_hazard_compiles_and_is_formatted() {
    let copy = Copy::new();
    copy.xtask(&["new", "hazard", "made-by-a-test"])
        .good_and_said(&["Next:", "cargo test -p interlock-hazards"]);
    for file in ["lib.rs", "all.rs", "made_by_a_test/mod.rs", "made_by_a_test/remedy.rs"] {
        copy.is_formatted(&format!("{SOURCES}/{file}"));
    }
    copy.cargo(&["check", "--offline", "-p", "interlock-hazards"]).good();
}

#[test]
fn a_bad_name_and_a_name_that_is_taken_are_refused() {
    let copy = Copy::new();
    let before = copy.read(&format!("{SOURCES}/lib.rs"));
    copy.xtask(&["new", "hazard", "Bad_Name"]).bad(&["`Bad_Name` is no name", "lower-case words"]);
    copy.xtask(&["new", "hazard", "lost-update"]).bad(&["lost_update exists already"]);
    assert_eq!(copy.read(&format!("{SOURCES}/lib.rs")), before);
}
