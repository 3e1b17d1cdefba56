//! Two guards that share their state, in front of two copies of the naive ledger that share theirs.

use std::time::Duration;

use interlock_testkit::service::{Postgres, Redis, Setup};
use serde_json::json;
use tokio::task::JoinSet;

use crate::{
    effects::configured,
    kit::{Client, INTERLOCK, Line, Said, Serving, scratch},
};

const TRANSFERS: usize = 200;
/// What the seed gives to alice.
const CREDITS: i64 = 100;
/// How long a ledger thinks where calls keep out of each other's way.
const BRIEF: &str = "2";
/// And where they must meet, also on a machine whose disk is slow.
const LONG: &str = "500";
/// When the calls of a guard that was killed are given up.
const GIVE_UP: Duration = Duration::from_secs(5);
/// How the ledger turns down whoever has nothing left. A guard that gave up speaks of something else.
const TOO_FEW: &str = "too few";
/// One transfer at a time, whosever the credits are.
const ACCOUNTS: &str = "[[tool]]\nmatch = \"*_credits\"\nlock = \"accounts\"\nchanges = \"accounts\"\n";
/// A provider that is not there: nothing is paid for here.
const NO_PROVIDER: &str = "http://127.0.0.1:9";

/// A naive ledger whose records are in this file, which thinks for so many milliseconds between its check and its act.
fn ledger(records: &str, think: &str, more: &[&str]) -> Line {
    let usual = [
        INTERLOCK,
        "ledger",
        "--unsafe",
        "--seed",
        "--state",
        records,
        "--payments",
        NO_PROVIDER,
        "--think",
        think,
        "--rate",
        "100000/min",
        "--in-flight",
        "100000",
    ];
    Line::bare(&[&usual, more].concat())
}

async fn balances(client: &Client) -> (i64, i64) {
    let mut balances = Vec::new();
    for user in ["alice", "bob"] {
        let account = client.call("get_account", json!({ "userId": user })).await;
        balances.push(account.value()["balance"].as_i64().expect("a balance is a number"));
    }
    (balances[0], balances[1])
}

/// Transfers of so many credits each, all at once, over these clients in turn.
async fn transfer(clients: &[Client], transfers: usize, amount: i64) -> Vec<Said> {
    let mut running = JoinSet::new();
    for client in clients.iter().cycle().take(transfers) {
        let client = client.clone();
        let wish = json!({ "fromUserId": "alice", "toUserId": "bob", "amount": amount });
        running.spawn(async move { client.call("transfer_credits", wish).await });
    }
    running.join_all().await
}

async fn two_replicas_spend_each_credit_once(state: &str) {
    let folder = scratch();
    let records = format!("sqlite:{}", folder.path().join("ledger.db").display());
    let command =
        serde_json::to_string(ledger(&records, BRIEF, &[]).arguments()).expect("it is JSON, and TOML");
    // However slow the machine is, nobody is sent away for having waited too long.
    let policy = format!(
        "[state]\nurl = \"{state}\"\n\n[defaults]\nwait = \"1h\"\n\n\
         [[upstream]]\nname = \"ledger\"\ncommand = {command}\n\n{ACCOUNTS}"
    );
    let guard = configured(folder.path(), &policy);
    each_credit_is_spent_once(&guard, TRANSFERS, 1).await;
}

/// Two replicas of a guard, and transfers of twice what there is.
async fn each_credit_is_spent_once(guard: &Line, transfers: usize, amount: i64) {
    let replicas = [guard.serve(), guard.serve()];
    let clients = [replicas[0].client().await, replicas[1].client().await];
    let said = transfer(&clients, transfers, amount).await;
    let moved = said.iter().filter(|said| !said.is_error).count();
    assert_eq!(balances(&clients[0]).await, (0, CREDITS), "{moved} transfers went through");
    assert_eq!(i64::try_from(moved), Ok(CREDITS / amount));
    let refused = said.iter().filter(|said| said.is_error).map(Said::text);
    assert!(refused.clone().all(|words| words.contains(TOO_FEW)), "{:?}", refused.collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread")]
async fn two_replicas_that_were_told_nothing_spend_each_credit_once() {
    let (folder, redis) =
        (scratch(), Redis::start_as(Setup { durable: true, ..Setup::default() }).expect("Redis starts"));
    let records = format!("sqlite:{}", folder.path().join("ledger.db").display());
    let guard = ledger(&records, BRIEF, &[]).guarded(&["--listen", "127.0.0.1:0", "--state", &redis.url()]);
    // Few enough that the last one has its turn in time on a slow machine, too.
    each_credit_is_spent_once(&guard, 8, 25).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn over_redis_two_replicas_spend_each_credit_once() {
    let redis = Redis::start_as(Setup { durable: true, ..Setup::default() }).expect("Redis starts");
    two_replicas_spend_each_credit_once(&redis.url()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn over_postgresql_two_replicas_spend_each_credit_once() {
    let postgres = Postgres::start().expect("PostgreSQL starts");
    two_replicas_spend_each_credit_once(&postgres.url()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_ledgers_without_a_guard_spend_credits_twice() {
    let folder = scratch();
    let records = format!("sqlite:{}", folder.path().join("ledger.db").display());
    let bare = || ledger(&records, LONG, &["--listen", "127.0.0.1:0"]).serve();
    let ledgers = [bare(), bare()];
    let clients = [ledgers[0].client().await, ledgers[1].client().await];
    transfer(&clients, TRANSFERS, 1).await;
    let (alice, bob) = balances(&clients[0]).await;
    assert!(alice < 0 && bob > CREDITS, "{alice} and {bob}");
}

/// A guard in front of a ledger that runs by itself, and so outlives it.
fn in_front_of(ledger: &Serving, folder: &std::path::Path, state: &str) -> Serving {
    let policy = format!(
        "[state]\nurl = \"{state}\"\n\n[defaults]\ntimeout = \"10s\"\ngrace = \"5s\"\nwait = \"1h\"\n\n\
         [[upstream]]\nname = \"ledger\"\nurl = \"{}\"\n\n{ACCOUNTS}",
        ledger.url
    );
    configured(folder, &policy).serve()
}

async fn one_replica_is_killed(state: &str) {
    let folders = [scratch(), scratch()];
    let records = format!("sqlite:{}", folders[0].path().join("ledger.db").display());
    let bare = || ledger(&records, BRIEF, &["--listen", "127.0.0.1:0"]).serve();
    let ledgers = [bare(), bare()];
    let mut doomed = in_front_of(&ledgers[0], folders[0].path(), state);
    let survivor = in_front_of(&ledgers[1], folders[1].path(), state);
    let clients = [doomed.client().await, survivor.client().await];
    let mut running = JoinSet::new();
    let mut lost = Vec::new();
    for (number, client) in clients.iter().cycle().take(TRANSFERS).cloned().enumerate() {
        let wish = json!({ "fromUserId": "alice", "toUserId": "bob", "amount": 1 });
        let call =
            running.spawn(async move { (number % 2, client.try_call("transfer_credits", wish).await) });
        if number % 2 == 0 {
            lost.push(call);
        }
    }
    let (mut moved, mut unknown) = (0, 0);
    while let Some(joined) = running.join_next().await {
        match joined {
            Ok((_, Ok(said))) if !said.is_error => moved += 1,
            Ok((_, Ok(said))) if !said.text().contains(TOO_FEW) => unknown += 1,
            Ok((1, Err(error))) => panic!("the other one goes on: {error}"),
            Ok(_) => {}
            Err(ended) => assert!(ended.is_cancelled(), "{ended}"),
        }
        if moved == 20 && doomed.child.try_wait().expect("it is ours").is_none() {
            doomed.child.kill().and_then(|()| doomed.child.wait()).expect("it can be killed");
            let lost = std::mem::take(&mut lost);
            tokio::spawn(async move {
                // The client goes on asking for what it was not told, for ever. What had come before the end is read by then.
                tokio::time::sleep(GIVE_UP).await;
                lost.iter().for_each(tokio::task::AbortHandle::abort);
            });
        }
    }
    let (alice, bob) = balances(&clients[1]).await;
    assert_eq!(alice + bob, CREDITS, "money is neither made nor lost");
    assert!(alice >= 0, "{alice} and {bob}");
    // A transfer that was under way when its guard was killed happened, and nobody was told.
    let unknown = unknown + 1;
    assert!((moved..=moved + unknown).contains(&bob), "{moved} were acknowledged, {bob} happened");
    assert!(moved + unknown >= CREDITS, "the other one went on: {moved} and at most {unknown} more");
    assert!(moved > CREDITS / 2, "most were told how it ended: {moved}");
}

#[tokio::test(flavor = "multi_thread")]
async fn over_redis_a_replica_that_is_killed_leaves_nothing_half_locked_and_nothing_runs_twice() {
    let redis = Redis::start_as(Setup { durable: true, ..Setup::default() }).expect("Redis starts");
    one_replica_is_killed(&redis.url()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn over_postgresql_a_replica_that_is_killed_leaves_nothing_half_locked_and_nothing_runs_twice() {
    let postgres = Postgres::start().expect("PostgreSQL starts");
    one_replica_is_killed(&postgres.url()).await;
}
