//! A survey of servers that are written out here: real state, one fresh copy for each run.

mod further;

use std::{collections::BTreeMap, path::Path, sync::Mutex, time::Duration};

use expect_test::{Expect, expect};
use serde_json::json;

use super::*;
use crate::plan::restraint::Restraint;

mod refusals;

/// A server as a function on its state.
struct Fake<S: Clone + Send + Sync> {
    fresh: S,
    call: fn(&mut S, &str, &Value) -> Result<Value, String>,
    runs: Mutex<usize>,
    restraint: Restraint,
}

#[async_trait]
impl<S: Clone + Send + Sync> Runner for Fake<S> {
    async fn serial(&self, calls: &[PlannedCall]) -> Result<Vec<Answer>, String> {
        *self.runs.lock().unwrap() += 1;
        let mut state = self.fresh.clone();
        let (mut answers, mut told) = (Vec::new(), Vec::new());
        for call in calls {
            let call = call.filled(&told).map_err(|error| error.to_string())?;
            let at = Duration::ZERO;
            let answer = (self.call)(&mut state, &call.tool, &call.arguments);
            told.push(answer.clone().unwrap_or_default());
            answers.push(match answer {
                Ok(value) => Answer::Result { at, value: json!({"content": [], "structuredContent": value}) },
                Err(text) => Answer::Error {
                    at,
                    value: json!({"isError": true, "content": [{"type": "text", "text": text}]}),
                },
            });
        }
        Ok(answers)
    }

    fn withholds(&self, call: &PlannedCall) -> Option<Withheld> {
        self.restraint.withholds(call, Path::new("/nowhere"))
    }
}

fn tool(name: &str, properties: Value, hints: Value) -> Value {
    let required: Vec<&String> = properties.as_object().unwrap().keys().collect();
    json!({"name": name, "inputSchema": {"type": "object", "properties": properties, "required": required}, "annotations": hints})
}

async fn surveyed<S: Clone + Send + Sync>(
    fresh: S,
    tools: &[Value],
    call: fn(&mut S, &str, &Value) -> Result<Value, String>,
    bounds: &Bounds,
) -> Survey {
    surveyed_with_leave(fresh, tools, call, bounds, false).await
}

async fn surveyed_with_leave<S: Clone + Send + Sync>(
    fresh: S,
    tools: &[Value],
    call: fn(&mut S, &str, &Value) -> Result<Value, String>,
    bounds: &Bounds,
    allow_destructive: bool,
) -> Survey {
    let restraint = Restraint::new(Default::default(), allow_destructive);
    restraint.know_tools(tools);
    survey(tools, &Fake { fresh, call, runs: Mutex::default(), restraint }, bounds).await
}

fn check(survey: &Survey, expected: Expect) {
    let line = |calls: &[PlannedCall]| {
        calls.iter().map(|call| format!("{} {}", call.tool, call.arguments)).collect::<Vec<_>>().join(", ")
    };
    let mut text = String::new();
    for tool in &survey.surface.tools {
        text += &format!("{}: {:?}\n", tool.name, tool.effect);
        let once: Vec<PlannedCall> = tool.once.iter().cloned().collect();
        for (name, calls) in [
            ("setup", &tool.setup),
            ("samples", &tool.samples),
            ("others", &tool.others),
            ("once", &once),
            ("reads", &tool.reads),
        ] {
            if !calls.is_empty() {
                text += &format!("  {name}: {}\n", line(calls));
            }
        }
    }
    for note in &survey.notes {
        text += &format!("note: {note}\n");
    }
    expected.assert_eq(&text);
}

fn text(value: &Value, name: &str) -> String {
    value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}

#[tokio::test]
async fn readers_show_what_writers_change() {
    // A clock that no two readings agree on must not look like a change.
    #[derive(Clone, Default)]
    struct Notes {
        notes: BTreeMap<String, String>,
        clock: u32,
    }
    let string = json!({"type": "string"});
    let tools = [
        tool("list_notes", json!({}), json!({"readOnlyHint": true})),
        tool("get_note", json!({"title": string}), json!({"readOnlyHint": true})),
        tool("server_time", json!({}), json!({"readOnlyHint": true})),
        tool("save_note", json!({"title": string, "text": string}), json!({})),
        tool("validate", json!({"text": string}), json!({})),
        tool("delete_note", json!({"title": string}), json!({})),
        tool("send_note", json!({"title": string, "email": string}), json!({})),
    ];
    let survey = surveyed(
        Notes::default(),
        &tools,
        |state, name, arguments| {
            state.clock += 1;
            match name {
                "list_notes" => {
                    Ok(json!({"titles": state.notes.keys().collect::<Vec<_>>(), "at": state.clock}))
                }
                "get_note" => state
                    .notes
                    .get(&text(arguments, "title"))
                    .map(|text| json!({"text": text}))
                    .ok_or("not found".into()),
                "server_time" => Ok(json!({"at": state.clock})),
                "save_note" => {
                    state.notes.insert(text(arguments, "title"), text(arguments, "text"));
                    Ok(json!({"saved": true}))
                }
                "validate" => Ok(json!({"fine": true})),
                _ => panic!("{name} must not be called"),
            }
        },
        &Bounds::default(),
    )
    .await;
    check(
        &survey,
        expect![[r#"
        list_notes: Reads
          samples: list_notes {}
        get_note: Reads
          samples: get_note {"title":"note-a"}
        server_time: Reads
          samples: server_time {}
        save_note: Writes
          samples: save_note {"text":"alpha beta one","title":"note-a"}, save_note {"text":"alpha beta two","title":"note-a"}
          others: save_note {"text":"alpha beta one","title":"note-b"}, save_note {"text":"alpha beta one","title":"note-c"}
          reads: get_note {"title":"note-a"}, list_notes {}
        validate: Reads
          samples: validate {"text":"alpha beta one"}
        note: `delete_note` is not called: the word `delete` sounds destructive; --allow-destructive calls it
        note: `send_note` is not called: the word `send` sounds as if it reached beyond the server; --allow-destructive calls it
    "#]],
    );
}

#[tokio::test]
async fn what_must_be_there_first_is_made_by_another_tool_and_its_id_is_taken_from_the_answer() {
    #[derive(Clone, Default)]
    struct Tasks(BTreeMap<String, bool>);
    let string = json!({"type": "string"});
    let tools = [
        tool("complete_task", json!({"taskId": string}), json!({})),
        tool("get_task", json!({"taskId": string}), json!({})),
        tool("create_task", json!({"title": string}), json!({})),
    ];
    let survey = surveyed(
        Tasks::default(),
        &tools,
        |state, name, arguments| match name {
            "create_task" => {
                // An id that no caller can guess.
                let id = format!("{:x}", 0xbeef + text(arguments, "title").len());
                state.0.insert(id.clone(), false);
                Ok(json!({"task": {"taskId": id}}))
            }
            "complete_task" => match state.0.get_mut(&text(arguments, "taskId")) {
                Some(done) if !*done => {
                    *done = true;
                    Ok(json!({"done": true}))
                }
                Some(_) => Err("already completed".into()),
                None => Err("there is no such task".into()),
            },
            _ => state
                .0
                .get(&text(arguments, "taskId"))
                .map(|done| json!({"done": done}))
                .ok_or("not found".into()),
        },
        &Bounds::default(),
    )
    .await;
    check(
        &survey,
        expect![[r#"
            complete_task: Writes
              setup: create_task {"title":"task-a"}
              samples: complete_task {"taskId":"{answer:0/task/taskId}"}
              once: complete_task {"taskId":"{answer:0/task/taskId}"}
              reads: get_task {"taskId":"{answer:0/task/taskId}"}
            get_task: Reads
              samples: get_task {"taskId":"task-a"}
            create_task: Writes
              setup: create_task {"title":"task-a"}, complete_task {"taskId":"{answer:0/task/taskId}"}
              samples: create_task {"title":"task-a"}
              reads: get_task {"taskId":"{answer:0/task/taskId}"}
        "#]],
    );
}

#[tokio::test]
async fn a_counter_without_a_reader_is_known_by_its_answers_and_the_amount_that_drains_an_account_by_its_balance()
 {
    let string = json!({"type": "string", "examples": ["alice"]});
    let tools = [
        tool("next_number", json!({}), json!({})),
        tool("get_account", json!({"userId": string}), json!({"readOnlyHint": true})),
        tool(
            "spend",
            json!({"userId": string, "amount": {"type": "integer", "minimum": 1}}),
            json!({"destructiveHint": true}),
        ),
    ];
    let survey = surveyed_with_leave(
        (0, 100),
        &tools,
        |(counter, balance), name, arguments| match name {
            "next_number" => {
                *counter += 1;
                Ok(json!({"number": counter}))
            }
            _ if text(arguments, "userId") != "alice" => Err("no such account".into()),
            "get_account" => Ok(json!({"balance": balance})),
            _ => match *balance - arguments["amount"].as_i64().unwrap() {
                left if left < 0 => Err("too few".into()),
                left => {
                    *balance = left;
                    Ok(json!({"balance": left}))
                }
            },
        },
        &Bounds::default(),
        true,
    )
    .await;
    check(
        &survey,
        expect![[r#"
        next_number: Writes
          samples: next_number {}
          reads: next_number {}
        get_account: Reads
          samples: get_account {"userId":"alice"}
        spend: Writes
          samples: spend {"amount":1,"userId":"alice"}, spend {"amount":2,"userId":"alice"}
          once: spend {"amount":100,"userId":"alice"}
          reads: get_account {"userId":"alice"}
    "#]],
    );
}

#[tokio::test]
async fn a_limit_is_noticed_and_runs_stay_below_it() {
    let tools = [tool("ping", json!({}), json!({"readOnlyHint": true})), tool("add", json!({}), json!({}))];
    let survey = surveyed(
        (0, 0),
        &tools,
        |(calls, count), name, _| {
            *calls += 1;
            if *calls > 7 {
                return Err("429: slow down".into());
            }
            *count += i32::from(name == "add");
            Ok(json!({"count": count}))
        },
        &Bounds::default(),
    )
    .await;
    assert_eq!(survey.surface.limit, Some(7));
    assert_eq!(survey.surface.writers().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["add"]);
}

#[tokio::test]
async fn an_instance_is_started_only_for_what_the_others_cannot_show() {
    let string = json!({"type": "string"});
    let tools =
        [tool("list_notes", json!({}), json!({})), tool("add_note", json!({"text": string}), json!({}))];
    let call = |notes: &mut Vec<String>, name: &str, arguments: &Value| {
        if name == "add_note" {
            notes.push(text(arguments, "text"));
        }
        Ok(json!({"notes": notes}))
    };
    let restraint = Restraint::new(Default::default(), false);
    restraint.know_tools(&tools);
    let server = Fake { fresh: Vec::new(), call, runs: Mutex::default(), restraint };
    let survey = survey(&tools, &server, &Bounds::default()).await;
    assert_eq!(survey.surface.writers().count(), 1);
    // The readers with the look for a limit; the writer, also with other words; whether anything is left behind.
    assert_eq!(*server.runs.lock().unwrap(), 3);
}

#[tokio::test]
async fn a_survey_keeps_to_its_calls_and_survives_a_server_that_does_not() {
    struct Dead;
    #[async_trait]
    impl Runner for Dead {
        async fn serial(&self, _: &[PlannedCall]) -> Result<Vec<Answer>, String> {
            Err("the process ended".into())
        }

        fn withholds(&self, _: &PlannedCall) -> Option<Withheld> {
            None
        }
    }
    let tools: Vec<Value> = (0..50).map(|at| tool(&format!("add_{at}"), json!({}), json!({}))).collect();
    let survey = survey(&tools, &Dead, &Bounds { calls: 10, ..Bounds::default() }).await;
    assert!(survey.calls <= 10);
    assert!(survey.notes.iter().any(|note| note.contains("the process ended")), "{:?}", survey.notes);
}

#[tokio::test]
async fn what_a_refusal_names_comes_first_and_what_it_lists_is_told() {
    let string = json!({"type": "string"});
    let tools = [
        tool("note_add", json!({"text": string, "kind": string}), json!({})),
        tool("init_vault", json!({}), json!({})),
        tool("note_list", json!({}), json!({"readOnlyHint": true})),
    ];
    let survey = surveyed(
        (false, Vec::<String>::new()),
        &tools,
        |(is_open, notes), name, arguments| match name {
            "init_vault" => {
                *is_open = true;
                Ok(json!({"status": "ok"}))
            }
            "note_list" => Ok(json!({"notes": notes, "open": is_open})),
            // Refused inside of a result, as many servers do.
            _ if !["idea", "fact"].contains(&text(arguments, "kind").as_str()) => {
                Ok(json!({"status": "error", "message": "kind must be one of: idea, fact"}))
            }
            _ => {
                notes.push(text(arguments, "text"));
                Ok(json!({"count": notes.len()}))
            }
        },
        &Bounds::default(),
    )
    .await;
    let added = survey.surface.tools.iter().find(|tool| tool.name == "note_add").unwrap();
    assert_eq!(added.effect, Effectful::Writes, "{survey:#?}");
    assert_eq!(added.samples[0].arguments["kind"], "idea");
    assert_eq!(added.samples[1].arguments["kind"], "idea", "and in every other call");

    let survey = surveyed(
        (false, 0),
        &tools,
        |(is_open, count), name, _| match name {
            "init_vault" => {
                *is_open = true;
                Ok(json!({"status": "ok"}))
            }
            "note_list" => Ok(json!({"count": count, "open": is_open})),
            _ if !*is_open => Err("Nothing is open. Call init_vault first.".into()),
            _ => {
                *count += 1;
                Ok(json!({"count": count}))
            }
        },
        &Bounds::default(),
    )
    .await;
    let added = survey.surface.tools.iter().find(|tool| tool.name == "note_add").unwrap();
    assert_eq!(added.effect, Effectful::Writes, "{survey:#?}");
    assert_eq!(added.setup.iter().map(|call| call.tool.as_str()).collect::<Vec<_>>(), ["init_vault"]);
}

#[tokio::test]
async fn calls_that_somebody_named_are_made_as_they_are_and_what_shows_them_is_asked_about_the_same() {
    let string = json!({"type": "string"});
    let tools = [
        tool("get_note", json!({"title": string}), json!({"readOnlyHint": true})),
        tool("get_weather", json!({}), json!({"readOnlyHint": true})),
    ];
    let restraint = Restraint::new(Default::default(), false);
    restraint.know_tools(&tools);
    let call = |state: &mut BTreeMap<String, String>, name: &str, arguments: &Value| match name {
        "get_weather" => Ok(json!({"sky": "blue"})),
        "get_note" => state
            .get(&text(arguments, "title"))
            .map(|text| json!({"text": text}))
            .ok_or("not found".to_owned()),
        "drop" => Ok(json!({"dropped": state.remove(&text(arguments, "title"))})),
        _ => Ok(json!({"before": state.insert(text(arguments, "title"), text(arguments, "text"))})),
    };
    let fake = Fake { fresh: BTreeMap::new(), call, runs: Mutex::default(), restraint };
    let put = |text: &str| PlannedCall::new("put", json!({"title": "zeta", "text": text}));
    let drop = PlannedCall::new("drop", json!({"title": "zeta"}));
    let asked = PlannedCall::new("get_note", json!({"title": "zeta"}));
    let weather = PlannedCall::new("get_weather", json!({}));
    let (setup, calls) = ([put("old")], [put("new"), drop.clone()]);
    let named = NamedCalls { setup: &setup, calls: &calls, reads: &[] };
    let shown = shown_by(named, &tools, &fake, &Bounds::default()).await;
    assert_eq!((shown.reads, shown.is_shown), (vec![asked], true));
    // Two calls that undo each other are seen between them; what has nothing to do with them shows nothing.
    let (calls, reads) = ([put("new"), drop], [weather]);
    let named = NamedCalls { setup: &[], calls: &calls, reads: &reads };
    let shown = shown_by(named, &[], &fake, &Bounds::default()).await;
    assert_eq!((shown.reads, shown.is_shown), (reads.to_vec(), false));
}

/// A database as tools show it: tables by name, and how many rows each has.
type Tables = BTreeMap<String, usize>;

fn database(state: &mut Tables, name: &str, arguments: &Value) -> Result<Value, String> {
    let statement = text(arguments, "query");
    if name == "count_rows" {
        return Ok(json!(state));
    }
    if let Some(rest) = statement.strip_prefix("CREATE TABLE ") {
        let table = rest.split(' ').next().unwrap_or_default().to_owned();
        return match state.insert(table, 0) {
            None => Ok(json!({"done": true})),
            Some(_) => Err("table already exists".into()),
        };
    }
    let Some(rest) = statement.strip_prefix("INSERT INTO ") else { return Err("syntax error".into()) };
    let table = rest.split(' ').next().unwrap_or_default();
    let rows = state.get_mut(table).ok_or_else(|| format!("no such table: {table}"))?;
    *rows += 1;
    Ok(json!({"rows": *rows}))
}

#[tokio::test]
async fn the_table_that_a_statement_misses_is_made_first_and_both_are_told() {
    let sql = json!({"type": "string", "description": "The SQL statement to execute"});
    let tools = [
        tool("count_rows", json!({}), json!({"readOnlyHint": true})),
        tool("write_query", json!({ "query": sql }), json!({})),
    ];
    let survey = surveyed(Tables::new(), &tools, database, &Bounds::default()).await;
    let learnt: Vec<&Learnt> = survey.learnt.iter().filter(|learnt| learnt.tool == "write_query").collect();
    let [learnt] = learnt.as_slice() else { panic!("{:?}", survey.learnt) };
    let adds = "INSERT INTO item_a (id, note) VALUES ('a', 'alpha beta one')";
    assert_eq!(learnt.works, Some(PlannedCall::new("write_query", json!({ "query": adds }))));
    let makes = PlannedCall::new("write_query", json!({"query": "CREATE TABLE item_a (id TEXT, note TEXT)"}));
    assert_eq!(learnt.setup, [makes]);
    assert_eq!(learnt.sources, [("query".to_owned(), "made up".to_owned())]);
    let execute = survey.surface.tools.iter().find(|tool| tool.name == "write_query").unwrap();
    assert_eq!(execute.effect, Effectful::Writes);
}

#[tokio::test]
async fn of_a_tool_that_refuses_everything_the_calls_are_told_with_their_words() {
    let string = json!({"type": "string"});
    let tools = [tool("save_note", json!({"title": string, "licence": string}), json!({}))];
    let survey =
        surveyed(0_u8, &tools, |_, _, _| Err("the licence is not ours".into()), &Bounds::default()).await;
    let [learnt] = survey.learnt.as_slice() else { panic!("{:?}", survey.learnt) };
    assert_eq!(learnt.works, None);
    assert!(!learnt.refused.is_empty());
    assert!(learnt.refused.iter().all(|(_, said)| said == "the licence is not ours"), "{learnt:?}");
}

#[tokio::test]
async fn of_a_tool_that_works_at_once_only_the_sources_are_told() {
    let string = json!({"type": "string"});
    let kind = json!({"type": "string", "enum": ["fact", "todo"]});
    let tools = [
        tool("list_notes", json!({}), json!({"readOnlyHint": true})),
        tool("save_note", json!({"title": string, "kind": kind}), json!({})),
    ];
    let survey = surveyed(
        Tables::new(),
        &tools,
        |state, name, arguments| {
            if name == "save_note" {
                *state.entry(text(arguments, "title")).or_default() += 1;
            }
            Ok(json!(state))
        },
        &Bounds::default(),
    )
    .await;
    let [learnt] = survey.learnt.as_slice() else { panic!("{:?}", survey.learnt) };
    let source =
        |name: &str| learnt.sources.iter().find(|(own, _)| own == name).map(|(_, from)| from.as_str());
    assert_eq!(source("title"), Some("made up"));
    assert_eq!(source("kind"), Some("the schema"));
    assert_eq!(learnt.refused, []);
}
