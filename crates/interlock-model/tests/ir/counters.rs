//! State in memory: a counter in a map, and evaluation order inside one expression.

use expect_test::expect;
use interlock_model::ir::{AccessPath, Callee, Function, Program, Resource, WriteMode};

use crate::{ask, check, function, program};

fn increment(awaits: bool, finish: fn(Function) -> Function) -> Program {
    program([finish(function(1, "increment").handles("increment_usage").body(
        ["session"],
        |b, [session]| {
            let usage = || Resource::Shared(AccessPath::global("sessions").at(session));
            let count = b.line(2).read("count", usage());
            if awaits {
                b.line(3).call("logged", Callee::Named("log".into()), []);
                b.suspend();
            }
            let next = b.line(4).derive("next", [count]);
            b.write(usage(), [next], WriteMode::Blind);
        },
    ))])
}

fn shared(resource: &Resource) -> bool {
    matches!(resource, Resource::Shared(_))
}

#[test]
fn a_suspension_between_get_and_set_is_what_lets_another_call_in() {
    check(
        &increment(true, |f| f),
        expect![[r#"
            server.ts
            1     fn increment(session) handles increment_usage
            2       count = read shared ::sessions[session]
            3       logged = call 'log'()
            3       suspend
            4       next = derived from count
            4       write blind shared ::sessions[session] from next
        "#]],
    );
    assert!(ask::another_call_fits_between(&increment(true, |f| f), "increment", shared));
    assert!(!ask::another_call_fits_between(&increment(false, |f| f), "increment", shared));
}

#[test]
fn the_same_steps_on_threads_need_no_suspension_to_race() {
    let threaded = |mut function: Function| {
        function.interleaving = interlock_model::ir::Interleaving::Anywhere;
        function
    };
    assert!(ask::another_call_fits_between(&increment(false, threaded), "increment", shared));
}

/// `x += await f()`: the old value of `x` is taken before the suspension.
#[test]
fn an_awaited_operand_comes_after_the_read_of_its_target() {
    let x = || Resource::Shared(AccessPath::global("x"));
    let add = program([function(1, "add").handles("add").body([], |b, []| {
        let old = b.line(2).read("x", x());
        let more = b.call("more", Callee::Named("f".into()), []);
        b.suspend();
        b.write(x(), [old, more], WriteMode::Blind);
    })]);
    check(
        &add,
        expect![[r#"
            server.ts
            1     fn add() handles add
            2       x = read shared ::x
            2       more = call 'f'()
            2       suspend
            2       write blind shared ::x from x, more
        "#]],
    );
    assert!(ask::another_call_fits_between(&add, "add", shared));

    // `const more = await f(); x += more;` reads afterwards, and nothing fits in.
    let fixed = program([function(1, "add").handles("add").body([], |b, []| {
        let more = b.line(2).call("more", Callee::Named("f".into()), []);
        b.suspend();
        let old = b.line(3).read("x", x());
        b.write(x(), [old, more], WriteMode::Blind);
    })]);
    assert!(!ask::another_call_fits_between(&fixed, "add", shared));
}
