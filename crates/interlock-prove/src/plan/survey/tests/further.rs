//! Calls about a second thing, keys that are none, and corrections of corrections.

use super::*;

fn tasks(state: &mut BTreeMap<String, String>, name: &str, arguments: &Value) -> Result<Value, String> {
    let title = text(arguments, "title");
    match name {
        "list_tasks" => Ok(json!(state)),
        "create_task" => {
            state.entry(title).or_insert_with(|| "open".to_owned());
            Ok(json!({"ok": true}))
        }
        _ if !state.contains_key(&title) => Err(format!("Task {title} not found")),
        _ => {
            state.insert(title, "done".to_owned());
            Ok(json!({"ok": true}))
        }
    }
}

#[tokio::test]
async fn what_needs_a_set_up_is_called_about_another_thing_behind_a_longer_one() {
    let title = json!({"title": {"type": "string"}});
    let tools = [
        tool("create_task", title.clone(), json!({})),
        tool("complete_task", title, json!({})),
        tool("list_tasks", json!({}), json!({"readOnlyHint": true})),
    ];
    let survey = surveyed(BTreeMap::new(), &tools, tasks, &Bounds::default()).await;
    let complete = survey.surface.tools.iter().find(|tool| tool.name == "complete_task").unwrap();
    assert_eq!(complete.setup.len(), 2, "{complete:#?}");
    assert_eq!(complete.others.len(), 1, "{complete:#?}");
    assert_ne!(complete.others[0].arguments, complete.samples[0].arguments);
    let other = &complete.others[0].arguments["title"];
    assert!(complete.setup.iter().any(|made| made.arguments["title"] == *other), "{complete:#?}");
}

#[tokio::test]
async fn a_key_is_one_only_where_the_same_call_does_nothing_more() {
    let tools = [
        tool("add_entry", json!({"title": {"type": "string"}, "requestId": {"type": "string"}}), json!({})),
        tool("list_entries", json!({}), json!({"readOnlyHint": true})),
    ];
    let labelled = surveyed(
        Vec::new(),
        &tools,
        |entries: &mut Vec<Value>, name, arguments| match name {
            "list_entries" => Ok(json!(entries)),
            _ => {
                entries.push(arguments.clone());
                Ok(json!({"ok": true}))
            }
        },
        &Bounds::default(),
    )
    .await;
    assert_eq!(labelled.surface.tools[0].idempotency_argument, None);
    let keyed = surveyed(
        Vec::new(),
        &tools,
        |entries: &mut Vec<Value>, name, arguments| match name {
            "list_entries" => Ok(json!(entries)),
            _ => {
                if !entries.iter().any(|known| known["requestId"] == arguments["requestId"]) {
                    entries.push(arguments.clone());
                }
                Ok(json!({"ok": true}))
            }
        },
        &Bounds::default(),
    )
    .await;
    assert_eq!(keyed.surface.tools[0].idempotency_argument.as_deref(), Some("requestId"));
}

#[tokio::test]
async fn what_a_corrected_call_is_refused_with_corrects_it_further() {
    let string = json!({"type": "string"});
    let tools = [
        tool("create_task", json!({"title": string, "priority": string, "status": string}), json!({})),
        tool("list_tasks", json!({}), json!({"readOnlyHint": true})),
    ];
    let survey = surveyed(
        Vec::new(),
        &tools,
        |tasks: &mut Vec<Value>, name, arguments| {
            let told = |name: &str, allowed: &[&str]| {
                let value = text(arguments, name);
                let words = || format!("Invalid {name}. Must be one of: {}", allowed.join(", "));
                if allowed.contains(&value.as_str()) { Ok(()) } else { Err(words()) }
            };
            match name {
                "list_tasks" => Ok(json!(tasks)),
                _ => {
                    told("priority", &["low", "high"])?;
                    told("status", &["open", "done"])?;
                    tasks.push(arguments.clone());
                    Ok(json!({"ok": true}))
                }
            }
        },
        &Bounds::default(),
    )
    .await;
    let create = &survey.surface.tools[0];
    assert_eq!(create.effect, Effectful::Writes, "{create:#?}");
    assert_eq!(create.samples[0].arguments["status"], "open");
}
