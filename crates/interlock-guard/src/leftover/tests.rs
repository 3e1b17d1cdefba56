//! What a guard leaves behind, and who may have it.

use std::{os::unix::fs::PermissionsExt as _, time::Duration};

use interlock_sync::{
    clock::SystemClock,
    memory::MemoryStore,
    store::{Admission, Admitted, Key, OpId, Settlement, Store as _, Wish},
};

use super::*;

fn key(text: &str) -> Key {
    Key::new(text).unwrap()
}

fn wish(call: u128) -> Admission {
    Admission {
        call: OpId(call),
        charges: vec![],
        locks: vec![Wish { key: key("lock"), is_shared: false }],
        once: None,
        reader: None,
        observes: vec![],
        requires_fresh: vec![],
        ttl: Duration::from_secs(3600),
        remember: Duration::from_secs(3600),
        is_again: false,
        patience: Duration::ZERO,
        places: vec![],
    }
}

async fn granted(store: &MemoryStore, call: u128) -> Option<Settlement> {
    match store.admit(&wish(call)).await.unwrap() {
        Admitted::Granted { fence } => Some(Settlement {
            call: OpId(call),
            fence: Some(fence),
            places: vec![],
            locks: vec![key("lock")],
            once: None,
            reader: None,
            changes: vec![key("state")],
            is_success: false,
            remember: Duration::from_secs(3600),
        }),
        _ => None,
    }
}

fn store() -> MemoryStore {
    MemoryStore::new(std::sync::Arc::new(SystemClock), Duration::from_secs(60))
}

#[tokio::test]
async fn what_a_guard_holds_is_free_once_it_is_dead_and_not_before() {
    let (folder, store) = (tempfile::tempdir().unwrap(), store());
    let folder = folder.path().join("guards");
    let journal = Journal::open(&folder, ["a".to_owned()]).unwrap();
    let held = granted(&store, 1).await.expect("it is free");
    journal.held("a", &held);
    assert_eq!(take_over(&folder, &store).await, Taken::default(), "it lives");
    assert!(granted(&store, 2).await.is_none());
    // The lock of its file goes with it, and the file stays.
    drop(journal);
    assert_eq!(take_over(&folder, &store).await, Taken { guards: 1, programs: 0, calls: 1 });
    assert!(granted(&store, 2).await.is_some(), "it is free");
    assert_eq!(take_over(&folder, &store).await, Taken::default(), "nothing is settled twice");
}

#[tokio::test]
async fn what_was_settled_or_is_with_a_server_elsewhere_is_not_touched() {
    let (folder, store) = (tempfile::tempdir().unwrap(), store());
    let folder = folder.path().join("guards");
    let journal = Journal::open(&folder, ["a".to_owned()]).unwrap();
    let held = granted(&store, 1).await.expect("it is free");
    journal.held("far", &held);
    journal.settled(OpId(1));
    drop(journal);
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0, "nothing is left to say");
    assert!(granted(&store, 2).await.is_none(), "it is held until it runs out");
}

#[tokio::test]
async fn a_file_that_grows_is_written_anew_and_stays_locked() {
    let (folder, store) = (tempfile::tempdir().unwrap(), store());
    let folder = folder.path().join("guards");
    let journal = Journal::open(&folder, ["a".to_owned()]).unwrap();
    let held = granted(&store, 1).await.expect("it is free");
    journal.held("a", &held);
    for call in 2..20_000 {
        journal.held("a", &Settlement { call: OpId(call), ..held.clone() });
        journal.settled(OpId(call));
    }
    let file = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap();
    assert!(file.metadata().unwrap().len() < 2 << 20);
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(take_over(&folder, &store).await, Taken::default(), "it lives");
    drop(journal);
    assert_eq!(take_over(&folder, &store).await, Taken { guards: 1, programs: 0, calls: 1 });
}

#[tokio::test]
async fn nobody_else_can_write_what_is_believed() {
    let (folder, store) = (tempfile::tempdir().unwrap(), store());
    let held = granted(&store, 1).await.expect("it is free");
    let journal = Journal::open(folder.path(), ["a".to_owned()]).unwrap();
    journal.held("a", &held);
    drop(journal);
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    assert_eq!(take_over(folder.path(), &store).await, Taken::default());
    assert!(Journal::open(folder.path(), []).is_err());
    // And a line that is none, or cut off, is none.
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
    let file = std::fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("nonsense\n{text}{{\"held\":{{\"call\":\"zz\"")).unwrap();
    assert_eq!(take_over(folder.path(), &store).await, Taken { guards: 1, programs: 0, calls: 1 });
}

#[test]
fn a_program_of_which_nobody_said_that_it_ended_leaves_no_file_unless_it_runs() {
    for is_alive in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open(folder.path(), ["a".to_owned()]).unwrap();
        let mut program = std::process::Command::new("sleep").arg("600").spawn().unwrap();
        journal.runs(program.id());
        if !is_alive {
            program.kill().and_then(|()| program.wait()).unwrap();
        }
        drop(journal);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), usize::from(is_alive));
        let _ = program.kill().and_then(|()| program.wait());
    }
}

/// The file of a guard that is dead, with something else in it.
fn rewritten(folder: &Path, from: &str, to: &str) {
    let file = std::fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains(from), "{text}");
    std::fs::write(&file, text.replace(from, to)).unwrap();
}

#[tokio::test]
async fn a_guard_that_runs_where_nobody_here_can_look_is_not_taken_for_dead() {
    let (folder, store) = (tempfile::tempdir().unwrap(), store());
    let held = granted(&store, 1).await.expect("it is free");
    let journal = Journal::open(folder.path(), ["a".to_owned()]).unwrap();
    journal.held("a", &held);
    drop(journal);
    // In another container of this machine numbers of processes mean something else.
    let home = takeover::home();
    rewritten(folder.path(), &home, "pid:[1]");
    assert_eq!(take_over(folder.path(), &store).await, Taken::default());
    assert!(granted(&store, 2).await.is_none(), "it is held until it runs out");
    // Unless it was the first process there, with which all others end.
    rewritten(folder.path(), &format!("\"pid\":{}", std::process::id()), "\"pid\":1");
    assert_eq!(take_over(folder.path(), &store).await, Taken { guards: 1, programs: 0, calls: 1 });
}

#[tokio::test]
async fn what_ran_before_the_machine_was_started_anew_does_not_run_any_more() {
    let (folder, store) = (tempfile::tempdir().unwrap(), store());
    let held = granted(&store, 1).await.expect("it is free");
    let journal = Journal::open(folder.path(), ["a".to_owned()]).unwrap();
    journal.held("a", &held);
    drop(journal);
    rewritten(folder.path(), &takeover::boot(), "an-earlier-one");
    assert_eq!(take_over(folder.path(), &store).await, Taken { guards: 1, programs: 0, calls: 1 });
    assert!(granted(&store, 2).await.is_some());
}

#[test]
fn guards_of_one_store_meet_and_others_do_not() {
    let at = |state: &str, namespace: &str| folder(state, namespace, Path::new("/run/user/1"));
    assert_eq!(at("memory:", "a"), None);
    assert_eq!(at("sqlite:/var/guard.db", "a").unwrap(), Path::new("/var/guard.db.guards/a"));
    let redis = at("redis://:secret@host/0", "a").unwrap();
    assert!(redis.starts_with("/run/user/1") && !redis.display().to_string().contains("secret"));
    assert_ne!(at("redis://:secret@host/1", "a").unwrap(), redis);
    assert_ne!(at("redis://:secret@host/0", "b").unwrap(), redis);
}
