//! The proofs that the formats are shown with.

use std::time::Duration;

use interlock_model::{
    Answer, CallRecord, CallSet, Confinement, Evidence, Explored, Fault, Folders, HazardId, History, IoTick,
    Learnt, LegalOutcome, Outcome, PlannedCall, ProofReport, Refusal, Schedule, Seen, SetReport, StaleWindow,
    TickKind, Verdict, Writers,
};
use serde_json::{Value, json};

pub(super) fn micros(micros: u64) -> Duration {
    Duration::from_micros(micros)
}

pub(crate) fn remedies(hazard: &HazardId) -> Option<String> {
    (hazard.as_str() == "lost-update").then(|| {
        "Hold one lock from the read to the write, or put a guard in front: \
         interlock guard --lock '*=graph' -- node dist/index.js"
            .to_owned()
    })
}

pub(super) fn explored(calls: u64, trials: u64, techniques: &[&str], schedules: u64) -> Explored {
    Explored {
        calls,
        trials,
        techniques: techniques.iter().map(|name| (*name).to_owned()).collect(),
        schedules,
        walked: Duration::from_nanos(schedules.saturating_mul(21_000_000)),
        exhausted: false,
    }
}

fn entity(name: &str) -> Value {
    json!({"entityType": "person", "name": name, "observations": [format!("{name} was here")]})
}

/// A result as servers send it: once as text, once as it is.
pub(super) fn said(value: Value) -> Value {
    json!({
        "content": [{"type": "text", "text": serde_json::to_string_pretty(&value).unwrap()}],
        "structuredContent": value,
    })
}

fn graph(names: &[&str]) -> Seen {
    let entities: Vec<Value> = names.iter().map(|name| entity(name)).collect();
    Seen::Result(said(json!({"entities": entities, "relations": []})))
}

fn created(name: &str) -> Value {
    said(json!({"entities": [entity(name)]}))
}

pub(super) fn tick(call: usize, at: u64, kind: TickKind, on: &str) -> IoTick {
    IoTick { call: Some(call), at: micros(at), kind, on: on.into() }
}

/// Two calls in one write: both read the file, both write it, and the entity of the first is gone.
pub(crate) fn lost_entity() -> SetReport {
    let call = |name: &str| PlannedCall::new("create_entities", json!({"entities": [entity(name)]}));
    let record = |name: &str, at: u64| CallRecord {
        tool: "create_entities".into(),
        arguments: json!({"entities": [entity(name)]}),
        sent: micros(0),
        answer: Answer::Result { at: micros(at), value: created(name) },
    };
    let answers = vec![Seen::Result(created("ada")), Seen::Result(created("bob"))];
    let legal = |names: &[&str], order: &[usize]| LegalOutcome {
        outcome: Outcome { answers: answers.clone(), reads: vec![graph(names)] },
        orders: vec![order.to_vec()],
    };
    SetReport {
        set: CallSet {
            name: "create_entities + create_entities".into(),
            hazard: Some(HazardId::from_static("lost-update")),
            calls: vec![call("ada"), call("bob")],
            reads: vec![PlannedCall::new("read_graph", json!({}))],
            ..CallSet::default()
        },
        verdict: Verdict::Broken,
        reason: "both calls succeed, and one of the entities is gone".into(),
        explored: explored(34, 1, &["one-write"], 0),
        evidence: Some(Evidence {
            history: History {
                calls: vec![record("ada", 3_104), record("bob", 4_206)],
                ticks: vec![
                    tick(0, 310, TickKind::Read, "readFile memory.jsonl"),
                    tick(1, 350, TickKind::Read, "readFile memory.jsonl"),
                    tick(0, 1_420, TickKind::Write, "writeFile memory.jsonl"),
                    tick(1, 2_980, TickKind::Write, "writeFile memory.jsonl"),
                ],
            },
            schedule: Schedule::default(),
            observed: Outcome { answers: answers.clone(), reads: vec![graph(&["bob"])] },
            legal: vec![legal(&["ada", "bob"], &[0, 1]), legal(&["bob", "ada"], &[1, 0])],
            violated: vec![],
            stale: Some(StaleWindow { call: 1, from: micros(350), to: micros(2_980) }),
            again: (20, 20),
            replay: Some("replay/create_entities.json".into()),
        }),
    }
}

pub(crate) fn held_set() -> SetReport {
    SetReport {
        set: CallSet {
            name: "add_observations + read_graph".into(),
            calls: vec![
                PlannedCall::new("add_observations", json!({})),
                PlannedCall::new("read_graph", json!({})),
            ],
            ..CallSet::default()
        },
        verdict: Verdict::Held,
        reason: "every outcome is one of the 2 that serial runs lead to".into(),
        explored: Explored {
            exhausted: true,
            ..explored(240, 60, &["one-write", "one-write + node-order", "one-write + offsets"], 20)
        },
        evidence: None,
    }
}

pub(super) fn unknown_set() -> SetReport {
    SetReport {
        set: CallSet {
            name: "delete_entities + delete_entities".into(),
            calls: vec![PlannedCall::new("delete_entities", json!({})); 2],
            ..CallSet::default()
        },
        verdict: Verdict::Unknown,
        reason: "the server exited with status 1 before it answered".into(),
        explored: explored(2, 0, &[], 0),
        evidence: None,
    }
}

fn report(verdict: Verdict, sets: Vec<SetReport>, notes: &[&str]) -> ProofReport {
    ProofReport {
        target: "node dist/index.js".into(),
        verdict,
        reason: None,
        writers: None,
        isolation: Confinement::default(),
        explored: explored(
            sets.iter().map(|set| set.explored.calls).sum(),
            sets.iter().map(|set| set.explored.trials).sum(),
            &["one-write"],
            sets.iter().map(|set| set.explored.schedules).sum(),
        ),
        sets,
        took: micros(1_840_000),
        notes: notes.iter().map(|note| (*note).to_owned()).collect(),
        learnt: Vec::new(),
    }
}

/// One set of each kind, the worst not first.
pub(crate) fn mixed() -> ProofReport {
    let notes = ["slow-files: not tried, the program is linked statically", "delete_all was not called"];
    report(Verdict::Broken, vec![held_set(), lost_entity(), unknown_set()], &notes)
}

pub(crate) fn held() -> ProofReport {
    report(Verdict::Held, vec![held_set()], &[])
}

pub(super) fn unknown() -> ProofReport {
    report(Verdict::Unknown, vec![unknown_set()], &["the server printed on its standard output"])
}

/// A server of which only readers could be called: they held, and that says little.
pub(super) fn only_read() -> ProofReport {
    let reason = "no writer was explored: `delete_all` may destroy something; --allow-destructive calls it";
    ProofReport { reason: Some(reason.into()), ..report(Verdict::Unknown, vec![held_set()], &[]) }
}

/// A server without a tool that could be called.
pub(super) fn nothing() -> ProofReport {
    report(Verdict::Unknown, vec![], &["no tool changes anything that another reads"])
}

pub(crate) fn broken() -> ProofReport {
    report(Verdict::Broken, vec![lost_entity()], &[])
}

/// Four calls with forty operations each, some at the same time.
pub(super) fn busy() -> SetReport {
    let mut set = lost_entity();
    let evidence = set.evidence.as_mut().unwrap();
    let name = "update_the_shared_document_of_the_whole_workspace_and_notify_everyone_who_follows_it";
    evidence.history.calls = (0..4)
        .map(|index| CallRecord {
            tool: name.into(),
            arguments: json!({ "index": index }),
            sent: micros(index * 120),
            answer: Answer::Result { at: micros(9_000 + index * 350), value: json!("ok") },
        })
        .collect();
    let mut ticks = Vec::new();
    for step in 0..40 {
        for call in 0..4 {
            let kind = [TickKind::Read, TickKind::Wait, TickKind::Write][(step + call) % 3];
            let at = 200 + step as u64 * 200 + call as u64 * 37 - (step % 5) as u64 * 60;
            ticks.push(tick(call, at, kind, "pwrite64 /var/lib/app/documents.sqlite-wal"));
        }
    }
    ticks.sort_by_key(|tick| tick.at);
    evidence.history.ticks = ticks;
    evidence.stale = Some(StaleWindow { call: 2, from: micros(1_800), to: micros(5_200) });
    set.set.calls = vec![PlannedCall::new(name, json!({"index": 0})); 4];
    set
}

/// A call of 0.3 ms beside one of 3 s, and one that is never answered.
pub(super) fn uneven() -> SetReport {
    let mut set = lost_entity();
    set.verdict = Verdict::Latent;
    let evidence = set.evidence.as_mut().unwrap();
    let [first, second] = evidence.history.calls.as_mut_slice() else { panic!() };
    first.answer = Answer::Result { at: micros(300), value: json!("ok") };
    second.sent = micros(40);
    second.answer = Answer::Error { at: micros(3_000_000), value: json!("timed out") };
    let gone = CallRecord {
        tool: "read_graph".into(),
        arguments: json!({}),
        sent: micros(90),
        answer: Answer::Missing { reason: "the process is gone".into() },
    };
    evidence.history.calls.push(gone);
    evidence.history.ticks = vec![
        tick(0, 80, TickKind::Read, "read /a"),
        tick(1, 100, TickKind::Read, "read /a"),
        tick(0, 220, TickKind::Write, "write /a"),
        tick(1, 2_999_900, TickKind::Write, "write /a"),
    ];
    evidence.stale = Some(StaleWindow { call: 1, from: micros(100), to: micros(2_999_900) });
    evidence.schedule.offsets = vec![micros(0), micros(40), micros(90)];
    set.set.calls.push(PlannedCall::new("read_graph", json!({})));
    set
}

/// Everything that comes from outside is meant to do harm.
pub(crate) fn hostile() -> ProofReport {
    const EVIL: &str = "a\u{1b}]0;x\u{7}\u{1b}[2J\r\n</svg></style></title><script>alert(1)</script> \" onload='x' &lt;b&gt; \
                        {{x}} \u{202e}\u{2028}\u{0}日本語";
    let mut set = lost_entity();
    set.set.name = EVIL.into();
    set.reason = EVIL.into();
    set.set.setup =
        vec![PlannedCall { tool: EVIL.into(), arguments: json!({ EVIL: EVIL }), meta: json!(EVIL) }];
    set.set.calls = vec![set.set.setup[0].clone(); 2];
    set.set.reads = set.set.setup.clone();
    let evidence = set.evidence.as_mut().unwrap();
    for call in &mut evidence.history.calls {
        call.tool = EVIL.into();
        call.arguments = json!(EVIL);
    }
    for tick in &mut evidence.history.ticks {
        tick.on = EVIL.into();
        tick.call = Some(usize::MAX);
    }
    evidence.history.calls[1].answer = Answer::Missing { reason: EVIL.into() };
    evidence.observed.answers = vec![Seen::Error(json!({ EVIL: EVIL })), Seen::Nothing];
    evidence.observed.reads = vec![Seen::Result(json!({ EVIL: [EVIL, "x".repeat(5_000)] }))];
    evidence.legal[0].outcome.reads = vec![Seen::Result(json!({ EVIL: [EVIL, EVIL] }))];
    evidence.legal[0].orders = vec![vec![usize::MAX], vec![]];
    evidence.violated = vec![EVIL.into()];
    evidence.stale = Some(StaleWindow { call: usize::MAX, from: Duration::MAX, to: Duration::ZERO });
    evidence.replay = Some(EVIL.into());
    ProofReport {
        target: EVIL.into(),
        verdict: Verdict::Broken,
        reason: Some(EVIL.into()),
        writers: Some(Writers { tried: usize::MAX, known: usize::MAX }),
        isolation: Confinement {
            said: vec![EVIL.into()],
            changed: vec![EVIL.into()],
            ..Confinement::default()
        },
        sets: vec![set],
        explored: explored(u64::MAX, u64::MAX, &[EVIL], u64::MAX),
        took: Duration::MAX,
        notes: vec![EVIL.into()],
        learnt: vec![Learnt {
            tool: EVIL.into(),
            setup: vec![PlannedCall::new(EVIL, json!({ EVIL: EVIL }))],
            works: None,
            sources: vec![(EVIL.into(), EVIL.into())],
            refused: vec![(PlannedCall::new(EVIL, json!({ EVIL: EVIL })), EVIL.into())],
        }],
    }
}

/// One that held and was not kept from writing elsewhere, which it did.
pub(super) fn loose() -> ProofReport {
    let isolation = Confinement {
        folders: Folders::Moved,
        files: Refusal::Open,
        network: Refusal::Refused,
        said: vec!["your files are not protected by the kernel".into()],
        changed: vec!["/srv/notes.txt is gone".into()],
    };
    ProofReport { isolation, ..held() }
}

/// A transfer that a crash cuts in two: the money has left one account and not reached the other.
pub(super) fn killed() -> SetReport {
    let accounts = |one: i64, other: i64| {
        vec![Seen::Result(
            json!({"accounts": {"a": {"balance": one, "currency": "EUR"}, "b": {"balance": other, "currency": "EUR"}}}),
        )]
    };
    let legal = |answers: Vec<Seen>, reads: Vec<Seen>, orders: Vec<Vec<usize>>| LegalOutcome {
        outcome: Outcome { answers, reads },
        orders,
    };
    SetReport {
        set: CallSet {
            name: "transfer, killed".into(),
            hazard: Some(HazardId::from_static("unprotected-multi-step")),
            setup: vec![PlannedCall::new("seed", json!({"a": 100, "b": 0}))],
            calls: vec![PlannedCall::new("transfer", json!({"from": "a", "to": "b", "amount": 40}))],
            reads: vec![PlannedCall::new("balances", json!({}))],
            fault: Fault::Kill { after: micros(900) },
            invariants: vec!["sum(reads[0].accounts) == 100".into()],
            ..CallSet::default()
        },
        verdict: Verdict::Broken,
        reason: "40 EUR have left one account and not reached the other".into(),
        explored: explored(12, 3, &["one-write"], 0),
        evidence: Some(Evidence {
            history: History {
                calls: vec![CallRecord {
                    tool: "transfer".into(),
                    arguments: json!({"from": "a", "to": "b", "amount": 40}),
                    sent: micros(0),
                    answer: Answer::Missing { reason: "the process is gone".into() },
                }],
                ticks: vec![tick(0, 610, TickKind::Write, "UPDATE accounts SET balance = balance - 40")],
            },
            schedule: Schedule::default(),
            observed: Outcome { answers: vec![Seen::Nothing], reads: accounts(60, 0) },
            legal: vec![
                legal(vec![Seen::Nothing], accounts(100, 0), vec![vec![]]),
                legal(vec![Seen::Result(json!("done"))], accounts(60, 40), vec![vec![0]]),
            ],
            violated: vec!["sum(reads[0].accounts) == 100".into()],
            stale: None,
            again: (5, 5),
            replay: None,
        }),
    }
}
