//! One shape for each hazard that the other modules do not reach: nothing in the catalogue may be unsayable.

use expect_test::expect;
use interlock_model::{
    FileId, Span,
    ir::{
        AccessPath, Aspect, Backoff, Body, Bound, Callee, Change, Comparator, Condition, Exit, Finish,
        Function, FunctionId, Hold, Isolation, Lease, Limit, Limited, Lock, Op, Origin, Resource, Server,
        Start, Table, Term, Transaction, Transport, Value, Via, WriteMode,
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
            server.ts
            1     fn deleteFile(id) handles delete_file
            2       owner = read row "files"[id].{owner_id}
            2       suspend
            3       check owner, caller me
                    else
            3         throw
            4       delete row "files"[id]
        "#]],
    );
    let safe = delete_file(Some(|me| Condition::on("owner_id", Comparator::Equal, me)));
    assert!(safe.to_string().contains(r#"delete row "files"[id] when owner_id = caller me"#));
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
            server.ts
            1     fn limit(user)
            2       begin single-writer via ::redis
            3       count = write atomic key "rate:" + user via ::redis
            4       set = write expiry key "rate:" + user via ::redis
            5       commit via ::redis
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
            server.ts
            1     fn get(id)
            2       cached = read shared ::cache[id]
            2       check cached
                    then
            2         return cached
            3       load = call 'load'(id)
            4       suspend
            4       write blind shared ::cache[id] from load
        "#]],
    );
    assert_ne!(get(true), get(false));
}

#[test]
fn unprotected_multi_step_changes_two_rows_apart() {
    let transfer = function(1, "transfer").body(["from", "to", "amount"], |b, [from, to, amount]| {
        let enough = || WriteMode::Conditional(Condition::on("balance", Comparator::AtLeast, amount));
        let rows = b.line(2).write_seen("rows", Resource::row("accounts", from), [amount], enough(), None);
        b.suspend();
        b.line(3).check([rows], |_| {}, |b| b.throw());
        b.line(4).write(Resource::row("accounts", to), [amount], WriteMode::Atomic);
        b.suspend();
    });
    check(
        &program([transfer]),
        expect![[r#"
            server.ts
            1     fn transfer(from, to, amount)
            2       rows = write conditional row "accounts"[from] when balance >= amount from amount
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
                let (service, idempotency) = ("stripe".into(), keyed.then(|| order.into()));
                b.line(3).push(Op::External {
                    into: None,
                    service,
                    change: Change::Effect,
                    from: vec![],
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
            server.ts
            1     fn processOrder(order) handles process_order
            2       acquire ::redlock for order across processes as lease
            2       suspend
            3       effect on "stripe"
            3       suspend
            5       release ::redlock for order across processes as lease
        "#]],
    );
    check(
        &order(true, true, true),
        expect![[r#"
            server.ts
            1     fn processOrder(order) handles process_order
            2       acquire ::redlock for order across processes as fenced lease
            2       suspend
            2       try
            3         effect on "stripe" once per order
            3         suspend
                    finally
            5         release ::redlock for order across processes as fenced lease
        "#]],
    );
}

#[test]
fn no_caller_limit_is_said_of_the_server_and_of_the_handlers_behind_it() {
    let listen = |limited| {
        let mut program = program([function(1, "search").handles("search").body([], |_, []| {})]);
        let (span, handlers) = (Span::on_line(FileId(0), 9), [FunctionId(0)].into());
        program.servers.push(Server { span, transport: Transport::Http, handlers, limited });
        program
    };
    check(
        &listen(false),
        expect![[r#"
        9     server on http: search
        server.ts
        1     fn search() handles search
    "#]],
    );
    assert!(listen(true).to_string().starts_with("9     server on http, limited: search\n"));
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
            server.ts
            1     fn acquire(caller)
            2       known = read shared ::semaphores[caller]
            2       check known
                    else
            3         write blind shared ::semaphores[caller]
            4         spawn on timer
            4           delete shared ::semaphores[caller]
            6       acquire permit of ::semaphores[caller]
        "#]],
    );
}

#[test]
fn a_lock_map_says_whether_its_keys_or_its_size_are_limited() {
    let locks = || AccessPath::global("locks");
    let mut lock_room = function(1, "lockRoom").body(["room"], |b, [room]| {
        b.line(2).acquire(&Lock::in_process(locks().at(room)), Hold::Exclusive);
    });
    lock_room.values[0].bounded = true;
    let mut program = program([lock_room]);
    program.limited.push(Limited { path: locks(), by: Limit::Weakness });
    assert!(program.functions[0].values[0].bounded);
    assert!(program.limited.iter().any(|limited| limited.path == locks()));
}

#[test]
fn interleaved_output_is_several_writes_of_a_frame_or_one_that_may_fall_into_pieces() {
    let send = |name: &str, modes: &[WriteMode]| {
        function(1, name).interleaves_anywhere().body(["frame"], |b, [frame]| {
            let out = || Resource::Stream(AccessPath::global("stdout"));
            let branch =
                |b: &mut Body<'_>| modes.iter().for_each(|mode| b.write(out(), [frame], mode.clone()));
            let branches = vec![b.nested(branch), b.nested(branch)];
            b.push(Op::Together { branches });
        })
    };
    check(
        &program([
            send("headThenBody", &[WriteMode::Append, WriteMode::Append]),
            send("inPieces", &[WriteMode::Pieces]),
            send("whole", &[WriteMode::Append]),
        ]),
        expect![[r#"
            server.ts
            1     fn headThenBody(frame), interleaves anywhere
            1       together
                    branch
            1         write append stream ::stdout from frame
            1         write append stream ::stdout from frame
                    branch
            1         write append stream ::stdout from frame
            1         write append stream ::stdout from frame

            1     fn inPieces(frame), interleaves anywhere
            1       together
                    branch
            1         write pieces stream ::stdout from frame
                    branch
            1         write pieces stream ::stdout from frame

            1     fn whole(frame), interleaves anywhere
            1       together
                    branch
            1         write append stream ::stdout from frame
                    branch
            1         write append stream ::stdout from frame
        "#]],
    );
}

#[test]
fn unversioned_record_is_overwritten_with_what_the_caller_sent_in_a_table_without_a_version() {
    let set_title = |columns: &[&str]| {
        let mut program = program([function(1, "setTitle").handles("set_title").body(
            ["id", "title"],
            |b, [id, title]| {
                b.line(2).write(Resource::columns("documents", id, ["title"]), [title], WriteMode::Blind);
            },
        )]);
        let columns = columns.iter().map(|column| (*column).into()).collect();
        program.tables.push(Table { name: "documents".into(), columns, keys: vec![] });
        program
    };
    check(
        &set_title(&["id", "title"]),
        expect![[r#"
              table "documents": id, title
        server.ts
        1     fn setTitle(id, title) handles set_title
        2       write blind row "documents"[id].{title} from title
    "#]],
    );
    assert!(set_title(&["id", "title", "version"]).to_string().contains("id, title, version"));
}

#[test]
fn a_key_drawn_at_random_is_told_from_one_that_the_order_gives() {
    use interlock_model::ir::Fresh;
    let charge = |key: fn(Value) -> Term, change: Change| {
        program([function(1, "charge").body(["order"], |b, [order]| {
            let (service, idempotency) = ("stripe".into(), Some(key(order)));
            b.line(2).push(Op::External {
                into: None,
                service,
                change,
                from: vec![],
                idempotency,
                over: None,
            });
        })])
    };
    check(
        &charge(|_| Term::Fresh(Fresh::Random), Change::Effect),
        expect![[r#"
        server.ts
        1     fn charge(order)
        2       effect on "stripe" once per random
    "#]],
    );
    check(
        &charge(Term::from, Change::Unknown),
        expect![[r#"
        server.ts
        1     fn charge(order)
        2       send to "stripe" once per order
    "#]],
    );
}

#[test]
fn a_judged_field_is_told_from_the_other_fields_of_its_document() {
    let ship = |column: &'static str| {
        program([function(1, "ship").handles("ship").body(["id"], |b, [id]| {
            let order = b.line(2).read("order", Resource::row("orders", id));
            b.suspend();
            let status = b.line(3).bind("status", AccessPath::from(order).field("status"), [order]);
            b.check([status], |_| {}, |b| b.throw());
            let mode = WriteMode::Conditional(Condition::on(column, Comparator::Equal, "pending"));
            b.line(4).write(Resource::row("orders", id), [], mode);
        })])
    };
    check(
        &ship("status"),
        expect![[r#"
        server.ts
        1     fn ship(id) handles ship
        2       order = read row "orders"[id]
        2       suspend
        3       status = order.status from order
        3       check status
                else
        3         throw
        4       write conditional row "orders"[id] when status = "pending"
    "#]],
    );
    assert_ne!(ship("status"), ship("tenant"));
}

#[test]
fn retry_storm_is_a_loop_with_its_bound_and_its_pause() {
    let retry = |bound, backoff, jitter| -> Function {
        function(1, "retry").body(["key"], |b, [key]| {
            b.line(2).repeat(bound, |b| {
                let seen = b.line(3).read_as("seen", Resource::Key(key.into()), Aspect::Content, None);
                let mode = WriteMode::Conditional(Condition::on("version", Comparator::Equal, seen));
                let won = b.line(4).write_seen("won", Resource::Key(key.into()), [seen], mode, None);
                b.line(5).check([won], |b| b.push(Op::Exit(Exit::Break)), |_| {});
                b.line(6).push(Op::Sleep { backoff, jitter });
            });
        })
    };
    check(
        &program([retry(Bound::Unlimited, Backoff::Fixed, false)]),
        expect![[r#"
            server.ts
            1     fn retry(key)
            2       loop without limit
            3         seen = read key key
            4         won = write conditional key key when version = seen from seen
            5         check won
                      then
            5           break
            6         sleep fixed
        "#]],
    );
    let calm = program([retry(Bound::Limited, Backoff::Growing, true)]).to_string();
    assert!(calm.contains("loop a limited number of times") && calm.contains("sleep growing with jitter"));
}
