//! Calls followed, on IR that is built by hand: what the shapes of most real servers come to.

use std::collections::{BTreeMap, BTreeSet};

use interlock_model::{
    Confidence, FileId, Span,
    ir::{
        AccessPath, Argument, Block, Body, Callee, Effect, Function, FunctionBuilder, FunctionId, Hold, Lock,
        Op, Program, Resource, Role, Root, Start, Term, Tool, WriteMode,
    },
};

use super::{entries, later::SMALL, room::steps};
use crate::analyse;

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
        .iter()
        .map(|found| format!("{} {} {}", found.hazard.id, found.issue.span.line, found.issue.tools.join(" ")))
        .collect();
    lines.sort();
    lines
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
        b.line(2).push(Op::Check { on: vec![name], equal: Some("one".into()), then, otherwise });
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

#[test]
fn a_handler_of_many_tools_keeps_what_each_of_them_does() {
    // All ways at once are far more than one function may grow to.
    const TOOLS: u32 = 40;
    let report = function(1, "report").body([], |b, []| reports(b, 2, 250));
    let ways = (0..TOOLS).map(|tool| {
        let line = 100 * (tool + 1);
        function(line, "way").body([], |b, []| {
            b.line(line + 1).call("_", Callee::Function(FunctionId(0)), []);
            reports(b, line + 2, 100);
            reads_and_writes_back(b, line + 3, &format!("file-{tool}"));
            b.line(line + 5).call("_", Callee::Function(FunctionId(0)), []);
        })
    });
    // The handler calls the function that tells the tools apart.
    let dispatch = function(9_000, "dispatch").body(["name"], |b, [name]| {
        let mut otherwise = vec![];
        for tool in (0..TOOLS).rev() {
            let then = b.nested(|b| {
                b.line(9_000 + tool).call("_", Callee::Function(FunctionId(1 + tool)), []);
            });
            let equal = Some(format!("tool-{tool:02}").as_str().into());
            otherwise = b.nested(|b| {
                b.push(Op::Check { on: vec![name], equal, then, otherwise });
            });
        }
        otherwise.into_iter().for_each(|effect| b.push(effect.op));
    });
    let mut handler = function(9_900, "handler").body(["name"], |b, [name]| {
        b.line(9_901).call("_", Callee::Function(FunctionId(1 + TOOLS)), [name.into()]);
        b.suspend();
    });
    let tool = |name: String| Tool { name: name.as_str().into(), read_only: false, idempotent: false };
    handler.role = Role::Handler((0..TOOLS).map(|number| tool(format!("tool-{number:02}"))).collect());
    let program = program([report].into_iter().chain(ways).chain([dispatch, handler]));
    let expected: BTreeSet<String> =
        (0..TOOLS).map(|tool| format!("lost-update {} tool-{tool:02}", 100 * (tool + 1) + 3)).collect();
    assert_eq!(BTreeSet::from_iter(lost(&program)), expected);
}

#[test]
fn what_is_large_and_called_from_everywhere_leaves_room_for_the_rest() {
    // Followed at each of its calls, the helper would fill the handler three times over.
    let report = function(1, "report").body([], |b, []| reports(b, 2, 300));
    let step = function(10, "step").body([], |b, []| {
        b.line(11).call("_", Callee::Function(FunctionId(0)), []);
        reports(b, 12, 20);
    });
    let work = function(20, "work").body([], |b, []| {
        reads_and_writes_back(b, 21, "file");
        reports(b, 23, 190);
    });
    let handler = function(30, "handler").handles("work").body([], |b, []| {
        for line in 31..51 {
            b.line(line).call("_", Callee::Function(FunctionId(1)), []);
        }
        b.line(60).call("_", Callee::Function(FunctionId(2)), []);
    });
    assert_eq!(lost(&program([report, step, work, handler])), ["lost-update 21 work"]);
}

#[test]
fn what_is_large_and_waited_for_is_followed_on_each_of_two_ways() {
    // On one way the file is emptied first, so that its helpers have been followed before the change begins.
    let file = || Resource::File("file".into());
    let load = function(1, "load").body([], |b, []| {
        reports(b, 2, 250);
        let seen = b.line(3).read("seen", file());
        b.suspend();
        b.ret([seen]);
    });
    let save = function(10, "save").body(["data"], |b, [data]| {
        reports(b, 11, 250);
        b.line(12).write(file(), [data], WriteMode::Blind);
        b.suspend();
    });
    let clear = function(20, "clear").body([], |b, []| {
        b.line(21).call("_", Callee::Function(FunctionId(0)), []);
        b.line(22).call("_", Callee::Function(FunctionId(1)), [Argument::Term(Term::Unknown)]);
    });
    let change = function(30, "change").body([], |b, []| {
        let data = b.line(31).call("data", Callee::Function(FunctionId(0)), []);
        b.line(32).call("_", Callee::Function(FunctionId(1)), [data.into()]);
    });
    let handler = function(40, "handler").handles("change").body([], |b, []| {
        let mode = b.declare("mode", interlock_model::ir::Origin::Step);
        let then = b.nested(|b| {
            b.line(41).call("_", Callee::Function(FunctionId(2)), []);
            b.line(42).call("_", Callee::Function(FunctionId(3)), []);
        });
        let otherwise = b.nested(|b| {
            b.line(43).call("_", Callee::Function(FunctionId(3)), []);
        });
        b.push(Op::Check { on: vec![mode], equal: None, then, otherwise });
    });
    assert_eq!(lost(&program([load, save, clear, change, handler])), ["lost-update 31 change"]);
}

/// One tool with two operations, both of which together are more than its handler may grow to.
fn operations(locked: bool) -> Program {
    let operation = |line: u32, file: &str| {
        function(line, "operation").body([], |b, []| {
            reports(b, line + 1, 1_500);
            reads_and_writes_back(b, line + 2, file);
        })
    };
    let handler = function(40, "handler").handles("items").body([], |b, []| {
        let lock = Lock::cross_process(AccessPath::global("server.ts::lock"));
        if locked {
            b.line(41).acquire(&lock, Hold::Exclusive);
        }
        let mode = b.declare("mode", interlock_model::ir::Origin::Step);
        let call = |b: &mut Body<'_>, id: u32| {
            b.line(42 + id).call("_", Callee::Function(FunctionId(id)), []);
            b.suspend();
        };
        let then = b.nested(|b| call(b, 0));
        let otherwise = b.nested(|b| call(b, 1));
        b.push(Op::Check { on: vec![mode], equal: None, then, otherwise });
        if locked {
            b.line(45).release(&lock);
        }
    });
    program([operation(10, "first"), operation(20, "second"), handler])
}

#[test]
fn what_a_handler_has_no_room_for_is_a_way_in_of_its_own() {
    assert_eq!(lost(&operations(false)), ["lost-update 12 items", "lost-update 22 items"]);
}

#[test]
fn what_a_request_has_no_room_for_is_one_as_well_though_it_is_no_tool() {
    let mut program = operations(false);
    for function in &mut program.functions {
        if let Role::Handler(tools) = &mut function.role {
            tools.clear();
        }
    }
    assert_eq!(lost(&program), ["lost-update 12 ", "lost-update 22 "]);
}

#[test]
fn what_a_handler_has_no_room_for_may_be_under_its_lock() {
    assert_eq!(lost(&operations(true)), Vec::<String>::new());
}

/// The same two operations, in a function that another one calls for which the handler has no room.
fn operations_further_in(locked: bool) -> Program {
    let operation = |line: u32, file: &str| {
        function(line, "operation").body([], |b, []| {
            reports(b, line + 1, 1_500);
            reads_and_writes_back(b, line + 2, file);
        })
    };
    let guarded = function(30, "guarded").body([], |b, []| {
        let lock = Lock::cross_process(AccessPath::global("server.ts::lock"));
        if locked {
            b.line(31).acquire(&lock, Hold::Exclusive);
        }
        let mode = b.declare("mode", interlock_model::ir::Origin::Step);
        let call = |b: &mut Body<'_>, id: u32| {
            b.line(32 + id).call("_", Callee::Function(FunctionId(id)), []);
            b.suspend();
        };
        let then = b.nested(|b| call(b, 0));
        let otherwise = b.nested(|b| call(b, 1));
        b.push(Op::Check { on: vec![mode], equal: None, then, otherwise });
        if locked {
            b.line(35).release(&lock);
        }
    });
    let middle = function(36, "middle").body([], |b, []| {
        b.line(37).call("_", Callee::Function(FunctionId(2)), []);
        b.suspend();
    });
    let handler = function(40, "handler").handles("items").body([], |b, []| {
        reports(b, 41, 2_900);
        b.line(42).call("_", Callee::Function(FunctionId(3)), []);
        b.suspend();
    });
    program([operation(10, "first"), operation(20, "second"), guarded, middle, handler])
}

#[test]
fn what_there_is_no_room_for_may_be_under_a_lock_that_is_taken_on_the_way() {
    assert_eq!(lost(&operations_further_in(false)), ["lost-update 12 items", "lost-update 22 items"]);
    assert_eq!(lost(&operations_further_in(true)), Vec::<String>::new());
}

#[test]
fn what_is_small_but_called_at_every_step_leaves_room_for_the_rest() {
    let log = function(1, "log").body([], |b, []| reports(b, 2, 60));
    let work = function(20, "work").body([], |b, []| {
        for line in 21..51 {
            b.line(line).call("_", Callee::Function(FunctionId(0)), []);
        }
        reads_and_writes_back(b, 60, "file");
    });
    let handler = function(70, "handler").handles("work").body([], |b, []| {
        for line in 71..91 {
            b.line(line).call("_", Callee::Function(FunctionId(0)), []);
        }
        b.line(95).call("_", Callee::Function(FunctionId(1)), []);
    });
    assert_eq!(lost(&program([log, work, handler])), ["lost-update 60 work"]);
}

#[test]
fn what_is_left_out_for_its_size_still_lets_others_in() {
    let tool = |waits: bool| {
        let report = function(1, "report").body([], |b, []| {
            reports(b, 2, 900);
            if waits {
                b.line(3).suspend();
            }
        });
        // The large function is reached by another way before, so that here it is left out.
        let first = function(5, "first").body([], |b, []| {
            b.line(6).call("_", Callee::Function(FunctionId(0)), []);
        });
        let second = function(8, "second").body([], |b, []| {
            b.line(9).call("_", Callee::Function(FunctionId(0)), []);
            b.line(9).write(Resource::File("second".into()), [], WriteMode::Append);
        });
        let visit = function(10, "visit").handles("visit").body(["user"], |b, [user]| {
            let entry = || Resource::Shared(AccessPath::global("server.ts::sessions").at(user));
            b.line(11).call("_", Callee::Function(FunctionId(1)), []);
            let seen = b.line(12).read("seen", entry());
            b.line(13).call("_", Callee::Function(FunctionId(2)), []);
            let next = b.line(14).derive("next", [seen]);
            b.write(entry(), [next], WriteMode::Blind);
        });
        let found = found(&program([report, first, second, visit]));
        found.into_iter().filter(|line| line.starts_with("shared-session-state")).collect::<Vec<_>>()
    };
    assert_eq!(tool(true), ["shared-session-state 12 visit"]);
    assert_eq!(tool(false), Vec::<String>::new());
}

#[test]
fn wrappers_around_wrappers_come_to_an_end() {
    let functions = (0..300).map(|number: u32| {
        function(number + 1, "wrapper").body([], |b, []| {
            reports(b, number + 1, 20);
            if number > 0 {
                b.call("_", Callee::Function(FunctionId(number - 1)), []);
            }
        })
    });
    let largest = entries(&mut program(functions)).iter().map(|entry| steps(&entry.body)).max();
    assert!(largest.is_some_and(|largest| largest < 3_400), "{largest:?} steps");
}

/// Tools that all call one large function, which itself calls others back or not.
fn tools(many: u32, called_back: bool) -> Program {
    let large = function(1, "large").body(["then"], |b, [then]| {
        reports(b, 2, 1_000);
        if called_back {
            b.call("_", Callee::Value(then), []);
        }
    });
    let note = function(3, "note").body([], |b, []| reports(b, 4, 1));
    let tool = |number: u32| {
        function(number, "tool").handles(&format!("tool-{number}")).body([], |b, []| {
            let note = Argument::Closure { function: FunctionId(1), captures: vec![] };
            b.call("_", Callee::Function(FunctionId(0)), if called_back { vec![note] } else { vec![] });
        })
    };
    program([large, note].into_iter().chain((10..).take(many as usize).map(tool)))
}

#[test]
fn there_is_room_for_so_many_steps_and_what_is_beyond_is_told() {
    for called_back in [false, true] {
        let mut program = tools(900, called_back);
        let all: usize = entries(&mut program).iter().map(|entry| steps(&entry.body)).sum();
        assert!((300_000..700_000).contains(&all), "{all} steps");
        let [note] = &program.notes[..] else { panic!("{:?}", program.notes) };
        assert!(note.text.contains("room"), "{}", note.text);
    }
    let mut program = tools(100, false);
    let all: usize = entries(&mut program).iter().map(|entry| steps(&entry.body)).sum();
    assert!(all > 100_000 && program.notes.is_empty(), "{all} steps, {:?}", program.notes);
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
    let lost = |found: &analyse::Found| found.hazard.id.as_str() == "lost-update";
    analyse(&mut program).iter().filter(|found| lost(found)).map(|found| found.issue.confidence).collect()
}

#[test]
fn what_an_event_does_is_told_at_the_lowest_confidence_where_nobody_is_known_to_call() {
    assert_eq!(timer(true), [Confidence::Medium]);
    assert_eq!(timer(false), [Confidence::Low]);
}

#[test]
fn of_two_reads_of_what_is_written_back_the_last_one_is_told_for_sure() {
    let file = || Resource::File("state".into());
    let tool = function(1, "login").handles("login").body([], |b, []| {
        let first = b.line(2).read("first", file());
        b.suspend();
        let last = b.line(4).read("last", file());
        b.line(5).write(file(), [first, last], WriteMode::Blind);
    });
    let mut program = program([tool]);
    let found = analyse(&mut program);
    let lost = found.iter().filter(|found| found.hazard.id.as_str() == "lost-update");
    let told: Vec<(u32, Confidence)> =
        lost.map(|found| (found.issue.span.line, found.issue.confidence)).collect();
    assert_eq!(told, [(2, Confidence::Low), (4, Confidence::High)]);
}
