//! One source on two versions of a library: where its `def` tools run on the event loop nothing meets, and in threads it does.

use crate::python;

const CALLS: &[&str] = &["--call", r#"sign_up {"email": "ada@example.org"}"#, "--read", "list_members {}"];

#[test]
fn a_python_tool_that_checks_and_then_acts_holds_on_mcp_1() {
    python("mcp1", "signup", &[], &[CALLS, &["--trials", "6"]].concat()).assert_held(6);
}

#[test]
fn the_same_tool_breaks_on_mcp_2() {
    python("mcp2", "signup", &[], CALLS).assert_broken();
}
