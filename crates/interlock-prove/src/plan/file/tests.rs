//! What a plan file may say, and what is said of one that is wrong.

use expect_test::{Expect, expect};
use serde_json::json;

use super::*;

fn refused(text: &str, expected: Expect) {
    expected.assert_eq(&sets(text).unwrap_err().to_string());
}

#[test]
fn a_set_has_calls_and_what_belongs_to_them() {
    let text = r#"
[[set]]
hazard = "db-check-then-act"
setup = ['deposit {"amount": 10}']
calls = ['spend {"amount": 10}', { tool = "spend", arguments = { amount = 0x0a, part = [1.5, "x"] }, meta = { "dev.interlock/idempotency-key" = "k" } }]
reads = ["balance"]
invariants = ["succeeded <= 1"]
fault = { kind = "kill", after = "15ms" }

[[set]]
name = "flood"
calls = ["ping", "ping", "ping", "ping", "ping"]
oracle = "some-refused"
"#;
    let read = sets(text).unwrap();
    let second = PlannedCall {
        tool: "spend".into(),
        arguments: json!({"amount": 10, "part": [1.5, "x"]}),
        meta: json!({"dev.interlock/idempotency-key": "k"}),
    };
    let expected = CallSet {
        name: "spend + spend".into(),
        hazard: Some("db-check-then-act".parse().unwrap()),
        setup: vec![PlannedCall::new("deposit", json!({"amount": 10}))],
        calls: vec![PlannedCall::new("spend", json!({"amount": 10})), second],
        reads: vec![PlannedCall::new("balance", json!({}))],
        fault: Fault::Kill { after: Duration::from_millis(15) },
        oracle: Oracle::Serial,
        invariants: vec!["succeeded <= 1".into()],
    };
    assert_eq!(read[0], expected);
    assert_eq!(
        (read[1].name.as_str(), read[1].oracle, read[1].calls.len()),
        ("flood", Oracle::SomeRefused, 5)
    );
}

#[test]
fn what_is_wrong_is_said_with_its_line_and_what_would_be_right() {
    refused(
        "[[set]]\ncalls = ['a']\nread = []",
        expect!["line 3: there is no key `read`; the nearest is `reads`"],
    );
    refused("[[sets]]\n", expect!["line 1: there is no key `sets`; the nearest is `set`"]);
    refused(
        "[[set]]\ncalls = [{ tol = 'a' }]",
        expect!["line 2: there is no key `tol`; the nearest is `tool`"],
    );
    refused("[[set]]\ncalls = [{ arguments = {} }]", expect!["line 2: a call needs a `tool`"]);
    refused(
        "[[set]]\ncalls = ['a [1]']",
        expect![[
            r#"line 2: the arguments of `a` are a list; a tool takes a JSON object, such as `{"text": "a"}`"#
        ]],
    );
    refused(
        "[[set]]\ncalls = ['a']\nhazard = 'lost-updates'",
        expect!["line 3: there is no hazard `lost-updates`; the nearest is `lost-update`"],
    );
    refused(
        "[[set]]\ncalls = ['a']\n\ninvariants = ['succeeded <']",
        expect!["line 4: the invariant `succeeded <` cannot be read: it ends too soon"],
    );
    refused(
        "[[set]]\ncalls = ['a']\nfault = { kind = 'kill', after = '3 days' }",
        expect![[r#"line 3: a time is a number with us, ms or s, such as "15ms", and at most 60s"#]],
    );
    refused(
        "[[set]]\ncalls = ['a']\nfault = { after = '3ms' }",
        expect!["line 3: a fault needs a `kind`: `kill` or `close`"],
    );
    refused(
        "[[set]]\ncalls = ['a']\noracle = 'none'",
        expect!["line 3: there is no oracle `none`; the nearest is `once`"],
    );
    refused("[[set]]\nname = 'x'", expect!["line 1: a set of this oracle has 1 to 4 `calls`; this has 0"]);
    refused(
        "[[set]]\ncalls = ['a', 'a', 'a', 'a', 'a']",
        expect!["line 1: a set of this oracle has 1 to 4 `calls`; this has 5"],
    );
    refused("", expect!["line 1: a plan has 1 to 200 sets, each under `[[set]]`; this has 0"]);
    refused("[[set]\n", expect!["line 1: unclosed array table, expected `]`"]);
}

#[test]
fn deep_nesting_is_an_error() {
    assert!(sets(&format!("[[set]]\ncalls = {}", "[".repeat(100_000))).is_err());
    assert!(
        sets(&format!("[[set]]\ncalls = [{{ tool = 'a', arguments = {}", "{ a = ".repeat(100_000))).is_err()
    );
}

#[test]
fn the_example_of_the_page_can_be_read() {
    let page = include_str!("../../../../../docs/plans.md");
    let example = page.split("```toml").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let sets = sets(example).unwrap();
    assert_eq!(sets.iter().map(|set| set.calls.len()).collect::<Vec<_>>(), [2, 1, 8]);
    assert!(sets[1].calls[0].is_filled_later());
}
