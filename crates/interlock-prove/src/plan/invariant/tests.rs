//! Expressions on outcomes; the page's own examples; what is refused.

use expect_test::{Expect, expect};
use interlock_model::{Outcome, Seen};
use serde_json::{Value, json};

use super::*;

fn result(value: Value) -> Seen {
    Seen::Result(json!({"content": [], "structuredContent": value}))
}

/// Two spends of 10 of an account that had 10; one was refused.
fn spent() -> (Outcome, Vec<Value>) {
    let refusal =
        Seen::Error(json!({"isError": true, "content": [{"type": "text", "text": "too few credits"}]}));
    let outcome = Outcome {
        answers: vec![result(json!({"balance": 0})), refusal],
        reads: vec![
            result(json!({"id": "a", "balance": 0})),
            result(json!({"accounts": [{"balance": 7}, {"balance": 3}]})),
        ],
    };
    let before = vec![
        json!({"structuredContent": {"id": "a", "balance": 10}}),
        json!({"structuredContent": {"accounts": [{"balance": 4}, {"balance": 6}]}}),
    ];
    (outcome, before)
}

fn holds(expression: &str) -> Result<bool, InvariantError> {
    let (outcome, before) = spent();
    Invariant::compile(expression)?.holds(&outcome, &before)
}

fn refused(expression: &str, expected: Expect) {
    expected.assert_eq(&holds(expression).unwrap_err().to_string());
}

#[test]
fn the_examples_of_the_page_hold_and_can_fail() {
    let page = include_str!("../../../../../docs/invariants.md");
    let mut examples = 0;
    // A row is | what must be so | `true` | `not true` |, and Markdown has its bars escaped.
    for row in page.lines().filter(|line| line.starts_with("| ") && line.contains('`')) {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let [_, expression, opposite] = cells.as_slice() else { continue };
        let unwrapped = |cell: &str| cell.trim_matches('`').replace("\\|", "|");
        let (expression, opposite) = (unwrapped(expression), unwrapped(opposite));
        assert_eq!(holds(&expression), Ok(true), "{expression}");
        assert_eq!(holds(&opposite), Ok(false), "{opposite}");
        examples += 1;
    }
    assert!(examples >= 8, "the page has {examples} examples");
}

#[test]
fn whole_and_broken_numbers_can_be_added_and_compared() {
    for expression in [
        "reads[0].balance + 1 == 1",
        "sum(reads, '/1/accounts/*/balance') + 0 == 10",
        "sum([1, 2.5], '/*') == 3.5",
        "sum(reads, '/0/nothing/*') == 0",
        "before.map(r, r.balance).size() == 1 || true",
    ] {
        assert_eq!(holds(expression), Ok(true), "{expression}");
    }
}

#[test]
fn what_is_wrong_is_said_before_anything_is_run() {
    refused(
        "succeeded ; 1",
        expect![
            "the invariant `succeeded ; 1` cannot be read: token recognition error at: ';' at character 11"
        ],
    );
    refused("succeeded <", expect!["the invariant `succeeded <` cannot be read: it ends too soon"]);
    refused("", expect!["the invariant `` cannot be read: it ends too soon"]);
    refused(
        "sucess == 1",
        expect![
            "the invariant `sucess == 1` cannot be read: there is no variable `sucess`; there are answers, succeeded, reads, before"
        ],
    );
    refused(
        "answers.all(a, b.ok)",
        expect![
            "the invariant `answers.all(a, b.ok)` cannot be read: there is no variable `b`; there are answers, succeeded, reads, before"
        ],
    );
    refused(
        "matches('a', 'b')",
        expect![
            "the invariant `matches('a', 'b')` cannot be read: there is no function `matches`; there are at, sum, has_path, size, contains, startsWith, endsWith, int, double, string, type, dyn"
        ],
    );
    refused(
        "Account{id: 1}",
        expect!["the invariant `Account{id: 1}` cannot be read: there is no type `Account`"],
    );
    refused(
        "[1].all(a, [1].all(b, [1].all(c, [1].all(d, true))))",
        expect![
            "the invariant `[1].all(a, [1].all(b, [1].all(c, [1].all(d, true))))` cannot be read: at most 3 of all, exists, filter and map may stand inside each other"
        ],
    );
}

#[test]
fn what_is_neither_true_nor_false_is_an_error_and_no_verdict() {
    refused(
        "succeeded",
        expect!["the invariant `succeeded` cannot be decided: it is int, not true or false"],
    );
    refused(
        "at(reads[0], '/credit') == 1",
        expect![
            "the invariant `at(reads[0], '/credit') == 1` cannot be decided: Error executing function 'at': there is no `/credit`"
        ],
    );
    refused(
        "at(reads[1], '/accounts/*') == 1",
        expect![
            "the invariant `at(reads[1], '/accounts/*') == 1` cannot be decided: Error executing function 'at': `/accounts/*` is more than one value"
        ],
    );
    refused(
        "sum(reads, '/0/id') == 1",
        expect![
            "the invariant `sum(reads, '/0/id') == 1` cannot be decided: Error executing function 'sum': `/0/id` is also something that is no number"
        ],
    );
    refused(
        "reads[7] == 1",
        expect!["the invariant `reads[7] == 1` cannot be decided: Index out of bounds: Int(7)"],
    );
    refused(
        "1 / 0 == 1",
        expect!["the invariant `1 / 0 == 1` cannot be decided: Division by zero of Int(1)"],
    );
    refused(
        "9223372036854775807 + 1 == 0",
        expect![
            "the invariant `9223372036854775807 + 1 == 0` cannot be decided: Overflow from binary operator 'add': Int(9223372036854775807), Int(1)"
        ],
    );
}

#[test]
fn an_expression_says_whether_it_looks_at_what_was_before() {
    assert!(Invariant::compile("reads == before").unwrap().needs_before());
    assert!(!Invariant::compile("answers.all(before, before.ok)").unwrap().needs_before());
}

#[test]
fn hostile_expressions_end_and_do_not_take_us_with_them() {
    let deep = |n: usize| format!("{}true{}", "(".repeat(n), ")".repeat(n));
    assert!(Invariant::compile(&deep(490)).is_err());
    assert!(Invariant::compile(&"!".repeat(999)).is_err());
    assert!(Invariant::compile(&"a".repeat(100_000)).is_err());
    let chain = format!("{} > 0", vec!["1"; 490].join("+"));
    assert_eq!(holds(&chain), Ok(true));
    let selections = format!("succeeded{} == 1", ".a".repeat(490));
    assert!(holds(&selections).is_err());
    let lists = format!("{}1{} == 1", "[".repeat(490), "]".repeat(490));
    assert!(holds(&lists).is_err());
    let ternary = format!("{}true", "true ? true : ".repeat(70));
    let _ = holds(&ternary);
    let _ = holds(&format!("{}true", "!".repeat(980)));
    let _ = holds(&format!("1 == {}1", "-".repeat(980)));
    for text in [
        "'\\",
        "\"",
        "b'\\xff' == b''",
        "r'",
        "0x",
        "1u == 1",
        "@",
        "a.b.c.",
        "has(reads[0].id)",
        "{1:2}[1] == 2",
    ] {
        let _ = holds(text);
    }
}
