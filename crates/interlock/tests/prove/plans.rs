//! What a survey has learnt of a server is a plan, and the plan leads to the same.

use std::fs;

use crate::Counter;

#[test]
fn the_plan_of_a_proof_is_taken_back_and_says_the_same() {
    let counter = Counter::new("unsafe");
    let first = counter.run(&["--format", "plan", "--no-save", "--budget", "1800s"]);
    assert_eq!(first.code, 1, "{}{}", first.stdout, first.stderr);
    assert!(first.stdout.contains("add {\"amount\":1}"), "{}", first.stdout);
    let plan = counter.folder.path().join("plan.toml");
    // One line is corrected by hand.
    fs::write(&plan, first.stdout.replace("{\"amount\":1}", "{\"amount\":7}")).expect("a file");
    let (code, report) = counter.judged(&["--plan", plan.to_str().expect("a name")]);
    assert_eq!((code, report["verdict"].as_str()), (1, Some("broken")), "{report:#}");
    assert!(report["sets"].to_string().contains("\"amount\":7"), "{report:#}");
}
