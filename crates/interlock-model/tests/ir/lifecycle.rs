//! Close against calls: a flag, a lock, a count of those inside, and a wait for them.

use expect_test::expect;
use interlock_model::ir::{
    AccessPath, Body, Bound, Callee, Change, Hold, Lock, Op, Origin, Program, Resource, WriteMode,
};

use crate::{ask, check, function, program};

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
    let this = |name: &str| AccessPath::this().field(name);
    let lock = Lock::in_process(this("mu"));
    let flag = || Resource::Flag(this("closed"));
    let call = function(1, "Manager.CallTool").interleaves_anywhere().fails_explicitly().body(
        ["name"],
        |b, [name]| {
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
                |b| {
                    let over = Some(this("session"));
                    let service = name.into();
                    b.push(Op::External {
                        into: None,
                        service,
                        change: Change::Effect,
                        from: vec![],
                        idempotency: None,
                        over,
                    });
                },
                |b| b.line(9).push(Op::CountOut { group: this("wg") }),
            );
        },
    );
    let close = function(12, "Manager.Close").interleaves_anywhere().fails_explicitly().body([], |b, []| {
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

#[test]
fn a_flag_swapped_without_the_lock_lets_a_call_count_in_after_the_wait() {
    check(
        &manager(Manager::SwapsOutside),
        expect![[r#"
            server.ts
            1     fn Manager.CallTool(name), interleaves anywhere, fails explicitly
            2       acquire shared this.mu
            3       closed = read flag this.closed
            3       check closed
                    then
            4         release this.mu
            4         throw
            6       count in this.wg
            7       release this.mu
            8       try
            8         effect on name over this.session
                    finally
            9         count out this.wg

            12    fn Manager.Close(), interleaves anywhere, fails explicitly
            14      before = write atomic flag this.closed
            16      check before
                    then
            16        return
            17      drain this.wg
            18      close this.session
        "#]],
    );
    assert!(add_can_follow_the_wait(&manager(Manager::SwapsOutside)));
    assert!(add_can_follow_the_wait(&manager(Manager::CountsLate)));
    assert!(!add_can_follow_the_wait(&manager(Manager::Right)));
}

/// The call has tested the flag and not yet counted in; can close set the flag there, and so wait for nobody?
/// Not if one lock is held from the test to the count, and close needs it to set the flag.
fn add_can_follow_the_wait(program: &Program) -> bool {
    let call = ask::steps(program, "Manager.CallTool");
    let test = call.iter().find(|s| matches!(s.op, Op::Read { of: Resource::Flag(_), .. })).expect("a test");
    let count = call.iter().find(|s| matches!(s.op, Op::CountIn { .. })).expect("a count");
    let close = ask::steps(program, "Manager.Close");
    let set = close.iter().find(|s| matches!(s.op, Op::Write { to: Resource::Flag(_), .. })).expect("a set");
    !test.held.iter().any(|lock| count.held.contains(lock) && set.held.contains(lock))
}

#[test]
fn start_up_says_what_is_open_when_a_later_step_fails() {
    let connect = |late: bool| {
        let clients = || AccessPath::global("clients");
        program([function(1, "connectAll").at_start_up().body(["urls"], |b, [_]| {
            let open = |b: &mut Body<'_>| {
                let url = b.line(2).declare("url", Origin::Step);
                let body = b.nested(|b| b.line(3).push(Op::Open { handle: clients().at(url) }));
                b.line(2).push(Op::Loop { bound: Bound::Each, item: Some(url), body });
            };
            let serve = |b: &mut Body<'_>| {
                b.line(5).call("served", Callee::Named("serve".into()), []);
            };
            let close = |b: &mut Body<'_>| b.line(7).push(Op::Close { handle: clients() });
            if late {
                open(b);
                b.line(4).try_finally(serve, close);
            } else {
                b.line(2).try_finally(
                    |b| {
                        open(b);
                        serve(b);
                    },
                    close,
                );
            }
        })])
    };
    check(
        &connect(true),
        expect![[r#"
            server.ts
            1     fn connectAll(urls) at start-up
            2       loop over each url
            3         open ::clients[url]
            4       try
            5         served = call 'serve'()
                    finally
            7         close ::clients
        "#]],
    );
    check(
        &connect(false),
        expect![[r#"
            server.ts
            1     fn connectAll(urls) at start-up
            2       try
            2         loop over each url
            3           open ::clients[url]
            5         served = call 'serve'()
                    finally
            7         close ::clients
        "#]],
    );
}
