//! What is a number that was dealt out to another, and what is a loss.

use interlock_model::{Outcome, Seen};
use serde_json::{Value, json};

use super::{MOST_PLACES, Numbers, pair::MOST_NUMBERS};
use crate::serial::Legal;

/// What two calls were told, and the tables that they leave.
fn outcome(told: [Value; 2], tables: Value) -> Outcome {
    let told = told.map(|value| Seen::Result(json!({ "structuredContent": value })));
    let read = json!({ "structuredContent": { "scratch:": { "data.db": tables } } });
    Outcome { answers: told.into(), reads: vec![Seen::Result(read)] }
}

/// Whether an outcome is one of two orders with other numbers.
fn is_legal(one: &Outcome, two: &Outcome, observed: &Outcome) -> bool {
    let legal = [(vec![0, 1], one), (vec![1, 0], two)]
        .map(|(order, outcome)| Legal { order, outcome: outcome.clone() });
    let numbers = Numbers::learn(legal.iter());
    legal.iter().any(|legal| numbers.same(&legal.outcome, observed))
}

/// Two accounts, each changed by a call of its own, whose versions and the ids of what was written of it come from one counter.
fn accounts(alice: [u64; 2], bob: [u64; 2], noted: [u64; 2]) -> Outcome {
    let [alice_has, alice] = alice;
    let [bob_has, bob] = bob;
    let told = [json!({"balance": alice_has, "version": alice}), json!({"balance": bob_has, "version": bob})];
    let tables = json!({
        "account": [
            {"name": "alice", "balance": alice_has, "version": alice},
            {"name": "bob", "balance": bob_has, "version": bob},
        ],
        "audit": [{"id": noted[0], "what": "credit"}, {"id": noted[1], "what": "credit"}],
    });
    outcome(told, tables)
}

#[test]
fn calls_that_take_turns_at_one_counter_harm_nobody() {
    let (one, two) = (accounts([110, 8], [20, 10], [9, 11]), accounts([110, 10], [20, 8], [9, 11]));
    let observed = accounts([110, 8], [20, 9], [9, 11]);
    assert!(is_legal(&one, &two, &observed));
}

#[test]
fn two_that_get_the_same_number_or_another_balance_are_a_loss() {
    let (one, two) = (accounts([110, 8], [20, 10], [9, 11]), accounts([110, 10], [20, 8], [9, 11]));
    for (what, observed) in [
        ("one number for two", accounts([110, 8], [20, 8], [9, 11])),
        ("a balance", accounts([100, 8], [20, 9], [9, 11])),
        ("balances in each other's place", accounts([20, 8], [110, 9], [9, 11])),
    ] {
        assert!(!is_legal(&one, &two, &observed), "{what}");
    }
    let mut told = accounts([110, 8], [20, 9], [9, 11]);
    told.answers[1] = Seen::Result(json!({ "structuredContent": {"balance": 20, "version": 10} }));
    assert!(!is_legal(&one, &two, &told), "what was told is not what is kept");
}

/// Two users, each with a line in a log that tells of it, and with two counters.
fn users(told: [u64; 2], ids: [u64; 2], lines: [[u64; 2]; 2]) -> Outcome {
    let told = told.map(|id| json!({ "userId": id, "made": true }));
    let user = |id, name| json!({"id": id, "name": name});
    let tables = json!({
        "users": [user(ids[0], "alice"), user(ids[1], "bob")],
        "log": lines.map(|[id, user]| json!({"id": id, "user_id": user, "what": "made"})),
    });
    outcome(told, tables)
}

#[test]
fn two_tables_may_count_in_different_orders() {
    let (one, two) = (users([1, 2], [1, 2], [[1, 1], [2, 2]]), users([2, 1], [2, 1], [[1, 1], [2, 2]]));
    assert!(is_legal(&one, &two, &users([1, 2], [1, 2], [[1, 2], [2, 1]])));
    assert!(is_legal(&one, &two, &users([2, 1], [2, 1], [[1, 2], [2, 1]])));
    assert!(is_legal(&one, &two, &users([1, 3], [1, 3], [[1, 1], [2, 3]])));
}

#[test]
fn a_number_that_tells_of_another_thing_is_a_loss() {
    let (one, two) = (users([1, 2], [1, 2], [[1, 1], [2, 2]]), users([2, 1], [2, 1], [[1, 1], [2, 2]]));
    for (what, observed) in [
        ("both lines tell of one user", users([1, 2], [1, 2], [[1, 2], [2, 2]])),
        ("a user that there is not", users([1, 2], [1, 2], [[1, 1], [2, 3]])),
        ("both are told of one", users([2, 2], [1, 2], [[1, 1], [2, 2]])),
        ("each is told of the other", users([2, 1], [1, 2], [[1, 2], [2, 1]])),
    ] {
        assert!(!is_legal(&one, &two, &observed), "{what}");
    }
}

/// What two payments into one account leave: a line for each, with what there was behind it.
fn payments(lines: [[u64; 3]; 2], balance: u64) -> Outcome {
    let line = |[id, amount, behind]: [u64; 3]| json!({"id": id, "amount": amount, "then": behind, "balance_after": behind});
    let tables = json!({ "lines": lines.map(line), "account": [{"id": 1, "balance": balance}] });
    outcome([json!("paid"), json!("paid")], tables)
}

#[test]
fn amounts_are_never_numbers_that_were_dealt() {
    let (one, two) = (payments([[1, 10, 10], [2, 20, 30]], 30), payments([[2, 10, 30], [1, 20, 20]], 30));
    for (what, observed) in [
        ("both looked before either wrote", payments([[1, 10, 10], [2, 20, 20]], 30)),
        ("one is lost", payments([[1, 10, 10], [2, 20, 20]], 20)),
        ("the lines are of one order and the amounts of another", payments([[1, 10, 30], [2, 20, 20]], 30)),
    ] {
        assert!(!is_legal(&one, &two, &observed), "{what}");
    }
}

#[test]
fn a_version_that_counts_the_changes_of_one_thing_has_to_be_right() {
    let run = |alice: u64, bob: u64, kept: u64| {
        let tables = json!({ "document": [{"name": "a", "text": "same", "version": kept}] });
        outcome([json!({"version": alice}), json!({"version": bob})], tables)
    };
    let (one, two) = (run(2, 3, 3), run(3, 2, 3));
    assert!(!is_legal(&one, &two, &run(2, 2, 2)), "one change is lost");
    assert!(!is_legal(&one, &two, &run(2, 3, 2)), "what was told is gone");
    assert!(!is_legal(&one, &two, &run(2, 3, 4)), "there is one too many");
}

#[test]
fn columns_that_are_called_otherwise_follow_the_counter() {
    let run = |alice: u64, bob: u64, steps: [[u64; 2]; 2]| {
        let step = |[from, to]: [u64; 2], of: &str| json!({"of": of, "from": from, "to": to});
        let tables = json!({
            "record": [{"of": "alice", "version": alice}, {"of": "bob", "version": bob}, {"of": "all", "version": 11}],
            "step": [
                json!({"of": "alice", "from": null, "to": 1}), json!({"of": "bob", "from": null, "to": 2}),
                json!({"of": "all", "from": null, "to": 7}),
                step([1, alice], "alice"), step([2, bob], "bob"), step(steps[0], "all"), step(steps[1], "all"),
            ],
        });
        outcome([json!({"version": alice}), json!({"version": bob})], tables)
    };
    let (one, two) = (run(8, 10, [[7, 9], [9, 11]]), run(10, 8, [[7, 9], [9, 11]]));
    assert!(is_legal(&one, &two, &run(8, 9, [[7, 10], [10, 11]])));
    assert!(!is_legal(&one, &two, &run(8, 9, [[7, 9], [9, 11]])), "a number that two steps were given");
    assert!(!is_legal(&one, &two, &run(8, 10, [[7, 10], [9, 11]])), "nobody else's number changed");
}

#[test]
fn two_numbers_that_point_to_others_are_enough_where_the_columns_are_called_alike() {
    let is_explained = |from: &str| {
        let run = |alice: u64, bob: u64, all: u64| {
            let step =
                |before: Option<u64>, to: u64, of: &str| json!({"of": of, from: before, "came_to": to});
            let tables = json!({
                "record": [{"of": "alice", "version": alice}, {"of": "bob", "version": bob}, {"of": "all", "version": 11}],
                "step": [
                    step(None, 7, "all"), step(None, alice, "alice"), step(None, bob, "bob"),
                    step(Some(7), all, "all"), step(Some(all), 11, "all"),
                ],
            });
            outcome([json!({"version": alice}), json!({"version": bob})], tables)
        };
        is_legal(&run(8, 10, 9), &run(10, 8, 9), &run(9, 10, 8))
    };
    assert!(is_explained("came_from"));
    assert!(!is_explained("parent"), "two are among others by accident");
}

#[test]
fn rows_inside_of_rows_are_said_once_each() {
    // Said twice for each list around them, they would never come to an end.
    let nested = |id: u64| (0..100).fold(json!([{"id": id}]), |inside, _| json!([inside, [{"name": "a"}]]));
    let run = |alice: u64, bob: u64| {
        let told = [json!({ "id": alice }), json!({ "id": bob })];
        outcome(told, json!({ "alice": nested(alice), "bob": nested(bob) }))
    };
    let (one, two) = (run(1, 2), run(2, 1));
    assert!(is_legal(&one, &two, &run(1, 3)));
    assert!(!is_legal(&one, &two, &run(1, 1)), "one number for two");
}

#[test]
fn too_many_numbers_explain_nothing() {
    let kept = |count: u64| (1..=count).map(|id| json!({"id": id, "text": "same"})).collect::<Vec<_>>();
    let run = |alice: u64, bob: u64, count| {
        outcome([json!({"id": alice}), json!({"id": bob})], json!({ "notes": kept(count) }))
    };
    let legal = |count| is_legal(&run(1, 2, count), &run(2, 1, count), &run(1, 3, count));
    assert!(legal(3));
    assert!(!legal(u64::try_from(MOST_NUMBERS).unwrap()), "with the two that were told there are more");
}

#[test]
fn numbers_in_too_many_places_explain_nothing() {
    let run = |first: u64, second: u64, count: usize| {
        let kept: serde_json::Map<String, Value> = (0..count)
            .map(|at| (format!("of_{at}"), json!({ "version": if at % 2 == 0 { first } else { second } })))
            .collect();
        outcome([json!("done"), json!("done")], Value::Object(kept))
    };
    let legal = |count| is_legal(&run(1, 2, count), &run(2, 1, count), &run(1, 3, count));
    assert!(legal(MOST_PLACES));
    assert!(!legal(MOST_PLACES + 1));
}
