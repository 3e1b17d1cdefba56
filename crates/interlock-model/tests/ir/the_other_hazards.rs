//! One shape for each hazard that the other modules do not reach: nothing in the catalogue may be unsayable.

use expect_test::expect;
use interlock_model::{
    FileId, Span,
    ir::{
        AccessPath, Aspect, Backoff, Body, Bound, Callee, Change, Condition, Exit, Finish, Function, Hold,
        Isolation, Lease, Lock, Op, Origin, Program, Resource, Server, Start, Term, Transaction, Transport,
        Value, Via, WriteMode,
    },
};

use crate::{check, function, program};

#[test]
fn auth_check_then_act_compares_with_the_caller() {
    let delete_file = |when: Option<fn(Value) -> Condition>| {
        program([function(1, "deleteFile").handles("delete_file").body(["id"], |b, [id]| {
            let me = b.declare("me", Origin::Caller);
            let owner = b.line(2).read("owner", Resource::columns("files", id, ["owner_id"]));
            b.suspend();
            b.line(3).check([owner, me], |_| {}, |b| b.throw());
            let (of, when) = (Resource::row("files", id), when.map(|condition| condition(me)));
            b.line(4).push(Op::Delete { of, when, outcome: None, via: None });
        })])
    };
    check(
        &delete_file(None),
        expect![[r#"
            1     fn deleteFile(id) handles delete_file
            2       owner = read row "files"[id].{owner_id}
            2       suspend
            3       check owner, caller me
                    else
            3         throw
            4       delete row "files"[id]
        "#]],
    );
    let safe = delete_file(Some(|me| Condition::on(["owner_id"], [me])));
    assert!(safe.to_string().contains(r#"delete row "files"[id] when owner_id against caller me"#));
}

#[test]
fn non_atomic_rate_limit_counts_apart_from_its_expiry() {
    let limit = |multi: bool| {
        program([function(1, "limit").body(["user"], |b, [user]| {
            let key = || Resource::Key(Term::Join(vec!["rate:".into(), user.into()]));
            let via = || Via::Client(AccessPath::global("redis"));
            if multi {
                let isolation = Isolation::SingleWriter;
                b.line(2).push(Op::Begin { transaction: Transaction { via: via(), isolation } });
            }
            let count = b.line(3).write_seen("count", key(), [], WriteMode::Atomic, Some(via()));
            b.line(4).write_seen("set", key(), [], WriteMode::Expiry, Some(via()));
            if multi {
                b.line(5).push(Op::End { via: via(), finish: Finish::Commit });
            }
            b.suspend();
            b.line(6).check([count], |b| b.throw(), |_| {});
        })])
    };
    check(
        &limit(true),
        expect![[r#"
            1     fn limit(user)
            2       begin single-writer via redis
            3       count = write atomic key "rate:" + user via redis
            4       set = write expiry key "rate:" + user via redis
            5       commit via redis
            5       suspend
            6       check count
                    then
            6         throw
        "#]],
    );
    assert!(!limit(false).to_string().contains("begin"));
}

/// `stale-read-across-await`, `duplicate-load` and their cure by one load that all share.
#[test]
fn a_cache_says_whether_the_miss_is_marked_before_the_load() {
    let get = |marks_first: bool| {
        program([function(1, "get").body(["id"], |b, [id]| {
            let entry = || Resource::Shared(AccessPath::global("cache").at(id));
            let cached = b.line(2).read("cached", entry());
            b.check([cached], |b| b.ret([cached]), |_| {});
            let load = b.line(3).call("load", Callee::Named("load".into()), [id.into()]);
            if marks_first {
                b.line(4).write(entry(), [load], WriteMode::Blind);
                b.suspend();
            } else {
                b.line(4).suspend();
                b.write(entry(), [load], WriteMode::Blind);
            }
        })])
    };
    check(
        &get(false),
        expect![[r#"
            1     fn get(id)
            2       cached = read shared cache[id]
            2       check cached
                    then
            2         return cached
            3       load = call 'load'(id)
            4       suspend
            4       write blind shared cache[id] from load
        "#]],
    );
    assert_ne!(get(true), get(false));
}

#[test]
fn unprotected_multi_step_changes_two_rows_apart() {
    let transfer = function(1, "transfer").body(["from", "to", "amount"], |b, [from, to, amount]| {
        let enough = || WriteMode::Conditional(Condition::on(["balance"], [amount]));
        let rows = b.line(2).write_seen("rows", Resource::row("accounts", from), [amount], enough(), None);
        b.suspend();
        b.line(3).check([rows], |_| {}, |b| b.throw());
        b.line(4).write(Resource::row("accounts", to), [amount], WriteMode::Atomic);
        b.suspend();
    });
    check(
        &program([transfer]),
        expect![[r#"
            1     fn transfer(from, to, amount)
            2       rows = write conditional row "accounts"[from] when balance against amount from amount
            2       suspend
            3       check rows
                    else
            3         throw
            4       write atomic row "accounts"[to] from amount
            4       suspend
        "#]],
    );
}

/// `missing-idempotency-key` inside a `lease-without-fence`, with `lock-not-released` where the finally is missing.
#[test]
fn a_charge_under_a_lease_says_its_key_its_limit_and_its_release() {
    let order = |keyed: bool, fenced: bool, releases_always: bool| {
        program([function(1, "processOrder").handles("process_order").body(["order"], |b, [order]| {
            let lease = Lease { renewed: false, fenced };
            let lock = Lock::cross_process(AccessPath::global("redlock")).keyed(order).leased(lease);
            b.line(2).acquire(&lock, Hold::Exclusive);
            b.suspend();
            let charge = |b: &mut Body<'_>| {
                let (service, idempotency) = ("stripe".into(), keyed.then_some(order));
                b.line(3).push(Op::External {
                    into: None,
                    service,
                    change: Change::Effect,
                    idempotency,
                    over: None,
                });
                b.suspend();
            };
            if releases_always {
                b.try_finally(charge, |b| b.line(5).release(&lock));
            } else {
                charge(b);
                b.line(5).release(&lock);
            }
        })])
    };
    check(
        &order(false, false, false),
        expect![[r#"
            1     fn processOrder(order) handles process_order
            2       acquire redlock for order across processes as lease
            2       suspend
            3       effect on "stripe"
            3       suspend
            5       release redlock for order across processes as lease
        "#]],
    );
    check(
        &order(true, true, true),
        expect![[r#"
            1     fn processOrder(order) handles process_order
            2       acquire redlock for order across processes as fenced lease
            2       suspend
            2       try
            3         effect on "stripe" once per order
            3         suspend
                    finally
            5         release redlock for order across processes as fenced lease
        "#]],
    );
}

#[test]
fn no_caller_limit_is_said_of_the_server() {
    let listen = |limited| {
        let span = Span::on_line(FileId(0), 9);
        Program { servers: vec![Server { span, transport: Transport::Http, limited }], ..Program::default() }
    };
    assert_eq!(listen(false).to_string(), "9     server on http\n");
    assert_eq!(listen(true).to_string(), "9     server on http, limited\n");
}

#[test]
fn unsafe_lock_map_drops_an_entry_by_a_timer() {
    let acquire = function(1, "acquire").body(["caller"], |b, [caller]| {
        let entry = || AccessPath::global("semaphores").at(caller);
        let known = b.line(2).read("known", Resource::Shared(entry()));
        b.check(
            [known],
            |_| {},
            |b| {
                b.line(3).write(Resource::Shared(entry()), [], WriteMode::Blind);
                let drop = Op::Delete { of: Resource::Shared(entry()), when: None, outcome: None, via: None };
                let body = b.line(4).nested(|b| b.push(drop));
                b.push(Op::Spawn { start: Start::Timer, body });
            },
        );
        b.line(6).acquire(&Lock::in_process(entry()).semaphore(), Hold::Exclusive);
    });
    check(
        &program([acquire]),
        expect![[r#"
            1     fn acquire(caller)
            2       known = read shared semaphores[caller]
            2       check known
                    else
            3         write blind shared semaphores[caller]
            4         spawn on timer
            4           delete shared semaphores[caller]
            6       acquire permit of semaphores[caller]
        "#]],
    );
}

#[test]
fn interleaved_output_is_several_appends_by_several_tasks() {
    let send = function(1, "send").interleaves_anywhere().body(["frame"], |b, [frame]| {
        let out = || Resource::Stream(AccessPath::global("stdout"));
        let part = |b: &mut Body<'_>| {
            b.line(2).write(out(), [frame], WriteMode::Append);
            b.line(3).write(out(), [], WriteMode::Append);
        };
        let branches = vec![b.nested(part), b.nested(part)];
        b.line(1).push(Op::Together { branches });
    });
    check(
        &program([send]),
        expect![[r#"
            1     fn send(frame), interleaves anywhere
            1       together
                    branch
            2         write append stream stdout from frame
            3         write append stream stdout
                    branch
            2         write append stream stdout from frame
            3         write append stream stdout
        "#]],
    );
}

#[test]
fn unversioned_record_is_overwritten_with_what_the_caller_sent() {
    let set_title = function(1, "setTitle").handles("set_title").body(["id", "title"], |b, [id, title]| {
        b.line(2).write(Resource::columns("documents", id, ["title"]), [title], WriteMode::Blind);
    });
    check(
        &program([set_title]),
        expect![[r#"
            1     fn setTitle(id, title) handles set_title
            2       write blind row "documents"[id].{title} from title
        "#]],
    );
}

#[test]
fn retry_storm_is_a_loop_with_its_bound_and_its_pause() {
    let retry = |bound, backoff, jitter| -> Function {
        function(1, "retry").body(["key"], |b, [key]| {
            b.line(2).repeat(bound, |b| {
                let seen = b.line(3).read_as("seen", Resource::Key(key.into()), Aspect::Content, None);
                let mode = WriteMode::Conditional(Condition::on(["version"], [seen]));
                let won = b.line(4).write_seen("won", Resource::Key(key.into()), [seen], mode, None);
                b.line(5).check([won], |b| b.push(Op::Exit(Exit::Break)), |_| {});
                b.line(6).push(Op::Sleep { backoff, jitter });
            });
        })
    };
    check(
        &program([retry(Bound::Unlimited, Backoff::Fixed, false)]),
        expect![[r#"
            1     fn retry(key)
            2       loop without limit
            3         seen = read key key
            4         won = write conditional key key when version against seen from seen
            5         check won
                      then
            5           break
            6         sleep fixed
        "#]],
    );
    let calm = program([retry(Bound::Limited, Backoff::Growing, true)]).to_string();
    assert!(calm.contains("loop a limited number of times") && calm.contains("sleep growing with jitter"));
}
