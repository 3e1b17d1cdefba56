//! A client at work: money moved, taken and given, notes written, entries appended, a counter swapped, effects that must happen once, what
//! is `limited`, and calls that are `admitted`. Several at a time, until it is dismissed or killed.

use std::{
    fs::OpenOptions,
    io::Write,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use interlock_store::{Options, open};
use interlock_sync::{
    idempotency::{Idempotency, Ran},
    record::{Records, Settled},
    retry::Retry,
    store::{Content, Ending, Fingerprint, OpId, Store},
};
use tokio::task::JoinSet;

use crate::{
    dice::Dice,
    journal::{Deed, Journal},
    key,
    process::{Failpoint, Orders, die},
};

pub(crate) const ACCOUNTS: u64 = 6;
pub(crate) const EACH: i64 = 1_000;
pub(crate) const COUNTER: &str = "counter";
pub(crate) const LOGS: [&str; 2] = ["log-0", "log-1"];

/// How many things a client is at at a time.
const TASKS: u64 = 3;

/// What is given up after that long would be a failure of the test itself.
pub(crate) const PATIENCE: Duration = Duration::from_secs(300);

pub(crate) struct Client {
    pub(crate) orders: Orders,
    pub(crate) store: Arc<dyn Store>,
    records: Records,
    once: Idempotency,
    pub(crate) journal: Journal,
    passed: AtomicU64,
}

/// How a client asks again when the store does not answer.
pub(crate) fn resend() -> Retry {
    Retry::for_as_long_as(Duration::from_secs(10))
        .first(Duration::from_millis(5))
        .cap(Duration::from_millis(100))
}

/// The effects of all, as a judge and a client must agree on them.
pub(crate) fn once(store: Arc<dyn Store>) -> Idempotency {
    let second = Duration::from_secs(1);
    Idempotency::new(store).ttl(second).wait(second / 2).retry(resend()).purpose("append")
}

pub(crate) fn request_of(effect: &str) -> Fingerprint {
    Fingerprint::of_parts(["append", effect])
}

/// The effect itself: one line, on the disk.
pub(crate) fn happen(effects: &Path, effect: &str) {
    let mut file = OpenOptions::new().create(true).append(true).open(effects).unwrap();
    file.write_all(format!("{effect}\n").as_bytes()).unwrap();
    file.sync_data().unwrap();
}

/// Works until it is dismissed.
pub(crate) async fn work(orders: Orders, dismissed: Arc<AtomicBool>) {
    let store = connect(&orders).await;
    let records = Records::new(store.clone()).resending(resend());
    let journal = Journal::append_to(&orders.journal());
    let once = once(store.clone());
    let client = Arc::new(Client { orders, store, records, once, journal, passed: AtomicU64::new(0) });
    let mut tasks = JoinSet::new();
    for task in 0..TASKS {
        let (client, dismissed) = (Arc::clone(&client), Arc::clone(&dismissed));
        tasks.spawn(async move {
            let mut dice = Dice::new(client.orders.id * TASKS + task);
            for round in 0.. {
                if dismissed.load(Ordering::SeqCst) {
                    break;
                }
                client.do_something(&mut dice, task, round).await;
            }
        });
    }
    while let Some(ended) = tasks.join_next().await {
        ended.expect("no task panics");
    }
}

async fn connect(orders: &Orders) -> Arc<dyn Store> {
    let timeout = Duration::from_millis(700);
    let options = Options::default().namespace(&orders.namespace).timeout(timeout);
    let start = Instant::now();
    loop {
        match open(&orders.url, &options).await {
            Ok(store) => return store,
            Err(error) if start.elapsed() > PATIENCE => panic!("{error}: {error:?}"),
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
}

impl Client {
    async fn do_something(&self, dice: &mut Dice, task: u64, round: u64) {
        let account = |dice: &mut Dice| format!("account-{}", dice.below(ACCOUNTS));
        let amount = i64::try_from(dice.below(200)).unwrap() + 1;
        let deed = match dice.below(38) {
            0..8 => Deed::Transfer { from: account(dice), to: account(dice), amount },
            8..11 => Deed::Add { account: account(dice), delta: -amount },
            11..13 => Deed::Add { account: account(dice), delta: amount },
            13..15 => Deed::Put { note: format!("note-{}-{task}", self.orders.id) },
            15..17 => match self.next_swap().await {
                Some(swap) => swap,
                None => return,
            },
            17..20 => return self.effect(&format!("effect-{}", dice.below(round + 5))).await,
            20..23 => Deed::Append { log: LOGS[usize::try_from(dice.below(2)).unwrap()].into() },
            23..26 => return self.hold_lease(dice).await,
            26..28 => return self.hold_permit(dice).await,
            30.. => return self.call(dice, task, round).await,
            _ => return self.take(dice).await,
        };
        self.settle(&deed).await;
    }

    /// What a counter becomes that nobody else may have changed in between.
    async fn next_swap(&self) -> Option<Deed> {
        let record = self.records.get(&key(COUNTER)).await.ok()??;
        let Content::Bytes(bytes) = record.content else { panic!("the counter is text") };
        let value = String::from_utf8(bytes).unwrap().parse::<u64>().unwrap() + 1;
        Some(Deed::Swap { counter: COUNTER.into(), version: record.version.0, value })
    }

    pub(crate) async fn settle(&self, deed: &Deed) {
        let op = OpId::fresh();
        self.journal.note(&deed.line(op));
        self.pass(Failpoint::BeforeSending);
        if self.dies_at(Failpoint::AfterSending) {
            let pause = Duration::from_micros(u64::try_from(op.0 % 3_000).unwrap());
            tokio::select! {
                biased;
                _ = deed.send(op, &*self.store) => {}
                () = tokio::time::sleep(pause) => {}
            }
            die();
        }
        let start = Instant::now();
        let line = loop {
            match deed.settle(op, &*self.store, &self.records).await {
                Ok(Settled::Applied(_)) => break "applied",
                Ok(Settled::Refused(_)) => break "refused",
                // What comes later for the same record must not overtake it.
                Ok(Settled::InDoubt { .. }) if matches!(deed, Deed::Put { .. } | Deed::Swap { .. }) => {
                    assert!(start.elapsed() < PATIENCE, "{deed:?} stays in doubt");
                }
                Ok(Settled::InDoubt { .. }) => break "doubt",
                Err(error) if error.is_retryable() => break "refused",
                Err(error) => panic!("{deed:?}: {error:?}"),
            }
        };
        self.pass(Failpoint::BeforeNoting);
        self.journal.note(&format!("{line} {op}"));
    }

    async fn effect(&self, effect: &str) {
        self.journal.note(&format!("begin {effect}"));
        let name = key(effect);
        let ran = self.once.run(&name, request_of(effect), async |_| {
            self.pass(Failpoint::BeforeEffect);
            happen(&self.orders.effects(), effect);
            self.pass(Failpoint::AfterEffect);
            Ok(effect.as_bytes().to_vec())
        });
        match ran.await {
            Ok(Ran::Done { ending: Ending::Completed(_), .. } | Ran::Replayed(Ending::Completed(_))) => {
                self.journal.note(&format!("done {effect}"));
            }
            Ok(Ran::Running { .. } | Ran::InDoubt { .. }) => {}
            Ok(other) => panic!("{effect}: {other:?}"),
            Err(error) => assert!(error.is_retryable(), "{effect}: {error:?}"),
        }
    }

    pub(crate) fn pass(&self, point: Failpoint) {
        if self.dies_at(point) {
            die();
        }
    }

    /// Whether this is the point, and the time, at which it was told to die.
    fn dies_at(&self, point: Failpoint) -> bool {
        self.orders.failpoint.is_some_and(|(fatal, time)| {
            fatal == point && self.passed.fetch_add(1, Ordering::SeqCst) + 1 == time
        })
    }
}
