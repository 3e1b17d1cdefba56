//! What rules say of steps that they do not report.

use std::sync::Arc;

use interlock_hazards::{
    ALL, Decision, Outcome, Reason,
    view::{Entry, Expanded, Facts, Runs, View},
};
use interlock_model::{
    FileId, Span,
    ir::{
        AccessPath, Aspect, Body, Function, FunctionBuilder, FunctionId, Hold, Lock, Program, Resource, Root,
        Server, Transport, WriteMode,
    },
};

fn counter() -> Resource {
    Resource::Shared(AccessPath::of(Root::Global("server.ts::counter".into())))
}

/// A program with one handler that reads a counter on line 2 and writes it back on line 8, with something in between.
fn counting(between: impl FnOnce(&mut Body<'_>)) -> Program {
    let mut program = Program::default();
    let file = program.add_file("server.ts");
    program.add_function(FunctionBuilder::new("count").span(Span::on_line(file, 1)).handles("count").body(
        [],
        |b, []| {
            let seen = b.line(2).read("seen", counter());
            between(b);
            let next = b.line(7).derive("next", [seen]);
            b.line(8).write(counter(), [next], WriteMode::Blind);
        },
    ));
    program
}

fn decisions(program: &Program, facts: Facts) -> Vec<Decision> {
    let expand = |(id, function): (u32, &Function)| Expanded {
        function: FunctionId(id),
        runs: Runs::Call(vec![]),
        values: function.values.clone().into(),
        body: function.body.clone().into(),
    };
    let expanded: Vec<Expanded> = (0..).zip(&program.functions).map(expand).collect();
    let facts = Arc::new(facts);
    let entries = expanded.iter().map(|expanded| Entry::new(program, &facts, expanded)).collect();
    View::of(program, entries).explain()
}

/// What is decided of the read and the write: the rule, or nothing for what is decided for all of them, and the outcome.
fn of_pair(program: &Program) -> Vec<(Option<String>, Outcome)> {
    let lines = |decision: &Decision| decision.spans.iter().map(|span| span.line).collect::<Vec<_>>();
    let all = decisions(program, Facts::explaining(program)).into_iter();
    let pairs = all.filter(|decision| lines(decision) == [2, 8]);
    pairs.map(|decision| (decision.hazard.map(|id| id.to_string()), decision.outcome)).collect()
}

#[test]
fn what_nothing_can_come_into_is_silent_for_that_reason() {
    assert_eq!(of_pair(&counting(|_| {})), [(None, Outcome::Silent(Reason::NoSuspension))]);
}

#[test]
fn a_lock_that_is_held_from_the_read_to_the_write_is_the_reason() {
    let lock = Lock::in_process(AccessPath::of(Root::Global("server.ts::mutex".into())));
    let mut program = Program::default();
    let file = program.add_file("server.ts");
    program.add_function(FunctionBuilder::new("count").span(Span::on_line(file, 1)).handles("count").body(
        [],
        |b, []| {
            b.line(1).acquire(&lock, Hold::Exclusive);
            let seen = b.line(2).read("seen", counter());
            b.line(3).suspend();
            b.line(8).write(counter(), [seen], WriteMode::Blind);
            b.line(9).release(&lock);
        },
    ));
    assert_eq!(of_pair(&program), [(None, Outcome::Silent(Reason::HeldLock))]);
}

#[test]
fn what_is_reported_is_among_the_decisions_and_so_is_why_others_leave_it() {
    let found = of_pair(&counting(|b| b.line(3).suspend()));
    assert_eq!(found, [(Some("stale-read-across-await".into()), Outcome::Reported)]);
}

#[test]
fn a_write_that_nothing_was_read_for_says_so() {
    let mut program = Program::default();
    let file = program.add_file("server.ts");
    program.add_function(FunctionBuilder::new("put").span(Span::on_line(file, 1)).handles("put").body(
        ["text"],
        |b, [text]| {
            let there = b.line(2).read_as("there", Resource::File("other.txt".into()), Aspect::Content, None);
            b.line(3).suspend();
            b.line(4).write(Resource::File("notes.txt".into()), [text, there], WriteMode::Blind);
        },
    ));
    let all = decisions(&program, Facts::explaining(&program));
    let of_write =
        |decision: &&Decision| decision.hazard.is_none() && decision.spans == [Span::on_line(FileId(0), 4)];
    let reasons: Vec<Outcome> = all.iter().filter(of_write).map(|decision| decision.outcome).collect();
    assert_eq!(reasons, [Outcome::Silent(Reason::NothingReadBefore)]);
}

/// What one rule decided, in the order of the source.
fn outcomes(hazard: &str, program: &Program) -> Vec<(u32, Outcome)> {
    let all = decisions(program, Facts::explaining(program)).into_iter();
    let own = all.filter(|decision| decision.hazard.as_ref().is_some_and(|id| id.as_str() == hazard));
    own.map(|decision| (decision.spans.first().map_or(0, |span| span.line), decision.outcome)).collect()
}

#[test]
fn a_lock_that_is_given_back_on_every_path_says_so() {
    let lock = Lock::in_process(AccessPath::of(Root::Global("server.ts::mutex".into())));
    let held = |fails: bool| {
        let mut program = Program::default();
        let file = program.add_file("server.ts");
        program.add_function(
            FunctionBuilder::new("count").span(Span::on_line(file, 1)).handles("count").body([], |b, []| {
                b.line(2).acquire(&lock, Hold::Exclusive);
                b.line(3).write(counter(), [], WriteMode::Blind);
                if fails {
                    b.line(4).suspend();
                }
                b.line(5).release(&lock);
            }),
        );
        outcomes("lock-not-released", &program)
    };
    assert_eq!(held(true), [(2, Outcome::Reported)]);
    assert_eq!(held(false), [(2, Outcome::Silent(Reason::AlwaysReleased))]);
}

#[test]
fn a_server_that_is_not_reported_has_a_reason_as_well() {
    let mut program = counting(|_| {});
    let server = |line: u32, transport: Transport, limited: bool| Server {
        span: Span::on_line(FileId(0), line),
        transport,
        handlers: [FunctionId(0)].into(),
        limited,
    };
    program.servers = vec![
        server(10, Transport::Http, false),
        server(11, Transport::Http, true),
        server(12, Transport::Stdio, false),
    ];
    let expected = [
        (10, Outcome::Reported),
        (11, Outcome::Silent(Reason::LimitsCallers)),
        (12, Outcome::Silent(Reason::OneClient)),
    ];
    assert_eq!(outcomes("no-caller-limit", &program), expected);
}

#[test]
fn nothing_is_noted_unless_somebody_asks() {
    let program = counting(|b| b.line(3).suspend());
    assert!(decisions(&program, Facts::of(&program)).is_empty());
}

#[test]
fn a_reason_is_called_by_a_name_that_no_hazard_has() {
    for reason in Reason::ALL {
        assert!(ALL.iter().all(|hazard| hazard.id.as_str() != reason.name()), "{reason}");
    }
}
