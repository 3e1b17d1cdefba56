//! The operations for async callers are the same ones.

use interlock_sync::files::{AsyncFiles, ContentHash, Created, Deletion, State, Swap};

use crate::{PLENTY, root};

#[tokio::test]
async fn every_operation_runs_in_the_background() {
    let (_folder, files) = root();
    let files = AsyncFiles::from(files);
    files.make_folder("a").await.unwrap();
    assert_eq!(files.create_new("a/b", "1").await.unwrap(), Created::New);
    files.replace("a/b", "2").await.unwrap();
    files.append("a/b", "3").await.unwrap();
    let [found, new] = ["23", "4"].map(|content| ContentHash::of(content.as_bytes()));
    assert_eq!(
        files.compare_and_swap("a/b", State::Absent, "4").await.unwrap(),
        Swap::Conflict { found: found.into() }
    );
    assert_eq!(files.compare_and_swap("a/b", found.into(), "4").await.unwrap(), Swap::Done { hash: new });
    assert_eq!(files.read("a/b", PLENTY).await.unwrap().unwrap().bytes, b"4");
    assert_eq!(files.list("a").await.unwrap().len(), 1);
    assert_eq!(files.delete_if("a/b", new).await.unwrap(), Deletion::Done);
    assert!(files.blocking().read("../a", PLENTY).is_err());
}

#[test]
fn a_runtime_that_has_ended_is_reported() {
    let (_folder, files) = root();
    let files = AsyncFiles::from(files);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let handle = runtime.handle().clone();
    drop(runtime);
    let _entered = handle.enter();
    let read = std::pin::pin!(files.read("a", PLENTY));
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    let std::task::Poll::Ready(Err(error)) = read.poll(&mut context) else { panic!("it waits") };
    assert_eq!(error.to_string(), "the runtime is shutting down");
}
