//! Rules on shapes that are built by hand: what other languages than those of the case pages will lower to.

use interlock_hazards::{
    find,
    view::{Expanded, Runs, View},
};
use interlock_model::{
    FileId, Span,
    ir::{
        AccessPath, Body, Bound, Callee, Change, Function, FunctionBuilder, FunctionId, Hold, Interleaving,
        Lock, Op, Origin, Program, Resource, Role, Server, Transport, WriteMode,
    },
};

/// A rule that stays silent.
const NOTHING: [u32; 0] = [];

/// The lines that a rule reports in a program whose functions call each other nowhere.
fn lines(hazard: &str, program: &Program) -> Vec<u32> {
    let runs = |function: &Function| match &function.role {
        Role::Handler(tools) => Runs::Call(tools.clone()),
        Role::StartUp => Runs::StartUp,
        Role::Helper => Runs::Unreached,
    };
    let expand = |(id, function): (u32, &Function)| Expanded {
        function: FunctionId(id),
        runs: runs(function),
        values: function.values.clone().into(),
        body: function.body.clone().into(),
    };
    let expanded: Vec<Expanded> = (0..).zip(&program.functions).map(expand).collect();
    let rule = find(hazard).and_then(|hazard| hazard.rule).expect("the hazard has a rule");
    let issues = rule(&View::new(program, &expanded));
    for issue in &issues {
        assert!(issue.witness.len() >= 2, "{hazard}: a witness takes two: {:?}", issue.witness);
        assert!(!issue.message.contains('\n') && !issue.message.ends_with('.'), "{}", issue.message);
    }
    let mut lines: Vec<u32> = issues.iter().map(|issue| issue.span.line).collect();
    lines.sort_unstable();
    lines
}

fn program(functions: impl IntoIterator<Item = Function>) -> Program {
    let mut program = Program::default();
    program.add_file("server.go");
    for function in functions {
        program.add_function(function);
    }
    program
}

fn function(line: u32, name: &str) -> FunctionBuilder {
    FunctionBuilder::new(name).span(Span::on_line(FileId(0), line)).interleaves_anywhere().fails_explicitly()
}

fn this(name: &str) -> AccessPath {
    AccessPath::this().field(name)
}

#[derive(Clone, Copy, PartialEq)]
enum Manager {
    /// Calls test the flag under a read lock, let go, and count themselves in later.
    CountsLate,
    /// Calls test and count in under one read lock, and close swaps the flag without it.
    SwapsOutside,
    /// The same, and close sets the flag under the write lock.
    Right,
}

fn manager(kind: Manager) -> Program {
    let lock = Lock::in_process(this("mu"));
    let flag = || Resource::Flag(this("closed"));
    let call = function(1, "Manager.CallTool").handles("call").body([], |b, []| {
        b.line(2).acquire(&lock, Hold::Shared);
        let closed = b.line(3).read("closed", flag());
        b.check(
            [closed],
            |b| {
                b.line(4).release(&lock);
                b.throw();
            },
            |_| {},
        );
        if kind == Manager::CountsLate {
            b.line(5).release(&lock);
        }
        b.line(6).push(Op::CountIn { group: this("wg") });
        if kind != Manager::CountsLate {
            b.line(7).release(&lock);
        }
        b.line(8).try_finally(
            |b| ask(b, Some(this("session"))),
            |b| b.line(9).push(Op::CountOut { group: this("wg") }),
        );
    });
    let close = function(12, "Manager.Close").body([], |b, []| {
        if kind != Manager::SwapsOutside {
            b.line(13).acquire(&lock, Hold::Exclusive);
        }
        let before = b.line(14).write_seen("before", flag(), [], WriteMode::Atomic, None);
        if kind != Manager::SwapsOutside {
            b.line(15).release(&lock);
        }
        b.line(16).check([before], |b| b.ret([]), |_| {});
        b.line(17).push(Op::Drain { group: this("wg") });
        b.line(18).push(Op::Close { handle: this("session") });
    });
    program([call, close])
}

fn ask(b: &mut Body<'_>, over: Option<AccessPath>) {
    b.push(Op::External {
        into: None,
        service: "upstream".into(),
        change: Change::None,
        from: vec![],
        idempotency: None,
        over,
    });
}

#[test]
fn a_call_that_counts_itself_in_behind_the_test_runs_into_the_close() {
    assert_eq!(lines("call-after-close", &manager(Manager::CountsLate)), [3]);
    assert_eq!(lines("call-after-close", &manager(Manager::SwapsOutside)), [3]);
    assert_eq!(lines("call-after-close", &manager(Manager::Right)), NOTHING);
}

#[test]
fn an_early_return_between_lock_and_unlock_leaves_it_held_and_a_straight_line_does_not() {
    let lock = Lock::in_process(this("mu"));
    let counted = |early: bool| {
        program([function(1, "Count").handles("count").body(["by"], |b, [by]| {
            b.line(2).acquire(&lock, Hold::Exclusive);
            if early {
                b.line(3).check([by], |b| b.ret([]), |_| {});
            }
            b.line(4).write(Resource::Shared(this("n")), [by], WriteMode::Blind);
            b.line(5).release(&lock);
        })])
    };
    assert_eq!(lines("lock-not-released", &counted(true)), [2]);
    assert_eq!(lines("lock-not-released", &counted(false)), NOTHING);
}

#[test]
fn a_deferred_close_has_to_stand_before_the_next_connect() {
    let connect = |deferred_first: bool| {
        program([FunctionBuilder::new("Connect").span(Span::on_line(FileId(0), 1)).body([], |b, []| {
            let open = |b: &mut Body<'_>| {
                b.line(3).repeat(Bound::Each, |b| {
                    let client = b.line(4).declare("client", Origin::Step);
                    b.push(Op::New { into: client, lock: None });
                    b.push(Op::Open { handle: client.into() });
                    b.suspend();
                });
            };
            if deferred_first {
                b.line(2).try_finally(open, |b| {
                    let each = b.line(6).declare("each", Origin::Step);
                    b.repeat(Bound::Each, |b| b.push(Op::Close { handle: each.into() }));
                });
            } else {
                open(b);
            }
        })])
    };
    assert_eq!(lines("leak-on-partial-init", &connect(false)), [4]);
    assert_eq!(lines("leak-on-partial-init", &connect(true)), NOTHING);
}

#[test]
fn a_socket_that_threads_write_to_in_pieces_needs_a_lock() {
    let lock = Lock::in_process(this("mu"));
    let send = |locked: bool, interleaving: Interleaving| {
        let mut send = FunctionBuilder::new("Send").span(Span::on_line(FileId(0), 1)).handles("send").body(
            ["data"],
            |b, [data]| {
                if locked {
                    b.line(2).acquire(&lock, Hold::Exclusive);
                }
                b.line(3).write(Resource::Stream(this("socket")), [data], WriteMode::Pieces);
                if locked {
                    b.line(4).release(&lock);
                }
            },
        );
        send.interleaving = interleaving;
        program([send])
    };
    assert_eq!(lines("interleaved-output", &send(false, Interleaving::Anywhere)), [3]);
    assert_eq!(lines("interleaved-output", &send(true, Interleaving::Anywhere)), NOTHING);
    assert_eq!(lines("interleaved-output", &send(false, Interleaving::AtSuspension)), NOTHING);
}

#[test]
fn one_finding_for_each_server_on_the_network_that_limits_nobody() {
    let mut program = program([function(1, "Ask").handles("ask").body([], |b, []| ask(b, None))]);
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
    assert_eq!(lines("no-caller-limit", &program), [10]);
}

#[test]
fn an_unknown_call_under_a_lock_can_fail() {
    let lock = Lock::in_process(this("mu"));
    let held = program([FunctionBuilder::new("Run").span(Span::on_line(FileId(0), 1)).handles("run").body(
        [],
        |b, []| {
            b.line(2).acquire(&lock, Hold::Exclusive);
            b.line(3).call("result", Callee::Named("work".into()), []);
            b.line(4).release(&lock);
        },
    )]);
    assert_eq!(lines("lock-not-released", &held), [2]);
}

#[test]
fn a_word_that_a_project_adds_counts_like_those_of_the_lexicon() {
    let counted = |words: &[(&str, &str)]| {
        let count = || Resource::Shared(this("tally"));
        let mut program = program([FunctionBuilder::new("Ask")
            .span(Span::on_line(FileId(0), 1))
            .handles("ask")
            .body([], |b, []| {
                let seen = b.line(2).read("seen", count());
                b.line(3).check([seen], |b| b.throw(), |_| {});
                b.line(4).suspend();
                let next = b.line(5).derive("next", [seen]);
                b.line(6).write(count(), [next], WriteMode::Blind);
            })]);
        let add = |(topic, word): &(&str, &str)| ((*topic).into(), vec![(*word).into()]);
        program.words = words.iter().map(add).collect();
        lines("non-atomic-rate-limit", &program)
    };
    assert_eq!(counted(&[]), NOTHING, "nothing says that a tally is a limit");
    assert_eq!(counted(&[("limit", "tally")]), [2]);
    assert_eq!(counted(&[("no-such-list", "tally")]), NOTHING);
}
