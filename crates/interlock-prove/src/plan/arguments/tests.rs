//! What arguments are made for the schemas that tools really have.

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::*;

fn sampler(name: &str, schema: Value) -> Sampler {
    Sampler::new(Listing { name: name.into(), input_schema: schema, ..Listing::default() }).unwrap()
}

fn object(properties: Value) -> Value {
    let required: Vec<&String> = properties.as_object().unwrap().keys().collect();
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

/// The sample, another that says something else about the same thing, and one that speaks of another.
fn check(name: &str, schema: Value, expected: Expect) {
    let sampler = sampler(name, schema);
    let wants = [(0, 0), (0, 1), (1, 0)].map(|(thing, variant)| Want { thing, variant, ..Want::default() });
    let samples = wants.map(|want| sampler.sample(&want, &Pool::default()));
    let lines = samples.map(|sample| sample.map_or("none".into(), |sample| sample.to_string()));
    expected.assert_eq(&lines.join("\n"));
}

#[test]
fn samples_speak_of_one_thing_and_say_different_things_about_it() {
    check(
        "create_entities",
        object(json!({"entities": {"type": "array", "items": object(json!({
            "name": {"type": "string"}, "entityType": {"type": "string"},
            "observations": {"type": "array", "items": {"type": "string"}}
        }))}})),
        expect![[r#"
            {"entities":[{"entityType":"alpha beta one","name":"entity-a","observations":["alpha beta one"]}]}
            {"entities":[{"entityType":"alpha beta two","name":"entity-a","observations":["alpha beta two"]}]}
            {"entities":[{"entityType":"alpha beta one","name":"entity-b","observations":["alpha beta one"]}]}"#]],
    );
    check(
        "write_file",
        object(json!({"path": {"type": "string"}, "content": {"type": "string"}})),
        expect![[r#"
        {"content":"alpha beta one","path":"{scratch}/a.txt"}
        {"content":"alpha beta two","path":"{scratch}/a.txt"}
        {"content":"alpha beta one","path":"{scratch}/b.txt"}"#]],
    );
    check(
        "transfer",
        object(
            json!({"fromUserId": {"type": "string"}, "toUserId": {"type": "string"}, "amount": {"type": "integer", "minimum": 1}}),
        ),
        expect![[r#"
            {"amount":1,"fromUserId":"user-a","toUserId":"user-b"}
            {"amount":2,"fromUserId":"user-a","toUserId":"user-b"}
            {"amount":1,"fromUserId":"user-b","toUserId":"user-c"}"#]],
    );
    check(
        "edit_file",
        object(
            json!({"path": {"type": "string"}, "edits": {"type": "array", "items": object(json!({"oldText": {"type": "string"}, "newText": {"type": "string"}}))}}),
        ),
        expect![[r#"
            {"edits":[{"newText":"alpha beta one","oldText":"alpha"}],"path":"{scratch}/a.txt"}
            {"edits":[{"newText":"alpha beta two","oldText":"beta"}],"path":"{scratch}/a.txt"}
            {"edits":[{"newText":"alpha beta one","oldText":"alpha"}],"path":"{scratch}/b.txt"}"#]],
    );
}

#[test]
fn what_the_schema_shows_comes_first() {
    check(
        "pay",
        object(json!({
            "userId": {"type": "string", "examples": ["alice", "bob"]},
            "kind": {"enum": ["card", "cash"]},
            "always": {"const": 7},
            "note": {"type": "string", "default": "none"},
            "order": {"type": "string", "description": "The order, e.g. \"order-1\"."},
        })),
        expect![[r#"
            {"always":7,"kind":"card","note":"none","order":"order-1","userId":"alice"}
            {"always":7,"kind":"cash","note":"alpha beta two","order":"order-1","userId":"alice"}
            {"always":7,"kind":"card","note":"none","order":"order-1","userId":"bob"}"#]],
    );
}

#[test]
fn bounds_formats_and_patterns_are_kept() {
    check(
        "book",
        object(json!({
            "at": {"type": "string", "format": "date-time"},
            "code": {"type": "string", "pattern": "^[A-Z]{2}-[0-9]{3}$"},
            "seats": {"type": "integer", "minimum": 5, "maximum": 6},
            "share": {"type": "number", "exclusiveMinimum": 0, "maximum": 1, "multipleOf": 0.25},
            "initials": {"type": "string", "maxLength": 2},
            "password": {"type": "string", "minLength": 20},
            "reference": {"type": "string", "format": "uuid"},
            "notify": {"type": "boolean"},
        })),
        expect![[r#"
            {"at":"2030-01-01T12:00:00Z","code":"AA-000","initials":"aa","notify":false,"password":"alpha beta onexxxxxx","reference":"00000000-0000-4000-8000-000000000001","seats":5,"share":0.25}
            {"at":"2030-01-02T12:00:00Z","code":"BB-111","initials":"ba","notify":false,"password":"alpha beta twoxxxxxx","reference":"00000000-0000-4000-8000-000000000002","seats":6,"share":0.5}
            {"at":"2030-01-01T12:00:00Z","code":"AA-000","initials":"aa","notify":false,"password":"alpha beta onexxxxxx","reference":"00000000-0000-4000-8000-000000000001","seats":5,"share":0.25}"#]],
    );
}

#[test]
fn references_and_choices_are_followed_and_recursion_ends() {
    check(
        "save_tree",
        json!({
            "type": "object",
            "properties": {"node": {"$ref": "#/$defs/node"}, "mode": {"anyOf": [{"type": "null"}, {"type": "integer"}]},
                "both": {"allOf": [{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
                    {"properties": {"b": {"type": "boolean"}}, "required": ["b"]}]}},
            "required": ["node", "mode", "both"],
            "$defs": {"node": {"type": "object", "properties": {"text": {"type": "string"},
                "child": {"$ref": "#/$defs/node"}}, "required": ["text"]}}
        }),
        expect![[r#"
            {"both":{"a":"alpha beta one","b":false},"mode":1,"node":{"text":"alpha beta one"}}
            {"both":{"a":"alpha beta two","b":false},"mode":2,"node":{"text":"alpha beta two"}}
            {"both":{"a":"alpha beta one","b":false},"mode":1,"node":{"text":"alpha beta one"}}"#]],
    );
    let endless = json!({"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]});
    assert_eq!(sampler("endless", endless).sample(&Want::default(), &Pool::default()), None);
    let itself =
        json!({"type": "object", "properties": {"a": {"$ref": "#/properties/a"}}, "required": ["a"]});
    let _ = sampler("itself", itself).sample(&Want::default(), &Pool::default());
}

#[test]
fn what_may_be_left_out_is_left_out_unless_it_is_wanted() {
    let schema = json!({"type": "object", "properties": {"id": {"type": "string"}, "note": {"type": "string"}}, "required": ["id"]});
    let sampler = sampler("touch", schema);
    let sample = |optional| sampler.sample(&Want { optional, ..Want::default() }, &Pool::default()).unwrap();
    assert_eq!(sample(false), json!({"id": "touch-a"}));
    assert_eq!(sample(true), json!({"id": "touch-a", "note": "alpha beta one"}));
}

#[test]
fn ids_come_from_answers_about_the_same_kind_of_thing() {
    let mut pool = Pool::default();
    pool.learn(
        "list_users",
        &json!({}),
        &json!({"users": [{"id": "u1", "name": "Ann"}, {"id": "u2", "name": "Ben"}]}),
        0,
    );
    pool.learn("list_orders", &json!({}), &json!([{"id": 41, "userId": "u2"}, {"id": 42}]), 1);
    pool.learn("get_document", &json!({"id": "doc-1"}), &json!({"id": "doc-1", "version": 9}), 2);
    pool.learn("get_document", &json!({"id": "doc-2"}), &json!({"id": "doc-2", "version": 11}), 3);
    pool.learn("create_task", &json!({}), &json!("Created the task. ID: t-77\nDone"), 4);
    let sample = |name: &str, properties: Value, thing| {
        let want = Want { source: Source::Seen, thing, ..Want::default() };
        sampler(name, object(properties)).sample(&want, &pool).unwrap()
    };
    let string = json!({"type": "string"});
    assert_eq!(
        sample("ban", json!({"userId": string}), 0),
        json!({"userId": "u2"}),
        "the very name comes first"
    );
    assert_eq!(sample("get_user", json!({"id": string}), 0), json!({"id": "u1"}));
    assert_eq!(sample("get_user", json!({"id": string}), 1), json!({"id": "u2"}));
    assert_eq!(sample("get_user", json!({"name": string}), 0), json!({"name": "Ann"}));
    assert_eq!(sample("ship", json!({"orderId": {"type": "integer"}}), 1), json!({"orderId": 42}));
    let update = json!({"id": string, "version": {"type": "integer"}});
    assert_eq!(sample("update_document", update.clone(), 0), json!({"id": "doc-1", "version": 9}));
    assert_eq!(
        sample("update_document", update, 1),
        json!({"id": "doc-2", "version": 11}),
        "the version is that of the document"
    );
    assert_eq!(sample("close_task", json!({"id": string}), 0), json!({"id": "t-77"}));
    assert_eq!(
        sample("get_invoice", json!({"id": string}), 0),
        json!({"id": "invoice-a"}),
        "no invoice was seen"
    );
}

#[test]
fn a_schema_that_cannot_be_used_is_said_to_be_so() {
    let bad = |schema: Value| {
        Sampler::new(Listing { name: "t".into(), input_schema: schema, ..Listing::default() }).err()
    };
    assert!(bad(json!({"type": 3})).unwrap().starts_with("its schema cannot be used"));
    assert!(bad(json!({"$ref": "https://example.invalid/schema"})).is_some());
    assert_eq!(bad(json!({"description": "x".repeat(300_000)})).unwrap(), "its schema is too large");
    let impossible = sampler("t", json!({"type": "object", "properties": {"a": false}, "required": ["a"]}));
    assert_eq!(impossible.sample(&Want::default(), &Pool::default()), None);
}

#[test]
fn the_same_schema_gives_the_same_arguments_and_all_are_allowed() {
    let schema = object(
        json!({"title": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}, "minItems": 3, "uniqueItems": true}, "x": {"type": "number"}}),
    );
    let sampler = sampler("add", schema);
    for (thing, variant) in [(0, 0), (0, 1), (3, 0), (30, 30)] {
        let want = Want { thing, variant, optional: true, ..Want::default() };
        let one = sampler.sample(&want, &Pool::default());
        assert_eq!(one, sampler.sample(&want, &Pool::default()));
        if let Some(one) = one {
            assert!(sampler.allows(&one));
        }
    }
}

#[test]
fn who_looks_at_folders_looks_at_one_that_is_there() {
    let path = || object(json!({"path": {"type": "string"}}));
    check(
        "list_directory",
        path(),
        expect![[r#"
            {"path":"{scratch}"}
            {"path":"{scratch}"}
            {"path":"{scratch}/b"}"#]],
    );
    check(
        "create_directory",
        path(),
        expect![[r#"
            {"path":"{scratch}/a.txt"}
            {"path":"{scratch}/a.txt"}
            {"path":"{scratch}/b.txt"}"#]],
    );
    let repository = || object(json!({"repo_path": {"type": "string"}}));
    check(
        "git_status",
        repository(),
        expect![[r#"
            {"repo_path":"{scratch}"}
            {"repo_path":"{scratch}"}
            {"repo_path":"{scratch}/b"}"#]],
    );
    check(
        "git_add",
        repository(),
        expect![[r#"
            {"repo_path":"{scratch}/a"}
            {"repo_path":"{scratch}/a"}
            {"repo_path":"{scratch}/b"}"#]],
    );
    let want = Want { there: true, ..Want::default() };
    let added = sampler("git_add", repository()).sample(&want, &Pool::default());
    assert_eq!(added, Some(json!({"repo_path": "{scratch}"})));
}

#[test]
fn who_chooses_a_folder_chooses_one_that_is_there_and_not_one_outside() {
    let path = || object(json!({"path": {"type": "string"}}));
    let chosen = |name: &str| sampler(name, path()).sample(&Want::default(), &Pool::default()).unwrap();
    assert_eq!(chosen("set_project_path"), json!({"path": "{scratch}"}));
    assert_eq!(chosen("set_file_in_project"), json!({"path": "{scratch}/a.txt"}));
    let there = Want { there: true, ..Want::default() };
    let added = sampler("add_project", path()).sample(&there, &Pool::default());
    assert_eq!(added, Some(json!({"path": "{scratch}"})));
    let mut pool = Pool::default();
    pool.learn("get_settings", &json!({}), &json!({"path": "/tmp/elsewhere/default"}), 0);
    let seen = |name: &str| {
        sampler(name, path()).sample(&Want { source: Source::Seen, ..Want::default() }, &pool).unwrap()
    };
    assert_eq!(seen("save_settings"), json!({"path": "{scratch}/a.txt"}));
    assert_eq!(seen("read_settings"), json!({"path": "/tmp/elsewhere/default"}), "who only reads may look");
}

#[test]
fn dates_are_told_where_a_name_ends_in_one() {
    let string = json!({"type": "string"});
    let tool = sampler("schedule_post", object(json!({"dueDate": string, "scheduled_time": string})));
    let told = tool.sample(&Want::default(), &Pool::default());
    let expected = json!({"dueDate": "2030-01-01", "scheduled_time": "2030-01-01T12:00:00+00:00"});
    assert_eq!(told, Some(expected));
    let later = tool.sample(&Want { variant: 1, ..Want::default() }, &Pool::default()).unwrap();
    assert_eq!(later.get("dueDate"), Some(&json!("2030-01-02")), "another one each time");
}

#[test]
fn cells_have_addresses_and_sheets_have_names() {
    let string = json!({"type": "string"});
    check(
        "fill_range",
        object(json!({"sheet": string, "start_cell": string, "range": string, "text": string})),
        expect![[r#"
            {"range":"A1:B2","sheet":"sheet-a","start_cell":"A1","text":"alpha beta one"}
            {"range":"A1:B2","sheet":"sheet-a","start_cell":"A1","text":"alpha beta two"}
            {"range":"A1:B2","sheet":"sheet-b","start_cell":"A1","text":"alpha beta one"}"#]],
    );
}

#[test]
fn a_sheet_that_an_answer_names_is_taken() {
    let string = json!({"type": "string"});
    let sampler = sampler("fill_range", object(json!({"sheet": string, "text": string})));
    let mut pool = Pool::default();
    pool.learn("describe_workbook", &json!({}), &json!({"sheets": ["Tabelle1"]}), 0);
    let seen = sampler.sample(&Want { source: Source::Seen, ..Want::default() }, &pool).unwrap();
    assert_eq!(seen.get("sheet"), Some(&json!("Tabelle1")));
    let made = sampler.sample(&Want { source: Source::Made, ..Want::default() }, &pool).unwrap();
    assert_eq!(made.get("sheet"), Some(&json!("sheet-a")));
}

#[test]
fn a_text_is_json_where_its_description_says_so() {
    let text = |said: &str| json!({"type": "string", "description": said});
    check(
        "add_record",
        object(json!({
            "fields": text("the fields as a JSON object"),
            "tags": text("a JSON array of tags"),
            "body": text("what is said"),
            "path": text("path of the JSON file"),
        })),
        expect![[r#"
            {"body":"alpha beta one","fields":"{\"note\":\"one\"}","path":"{scratch}/a.txt","tags":"[\"one\"]"}
            {"body":"alpha beta two","fields":"{\"note\":\"two\"}","path":"{scratch}/a.txt","tags":"[\"two\"]"}
            {"body":"alpha beta one","fields":"{\"note\":\"one\"}","path":"{scratch}/b.txt","tags":"[\"one\"]"}"#]],
    );
}
