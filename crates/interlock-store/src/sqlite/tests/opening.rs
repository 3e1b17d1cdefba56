//! Files that cannot be used, and what is said about them.

use std::{error::Error, fs, num::NonZeroUsize, sync::Arc};

use interlock_sync::store::{Content, Expect, Mutation, OpId, Store, StoreError};

use super::{Change, Scene, applies, key, number, open, put};
use crate::OpenError;

/// What a person reads when the URL is opened: the error and what caused it.
async fn complaint(scene: &Scene, path: &str) -> String {
    let error: OpenError = crate::open(&format!("sqlite:{path}"), &scene.options).await.unwrap_err();
    let causes = std::iter::successors(error.source(), |error| (*error).source());
    causes.fold(error.to_string(), |all, cause| format!("{all}: {cause}"))
}

#[tokio::test]
async fn a_path_that_cannot_be_a_database_is_refused_in_plain_words() {
    let scene = Scene::new();
    let folder = scene.folder.path().display().to_string();
    fs::write(
        scene.folder.path().join("notes.txt"),
        "buy milk, bread, and a good deal of cheese\n".repeat(99),
    )
    .unwrap();
    fs::write(scene.folder.path().join("short.txt"), "x").unwrap();
    for (path, words) in [
        (String::new(), "a path must follow `sqlite:`"),
        (folder.clone(), "is a folder; name a file in it"),
        (format!("{folder}/"), "is a folder; name a file in it"),
        (format!("{folder}/.."), "is a folder; name a file in it"),
        (format!("{folder}/new/"), "is a folder; name a file in it"),
        (format!("{folder}/none/state.db"), "none` cannot be used; it must exist"),
        (format!("{folder}/notes.txt/state.db"), "notes.txt` cannot be used"),
        (format!("{folder}/notes.txt"), "notes.txt` is no SQLite database"),
        (format!("{folder}/short.txt"), "short.txt` is no SQLite database"),
        ("/dev/null".into(), "is no SQLite database"),
    ] {
        let complaint = complaint(&scene, &path).await;
        assert!(complaint.contains(words), "{path:?}: {complaint}");
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 2, "nothing was made");
    assert_eq!(fs::read_to_string(format!("{folder}/short.txt")).unwrap(), "x", "nothing was changed");
}

#[tokio::test]
async fn an_absolute_url_opens_and_so_does_an_empty_file() {
    let scene = Scene::new();
    fs::write(scene.file(), "").unwrap();
    let url = format!("sqlite:{}", scene.file().display());
    let store = crate::open(&url, &scene.options).await.unwrap();
    assert!(applies(&*store, &put("a", 1)).await);
    assert!(format!("{store:?}").contains("state.db"));
}

#[tokio::test]
async fn the_database_of_another_application_is_left_alone() {
    let scene = Scene::new();
    for made_by in ["CREATE TABLE theirs (x)", "PRAGMA user_version = 3", "PRAGMA application_id = 77"] {
        let _ = fs::remove_file(scene.file());
        scene.bare().execute_batch(made_by).unwrap();
        let before = fs::read(scene.file()).unwrap();
        let complaint = complaint(&scene, &scene.file().display().to_string()).await;
        assert!(complaint.contains("is the database of another application"), "{made_by}: {complaint}");
        assert_eq!(fs::read(scene.file()).unwrap(), before, "{made_by}");
    }
}

#[tokio::test]
async fn a_file_of_a_newer_version_is_refused() {
    let scene = Scene::new();
    scene.close(scene.open());
    scene.bare().execute_batch("PRAGMA user_version = 1000").unwrap();
    let complaint = complaint(&scene, &scene.file().display().to_string()).await;
    assert!(complaint.contains("has schema 1000, and this version knows only"), "{complaint}");
}

#[tokio::test]
async fn a_parameter_is_refused_and_no_file_of_that_name_is_made() {
    let scene = Scene::new();
    let folder = scene.folder.path().display();
    for parameters in ["?mode=ro", "?cache=shared", "?mode=ro&cache=shared", "?immutable=1"] {
        let complaint = complaint(&scene, &format!("{folder}/state.db{parameters}")).await;
        assert!(complaint.contains("takes no parameters"), "{complaint}");
    }
    assert_eq!(fs::read_dir(scene.folder.path()).unwrap().count(), 0);
}

#[cfg(unix)]
#[test]
fn a_new_file_is_private_unless_told_otherwise_and_one_that_is_there_keeps_its_mode() {
    use std::os::unix::fs::PermissionsExt;
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    for (asked, expected) in [(None, 0o600), (Some(0o660), 0o660)] {
        let mut scene = Scene::new();
        scene.options.file_mode = asked.unwrap_or(scene.options.file_mode);
        let store = scene.open();
        for name in ["state.db", "state.db-wal", "state.db-shm"] {
            assert_eq!(mode(&scene.folder.path().join(name)), expected, "{name}");
        }
        scene.close(store);
        fs::set_permissions(scene.file(), fs::Permissions::from_mode(0o640)).unwrap();
        scene.close(scene.open());
        assert_eq!(mode(&scene.file()), 0o640);
    }
}

#[tokio::test]
async fn what_was_closed_is_one_file_and_refuses_what_comes_later() {
    let scene = Scene::new();
    let store = scene.open();
    assert!(applies(&*store, &put("a", 7)).await);
    assert_eq!(number(&*store, "a").await, 7);
    let wal = scene.folder.path().join("state.db-wal");
    assert!(fs::metadata(&wal).unwrap().len() > 0, "that is where it was written to");
    store.close().await.unwrap();
    assert!(!wal.exists(), "nobody else has the file open");
    for error in [store.mutate(&put("b", 1)).await.unwrap_err(), store.get(&key("a")).await.unwrap_err()] {
        assert!(matches!(error, StoreError::Unavailable { .. }), "{error:?}");
        assert!(error.to_string().contains("was closed"), "{error}");
    }
    store.close().await.unwrap();

    // Another store has it open, so the companions stay; but what they held is in the file.
    let (one, other) = (scene.open(), scene.open());
    assert!(applies(&*one, &put("c", 8)).await);
    one.close().await.unwrap();
    assert_eq!(fs::metadata(&wal).unwrap().len(), 0);
    assert_eq!(number(&*other, "c").await, 8);
}

/// As a program ends that made its runtime by hand: the store goes after the runtime, and nothing of the process after that.
#[test]
fn a_store_that_is_dropped_outside_of_a_runtime_leaves_one_file() {
    let scene = Scene::new();
    let store = scene.open();
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
        assert!(applies(&*store, &put("a", 7)).await);
    });
    drop(store);
    assert!(!scene.folder.path().join("state.db-wal").exists());
}

#[tokio::test]
async fn a_file_that_was_replaced_is_neither_written_nor_read() {
    let scene = Scene::new();
    let store = scene.open();
    assert!(applies(&*store, &put("a", 7)).await);
    let other = Scene::new();
    let another = other.open();
    assert!(applies(&*another, &put("a", 8)).await);
    another.close().await.unwrap();
    // No reader is open yet, so the next one opens whatever is there by then.
    fs::rename(other.file(), scene.file()).unwrap();
    let errors = [
        store.get(&key("a")).await.unwrap_err(),
        store.list("", None, 9).await.unwrap_err(),
        store.read_log(&key("log"), 0, 9).await.unwrap_err(),
        store.mutate(&put("b", 1)).await.unwrap_err(),
    ];
    for error in errors {
        assert!(error.to_string().contains("moved, replaced or removed"), "{error}");
    }
}

#[test]
fn a_file_is_durable_and_shared() {
    let scene = Scene::new();
    let _store = open(&scene.file(), &scene.options).unwrap();
    let mode: String = scene.bare().pragma_query_one(None, "journal_mode").unwrap();
    assert_eq!(mode, "wal");
    let (writer, _) = super::super::connect::writer(&scene.file(), "n", scene.options.timeout).unwrap();
    assert_eq!(writer.pragma_query_one::<i64>(None, "synchronous").unwrap(), 2, "FULL");
    let reader = super::super::connect::reader(&scene.file(), scene.options.timeout).unwrap();
    assert!(reader.execute_batch("INSERT INTO space (name) VALUES ('x')").is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn no_more_connections_read_than_told_however_many_ask() {
    for (told, most) in [(2, 2), (usize::MAX, 64)] {
        let mut scene = Scene::new();
        scene.options.connections = NonZeroUsize::new(told);
        let store = scene.open();
        assert!(applies(&*store, &put("a", 1)).await);
        let reads: Vec<_> = (0..100)
            .map(|_| {
                let store = Arc::clone(&store);
                tokio::spawn(async move { number(&*store, "a").await })
            })
            .collect();
        for read in reads {
            assert_eq!(read.await.unwrap(), 1);
        }
        assert!((1..=most).contains(&store.readers.idle().len()), "each that was opened is kept");
    }
}

#[tokio::test]
async fn damage_that_sqlite_sees_is_an_error_that_says_so() {
    let scene = Scene::new();
    let store = scene.open();
    for n in 0..50 {
        let content = Content::Bytes(vec![n; 300]);
        let change = Change::Put { key: key(format!("document-{n:02}")), expect: Expect::Absent, content };
        assert!(applies(&*store, &Mutation::new(OpId::fresh(), change)).await);
    }
    scene.close(store);
    let whole = fs::read(scene.file()).unwrap();
    let mut noticed = 0;
    // Page by page, so that each kind of page is hit; the first is the header, which opening looks at.
    for page in whole.chunks(4096).enumerate().skip(1).map(|(page, _)| page) {
        let mut damaged = whole.clone();
        damaged[page * 4096..(page + 1) * 4096].fill(0xa5);
        fs::write(scene.file(), &damaged).unwrap();
        let Ok(store) = open(&scene.file(), &scene.options) else {
            noticed += 1;
            continue;
        };
        let (read, written) = (store.list("", None, usize::MAX).await, store.mutate(&put("new", 1)).await);
        for error in [read.err(), written.err()].into_iter().flatten() {
            assert!(matches!(error, StoreError::Broken { .. }), "page {page}: {error:?}");
            noticed += 1;
        }
        scene.close(Arc::new(store));
        for companion in ["state.db-wal", "state.db-shm"] {
            let _ = fs::remove_file(scene.folder.path().join(companion));
        }
    }
    assert!(noticed > 5, "{noticed}");
    let mut headless = whole;
    headless[..100].fill(0xa5);
    fs::write(scene.file(), &headless).unwrap();
    let complaint = complaint(&scene, &scene.file().display().to_string()).await;
    assert!(complaint.contains("is no SQLite database"), "{complaint}");
}

#[tokio::test]
async fn a_file_that_is_replaced_while_open_grants_nothing_more() {
    let scene = Scene::new();
    let store = scene.open();
    assert!(applies(&*store, &put("alice", 100)).await);
    assert_eq!(number(&*store, "alice").await, 100);
    fs::rename(scene.file(), scene.folder.path().join("old.db")).unwrap();
    for gone in [true, false] {
        let replaced = (!gone).then(|| scene.bare().execute_batch("CREATE TABLE other (x)").unwrap());
        let refused = store.mutate(&put("bob", 1)).await.unwrap_err();
        assert!(matches!(refused, StoreError::Broken { .. }), "{replaced:?}: {refused:?}");
        let unread = store.get(&key("alice")).await.unwrap_err();
        assert!(matches!(unread, StoreError::Broken { .. }), "{replaced:?}: {unread:?}");
    }
}
