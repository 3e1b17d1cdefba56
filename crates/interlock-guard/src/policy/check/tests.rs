//! What is said of policies, and what is not.

use expect_test::{Expect, expect};
use serde_json::json;

use super::{super::substitute::Environment, *};

const UPSTREAM: &str = "[[upstream]]\nname = 'a'\ncommand = ['a']\n";

fn said(text: &str, tools: Option<&[ListedTool]>) -> String {
    let config =
        Config::parse("guard.toml", &format!("{text}\n{UPSTREAM}"), None, &Environment::default()).unwrap();
    let line = |problem: &Problem| format!("{:?} {problem}\n", problem.weight);
    check(&config, tools).iter().map(line).collect()
}

fn of(text: &str, expect: Expect) {
    expect.assert_eq(&said(text, None));
}

fn memory_server() -> Vec<ListedTool> {
    let tool = |name: &str, read_only: bool, argument: &str| {
        json!({
            "name": name,
            "annotations": { "readOnlyHint": read_only },
            "inputSchema": { "type": "object", "properties": { argument: { "type": "array" } } },
        })
    };
    ListedTool::all_of(&json!({ "tools": [
        tool("create_entities", false, "entities"),
        tool("delete_entities", false, "entityNames"),
        tool("read_graph", true, "x"),
    ] }))
}

#[test]
fn several_processes_for_one_client_are_told_of() {
    let several = "[[upstream]]\nname = 'b'\ncommand = ['b']\ninstances = 2\n";
    of(
        several,
        expect![[r#"
        Warning `guard.toml`: `b`: the one client on standard input has one of its `instances`, and the others are not started: they are for `[listen] at`
    "#]],
    );
    assert_eq!(said(&format!("[listen]\nat = '127.0.0.1:0'\n{several}"), None), "");
}

#[test]
fn a_sound_policy_is_passed_over_in_silence() {
    let text = r#"
        [[tool]]
        match = "*"
        lock = "graph"
        changes = "graph"
        in_flight = 10
        rate = "60/min"
        [[tool]]
        match = ["read_graph", "search_nodes", "open_nodes"]
        lock = []
        lock_shared = "graph"
        observes = "graph"
        changes = []
        [[tool]]
        match = "delete_*"
        requires_fresh = "graph"
    "#;
    assert_eq!(said(text, None), "");
    assert_eq!(said("", None), "");
    let order = r#"
        [[tool]]
        match = "get_order"
        observes = "order:{args.id}"
        [[tool]]
        match = "cancel_order"
        lock = "order:{args.orderId}"
        changes = "order:{args.orderId}"
        requires_fresh = "order:{args.orderId}"
        mode = "observe"
    "#;
    assert_eq!(said(order, None), "");
}

#[test]
fn what_can_never_be_fresh_is_an_error() {
    of(
        "[[tool]]\nmatch = 'delete_*'\nlock = 'graph'\nchanges = 'graph'\nrequires_fresh = 'graph'",
        expect![[r#"
            Error `guard.toml`, line 2: no tool `observes` `graph`, so nobody is ever fresh and every call of `delete_*` is refused: add `observes = "graph"` to the rule for the tools that read it
        "#]],
    );
}

#[test]
fn freshness_needs_somebody_who_reads() {
    let text = "[listen]\nat = '127.0.0.1:80'\n[[tool]]\nmatch = 'read'\nobserves = 'x'\n[[tool]]\nmatch = 'w'\nlock = 'x'\nchanges = 'x'\nrequires_fresh = 'x'";
    of(
        text,
        expect![[r#"
            Error `guard.toml`, line 7: `requires_fresh` is about what a caller has read, and clients without a session are nobody here, because there is no `[identity]`
        "#]],
    );
    let key = format!("[[identity.api_key]]\nname = 'a'\nsha256 = '{}'\n", "ab".repeat(32));
    of(&format!("{text}\n{key}"), expect![""]);
    of(
        &format!("{text}\n[identity]\nrequired = false\n{key}"),
        expect![[r#"
            Error `guard.toml`, line 7: `requires_fresh` is about what a caller has read, and clients without a session are nobody here, because `[identity] required` is false
        "#]],
    );
}

#[test]
fn changes_are_made_under_a_lock_and_told() {
    of(
        "[[tool]]\nmatch = 'a'\nchanges = 'x'\n[[tool]]\nmatch = 'b'\nobserves = 'y'\nlock = 'y'\nlock_shared = 'y'\nrequires_fresh = 'y'",
        expect![[r#"
            Warning `guard.toml`, line 2: `a` changes `x` and does not lock it: two calls could change it at the same moment; add `lock = "x"`
            Warning `guard.toml`, line 5: `b` must be fresh in `y` but does not change it, so the next caller is not told: add `changes = "y"`, unless it really leaves it as it is
            Warning `guard.toml`, line 5: `b` holds `y` alone and shared; alone counts. Take one of them back with `[]`
            Warning `guard.toml`, line 5: `b` must be fresh in `y` but does not change it, so the next caller is not told: add `changes = "y"`, unless it really leaves it as it is
            Warning `guard.toml`, line 5: `b` holds `y` alone and shared; alone counts. Take one of them back with `[]`
        "#]],
    );
    of("[[tool]]\nmatch = 'a'\nchanges = 'x'\nlock = ['y', 'x']", expect![""]);
}

#[test]
fn a_rule_that_says_nothing_or_nothing_new_can_go() {
    of(
        "[[tool]]\nmatch = 'a'\n[[tool]]\nmatch = 'b'\nmode = 'observe'\n[[tool]]\nmatch = 'c'\nrate = '1/s'\n[[tool]]\nmatch = '*'\nrate = '2/s'",
        expect![[r#"
            Warning `guard.toml`, line 2: this rule says nothing
            Warning `guard.toml`, line 4: `mode` is about what this rule itself says, and it says nothing else
            Warning `guard.toml`, line 7: everything this rule says is said again in line 10; it can go
        "#]],
    );
    of(
        "[[tool]]\nmatch = 'c'\nrate = '1/s'\nin_flight = 1\n[[tool]]\nmatch = '*'\nrate = '2/s'\n[[tool]]\nmatch = '*'\nread_only = true\nin_flight = 2",
        expect![""],
    );
}

#[test]
fn a_rule_on_trial_does_not_switch_off_one_in_force() {
    of(
        "[[tool]]\nmatch = '*'\nlock = 'x'\n[[tool]]\nmatch = 'a'\nlock = 'a'\nmode = 'observe'",
        expect![[r#"
            Warning `guard.toml`, line 5: this rule only observes, and its `lock` replaces the one in line 2, so that nothing is enforced; leave it out here or set `mode = "enforce"`
        "#]],
    );
    of("mode = 'observe'\n[[tool]]\nmatch = '*'\nlock = 'x'\n[[tool]]\nmatch = 'a'\nlock = 'a'", expect![""]);
}

#[test]
fn tools_that_are_known_show_what_is_misspelt() {
    let text = r#"
        [[tool]]
        match = "*"
        lock = "graph"
        [[tool]]
        match = ["create_entitys", "delete_entities"]
        lock = "entity:{args.entityName}"
        [[tool]]
        match = "creat_entities"
        rate = "1/s"
        [[tool]]
        match = "delete_*"
        read_only = true
        rate = "1/s"
    "#;
    expect![[r#"
        Warning `guard.toml`, line 6: `create_entitys` matches no tool; the nearest is `create_entities`
        Warning `guard.toml`, line 6: `lock` needs the argument `entityName`, which `delete_entities` does not have; the nearest is `entityNames`
        Warning `guard.toml`, line 9: `creat_entities` matches no tool; the nearest is `create_entities`
        Warning `guard.toml`, line 12: no tool of `delete_*` says `readOnlyHint: true`, so this rule is for none
    "#]]
    .assert_eq(&said(text, Some(&memory_server())));
    let fine = "[[tool]]\nmatch = 'delete_*'\nlock = '{args.entityNames}'\n[[tool]]\nmatch = '*'\nread_only = true\nin_flight = 3";
    assert_eq!(said(fine, Some(&memory_server())), "");
}

#[test]
fn settings_that_leave_a_door_open_are_named() {
    of(
        "[listen]\nat = '0.0.0.0:80'\n[defaults]\ngrace = '0s'\nkeep = '1min'\n[[tool]]\nmatch = '*'\nlock = 'x'\ntimeout = '1h'",
        expect![[r#"
            Error `guard.toml`: `keep` (60s) is shorter than the longest timeout and its grace (3600s): a call's idempotency key would be forgotten while it runs
            Warning `guard.toml`: whoever reaches `[listen] at` can call: add `[identity]`, or listen on 127.0.0.1
            Warning `guard.toml`: locks and limits are kept in this process: a second replica would not see them. With several, set `[state] url` to redis:// or postgres://
            Warning `guard.toml`: `grace` is zero: what a call holds goes to the next at the moment it times out, while its server may still be at work
            Warning `guard.toml`: `longest` (900s) is shorter than the longest timeout (3600s): a call is given up before it times out
        "#]],
    );
    of("[listen]\nat = '[::1]:80'\n[[tool]]\nmatch = '*'\nlock = 'x'", expect![""]);
}
