//! Processes that are killed while they write.

use std::{
    env,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStderr, Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use interlock_sync::store::{Change, Content, Expect, Mutation, OpId, Store};
use tokio::task::JoinSet;

use super::{Scene, applies, key, number, open, transfer};

const FILE: &str = "INTERLOCK_SQLITE_KILLED";
const ACCOUNTS: i64 = 8;
const EACH: i64 = 1000;

/// Runs itself as several processes that move money to and fro in one file, and kills each in the middle.
#[test]
#[expect(clippy::disallowed_methods, reason = "the other runs must be told apart from the first")]
fn a_killed_process_leaves_the_sum_and_every_acknowledged_transfer() {
    let runtime = || tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    if let Some(file) = env::var_os(FILE) {
        return runtime().block_on(move_money(file.as_ref()));
    }
    let scene = Scene::new();
    let options = crate::Options::default();
    let mut acknowledged = vec![];
    for round in 1..=4 {
        let children: Vec<_> = (0..2).map(|_| Mover::start(&scene.file())).collect();
        for (child, enough) in children.into_iter().zip([40 * round, 70 * round]) {
            acknowledged.extend(child.kill_after(enough));
        }
        let whole: String = scene.bare().pragma_query_one(None, "integrity_check").unwrap();
        assert_eq!(whole, "ok");
        runtime().block_on(async {
            let store = open(&scene.file(), &options).unwrap();
            let mut sum = 0;
            for n in 0..ACCOUNTS {
                sum += number(&store, &format!("account-{n}")).await;
            }
            assert_eq!(sum, ACCOUNTS * EACH, "round {round}");
            for op in &acknowledged {
                assert!(store.applied(op).await.unwrap().is_some(), "round {round}: {op} was acknowledged");
            }
        });
    }
}

/// A process that moves money until it is killed, and says what was acknowledged to it.
struct Mover {
    process: Child,
    said: BufReader<ChildStderr>,
}

impl Mover {
    fn start(file: &Path) -> Self {
        let own_name =
            "sqlite::tests::killing::a_killed_process_leaves_the_sum_and_every_acknowledged_transfer";
        let mut process = Command::new(env::current_exe().unwrap())
            .args(["--exact", own_name, "--nocapture"])
            .env(FILE, file)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let said = BufReader::new(process.stderr.take().unwrap());
        Self { process, said }
    }

    /// Kills it after it has acknowledged so much, and returns all that it acknowledged.
    fn kill_after(mut self, enough: usize) -> Vec<OpId> {
        let mut other = String::new();
        let mut acknowledged = vec![];
        let mut line = String::new();
        while self.said.read_line(&mut line).unwrap() > 0 {
            // The kill may cut the last line short, and half an id is none.
            match line.strip_prefix("applied ").and_then(|id| id.strip_suffix('\n')) {
                Some(id) => acknowledged.push(OpId(u128::from_str_radix(id, 16).unwrap())),
                None => other.push_str(&line),
            }
            if acknowledged.len() == enough {
                self.process.kill().unwrap();
            }
            line.clear();
        }
        self.process.wait().unwrap();
        assert!(acknowledged.len() >= enough, "it ended by itself: {other}");
        acknowledged
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the process that is killed must speak to the one that kills it"
)]
async fn move_money(file: &Path) {
    let store = Arc::new(open(file, &crate::Options::default()).unwrap());
    for n in 0..ACCOUNTS {
        let (key, content) = (key(format!("account-{n}")), Content::Number(EACH));
        let open_account = Change::Put { key, expect: Expect::Absent, content };
        // The other process may have been first.
        store.mutate(&Mutation::new(OpId::fresh(), open_account)).await.unwrap();
    }
    let start = Instant::now();
    let mut tasks = JoinSet::new();
    for task in 0..16 {
        let store = Arc::clone(&store);
        tasks.spawn(async move {
            // Whoever should kill this process may be gone.
            for step in (1..).take_while(|_| start.elapsed() < Duration::from_secs(120)) {
                let (from, to) = ((task * 5 + step) % ACCOUNTS, (task + step * 3) % ACCOUNTS);
                let move_it = transfer(&format!("account-{from}"), &format!("account-{to}"), 1 + step % 7);
                if applies(&*store, &move_it).await {
                    // Written at once and past the test harness, which keeps what a test prints until it ends.
                    let line = format!("applied {}\n", move_it.op);
                    std::io::stderr().write_all(line.as_bytes()).unwrap();
                }
            }
        });
    }
    tasks.join_all().await;
}
