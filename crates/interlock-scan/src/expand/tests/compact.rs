//! A large helper that is called once more: its reads, writes and what it returns are kept.

use super::*;
use crate::expand::{compact::MOST_COMPACT, work::MOST_COMPACTED};

const STATE: &str = "state.json";

fn state() -> Resource {
    Resource::File(STATE.into())
}

/// Does so much that it is large, then reads the state and returns what so many steps make of it.
fn load(steps: usize) -> Function {
    function(1, "load").body([], |b, []| {
        reports(b, 2, 160);
        let mut seen = b.line(3).read("seen", state());
        b.suspend();
        for _ in 1..steps {
            seen = b.derive("seen", [seen]);
        }
        b.ret([seen]);
    })
}

/// Reads so much that it is large, then does what it is told with what it is given.
fn save(act: impl FnOnce(&mut Body<'_>, Value)) -> Function {
    function(1, "save").body(["state"], |b, [state]| {
        for report in 0..160 {
            let name = format!("report-{report}");
            let _ = b.line(2).read("report", Resource::File(name.as_str().into()));
        }
        act(b.line(3), state);
    })
}

fn write(b: &mut Body<'_>, value: Value) {
    b.write(state(), [value], WriteMode::Blind);
    b.suspend();
}

/// A tool that loads, does so much that nothing large is inlined once more, loads again and writes back what that gave.
fn loads_twice(steps: usize) -> Vec<String> {
    let tool = function(100, "tool").handles("tool").body([], |b, []| {
        b.line(101).call("first", Callee::Function(FunctionId(0)), []);
        reports(b, 110, 600);
        let again = b.line(120).call("again", Callee::Function(FunctionId(0)), []);
        b.line(121).write(state(), [again], WriteMode::Blind);
    });
    lost(&program([load(steps), tool]))
}

/// A tool that loads, does much, loads so many times and once more, and writes back what that gave.
fn loads_often(times: usize) -> Vec<String> {
    let tool = function(100, "tool").handles("tool").body([], |b, []| {
        b.line(101).call("first", Callee::Function(FunctionId(0)), []);
        reports(b, 110, 600);
        for _ in 0..times {
            b.line(111).call("_", Callee::Function(FunctionId(0)), []);
        }
        let last = b.line(120).call("last", Callee::Function(FunctionId(0)), []);
        b.line(121).write(state(), [last], WriteMode::Blind);
    });
    lost(&program([load(1), tool])).into_iter().filter(|line| line.starts_with("lost-update 120 ")).collect()
}

#[test]
fn compact_summaries_are_put_in_up_to_a_number_of_steps() {
    // Each reads and suspends.
    let most = MOST_COMPACTED / 2;
    assert_eq!(loads_often(most - 1), ["lost-update 120 tool"]);
    assert!(loads_often(most).is_empty());
}

/// A tool that saves what it is given, does much, and saves what it has read meanwhile.
fn saves_twice(act: impl FnOnce(&mut Body<'_>, Value)) -> Vec<String> {
    let tool = function(100, "tool").handles("tool").body(["text"], |b, [text]| {
        b.line(101).call("_", Callee::Function(FunctionId(0)), [text.into()]);
        reports(b, 110, 600);
        let seen = b.line(120).read("seen", state());
        b.suspend();
        b.line(121).call("_", Callee::Function(FunctionId(0)), [seen.into()]);
    });
    let found = lost(&program([save(act), tool]));
    // What stands in the helper itself is shown by the first call.
    found.into_iter().filter(|line| line.starts_with("lost-update 120 ")).collect()
}

#[test]
fn what_a_helper_returns_the_second_time_comes_from_what_it_reads() {
    assert_eq!(loads_twice(1), ["lost-update 120 tool"]);
}

#[test]
fn reads_are_kept_up_to_a_number_of_steps() {
    assert_eq!(loads_twice(MOST_COMPACT), ["lost-update 120 tool"]);
    assert!(loads_twice(MOST_COMPACT + 1).is_empty());
}

#[test]
fn what_a_helper_writes_the_second_time_is_what_it_is_given() {
    assert_eq!(saves_twice(write), ["lost-update 120 tool"]);
}

#[test]
fn writes_are_kept_up_to_a_number_of_steps() {
    let with_others = |others: usize| {
        saves_twice(|b, given| {
            reports(b, 3, u32::try_from(others).unwrap());
            write(b, given);
        })
    };
    assert_eq!(with_others(MOST_COMPACT - 1), ["lost-update 120 tool"]);
    assert!(with_others(MOST_COMPACT).is_empty());
}

#[test]
fn a_write_that_the_helper_checks_or_locks_by_itself_is_not_taken_out_of_that() {
    let checked = |b: &mut Body<'_>, given: Value| {
        let now = b.read("now", state());
        b.suspend();
        b.check([now], |b| write(b, given), |_| {});
    };
    assert!(saves_twice(checked).is_empty());
    let merged = |b: &mut Body<'_>, given: Value| {
        let other = b.read("other", Resource::File("other.json".into()));
        let both = b.derive("both", [other, given]);
        write(b, both);
    };
    assert!(saves_twice(merged).is_empty());
    let locked = |b: &mut Body<'_>, given: Value| {
        let lock = Lock::cross_process(AccessPath::global("server.ts::lock"));
        b.acquire(&lock, Hold::Exclusive);
        write(b, given);
        b.release(&lock);
    };
    assert!(saves_twice(locked).is_empty());
}

#[test]
fn a_lock_that_a_helper_leaves_taken_covers_what_its_caller_does() {
    let loads = |released: bool| {
        let load = function(1, "load").body([], |b, []| {
            let lock = Lock::cross_process(AccessPath::global("server.ts::lock"));
            reports(b, 2, 160);
            b.acquire(&lock, Hold::Exclusive);
            let seen = b.line(3).read("seen", state());
            b.suspend();
            if released {
                b.release(&lock);
            }
            b.ret([seen]);
        });
        let tool = function(100, "tool").handles("tool").body([], |b, []| {
            b.line(101).call("first", Callee::Function(FunctionId(0)), []);
            reports(b, 110, 600);
            let again = b.line(120).call("again", Callee::Function(FunctionId(0)), []);
            b.line(121).write(state(), [again], WriteMode::Blind);
        });
        lost(&program([load, tool]))
    };
    assert_eq!(loads(true), ["lost-update 120 tool"]);
    assert!(loads(false).is_empty());
}

#[test]
fn what_is_left_out_of_a_copy_keeps_what_it_has_read() {
    // `change` has `load` inlined; where `change` is copied, `load` has been inlined before.
    let load = || {
        function(1, "load").body([], |b, []| {
            reports(b, 2, 160);
            let seen = b.line(3).read("seen", state());
            b.suspend();
            b.ret([seen]);
        })
    };
    let change = function(10, "change").body([], |b, []| {
        let seen = b.line(11).call("seen", Callee::Function(FunctionId(0)), []);
        b.line(12).write(state(), [seen], WriteMode::Blind);
    });
    let tool = function(100, "tool").handles("tool").body([], |b, []| {
        b.line(101).call("first", Callee::Function(FunctionId(0)), []);
        reports(b, 110, 600);
        b.line(120).call("_", Callee::Function(FunctionId(1)), []);
    });
    assert_eq!(lost(&program([load(), change, tool])), ["lost-update 11 tool"]);
}
