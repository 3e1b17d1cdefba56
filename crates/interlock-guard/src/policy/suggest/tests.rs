//! Suggestions, and that each of them holds up.

use std::{collections::BTreeMap, time::Duration};

use expect_test::{Expect, expect};
use interlock_model::{
    Confidence, Finding, Fingerprint, IdempotencyKey, Location, Reach as Where, Remedy, Severity, ToolPolicy,
    Witness,
};
use serde_json::{Value, json};

use super::{
    super::{Config, Environment, Processes, Reach, Rules, Sharing, check},
    *,
};

fn upstream() -> UpstreamConfig {
    UpstreamConfig {
        name: "shop".into(),
        reach: Reach::Command {
            command: vec!["node".into(), "shop.js".into(), "${HOME}".into()],
            env: BTreeMap::from([("TOKEN".into(), "s3cret".into())]),
            folder: None,
        },
        is_required: true,
        prefix: String::new(),
        sharing: Sharing::One,
        processes: Processes::default(),
    }
}

fn tool(name: &str, annotations: Value, required: &[&str]) -> Value {
    let properties: BTreeMap<&str, Value> =
        required.iter().map(|name| (*name, json!({ "type": "string" }))).collect();
    json!({
        "name": name, "annotations": annotations,
        "inputSchema": { "type": "object", "properties": properties, "required": required },
    })
}

fn listed(tools: &[Value]) -> Vec<ListedTool> {
    ListedTool::all_of(&json!({ "tools": tools }))
}

/// Every suggestion parses, and nothing is found in it.
fn sound(tools: &[ListedTool], findings: &[Finding]) -> (String, Rules) {
    let text = suggest(&[upstream()], tools, findings);
    let config = Config::parse("guard.toml", &text, None, &Environment::default())
        .unwrap_or_else(|broken| panic!("{broken}\n{text}"));
    let problems = check(&config, Some(tools));
    assert!(problems.is_empty(), "{problems:?}\n{text}");
    let without_list = check(&config, None);
    assert!(without_list.is_empty(), "{without_list:?}\n{text}");
    (text, Rules::of_config(&config))
}

fn of(tools: &[Value], findings: &[Finding], expect: Expect) -> Rules {
    let (text, rules) = sound(&listed(tools), findings);
    expect.assert_eq(&text);
    rules
}

fn finding(hazard: &str, policy: Vec<ToolPolicy>) -> Finding {
    Finding {
        hazard: hazard.parse().unwrap(),
        severity: Severity::High,
        confidence: Confidence::High,
        reach: Where::Both,
        location: Location { file: "src/index.ts".into(), line: 121, end_line: 121 },
        function: "f".into(),
        tools: vec![],
        message: "m".into(),
        witness: Witness::default(),
        remedy: Remedy { code: "c".into(), policy, primitive: None },
        fingerprint: Fingerprint("x".into()),
        hardening: None,
        proof: None,
    }
}

#[test]
fn a_server_whose_tools_name_their_things_is_locked_thing_by_thing() {
    let rules = of(
        &[
            tool("get_order", json!({ "readOnlyHint": true }), &["id"]),
            tool("list_orders", json!({ "readOnlyHint": true }), &[]),
            tool("update_order", json!({}), &["orderId", "note"]),
            tool("cancel_order", json!({ "destructiveHint": true }), &["orderId"]),
            tool("pay", json!({}), &["orderId", "idempotencyKey"]),
            tool("import_catalogue", json!({}), &["url"]),
            tool("fetch_rates", json!({ "idempotentHint": true }), &[]),
        ],
        &[],
        expect![[r##"
            # A policy for 7 tools, made of what the server says of them.
            # Nobody has tried it: read the reasons, and see `docs/guard-policy.md`. `mode = "observe"` tries it without refusing anything.

            [[upstream]]
            name = "shop"
            command = ["node", "shop.js", "$${HOME}"]
            env = { "TOKEN" = "${TOKEN:-}" }             # from the guard's own environment: no secret stands here

            [[tool]]
            match = "*"
            in_flight = 16                               # per caller; more than agents need, less than a runaway loop sends

            [[tool]]
            match = "*"
            read_only = false                            # whatever does not say `readOnlyHint: true`, also what the server lists some day
            lock = "server"                              # runs by itself, unless a rule below knows better

            [[tool]]
            match = "get_order"
            read_only = true                             # holds as long as the server says `readOnlyHint: true`
            lock_shared = [
              "server",                                  # it waits for what touches everything
              "order:{args.id}",                         # and for writers of the same thing, not for other readers
            ]
            observes = "order:{args.id}"                 # so that the guard knows what each caller has seen

            [[tool]]
            match = "list_orders"
            read_only = true                             # holds as long as the server says `readOnlyHint: true`
            lock_shared = "server"                       # it waits for what touches everything

            [[tool]]
            match = "update_order"
            lock = "order:{args.orderId}"                # one call at a time for each; if the server keeps all of them in one file, write "server"
            lock_shared = "server"                       # together with others, but never with a tool that touches everything
            changes = "order:{args.orderId}"             # whoever has read it before is out of date afterwards

            [[tool]]
            match = "cancel_order"
            lock = "order:{args.orderId}"                # one call at a time for each; if the server keeps all of them in one file, write "server"
            lock_shared = "server"                       # together with others, but never with a tool that touches everything
            changes = "order:{args.orderId}"             # whoever has read it before is out of date afterwards
            requires_fresh = "order:{args.orderId}"      # destructiveHint: true: refused if somebody changed it since this caller read it

            [[tool]]
            match = "pay"
            lock = "order:{args.orderId}"                # one call at a time for each; if the server keeps all of them in one file, write "server"
            lock_shared = "server"                       # together with others, but never with a tool that touches everything
            changes = "order:{args.orderId}"             # whoever has read it before is out of date afterwards
            idempotency = "args.idempotencyKey"          # a call that is sent again takes effect once

            [[tool]]
            match = ["import_catalogue", "fetch_rates"]
            lock = "server"                              # no argument says what it touches, so it runs by itself: slow, and right

            # These sound as if they only read, but do not say `readOnlyHint: true`, so they are treated as writers: `fetch_rates`
        "##]],
    );
    let cancel = rules.of("cancel_order", false);
    assert_eq!(cancel.lock.as_ref().unwrap().value[0].to_string(), "order:{args.orderId}");
    assert!(cancel.requires_fresh.is_some());
}

#[test]
fn a_server_whose_tools_name_nothing_has_one_lock() {
    of(
        &[
            tool("create_entities", json!({}), &["entities"]),
            tool("delete_entities", json!({}), &["entityNames"]),
            tool("read_graph", json!({ "readOnlyHint": true }), &[]),
        ],
        &[],
        expect![[r##"
            # A policy for 3 tools, made of what the server says of them.
            # Nobody has tried it: read the reasons, and see `docs/guard-policy.md`. `mode = "observe"` tries it without refusing anything.

            [[upstream]]
            name = "shop"
            command = ["node", "shop.js", "$${HOME}"]
            env = { "TOKEN" = "${TOKEN:-}" }             # from the guard's own environment: no secret stands here

            [[tool]]
            match = "*"
            in_flight = 16                               # per caller; more than agents need, less than a runaway loop sends

            [[tool]]
            match = "*"
            read_only = false                            # whatever does not say `readOnlyHint: true`, also what the server lists some day
            lock = "server"                              # runs by itself, unless a rule below knows better

            [[tool]]
            match = "create_entities"
            lock = "server"                              # no argument says what it touches, so it runs by itself: slow, and right
            changes = "server"                           # whoever has read before is out of date afterwards

            [[tool]]
            match = "delete_entities"
            lock = "server"                              # no argument says what it touches, so it runs by itself: slow, and right
            changes = "server"                           # whoever has read before is out of date afterwards
            requires_fresh = "server"                    # its name says that it destroys: refused if somebody changed it since this caller read it

            [[tool]]
            match = "read_graph"
            read_only = true                             # holds as long as the server says `readOnlyHint: true`
            lock_shared = "server"                       # it waits for writers, not for other readers
            observes = "server"                          # so that the guard knows what each caller has seen
        "##]],
    );
}

#[test]
fn what_a_scan_found_is_added_with_its_place() {
    let key = |text: &str| Some(vec![text.parse().unwrap()]);
    let lost = ToolPolicy {
        matches: vec!["create_entities".into(), "no_such_tool".into()],
        lock: key("graph"),
        changes: key("graph"),
        requires_fresh: key("graph"),
        ..ToolPolicy::default()
    };
    let limit = ToolPolicy {
        matches: vec!["*".into()],
        rate: Some("60/min".parse().unwrap()),
        in_flight: std::num::NonZeroU32::new(4),
        timeout: Some(Duration::from_secs(30)),
        ..ToolPolicy::default()
    };
    let charge = ToolPolicy {
        matches: vec!["create_entities".into()],
        idempotency: Some(IdempotencyKey::Meta),
        lock: key("entity:{args.entityId}"),
        ..ToolPolicy::default()
    };
    of(
        &[
            tool("create_entities", json!({}), &["entities"]),
            tool("read_graph", json!({ "readOnlyHint": true }), &[]),
        ],
        &[
            finding("lost-update", vec![lost]),
            finding("no-caller-limit", vec![limit]),
            finding("missing-idempotency-key", vec![charge]),
        ],
        expect![[r##"
            # A policy for 2 tools, made of what the server says of them, and of 3 findings of a scan.
            # Nobody has tried it: read the reasons, and see `docs/guard-policy.md`. `mode = "observe"` tries it without refusing anything.

            [[upstream]]
            name = "shop"
            command = ["node", "shop.js", "$${HOME}"]
            env = { "TOKEN" = "${TOKEN:-}" }             # from the guard's own environment: no secret stands here

            [[tool]]
            match = "*"
            in_flight = 4                                # no-caller-limit at src/index.ts:121
            rate = "60/min"                              # no-caller-limit at src/index.ts:121
            timeout = "30s"                              # no-caller-limit at src/index.ts:121

            [[tool]]
            match = "*"
            read_only = false                            # whatever does not say `readOnlyHint: true`, also what the server lists some day
            lock = "server"                              # runs by itself, unless a rule below knows better

            [[tool]]
            match = "create_entities"
            lock = [
              "server",                                  # no argument says what it touches, so it runs by itself: slow, and right; missing-idempotency-key at src/index.ts:121
              "graph",                                   # lost-update at src/index.ts:121
            ]
            changes = [
              "server",                                  # whoever has read before is out of date afterwards
              "graph",                                   # lost-update at src/index.ts:121
            ]
            idempotency = "meta"                         # missing-idempotency-key at src/index.ts:121

            [[tool]]
            match = "read_graph"
            read_only = true                             # holds as long as the server says `readOnlyHint: true`
            lock_shared = "server"                       # it waits for writers, not for other readers
            observes = "server"                          # so that the guard knows what each caller has seen

            # The scan also speaks of tools that no server lists, and for which there is no rule: `no_such_tool`
        "##]],
    );
}

#[test]
fn who_touches_one_keeps_out_who_touches_them_all() {
    let lock = |tool: &str, key: &str| {
        let policy = ToolPolicy {
            matches: vec![tool.into()],
            lock: Some(vec![key.parse().unwrap()]),
            ..ToolPolicy::default()
        };
        finding("lost-update", vec![policy])
    };
    let tools = listed(&[
        tool("rename_task", json!({}), &["taskId"]),
        tool("close_all", json!({}), &["boardId"]),
        json!({ "name": "move_task", "inputSchema": { "type": "object",
            "properties": { "taskId": { "type": "string" }, "to": { "type": "string" } }, "required": ["to"] } }),
    ]);
    let findings = [
        lock("rename_task", "tasks:{args.taskId}"),
        lock("close_all", "tasks"),
        lock("move_task", "tasks:{args.taskId}"),
    ];
    let (text, _) = sound(&tools, &findings);
    let rule = |name: &str| {
        let (_, rest) = text.split_once(&format!("match = \"{name}\"")).unwrap();
        rest.split("\n[[").next().unwrap()
    };
    assert!(rule("rename_task").contains("\"tasks:{args.taskId}\""), "{text}");
    let (_, shared) = rule("rename_task").split_once("lock_shared").unwrap();
    assert!(shared.contains("\"tasks\""), "{text}");
    assert!(rule("close_all").contains("\"tasks\""), "{text}");
    assert!(!rule("move_task").contains("args"), "a call may leave the argument out: {text}");
}

#[test]
fn hostile_names_stay_where_they_are() {
    let tools = listed(&[
        tool("a\"\n[[tool]]\nmatch = '*'\ndeny = true #", json!({}), &["x}id", "${id}", "id"]),
        tool("get_\u{7f}\u{1}${HOME}", json!({}), &["order.id"]),
        tool("", json!({}), &["id"]),
        tool("*", json!({}), &["id"]),
        tool(&"long_".repeat(1_000), json!({}), &["id"]),
        tool("same", json!({}), &[]),
        tool("same", json!({}), &[]),
    ]);
    let named: Vec<ListedTool> = tools.into_iter().filter(|tool| !tool.name.is_empty()).collect();
    let mut evil = finding(
        "lost-update",
        vec![ToolPolicy { matches: vec!["x\ny".into(), "".into()], ..ToolPolicy::default() }],
    );
    evil.location.file = "a\nlock = 'x'".into();
    let text = suggest(&[upstream()], &named, &[evil]);
    let config = Config::parse("guard.toml", &text, None, &Environment::default())
        .unwrap_or_else(|broken| panic!("{broken}\n{text}"));
    assert!(config.rules.iter().all(|rule| rule.deny.is_none()));
    for tool in &named {
        assert!(Rules::of_config(&config).of(&tool.name, false).lock.is_some(), "{}", tool.name);
    }
    assert!(!text.contains("s3cret"));
}

#[test]
fn nothing_is_suggested_for_nothing() {
    sound(&[], &[]);
}

#[test]
fn what_no_tool_reaches_locks_nothing() {
    let key = Some(vec!["cache".parse().unwrap()]);
    let everything = ToolPolicy { matches: vec!["*".into()], lock: key, ..ToolPolicy::default() };
    let tools = listed(&[
        tool("get_order", json!({ "readOnlyHint": true }), &["orderId"]),
        tool("update_order", json!({}), &["orderId"]),
    ]);
    let mut found = finding("lost-update", vec![everything]);
    let (text, rules) = sound(&tools, &[found.clone()]);
    assert!(rules.of("get_order", true).lock.is_none(), "{text}");
    assert_eq!(rules.of("update_order", false).lock.as_ref().unwrap().value.len(), 1, "{text}");
    assert!(text.contains("no tool is known to reach, so that no rule here could help:\n#   lost-update at src/index.ts:121\n"), "{text}");
    // Where tools reach it, what is for all of them is for all of them.
    found.tools = vec!["update_order".into()];
    let (text, rules) = sound(&tools, &[found]);
    assert_eq!(rules.of("update_order", false).lock.as_ref().unwrap().value.len(), 2, "{text}");
}

#[test]
fn what_may_be_new_need_not_have_been_read() {
    let destroys = || json!({ "destructiveHint": true });
    let tools = listed(&[
        tool("read_file", json!({ "readOnlyHint": true }), &["path"]),
        tool("write_file", destroys(), &["path"]),
        tool("edit_file", destroys(), &["path"]),
    ]);
    let (text, rules) = sound(&tools, &[]);
    assert!(rules.of("edit_file", false).requires_fresh.is_some(), "{text}");
    assert!(rules.of("write_file", false).requires_fresh.is_none(), "{text}");
    assert!(rules.of("write_file", false).changes.is_some() && rules.of("write_file", false).lock.is_some());
}
