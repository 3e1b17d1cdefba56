//! Disks that fail: full, or unable to write a commit.

use std::{
    env, fs,
    process::{Command, Stdio},
    time::Duration,
};

use interlock_sync::store::{Change, Content, Expect, Mutation, OpId, Outcome, Reply, Store, StoreError};

use super::{Blocked, Scene, applies, key, number, open, put, start, transfer};

fn document(name: &str, bytes: usize) -> Mutation {
    let content = Content::Bytes(vec![b'x'; bytes]);
    Mutation::new(OpId::fresh(), Change::Put { key: key(name), expect: Expect::Any, content })
}

#[tokio::test]
async fn a_full_disk_refuses_what_does_not_fit_and_every_answer_is_true() {
    let scene = Scene::new();
    let store = scene.open();
    let pages = |limit: i64| {
        store.writer.run(move |tables| {
            tables
                .connection()
                .pragma_update_and_check(None, "max_page_count", limit, |row| row.get::<_, i64>(0))
        })
    };
    assert!(applies(&*store, &put("a", 10)).await && applies(&*store, &put("b", 0)).await);
    assert_eq!(pages(100).await.unwrap(), 100);
    let blocked = Blocked::new(&store).await;
    let mutations = [transfer("a", "b", 1), document("big", 1_000_000), transfer("a", "b", 1)];
    let mut replies: Vec<Reply<'_, Outcome>> = mutations.iter().map(|change| store.mutate(change)).collect();
    start(&mut replies).await;
    drop(blocked);
    let mut moved = 0;
    for (reply, mutation) in replies.into_iter().zip(&mutations) {
        let answer = reply.await;
        let applied = store.applied(&mutation.op).await.unwrap();
        match answer {
            Ok(Outcome::Applied(_)) => assert!(applied.is_some()),
            Err(StoreError::Unavailable { .. }) => assert_eq!(applied, None),
            other => panic!("{other:?}"),
        }
        moved += i64::from(applied.is_some());
    }
    assert_eq!(store.get(&key("big")).await.unwrap(), None);
    assert_eq!((number(&*store, "a").await, number(&*store, "b").await), (10 - moved, moved));
    pages(1_000_000).await.unwrap();
    assert!(applies(&*store, &mutations[1]).await, "there is room again");
}

#[tokio::test]
async fn an_operation_that_panics_is_taken_back_and_the_thread_goes_on() {
    let scene = Scene::new();
    let store = scene.open();
    let panics = store.writer.run(|tables| -> rusqlite::Result<()> {
        tables.append(OpId::fresh(), &key("log"), b"half", Duration::MAX)?;
        panic!("this operation fails on purpose");
    });
    let error = panics.await.unwrap_err();
    assert!(matches!(error, StoreError::Broken { .. }), "{error:?}");
    assert!(applies(&*store, &put("a", 1)).await);
    assert_eq!(store.read_log(&key("log"), 0, 9).await.unwrap(), []);
}

const FILE: &str = "INTERLOCK_SQLITE_SMALL_DISK";

/// Runs itself a second time under a limit on the size of files, so that a commit really cannot be written.
#[test]
#[expect(clippy::disallowed_methods, reason = "the second run must be told apart from the first")]
fn a_commit_that_the_disk_refuses_is_in_doubt_and_can_be_settled_by_asking() {
    if let Some(file) = env::var_os(FILE) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        return runtime.block_on(write_until_the_disk_refuses(file.as_ref()));
    }
    let scene = Scene::new();
    scene.close(scene.open());
    // The signal for a file that grew too large is ignored; what is ignored stays so in the next program.
    let limited = r#"trap '' XFSZ; ulimit -f 600; exec "$0" "$@""#;
    let own_name =
        "sqlite::tests::trouble::a_commit_that_the_disk_refuses_is_in_doubt_and_can_be_settled_by_asking";
    let output = Command::new("/bin/sh")
        .args(["-c", limited])
        .arg(env::current_exe().unwrap())
        .args(["--exact", own_name, "--nocapture"])
        .env(FILE, scene.file())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let store = scene.open();
        let sum = number(&*store, "a").await + number(&*store, "b").await;
        assert_eq!(sum, 1000);
        let list = fs::read_to_string(scene.folder.path().join("known")).unwrap();
        for line in list.lines() {
            let (op, applied) = line.split_once(' ').unwrap();
            let op = OpId(u128::from_str_radix(op, 16).unwrap());
            assert_eq!(store.applied(&op).await.unwrap().is_some(), applied == "true", "{op}");
        }
        assert!(list.contains("true"), "something was applied before the disk refused");
    });
}

async fn write_until_the_disk_refuses(file: &std::path::Path) {
    let store = open(file, &crate::Options::default()).unwrap();
    assert!(applies(&store, &put("a", 1000)).await && applies(&store, &put("b", 0)).await);
    let mut known = String::new();
    for step in 0.. {
        assert!(step < 10_000, "the disk never refused");
        let change = transfer("a", "b", 1);
        match store.mutate(&change).await {
            Ok(Outcome::Applied(_)) => known.push_str(&format!("{} true\n", change.op)),
            Err(error) => {
                assert!(error.is_in_doubt(), "{error:?}");
                // Asking writes, to be sure. If there is not even room for that, there is no answer either.
                match store.applied(&change.op).await {
                    Ok(applied) => known.push_str(&format!("{} {}\n", change.op, applied.is_some())),
                    Err(error) => assert!(error.is_retryable(), "{error:?}"),
                }
                break;
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(number(&store, "a").await <= 1000, "reading goes on");
    fs::write(file.with_file_name("known"), known).unwrap();
}
