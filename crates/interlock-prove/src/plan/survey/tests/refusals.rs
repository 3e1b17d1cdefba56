//! What is learnt of how calls are refused, and of what a second call does.

use super::*;

#[tokio::test]
async fn a_reader_that_a_refusal_names_is_asked_first() {
    let string = json!({"type": "string"});
    let tools = [
        tool("note_add", json!({"text": string}), json!({})),
        tool("get_guidelines", json!({}), json!({"readOnlyHint": true})),
        tool("note_list", json!({"limit": string}), json!({"readOnlyHint": true})),
    ];
    // It is not among the questions that are asked before the call: there is room for few.
    let survey = surveyed(
        (false, 0, 0),
        &tools,
        |(is_read, count, calls), name, _| {
            *calls += 1;
            match name {
                _ if *calls > 5 => Err("too many calls".into()),
                "get_guidelines" => {
                    *is_read = true;
                    Ok(json!({"text": "be nice"}))
                }
                "note_list" => Ok(json!({ "count": count })),
                _ if !*is_read => Err("Call get_guidelines first.".into()),
                _ => {
                    *count += 1;
                    Ok(json!({"ok": true}))
                }
            }
        },
        &Bounds::default(),
    )
    .await;
    let added = survey.surface.tools.iter().find(|tool| tool.name == "note_add").unwrap();
    assert_eq!(added.setup.iter().map(|call| call.tool.as_str()).collect::<Vec<_>>(), ["get_guidelines"]);
}

#[tokio::test]
async fn what_a_corrected_call_is_refused_with_is_corrected_too() {
    let string = json!({"type": "string"});
    let tools = [
        tool("note_add", json!({"text": string, "kind": string, "mood": string}), json!({})),
        tool("note_list", json!({}), json!({"readOnlyHint": true})),
    ];
    let survey = surveyed(
        0,
        &tools,
        |count, name, arguments| {
            let wrong = |argument: &str, right: &[&str]| !right.contains(&text(arguments, argument).as_str());
            match name {
                "note_list" => Ok(json!({ "count": count })),
                _ if wrong("kind", &["idea", "fact"]) => Err("kind must be one of: idea, fact".into()),
                _ if wrong("mood", &["good", "bad"]) => Err("mood must be one of: good, bad".into()),
                _ => {
                    *count += 1;
                    Ok(json!({"ok": true}))
                }
            }
        },
        &Bounds::default(),
    )
    .await;
    let added = survey.surface.tools.iter().find(|tool| tool.name == "note_add").unwrap();
    assert_eq!(added.effect, Effectful::Writes, "{survey:#?}");
    assert_eq!(
        (&added.samples[0].arguments["kind"], &added.samples[0].arguments["mood"]),
        (&json!("idea"), &json!("good"))
    );
    assert_eq!(survey.never_accepted, []);
}

#[tokio::test]
async fn a_writer_that_refuses_everything_is_known_as_one_and_what_reads_or_reaches_out_is_none() {
    let string = json!({"type": "string"});
    let tools = ["note_add", "frobnicate", "get_note", "send_note"]
        .map(|name| tool(name, json!({"text": string}), json!({})));
    let refuse = |_: &mut (), _: &str, _: &Value| -> Result<Value, String> { Err("not today".to_owned()) };
    let survey = surveyed_with_leave((), &tools, refuse, &Bounds::default(), true).await;
    let never: Vec<&str> = survey.never_accepted.iter().map(|(tool, _)| tool.as_str()).collect();
    assert_eq!(never, ["note_add", "frobnicate"]);
    assert_eq!(survey.never_accepted[0].1, "not today");
}

/// The argument that is taken for a key of an entry that is added, with this said of it, where a known one is passed over or not.
async fn key_of(said: &str, is_key: bool) -> Option<String> {
    let property = json!({"type": "string", "description": said});
    let tools = [
        tool("add_entry", json!({"title": {"type": "string"}, "requestId": property}), json!({})),
        tool("list_entries", json!({}), json!({"readOnlyHint": true})),
    ];
    let survey = surveyed(
        (is_key, Vec::<Value>::new()),
        &tools,
        |(is_key, entries), name, arguments| {
            let is_known = entries.iter().any(|entry| entry["requestId"] == arguments["requestId"]);
            if name == "add_entry" && !(*is_key && is_known) {
                entries.push(arguments.clone());
            }
            Ok(if name == "add_entry" { json!({"ok": true}) } else { json!({ "entries": entries }) })
        },
        &Bounds::default(),
    )
    .await;
    let added = survey.surface.tools.into_iter().find(|tool| tool.name == "add_entry").unwrap();
    assert_eq!(added.effect, Effectful::Writes);
    added.idempotency_argument
}

#[tokio::test]
async fn a_request_id_is_a_key_only_if_it_is_said_to_be_one_or_behaves_like_one() {
    assert_eq!(key_of("a label", false).await, None);
    assert_eq!(key_of("a label", true).await.as_deref(), Some("requestId"));
    assert_eq!(key_of("Key for deduplication of retries", false).await.as_deref(), Some("requestId"));
}
