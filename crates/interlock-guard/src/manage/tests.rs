//! The manager over upstreams that are told how to behave.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use interlock_sync::gate::Gate;
use tokio::sync::watch;

use super::*;
use crate::event::{Event, Watch};

const SECOND: Duration = Duration::from_secs(1);

/// An upstream of a test.
#[derive(Clone)]
struct Fake {
    name: &'static str,
    is_required: bool,
    /// How its starts go, by their number, from 0.
    goes: fn(u32) -> Result<(), &'static str>,
    starts: Arc<AtomicU32>,
    /// What runs: changed to a reason, it crashes.
    crash: watch::Sender<Option<&'static str>>,
    ended: Arc<AtomicU32>,
}

struct Running {
    has_spoken: bool,
    crash: watch::Receiver<Option<&'static str>>,
    ended: Arc<AtomicU32>,
}

fn fake(name: &'static str, goes: fn(u32) -> Result<(), &'static str>) -> Fake {
    Fake {
        name,
        is_required: true,
        goes,
        starts: Arc::default(),
        crash: watch::Sender::new(None),
        ended: Arc::default(),
    }
}

impl Start for Fake {
    type Live = Running;

    fn name(&self) -> &str {
        self.name
    }

    fn is_required(&self) -> bool {
        self.is_required
    }

    async fn start(&self) -> Result<Arc<Running>, StartFailure> {
        tokio::time::sleep(SECOND).await;
        self.crash.send_replace(None);
        (self.goes)(self.starts.fetch_add(1, Ordering::SeqCst)).map_err(StartFailure::new)?;
        Ok(Arc::new(Running {
            has_spoken: !self.name.starts_with("mute"),
            crash: self.crash.subscribe(),
            ended: Arc::clone(&self.ended),
        }))
    }
}

impl Live for Running {
    async fn gone(&self) -> String {
        let mut crash = self.crash.clone();
        let reason = crash.wait_for(Option::is_some).await.ok().and_then(|reason| *reason);
        reason.unwrap_or_default().to_owned()
    }

    fn has_spoken(&self) -> bool {
        self.has_spoken
    }

    async fn end(&self, grace: Duration, phases: Phases) {
        tokio::select! {
            () = tokio::time::sleep(grace) => {}
            () = phases.reached(Phase::Now) => {}
        }
        self.ended.fetch_add(1, Ordering::SeqCst);
    }
}

/// Writes down which upstream came into which state.
#[derive(Default)]
struct Diary(Mutex<Vec<String>>);

impl Watch for Diary {
    fn note(&self, event: &Event<'_>) {
        if let Event::Upstream { name, state, reason } = event {
            self.0.lock().unwrap().push(format!("{name} {state:?}: {reason}"));
        }
    }
}

async fn start(gate: &Gate, upstreams: &[&Fake]) -> Result<(Manager<Fake>, Arc<Diary>), ManageError> {
    let diary = Arc::<Diary>::default();
    let upstreams = upstreams.iter().map(|upstream| (*upstream).clone()).collect();
    let (phases, watch) = (Phases::default(), Arc::<Diary>::clone(&diary) as _);
    let manager = Manager::start(gate.clone(), phases, upstreams, Settings::default(), watch).await?;
    Ok((manager, diary))
}

#[tokio::test(start_paused = true)]
async fn upstreams_start_side_by_side_and_end_side_by_side() {
    let (one, two) = (fake("one", |_| Ok(())), fake("two", |_| Ok(())));
    let began = tokio::time::Instant::now();
    let (manager, diary) = start(&Gate::new(), &[&one, &two]).await.unwrap();
    assert_eq!(began.elapsed(), SECOND);
    assert!(manager.keepers().all(|keeper| keeper.current().is_ok()));
    assert!(manager.close().await.is_clean());
    assert_eq!(began.elapsed(), SECOND + Settings::default().grace);
    assert_eq!((one.ended.load(Ordering::SeqCst), two.ended.load(Ordering::SeqCst)), (1, 1));
    assert_eq!(
        *diary.0.lock().unwrap(),
        [
            "one Starting: is being started",
            "two Starting: is being started",
            "one Up: it runs",
            "two Up: it runs",
            "one Stopped: was stopped",
            "two Stopped: was stopped",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn when_a_required_one_fails_those_that_started_are_stopped_and_the_error_says_which_and_why() {
    let good = fake("good", |_| Ok(()));
    let mut slow = fake("bad", |_| Err("it ended with exit code 4"));
    slow.is_required = true;
    let gate = Gate::new();
    let error = start(&gate, &[&good, &slow]).await.err().expect("it does not start");
    assert_eq!(error.to_string(), "failed to start the server `bad`: it ended with exit code 4");
    assert_eq!(good.ended.load(Ordering::SeqCst), 1);
    assert!(gate.enter().is_err());
}

#[tokio::test(start_paused = true)]
async fn an_optional_one_is_tried_again_until_it_starts() {
    let mut lazy = fake("lazy", |number| if number < 20 { Err("not yet") } else { Ok(()) });
    lazy.is_required = false;
    let (manager, diary) = start(&Gate::new(), &[&lazy]).await.unwrap();
    let keeper = manager.keepers().next().unwrap().clone();
    let away = keeper.current().err().unwrap();
    assert!(away.comes_back, "{away}");
    assert!(keeper.up_within(SECOND * 10_000).await.is_ok());
    assert_eq!(lazy.starts.load(Ordering::SeqCst), 21);
    assert!(manager.close().await.is_clean());
    let downs = diary.0.lock().unwrap().iter().filter(|line| line.contains("Down")).count();
    assert_eq!(downs, 20);
}

#[tokio::test(start_paused = true)]
async fn one_that_crashes_is_cleaned_up_and_started_again() {
    let one = fake("one", |_| Ok(()));
    let (manager, diary) = start(&Gate::new(), &[&one]).await.unwrap();
    let keeper = manager.keepers().next().unwrap().clone();
    one.crash.send_replace(Some("it was ended by signal 9"));
    while one.starts.load(Ordering::SeqCst) < 2 {
        tokio::time::sleep(SECOND).await;
    }
    keeper.up_within(SECOND).await.unwrap();
    assert_eq!(one.ended.load(Ordering::SeqCst), 1);
    let lines = diary.0.lock().unwrap().join("\n");
    assert!(lines.contains("one Down: is gone: it was ended by signal 9"), "{lines}");
    assert!(manager.close().await.is_clean());
}

#[tokio::test(start_paused = true)]
async fn one_that_crashes_again_and_again_is_given_up() {
    let one = fake("one", |number| if number == 0 { Ok(()) } else { Err("no database") });
    let (manager, _) = start(&Gate::new(), &[&one]).await.unwrap();
    one.crash.send_replace(Some("it ended"));
    let given_up = manager.gave_up().await.to_string();
    assert_eq!(given_up, "the server `one` was given up after it ended 10 times in a row: no database");
    let away = manager.keepers().next().unwrap().current().err().unwrap();
    assert!(!away.comes_back, "{away}");
    assert!(manager.close().await.is_clean());
}

#[tokio::test(start_paused = true)]
async fn one_that_ends_before_it_has_said_anything_did_not_start() {
    let one = fake("mute", |_| Ok(()));
    let (manager, _) = start(&Gate::new(), &[&one]).await.unwrap();
    one.crash.send_replace(Some("it ended with exit code 4"));
    let given_up = manager.gave_up().await.to_string();
    assert_eq!(given_up, "the server `mute` did not start: it ended with exit code 4");
    assert_eq!(one.starts.load(Ordering::SeqCst), 1);
    assert!(manager.close().await.is_clean());
}

#[tokio::test(start_paused = true)]
async fn closing_lets_calls_finish_then_cancels_then_ends() {
    let one = fake("one", |_| Ok(()));
    let gate = Gate::new();
    let (manager, _) = start(&gate, &[&one]).await.unwrap();
    let (quick, stubborn) = (gate.enter_owned().unwrap(), gate.enter_owned().unwrap());
    let (phases, ended) = (manager.phases(), Arc::clone(&one.ended));
    let calls = tokio::spawn(async move {
        phases.reached(Phase::Closing).await;
        drop(quick);
        phases.reached(Phase::Cancelling).await;
        let (at, ended) = (tokio::time::Instant::now(), ended.load(Ordering::SeqCst));
        drop(stubborn);
        (at, ended)
    });
    let began = tokio::time::Instant::now();
    let closing = manager.close().await;
    let (cancelled, ended) = calls.await.unwrap();
    assert_eq!(cancelled - began, Settings::default().finish_within);
    assert_eq!((ended, closing.left), (0, 1));
    assert_eq!(one.ended.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn told_twice_nothing_is_waited_for() {
    let one = fake("one", |_| Ok(()));
    let gate = Gate::new();
    let (manager, _) = start(&gate, &[&one]).await.unwrap();
    let call = gate.enter_owned().unwrap();
    let phases = manager.phases();
    let began = tokio::time::Instant::now();
    let closing = tokio::spawn(manager.close());
    phases.reached(Phase::Closing).await;
    phases.advance(Phase::Now);
    // Its upstream is gone, so the call is answered and leaves.
    while one.ended.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    drop(call);
    assert_eq!(closing.await.unwrap().left, 1);
    assert_eq!(began.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_restart_that_is_waited_for_ends_with_the_closing() {
    let one = fake("one", |number| if number == 0 { Ok(()) } else { Err("no") });
    let (manager, diary) = start(&Gate::new(), &[&one]).await.unwrap();
    one.crash.send_replace(Some("it ended"));
    while !diary.0.lock().unwrap().iter().any(|line| line.contains("will be started again")) {
        tokio::time::sleep(SECOND / 100).await;
    }
    assert!(manager.close().await.is_clean());
    assert!(diary.0.lock().unwrap().last().unwrap().contains("Stopped"));
}
