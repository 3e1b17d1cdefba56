//! How much is put into one function, what happens to the rest, and where it ends.

use interlock_model::ir::{Finish, Isolation, Transaction, Via};

use super::*;

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
                b.push(Op::Check { on: vec![name], equal, asks: vec![], then, otherwise });
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
        b.push(Op::Check { on: vec![mode], equal: None, asks: vec![], then, otherwise });
    });
    assert_eq!(lost(&program([load, save, clear, change, handler])), ["lost-update 31 change"]);
}

#[test]
fn what_asks_for_the_name_of_a_tool_may_know_those_of_other_handlers() {
    let operation = |line: u32, file: &str| {
        function(line, "operation").body([], |b, []| reads_and_writes_back(b, line + 1, file))
    };
    let work = function(30, "work").body([], |b, []| {
        for (id, tool) in [(0, "first"), (1, "second"), (2, "third")] {
            let then = b.nested(|b| {
                b.line(31).call("_", Callee::Function(FunctionId(id)), []);
                b.suspend();
            });
            b.push(Op::Check { on: vec![], equal: Some(tool.into()), asks: vec![], then, otherwise: vec![] });
        }
    });
    let handler = |line: u32, tools: [&str; 2]| {
        let [one, other] = tools;
        function(line, "handler").handles(one).handles(other).body([], |b, []| {
            b.line(line + 1).call("_", Callee::Function(FunctionId(3)), []);
            b.suspend();
        })
    };
    let operations = [operation(1, "a"), operation(10, "b"), operation(20, "c")];
    let rest = [work, handler(40, ["first", "third"]), handler(50, ["second", "other"])];
    assert_eq!(
        lost(&program(operations.into_iter().chain(rest))),
        ["lost-update 11 second", "lost-update 2 first", "lost-update 21 third"]
    );
}

/// An operation that is more than half of what a handler may grow to.
fn operation(line: u32, file: &str) -> Function {
    function(line, "operation").body([], |b, []| {
        reports(b, line + 1, 1_500);
        reads_and_writes_back(b, line + 2, file);
    })
}

/// Runs one of the first two functions, perhaps under a lock.
fn either_of_two(b: &mut Body<'_>, line: u32, locked: bool) {
    let lock = Lock::cross_process(AccessPath::global("server.ts::lock"));
    if locked {
        b.line(line).acquire(&lock, Hold::Exclusive);
    }
    let mode = b.declare("mode", interlock_model::ir::Origin::Step);
    let call = |b: &mut Body<'_>, id: u32| {
        b.line(line + 1 + id).call("_", Callee::Function(FunctionId(id)), []);
        b.suspend();
    };
    let then = b.nested(|b| call(b, 0));
    let otherwise = b.nested(|b| call(b, 1));
    b.push(Op::Check { on: vec![mode], equal: None, asks: vec![], then, otherwise });
    if locked {
        b.line(line + 4).release(&lock);
    }
}

/// One tool with two operations, both of which together are more than its handler may grow to.
fn operations(locked: bool) -> Program {
    let handler = function(40, "handler").handles("items").body([], |b, []| {
        either_of_two(b, 41, locked);
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

/// The same with a transaction before it, in which there are some statements, and in which something may be called.
fn operations_beside(calls: bool) -> Program {
    let noted = |b: &mut Body<'_>, calls: bool| {
        let via = Via::Client(AccessPath::global("server.ts::db"));
        let isolation = Isolation::SingleWriter;
        b.push(Op::Begin { transaction: Transaction { via: via.clone(), isolation } });
        b.try_finally(
            |b| {
                let row = Resource::row(Term::Literal("notes".into()), Term::Literal("last".into()));
                b.line(41).write(row, [], WriteMode::Blind);
                if calls {
                    b.line(42).call("_", Callee::Named("work".into()), []);
                }
                b.push(Op::End { via, finish: Finish::Commit });
            },
            |_| {},
        );
    };
    let handler = function(40, "handler").handles("items").body([], |b, []| {
        noted(b, calls);
        either_of_two(b, 43, false);
    });
    program([operation(10, "first"), operation(20, "second"), handler])
}

#[test]
fn what_a_handler_has_no_room_for_is_in_no_batch_of_statements() {
    assert_eq!(lost(&operations_beside(false)), ["lost-update 12 items", "lost-update 22 items"]);
    assert_eq!(lost(&operations_beside(true)), ["lost-update 12 items", "lost-update 22 items"]);
}

/// The same two operations beside a branch that takes a lock: it gives it back, or it is left with it in hand.
fn operations_beside_a_lock(given_back: bool) -> Program {
    let handler = function(40, "handler").handles("items").body([], |b, []| {
        let lock = Lock::cross_process(AccessPath::global("server.ts::lock"));
        let first = b.declare("first", interlock_model::ir::Origin::Step);
        b.check(
            [first],
            |b| {
                b.line(41).acquire(&lock, Hold::Exclusive);
                b.try_finally(
                    |b| {
                        b.line(42).write(Resource::File("made".into()), [], WriteMode::Append);
                        b.suspend();
                    },
                    |b| {
                        if given_back {
                            b.line(42).release(&lock);
                        }
                    },
                );
            },
            |_| {},
        );
        either_of_two(b, 43, false);
    });
    program([operation(10, "first"), operation(20, "second"), handler])
}

#[test]
fn a_lock_that_is_given_back_before_is_around_nothing_that_there_is_no_room_for() {
    let both = ["lost-update 12 items", "lost-update 22 items"];
    assert_eq!(lost(&operations_beside_a_lock(true)), both);
    assert_eq!(lost(&operations_beside_a_lock(false)), ["lost-update 12 items"]);
}

#[test]
fn what_a_request_has_room_for_is_still_asked_of_the_tool_that_has_none() {
    let mut program = operations(false);
    let route = function(60, "route").body([], |b, []| {
        b.line(61).call("_", Callee::Function(FunctionId(1)), []);
        b.suspend();
    });
    let route = program.add_function(route);
    let roles = program.functions.iter_mut().enumerate().filter(|(at, _)| *at == route.0 as usize);
    roles.for_each(|(_, function)| function.role = Role::Handler(vec![]));
    assert_eq!(lost(&program), ["lost-update 12 items", "lost-update 22 items"]);
}

/// The same two operations, in a function that another one calls for which the handler's budget is not enough.
fn operations_further_in(locked: bool) -> Program {
    let guarded = function(30, "guarded").body([], |b, []| {
        either_of_two(b, 31, locked);
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

#[test]
fn all_that_there_is_no_room_for_is_looked_at_by_itself() {
    const OPERATIONS: u32 = 420;
    let operation = |number: u32| {
        let line = 10 * (number + 1);
        function(line, "operation").body([], |b, []| {
            reports(b, line + 1, 160);
            reads_and_writes_back(b, line + 2, &format!("file-{number}"));
        })
    };
    let handler = function(9_000, "handler").handles("items").body([], |b, []| {
        for number in 0..OPERATIONS {
            b.line(9_001 + number).call("_", Callee::Function(FunctionId(number)), []);
            b.suspend();
        }
    });
    let mut program = program((0..OPERATIONS).map(operation).chain([handler]));
    let found =
        analyse(&mut program).found.iter().filter(|found| found.hazard.id.as_str() == "lost-update").count();
    assert_eq!((found, program.notes.len()), (OPERATIONS as usize, 0), "{:?}", program.notes);
}
