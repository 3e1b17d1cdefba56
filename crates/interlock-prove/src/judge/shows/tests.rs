//! Outcomes as servers produce them, and what they are called.

use interlock_model::{Delivery, History, PlannedCall, Schedule};
use serde_json::json;

use super::*;

/// What the calls of a set are told, and what is read afterwards.
type Came<'a> = (&'a [Value], Value);

fn outcome((answers, read): Came<'_>) -> Outcome {
    // A text that begins with an exclamation mark is a refusal; nothing is a call that was not made.
    let seen = |value: &Value| match value {
        Value::Null => Seen::Nothing,
        Value::String(text) if text.starts_with('!') => Seen::Error(value.clone()),
        value => Seen::Result(value.clone()),
    };
    let reads = if read.is_null() { Vec::new() } else { vec![Seen::Result(read)] };
    Outcome { answers: answers.iter().map(seen).collect(), reads }
}

fn set(calls: &[&str]) -> CallSet {
    let call = |text: &&str| PlannedCall::new("tool", json!({ "say": text }));
    CallSet { calls: calls.iter().map(call).collect(), ..CallSet::default() }
}

fn evidence(observed: Came<'_>, legal: &[(&[usize], Came<'_>)]) -> Evidence {
    let legal = legal.iter().map(|(order, came)| LegalOutcome {
        outcome: outcome((came.0, came.1.clone())),
        orders: vec![order.to_vec()],
    });
    Evidence {
        history: History::default(),
        schedule: Schedule { delivery: Delivery::OneWrite, ..Schedule::default() },
        observed: outcome(observed),
        legal: legal.collect(),
        violated: Vec::new(),
        stale: None,
        again: (1, 1),
        replay: None,
    }
}

/// What two calls show, given what came of them together, in both orders, and of each alone.
fn shows(
    calls: [&str; 2],
    together: Came<'_>,
    full: [Came<'_>; 2],
    alone: [Came<'_>; 2],
    none: Value,
) -> Option<Shows> {
    let [one, two] = full;
    let [first, second] = alone;
    let legal: [(&[usize], Came<'_>); 5] = [
        (&[0, 1], one),
        (&[1, 0], two),
        (&[0], first),
        (&[1], second),
        (&[], (&[Value::Null, Value::Null], none)),
    ];
    Shows::of(&set(&calls), &evidence(together, &legal))
}

#[test]
fn two_creations_where_one_should_be_refused_are_too_many() {
    let (ok, no) = (json!("made"), json!("!exists"));
    let shown = shows(
        ["one", "two"],
        (&[ok.clone(), ok.clone()], json!({"a": "two"})),
        [(&[ok.clone(), no.clone()], json!({"a": "one"})), (&[no.clone(), ok.clone()], json!({"a": "two"}))],
        [
            (&[ok.clone(), Value::Null], json!({"a": "one"})),
            (&[Value::Null, ok.clone()], json!({"a": "two"})),
        ],
        json!({}),
    );
    assert_eq!(shown, Some(Shows::TooMany));
}

#[test]
fn an_entry_that_is_missing_is_lost_whatever_the_calls_were_told() {
    for told in [[json!("ok"), json!("ok")], [json!({"id": 1}), json!({"id": 1})]] {
        let (one, two) = (json!({"id": 1}), json!({"id": 2}));
        let shown = shows(
            ["a", "b"],
            (&told, json!(["b"])),
            [
                (&[one.clone(), two.clone()], json!(["a", "b"])),
                (&[two.clone(), one.clone()], json!(["b", "a"])),
            ],
            [(&[one.clone(), Value::Null], json!(["a"])), (&[Value::Null, one.clone()], json!(["b"]))],
            json!([]),
        );
        assert_eq!(shown, Some(Shows::Lost));
    }
}

#[test]
fn an_entry_that_is_there_twice_was_made_twice() {
    let ok = json!("ok");
    let full: Came<'_> = (&[ok.clone(), ok.clone()], json!(["a"]));
    let shown = shows(
        ["a", "a"],
        (&[ok.clone(), ok.clone()], json!(["a", "a"])),
        [(full.0, full.1.clone()), full],
        [(&[ok.clone(), Value::Null], json!(["a"])), (&[Value::Null, ok.clone()], json!(["a"]))],
        json!([]),
    );
    assert_eq!(shown, Some(Shows::Twice));
}

#[test]
fn what_one_call_prepares_for_all_was_loaded_twice() {
    let ok = json!("by connection 1");
    let full: [Came<'_>; 2] =
        [(&[ok.clone(), ok.clone()], json!("1")), (&[ok.clone(), ok.clone()], json!("1"))];
    let alone: [Came<'_>; 2] =
        [(&[ok.clone(), Value::Null], json!("1")), (&[Value::Null, ok.clone()], json!("1"))];
    let shown = shows(["a", "b"], (&[ok.clone(), ok.clone()], json!("2")), full, alone, json!("0"));
    assert_eq!(shown, Some(Shows::LoadedTwice), "the state says so");
    let token = |at: u32| json!({"token": format!("‹id {at}›")});
    let full = || -> (Vec<Value>, Value) { (vec![token(1), token(1)], json!([token(1)])) };
    let (answers, read) = full();
    let shown = shows(
        ["a", "a"],
        (&[token(1), token(2)], json!([token(2)])),
        [(&answers, read.clone()), (&answers, read)],
        [(&[token(1), Value::Null], json!([token(1)])), (&[Value::Null, token(1)], json!([token(1)]))],
        json!([]),
    );
    assert_eq!(shown, Some(Shows::LoadedTwice), "the answers say so");
}

#[test]
fn what_a_reader_saw_meanwhile_is_torn_or_cut_short() {
    let run = |seen: &str| {
        let done = json!("done");
        let (old, new) = (json!("hello, goodbye"), json!("bonjour, au revoir"));
        shows(
            ["write", "read"],
            (&[done.clone(), json!(seen)], new.clone()),
            [(&[done.clone(), new.clone()], new.clone()), (&[done.clone(), old.clone()], new.clone())],
            [(&[done.clone(), Value::Null], new.clone()), (&[Value::Null, old.clone()], old.clone())],
            old.clone(),
        )
    };
    assert_eq!(run("bonjour, goodbye"), Some(Shows::Torn));
    assert_eq!(run("bonjour"), Some(Shows::CutShort));
    assert_eq!(run(""), Some(Shows::Torn));
}

#[test]
fn who_is_answered_as_if_alone_trusted_what_was_old() {
    let (new, old) = (json!("created"), json!("nothing to create"));
    let shown = shows(
        ["a", "a"],
        (&[new.clone(), new.clone()], json!(["a"])),
        [(&[new.clone(), old.clone()], json!(["a"])), (&[old.clone(), new.clone()], json!(["a"]))],
        [(&[new.clone(), Value::Null], json!(["a"])), (&[Value::Null, new.clone()], json!(["a"]))],
        json!([]),
    );
    assert_eq!(shown, Some(Shows::Alone));
}

#[test]
fn a_state_of_two_orders_is_mixed_and_one_of_none_says_nothing() {
    let run = |read: Value| {
        let ok = json!("ok");
        let (french, german) = (json!("bonjour salut"), json!("hallo tag"));
        shows(
            ["fr", "de"],
            (&[ok.clone(), ok.clone()], read),
            [(&[ok.clone(), ok.clone()], german.clone()), (&[ok.clone(), ok.clone()], french.clone())],
            [(&[ok.clone(), Value::Null], french.clone()), (&[Value::Null, ok.clone()], german.clone())],
            json!("hello bye"),
        )
    };
    assert_eq!(run(json!("bonjour tag")), Some(Shows::Mixed));
    assert_eq!(run(json!("ciao ciao ciao")), None);
}

#[test]
fn the_hazard_that_was_looked_for_stays_only_where_it_can_look_like_that() {
    let id = |name: &str| name.parse::<HazardId>().unwrap();
    let called = |shows: Shows, planned: &str, on_files| shows.called(Some(&id(planned)), on_files).unwrap();
    assert_eq!(called(Shows::Lost, "shared-session-state", false), id("shared-session-state"));
    assert_eq!(called(Shows::Lost, "unsafe-lock-map", false), id("lost-update"));
    assert_eq!(called(Shows::TooMany, "lost-update", false), id("db-check-then-act"));
    assert_eq!(called(Shows::TooMany, "lost-update", true), id("file-check-then-act"));
    assert_eq!(Shows::Flood.called(None, false), Some(id("no-caller-limit")));
    assert!(Shows::Lost.fits(&id("unsafe-lock-map")) && !Shows::Lost.fits(&id("non-atomic-file-replace")));
    assert!(Shows::CutShort.fits(&id("non-atomic-file-replace")));
}

#[test]
fn every_name_is_one_of_the_catalogue() {
    let shows = [
        Shows::TooMany,
        Shows::Twice,
        Shows::LoadedTwice,
        Shows::Lost,
        Shows::Alone,
        Shows::Torn,
        Shows::CutShort,
        Shows::Mixed,
        Shows::OverLimit,
        Shows::Flood,
        Shows::Repeated,
        Shows::Killed,
        Shows::Left,
    ];
    for name in shows.iter().flat_map(|shows| shows.names()).chain(LOOK_THEN_ACT) {
        assert!(interlock_hazards::find(name).is_some(), "{name}");
    }
}
