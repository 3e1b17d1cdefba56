//! Start-ups that fail at every point, and closings that meet every kind of part.

use std::{
    convert::Infallible,
    future::pending,
    io,
    sync::{Arc, Mutex},
};

use tokio::{sync::oneshot, task::yield_now, time::timeout, try_join};

use super::*;
use crate::gate::{Closed, OpenError};

const SECOND: Duration = Duration::from_secs(1);

/// What happened, in order.
#[derive(Debug, Clone, Default)]
struct Diary(Arc<Mutex<Vec<String>>>);

impl Diary {
    fn note(&self, what: impl Into<String>) {
        self.0.lock().unwrap().push(what.into());
    }

    fn read(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    /// Opens a part that notes that it is opened and closed.
    async fn open(&self, parts: &Parts, name: &'static str) -> Result<Diary, OpenError> {
        let opening = async {
            yield_now().await;
            self.note(format!("open {name}"));
            Ok::<_, Infallible>(self.clone())
        };
        parts
            .open(name, opening, move |diary| async move {
                yield_now().await;
                diary.note(format!("close {name}"));
            })
            .await
    }
}

async fn fails() -> Result<(), io::Error> {
    yield_now().await;
    Err(io::Error::other("no port"))
}

async fn panics() -> Result<(), io::Error> {
    yield_now().await;
    panic!("on purpose")
}

/// Lets the tasks in the background run until the diary is as long as that.
async fn written(diary: &Diary, entries: usize) -> Vec<String> {
    for _ in 0..10_000 {
        if diary.read().len() >= entries {
            break;
        }
        yield_now().await;
    }
    diary.read()
}

#[tokio::test(start_paused = true)]
async fn parts_open_in_order_and_close_in_reverse() {
    let diary = Diary::default();
    let started = start_all(Gate::new(), SECOND, |parts| {
        let diary = diary.clone();
        async move {
            diary.open(&parts, "a").await?;
            diary.open(&parts, "b").await?;
            Ok::<_, OpenError>(7)
        }
    });
    let started = started.await.unwrap();
    assert_eq!((*started, started.gate().is_closed()), (7, false));
    assert!(started.close(SECOND).await.is_clean());
    assert_eq!(diary.read(), ["open a", "open b", "close b", "close a"]);
}

/// Opens `a` and `b` and then does what the test says; the start-up must fail and everything be closed when it returns.
async fn check_failure<F>(then: impl FnOnce(Parts) -> F) -> StartError
where
    F: Future<Output = Result<(), OpenError>>,
{
    let (gate, diary) = (Gate::new(), Diary::default());
    let started = start_all(gate.clone(), SECOND, |parts| {
        let diary = diary.clone();
        async move {
            diary.open(&parts, "a").await?;
            diary.open(&parts, "b").await?;
            then(parts).await
        }
    });
    let error = started.await.unwrap_err();
    assert_eq!(diary.read(), ["open a", "open b", "close b", "close a"]);
    assert_eq!(gate.enter().unwrap_err(), Closed);
    assert!(error.closing().is_clean());
    error
}

#[tokio::test(start_paused = true)]
async fn when_a_later_part_fails_the_earlier_ones_are_closed_in_reverse_before_the_error_returns() {
    let error = check_failure(|parts| async move { parts.open("c", fails(), |()| async {}).await }).await;
    let StartError::Failed { source, .. } = error else { panic!("{error:?}") };
    assert_eq!(source.to_string(), "failed to open c");
    assert_eq!(source.source().unwrap().to_string(), "no port");
}

#[tokio::test(start_paused = true)]
async fn a_part_that_panics_is_a_part_that_failed() {
    let error = check_failure(|parts| async move { parts.open("c", panics(), |()| async {}).await }).await;
    let StartError::Failed { source, .. } = error else { panic!("{error:?}") };
    assert_eq!(source.to_string(), "failed to open c: it panicked: on purpose");
}

#[tokio::test(start_paused = true)]
async fn a_panic_between_the_parts_closes_them_too() {
    let error = check_failure(|_| async { panic!("between {}", "parts") }).await;
    assert_eq!(error.to_string(), "failed to start: it panicked: between parts");
}

#[tokio::test(start_paused = true)]
async fn of_parts_opened_side_by_side_those_that_were_ready_are_closed() {
    let error = check_failure(|parts| async move {
        let never =
            parts.open("never", pending::<Result<(), Infallible>>(), |()| async { unreachable!() as () });
        try_join!(never, parts.open("c", fails(), |()| async {})).map(|_| ())
    });
    assert!(matches!(error.await, StartError::Failed { .. }));
}

#[tokio::test(start_paused = true)]
async fn a_start_that_is_dropped_half_way_closes_what_had_opened() {
    let (gate, diary) = (Gate::new(), Diary::default());
    let (dropped, was_dropped) = oneshot::channel::<()>();
    let started = start_all(gate.clone(), SECOND, |parts| {
        let diary = diary.clone();
        async move {
            diary.open(&parts, "a").await?;
            diary.open(&parts, "b").await?;
            let half_open = async move {
                let _dropped = dropped;
                pending::<Result<(), Infallible>>().await
            };
            parts.open("c", half_open, |()| async { unreachable!() as () }).await
        }
    });
    assert!(timeout(SECOND, started).await.is_err());
    assert!(gate.is_closed());
    assert!(was_dropped.await.is_err());
    assert_eq!(written(&diary, 4).await, ["open a", "open b", "close b", "close a"]);
}

#[tokio::test(start_paused = true)]
async fn a_part_that_opens_when_the_others_are_being_closed_is_closed_too() {
    let diary = Diary::default();
    let mut escaped = None;
    let started = start_all(Gate::new(), SECOND, |parts| {
        escaped = Some(parts);
        async { Err::<(), _>("no") }
    });
    assert!(started.await.is_err());
    let error = diary.open(&escaped.unwrap(), "late").await.unwrap_err();
    assert_eq!(error.to_string(), "failed to open late: the others are being closed");
    assert_eq!(written(&diary, 2).await, ["open late", "close late"]);
}

async fn start(gate: &Gate, diary: &Diary) -> Started<Parts> {
    let started = start_all(gate.clone(), SECOND, |parts| {
        let diary = diary.clone();
        async move { diary.open(&parts, "a").await.map(|_| parts) }
    });
    started.await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn the_parts_close_when_the_calls_have_left() {
    let (gate, diary) = (Gate::new(), Diary::default());
    let started = start(&gate, &diary).await;
    let call = gate.enter_owned().unwrap();
    let leaves = async {
        yield_now().await;
        diary.note("leave");
        drop(call);
    };
    let (closing, ()) = tokio::join!(started.close(SECOND), leaves);
    assert!(closing.is_clean());
    assert_eq!(diary.read(), ["open a", "leave", "close a"]);
}

#[tokio::test(start_paused = true)]
async fn the_parts_close_also_when_a_call_stays_too_long() {
    let (gate, diary) = (Gate::new(), Diary::default());
    let started = start(&gate, &diary).await;
    let _call = gate.enter().unwrap();
    let closing = started.close(SECOND).await;
    assert_eq!((closing.left, closing.failures.len()), (1, 0));
    assert_eq!(diary.read(), ["open a", "close a"]);
}

#[tokio::test(start_paused = true)]
async fn a_part_that_does_not_close_well_is_named_and_the_others_are_closed() {
    let (gate, diary) = (Gate::new(), Diary::default());
    let started = start(&gate, &diary).await;
    started.on_close("slow", pending::<()>()).unwrap();
    started.on_close("broken", async { panic!("on purpose") as () }).unwrap();
    started.on_close("full", async { Err("disk full") }).unwrap();
    let closing = started.close(SECOND).await;
    let failures: Vec<String> = closing.failures.iter().map(ToString::to_string).collect();
    assert_eq!(
        failures,
        [
            "failed to close full",
            "failed to close broken: it panicked: on purpose",
            "failed to close slow within 1s"
        ]
    );
    assert_eq!(diary.read(), ["open a", "close a"]);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_dropped_closes_in_the_background() {
    let (gate, diary) = (Gate::new(), Diary::default());
    drop(start(&gate, &diary).await);
    assert!(gate.is_closed());
    assert_eq!(written(&diary, 2).await, ["open a", "close a"]);
}

#[tokio::test(start_paused = true)]
async fn a_closing_that_nobody_waits_for_goes_on() {
    let (gate, diary) = (Gate::new(), Diary::default());
    let started = start(&gate, &diary).await;
    let call = gate.enter().unwrap();
    assert!(timeout(SECOND / 2, started.close(SECOND)).await.is_err());
    diary.note("leave");
    drop(call);
    assert_eq!(written(&diary, 3).await, ["open a", "leave", "close a"]);
}

#[test]
fn a_runtime_that_ends_first_is_reported_to_those_outside_it() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let (gate, diary) = (Gate::new(), Diary::default());
    let started = runtime.block_on(start(&gate, &diary));
    drop(runtime);
    let other = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let closing = other.block_on(started.close(SECOND));
    assert!(matches!(closing.failures[..], [CloseFailure::RuntimeEnded]), "{closing:?}");
}

#[tokio::test]
async fn a_start_and_a_closing_can_run_in_a_task() {
    let task = tokio::spawn(async {
        let started = start_all(Gate::new(), SECOND, |parts| async move {
            parts.open("a", async { Ok::<_, Infallible>(()) }, |()| async {}).await
        });
        started.await.unwrap().close(SECOND).await.is_clean()
    });
    assert!(task.await.unwrap());
}
