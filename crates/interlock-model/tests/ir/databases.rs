//! Select, judge, update: with and without the condition repeated, inside and outside a transaction.

use expect_test::expect;
use interlock_model::ir::{
    AccessPath, Aspect, Comparator, Condition, Finish, Isolation, Op, Origin, Program, Resource, Transaction,
    Via, WriteMode,
};

use crate::{ask, check, function, program};

#[derive(Clone, Copy, PartialEq)]
enum Tx {
    None,
    OnOneClient { locking: bool },
    ThroughThePool,
}

fn spend(repeats_condition: bool, tx: Tx) -> Program {
    let via = || match tx {
        Tx::OnOneClient { .. } => Via::Client(AccessPath::global("client")),
        _ => Via::Pool(AccessPath::global("pool")),
    };
    program([function(1, "spend").handles("spend_credits").body(["user", "amount"], |b, [user, amount]| {
        let balance_of = || Resource::columns("accounts", user, ["balance"]);
        if tx != Tx::None {
            let transaction = Transaction { via: via(), isolation: Isolation::ReadCommitted };
            b.line(2).push(Op::Begin { transaction });
            b.suspend();
        }
        let balance = b.line(3).declare("balance", Origin::Step);
        let locking = tx == Tx::OnOneClient { locking: true };
        let aspect = Aspect::Content;
        b.push(Op::Read {
            into: balance,
            of: balance_of(),
            aspect,
            locking,
            unique: false,
            demands: Condition::default(),
            via: Some(Box::new(via())),
        });
        b.suspend();
        b.line(4).check([balance, amount], |_| {}, |b| b.throw());
        let mode = if repeats_condition {
            WriteMode::Conditional(Condition::on("balance", Comparator::AtLeast, amount))
        } else {
            WriteMode::Blind
        };
        let rows = b.line(5).write_seen("rows", balance_of(), [balance, amount], mode, Some(via()));
        b.suspend();
        b.line(6).check([rows], |_| {}, |b| b.throw());
        if tx != Tx::None {
            b.line(7).push(Op::End { via: via(), finish: Finish::Commit });
            b.suspend();
        }
    })])
}

#[test]
fn an_update_says_whether_it_repeats_what_was_judged() {
    check(
        &spend(false, Tx::None),
        expect![[r#"
            server.ts
            1     fn spend(user, amount) handles spend_credits
            3       balance = read row "accounts"[user].{balance} via pool ::pool
            3       suspend
            4       check balance, amount
                    else
            4         throw
            5       rows = write blind row "accounts"[user].{balance} from balance, amount via pool ::pool
            5       suspend
            6       check rows
                    else
            6         throw
        "#]],
    );
    check(
        &spend(true, Tx::None),
        expect![[r#"
            server.ts
            1     fn spend(user, amount) handles spend_credits
            3       balance = read row "accounts"[user].{balance} via pool ::pool
            3       suspend
            4       check balance, amount
                    else
            4         throw
            5       rows = write conditional row "accounts"[user].{balance} when balance >= amount from balance, amount via pool ::pool
            5       suspend
            6       check rows
                    else
            6         throw
        "#]],
    );
}

#[test]
fn a_transaction_says_which_statements_are_in_it_and_which_rows_it_locks() {
    check(
        &spend(false, Tx::OnOneClient { locking: true }),
        expect![[r#"
            server.ts
            1     fn spend(user, amount) handles spend_credits
            2       begin read-committed via ::client
            2       suspend
            3       balance = read row "accounts"[user].{balance} for update via ::client
            3       suspend
            4       check balance, amount
                    else
            4         throw
            5       rows = write blind row "accounts"[user].{balance} from balance, amount via ::client
            5       suspend
            6       check rows
                    else
            6         throw
            7       commit via ::client
            7       suspend
        "#]],
    );
}

#[test]
fn the_safe_spellings_are_told_from_the_unsafe_ones() {
    assert!(!closes_the_gap(&spend(false, Tx::None)));
    assert!(
        !closes_the_gap(&spend(false, Tx::OnOneClient { locking: false })),
        "read committed does not lock what it reads"
    );
    assert!(
        !closes_the_gap(&spend(false, Tx::ThroughThePool)),
        "each statement may go over another connection"
    );
    assert!(closes_the_gap(&spend(false, Tx::OnOneClient { locking: true })));
    assert!(closes_the_gap(&spend(true, Tx::None)));
    assert!(closes_the_gap(&spend(true, Tx::OnOneClient { locking: false })));
}

/// Whether the write repeats a judged column, or the read is locked in a transaction on the connection that both use.
fn closes_the_gap(program: &Program) -> bool {
    let steps = ask::steps(program, "spend");
    let mut transaction = None;
    let mut locked = false;
    for step in &steps {
        match step.op {
            Op::Begin { transaction: begun } if matches!(begun.via, Via::Client(_)) => {
                transaction = Some(&begun.via)
            }
            Op::Read { locking, via, .. } => locked = *locking && via.as_deref() == transaction,
            Op::Write {
                mode: WriteMode::Conditional(condition), to: Resource::Row { columns, .. }, ..
            } => {
                return condition.0.iter().any(|demand| columns.contains(&demand.column));
            }
            Op::Write { via, .. } => return locked && via.as_deref() == transaction,
            _ => {}
        }
    }
    false
}
