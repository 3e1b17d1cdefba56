//! What is refused before the first command does anything.

use crate::Desk;

#[test]
fn a_report_of_no_known_form_is_refused_before_anything_is_done() {
    let desk = Desk::new();
    let output = desk.command(&["--demo", "--output", "report.pdf"]).output().expect("the program starts");
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains(".html, .md, .json or .sarif"), "{said}");
}
