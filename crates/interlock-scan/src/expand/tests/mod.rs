//! Calls followed, on IR that is built by hand: what the shapes of most real servers come to.

use std::collections::{BTreeMap, BTreeSet};

use interlock_hazards::view::Expanded;
use interlock_model::{
    Confidence, FileId, Span,
    ir::{
        AccessPath, Argument, Block, Body, Callee, Effect, Function, FunctionBuilder, FunctionId, Hold, Lock,
        Op, Program, Resource, Role, Root, Start, Term, Tool, Value, WriteMode,
    },
};

use super::{budget::steps, expand, later::SMALL};
use crate::{Analysed, analyse};

mod budget;
mod compact;
mod components;

/// The entry points of a program.
fn entries(program: &mut Program) -> Vec<Expanded> {
    expand(program).entries
}

fn function(line: u32, name: &str) -> FunctionBuilder {
    FunctionBuilder::new(name).span(Span::on_line(FileId(0), line))
}

fn program(functions: impl IntoIterator<Item = Function>) -> Program {
    let mut program = Program::default();
    program.add_file("server.ts");
    for function in functions {
        program.add_function(function);
    }
    program
}

/// What is found, as `hazard line tools`.
fn found(program: &Program) -> Vec<String> {
    let mut lines: Vec<String> = analyse(&mut program.clone())
        .found
        .iter()
        .map(|found| format!("{} {} {}", found.hazard.id, found.issue.span.line, found.issue.tools.join(" ")))
        .collect();
    lines.sort();
    lines
}

/// Reads a file, waits, and writes it back, from a line on.
fn reads_and_writes_back(b: &mut Body<'_>, line: u32, file: &str) {
    let seen = b.line(line).read("seen", Resource::File(file.into()));
    b.suspend();
    b.line(line + 1).write(Resource::File(file.into()), [seen], WriteMode::Blind);
}

/// Writes this many files that nobody reads.
fn reports(b: &mut Body<'_>, line: u32, files: u32) {
    for file in 0..files {
        let name = format!("report-{line}-{file}");
        b.line(line).write(Resource::File(name.as_str().into()), [], WriteMode::Append);
    }
}

fn lost(program: &Program) -> Vec<String> {
    found(program).into_iter().filter(|line| line.starts_with("lost-update")).collect()
}

fn owned(mut function: Function, asynchronous: bool) -> Function {
    function.owner = Some("server.ts::Graph".into());
    function.asynchronous = asynchronous;
    function
}

/// `load()` and `save()` of one object, called by two tools, one of which only reads.
fn graph(locked: bool) -> Program {
    let file = || Resource::File(Term::Path(AccessPath::this().field("path")));
    let load = owned(
        function(10, "Graph.load").body([], |b, []| {
            let raw = b.line(11).read("raw", file());
            b.suspend();
            let graph = b.line(12).derive("graph", [raw]);
            b.ret([graph]);
        }),
        true,
    );
    let save = owned(
        function(15, "Graph.save").body(["graph"], |b, [graph]| {
            b.line(16).write(file(), [graph], WriteMode::Atomic);
            b.line(16).write(file(), [graph], WriteMode::Blind);
            b.suspend();
        }),
        true,
    );
    let call = |b: &mut Body<'_>, name: &str, id: u32, arguments: Vec<Argument>| {
        let into = b.declare(name, interlock_model::ir::Origin::Step);
        b.push(Op::Call {
            into: Some(into),
            callee: Callee::Function(FunctionId(id)),
            receiver: Some(AccessPath::this()),
            arguments,
            awaited: true,
        });
        b.suspend();
        into
    };
    let add = owned(
        function(20, "Graph.add").body(["entity"], |b, [entity]| {
            let lock = Lock::cross_process(AccessPath::this().field("lock"));
            if locked {
                b.line(21).acquire(&lock, Hold::Exclusive);
            }
            b.line(22);
            let loaded = call(b, "loaded", 0, vec![]);
            let changed = b.line(23).derive("changed", [loaded, entity]);
            b.line(24);
            call(b, "saved", 1, vec![changed.into()]);
            if locked {
                b.line(25).release(&lock);
            }
        }),
        true,
    );
    let handler = |line, tool: &str, callee: u32, arguments: Vec<Argument>| {
        function(line, tool).handles(tool).body([], |b, []| {
            b.line(line + 1).push(Op::Call {
                into: None,
                callee: Callee::Function(FunctionId(callee)),
                receiver: Some(AccessPath::global("server.ts::graph")),
                arguments,
                awaited: true,
            });
            b.suspend();
        })
    };
    let [add_entity, read_graph] =
        [handler(30, "add_entity", 2, vec![]), handler(40, "read_graph", 0, vec![])];
    program([load, save, add, add_entity, read_graph])
}

#[test]
fn load_and_save_are_told_where_both_are_called() {
    assert_eq!(found(&graph(false)).first().map(String::as_str), Some("lost-update 22 add_entity"));
}

#[test]
fn a_lock_around_both_calls_silences_it_and_a_reader_never_speaks() {
    let lines = found(&graph(true));
    assert!(!lines.iter().any(|line| line.starts_with("lost-update")), "{lines:?}");
}

/// A callback that reads and writes, run by a helper that holds a lock around it, or does not.
fn with_lock(locks: bool) -> Program {
    let helper = function(1, "withLock").body(["run"], |b, [run]| {
        let lock = Lock::cross_process(AccessPath::global("server.ts::lock"));
        if locks {
            b.line(2).acquire(&lock, Hold::Exclusive);
        }
        b.line(3).try_finally(
            |b| {
                let result = b.line(3).call("result", Callee::Value(run), []);
                b.suspend();
                b.ret([result]);
            },
            |b| {
                if locks {
                    b.line(5).release(&lock);
                }
            },
        );
    });
    let caller = function(8, "rename").handles("rename").body(["id"], |b, [id]| {
        let closure = Argument::Closure { function: FunctionId(2), captures: vec![id.into()] };
        b.line(9).call("done", Callee::Function(FunctionId(0)), [closure]);
        b.suspend();
    });
    let mut closure = function(9, "rename.closure");
    let id = closure.capture("id");
    let closure = closure.body([], |b, []| {
        let file = || Resource::File(Term::Join(vec!["notes/".into(), id.into()]));
        let note = b.line(10).read("note", file());
        b.suspend();
        b.line(11).write(file(), [note], WriteMode::Blind);
        b.suspend();
    });
    program([helper, caller, closure])
}

#[test]
fn a_callback_runs_under_the_lock_of_the_helper_that_calls_it() {
    let silent = found(&with_lock(true));
    assert!(!silent.iter().any(|line| line.starts_with("lost-update")), "{silent:?}");
    assert!(found(&with_lock(false)).contains(&"lost-update 10 rename".to_owned()));
}

#[test]
fn what_is_not_waited_for_does_not_suspend_its_caller() {
    let tool = |awaited: bool| {
        let mut send = function(1, "send").body([], |b, []| b.line(2).suspend());
        send.asynchronous = true;
        let visit = function(5, "visit").handles("visit").body(["user"], |b, [user]| {
            let entry = || Resource::Shared(AccessPath::global("server.ts::sessions").at(user));
            let seen = b.line(6).read("seen", entry());
            b.line(7).push(Op::Call {
                into: None,
                callee: Callee::Function(FunctionId(0)),
                receiver: None,
                arguments: vec![],
                awaited,
            });
            let next = b.line(8).derive("next", [seen]);
            b.write(entry(), [next], WriteMode::Blind);
        });
        found(&program([send, visit]))
    };
    assert_eq!(tool(false), Vec::<String>::new());
    assert_eq!(tool(true), ["shared-session-state 6 visit"]);
}

#[test]
fn a_dispatch_by_name_is_entered_once_for_each_tool() {
    let mut dispatch = function(1, "dispatch").body(["name"], |b, [name]| {
        let then = b.line(2).nested(|b| reads_and_writes_back(b, 3, "one"));
        let otherwise = b.nested(|b| reads_and_writes_back(b, 6, "two"));
        b.line(2).push(Op::Check {
            on: vec![name],
            equal: Some("one".into()),
            asks: vec![],
            then,
            otherwise,
        });
    });
    let tool = |name: &str| Tool { name: name.into(), read_only: false, idempotent: false };
    dispatch.role = Role::Handler(vec![tool("one"), tool("two")]);
    assert_eq!(lost(&program([dispatch])), ["lost-update 3 one", "lost-update 6 two"]);
}

#[test]
fn functions_that_call_each_other_in_a_circle_come_to_an_end() {
    let turn = |line, name: &str, next: u32| {
        function(line, name).body([], |b, []| {
            b.call("again", Callee::Function(FunctionId(next)), []);
        })
    };
    assert_eq!(found(&program([turn(1, "a", 1), turn(2, "b", 0)])), Vec::<String>::new());
}

/// `adds()` reads and writes the file that it is given, `passes_on()` gives it `this.path`, and a tool calls that on an object.
fn through_two_calls(steps: u32) -> Program {
    let call = |b: &mut Body<'_>, id: u32, receiver: AccessPath, argument: Term| {
        b.push(Op::Call {
            into: None,
            callee: Callee::Function(FunctionId(id)),
            receiver: Some(receiver),
            arguments: vec![Argument::Term(argument)],
            awaited: true,
        });
        b.suspend();
    };
    let adds = owned(
        function(10, "Store.adds").body(["path"], |b, [path]| {
            let file = || Resource::File(path.into());
            let old = b.line(11).read("old", file());
            b.suspend();
            reports(b, 12, steps);
            let new = b.line(13).derive("new", [old]);
            b.write(file(), [new], WriteMode::Blind);
            b.suspend();
        }),
        true,
    );
    let passes_on = owned(
        function(20, "Store.passes_on").body(["_"], |b, [_]| {
            reports(b, 21, steps);
            call(b.line(22), 0, AccessPath::this(), AccessPath::this().field("path").into());
        }),
        true,
    );
    let tool = function(30, "handler").handles("add").body([], |b, []| {
        call(b.line(31), 1, AccessPath::global("server.ts::store"), Term::Unknown);
    });
    program([adds, passes_on, tool])
}

#[test]
fn what_is_put_in_later_is_bound_like_what_is_copied_at_once() {
    for steps in [0, u32::try_from(SMALL).unwrap() + 1] {
        let mut program = through_two_calls(steps);
        let found = found(&program);
        assert!(found.contains(&"lost-update 11 add".into()), "{steps}: {found:?}");
        let entries = entries(&mut program);
        let [entry] = entries.as_slice() else { panic!("{} ways in", entries.len()) };
        let mut files = BTreeSet::new();
        named_files(&entry.body, &mut files);
        files.retain(|file| !file.contains("report-"));
        let path = "Path(AccessPath { root: Global(\"server.ts::store\"), fields: [Name(\"path\")] })";
        assert_eq!(files, BTreeSet::from_iter([path.to_owned()]), "{steps}");
    }
}

/// The files that are read and written, with what the values that name them stand for; nothing may be left to be put in.
fn named_files(body: &Block, files: &mut BTreeSet<String>) {
    let mut names = BTreeMap::new();
    let mut pending: Vec<&Effect> = body.iter().rev().collect();
    while let Some(effect) = pending.pop() {
        match &effect.op {
            Op::Derive { into, term, .. } => drop(names.insert(*into, term)),
            Op::Read { of: Resource::File(term), .. } | Op::Write { to: Resource::File(term), .. } => {
                let mut term = term;
                while let Term::Path(AccessPath { root: Root::Value(value), .. }) = term
                    && let Some(named) = names.get(value)
                {
                    term = named;
                }
                files.insert(format!("{term:?}"));
            }
            Op::Call { callee: Callee::Pending(function), .. } => panic!("{function} was not put in"),
            op => pending.extend(op.blocks().rev().flat_map(|block| block.iter().rev())),
        }
    }
}

/// How sure it is that a timer writes a file in place, in a program with a tool of the same file or without any.
fn timer(with_tool: bool) -> Vec<Confidence> {
    let start = function(1, "start").at_start_up().body([], |b, []| {
        let body = b.nested(|b| reads_and_writes_back(b, 2, "state"));
        b.push(Op::Spawn { start: Start::Timer, body });
    });
    let tool = function(10, "tool").handles("look").body([], |b, []| {
        b.line(11).read("seen", Resource::File("other".into()));
    });
    let mut program = program([start].into_iter().chain(with_tool.then_some(tool)));
    let lost = |found: &analyse::AttributedIssue| found.hazard.id.as_str() == "lost-update";
    analyse(&mut program)
        .found
        .iter()
        .filter(|found| lost(found))
        .map(|found| found.issue.confidence)
        .collect()
}

#[test]
fn what_an_event_does_is_told_at_the_lowest_confidence_where_nobody_is_known_to_call() {
    assert_eq!(timer(true), [Confidence::Medium]);
    assert_eq!(timer(false), [Confidence::Low]);
}

#[test]
fn of_two_reads_of_what_is_written_back_only_the_last_one_is_told() {
    let file = || Resource::File("state".into());
    let tool = function(1, "login").handles("login").body([], |b, []| {
        let first = b.line(2).read("first", file());
        b.suspend();
        let last = b.line(4).read("last", file());
        b.line(5).write(file(), [first, last], WriteMode::Blind);
    });
    let mut program = program([tool]);
    let found = analyse(&mut program).found;
    let lost = found.iter().filter(|found| found.hazard.id.as_str() == "lost-update");
    let told: Vec<(u32, Confidence)> =
        lost.map(|found| (found.issue.span.line, found.issue.confidence)).collect();
    assert_eq!(told, [(4, Confidence::High)]);
}
