//! Each place that has something to tell, driven to tell it, and what a subscriber hears then.

use std::{
    num::NonZeroU32,
    sync::{Arc, LazyLock, Mutex},
    time::Duration,
};

use serde_json::json;
use tokio::{sync::oneshot, time::sleep};
use tracing::{
    Dispatch, Event, Metadata, Subscriber,
    field::{Field, Visit},
    span,
    subscriber::DefaultGuard,
};

use super::on::TARGET;
use crate::{
    adapt::{Answer, Arrived, Call, CallOutcome, CallerName, Policy, PolicyBuilder, Rule, Warden},
    idempotency::{Idempotency, Ran},
    in_flight::SharedInFlight,
    lease::Leases,
    store::{Fingerprint, Key, Quota, Store, Wish},
    testing::{FaultyStore, poll_at_most, settle},
    turn::Turns,
};

const SECOND: Duration = Duration::from_secs(1);

/// Writes down what it is told, as text.
#[derive(Default, Clone)]
struct Listener(Arc<Mutex<Vec<String>>>);

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        // Fences are counted by the store, and differ from test to test.
        match field.name() {
            "fence" => self.0 += " fence",
            name => self.0 += &format!(" {name}={value:?}"),
        }
    }
}

impl Subscriber for Listener {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == TARGET
    }

    fn new_span(&self, attributes: &span::Attributes<'_>) -> span::Id {
        let mut line = Line(format!("span {}", attributes.metadata().name()));
        attributes.record(&mut line);
        self.0.lock().unwrap().push(line.0);
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(event.metadata().level().to_string());
        event.record(&mut line);
        self.0.lock().unwrap().push(line.0);
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

/// While there is one subscriber only, `tracing` asks the thread at hand whether anybody listens, and remembers the answer for all threads: that of
/// another test would count here. With more than one it asks them all.
static OTHERS: LazyLock<[Dispatch; 2]> =
    LazyLock::new(|| [Dispatch::new(Listener::default()), Dispatch::new(Listener::default())]);

/// What is told on this thread, for as long as this lives.
struct Heard {
    told: Arc<Mutex<Vec<String>>>,
    _listening: DefaultGuard,
}

impl Heard {
    fn listen() -> Self {
        LazyLock::force(&OTHERS);
        let listener = Listener::default();
        let told = Arc::clone(&listener.0);
        Self { told, _listening: tracing::subscriber::set_default(listener) }
    }

    /// Everything since the last question.
    fn told(&self) -> Vec<String> {
        std::mem::take(&mut *self.told.lock().unwrap())
    }
}

#[derive(Debug, Clone)]
struct Done;

impl Answer for Done {
    fn to_stored(&self) -> Option<Vec<u8>> {
        Some(Vec::new())
    }

    fn from_stored(_: &[u8]) -> Option<Self> {
        Some(Self)
    }
}

fn key() -> Key {
    Key::new("k").unwrap()
}

fn warden(policy: PolicyBuilder) -> Warden {
    Warden::new(policy.build().unwrap())
}

fn arrive(warden: &Warden) -> Arrived {
    let (caller, arguments) = (CallerName::new("agent"), json!({}));
    let call = Call { tool: "pay", caller: &caller, arguments: arguments.as_object(), idempotency_key: None };
    warden.arrive(&call).unwrap()
}

async fn pay(warden: &Warden) -> CallOutcome<Done> {
    arrive(warden).run(std::future::pending(), |_| async { Done }).await
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_is_inside_a_span_and_one_that_is_refused_says_why() {
    let heard = Heard::listen();
    let quota = Quota::log(2, SECOND * 60).unwrap();
    let warden = warden(Policy::builder().rule(Rule::of("*").rate(quota).lock("x")).wait(SECOND));
    let held = arrive(&warden).hold().await.unwrap();
    assert_eq!(heard.told(), ["span wait tool=\"pay\""]);
    assert!(matches!(pay(&warden).await, CallOutcome::Refused(_)));
    assert_eq!(
        heard.told(),
        ["span wait tool=\"pay\"", "INFO message=refused tool=\"pay\" reason=\"locked\""]
    );
    assert!(matches!(pay(&warden).await, CallOutcome::Refused(_)));
    assert_eq!(heard.told(), ["INFO message=refused tool=\"pay\" reason=\"rate\""]);
    drop(held);
    warden.gate().close(SECOND).await;
    let caller = CallerName::new("agent");
    let call = Call { tool: "pay", caller: &caller, arguments: None, idempotency_key: None };
    assert!(warden.arrive(&call).is_err());
    assert_eq!(heard.told(), ["INFO message=refused tool=\"pay\" reason=\"closed\""]);
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_time_is_up_is_told_as_a_refusal() {
    let heard = Heard::listen();
    let warden = warden(Policy::builder().rule(Rule::of("*").timeout(SECOND)));
    let (_never, end) = oneshot::channel::<()>();
    let work = |_| async {
        let _ = end.await;
        Done
    };
    assert!(matches!(arrive(&warden).run(std::future::pending(), work).await, CallOutcome::Refused(_)));
    assert_eq!(
        heard.told(),
        ["span wait tool=\"pay\"", "INFO message=refused tool=\"pay\" reason=\"timeout\""]
    );
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_is_waited_for_and_one_that_is_lost_are_told() {
    let (heard, store) = (Heard::listen(), FaultyStore::new());
    let leases = Leases::new(Arc::clone(&store) as _, SECOND);
    let lease = leases.acquire(&key(), SECOND).await.unwrap().unwrap();
    assert_eq!(heard.told(), ["span wait what=\"lease\" key=\"k\""]);
    store.release_lease(&key(), lease.fence()).await.unwrap();
    sleep(SECOND).await;
    assert_eq!(heard.told(), ["WARN message=lease lost what=\"lease\" key=\"k\" fence"]);
    sleep(SECOND * 5).await;
    assert!(heard.told().is_empty(), "once");
}

#[tokio::test(start_paused = true)]
async fn a_permit_that_is_waited_for_and_one_that_is_lost_are_told() {
    let (heard, store) = (Heard::listen(), FaultyStore::new());
    let limit = SharedInFlight::new(Arc::clone(&store) as _, NonZeroU32::MIN).ttl(SECOND);
    let permit = limit.acquire(&key()).await.unwrap().granted().unwrap();
    assert_eq!(heard.told(), ["span wait what=\"permit\" key=\"k\""]);
    store.release_permit(&key(), &permit.holder()).await.unwrap();
    permit.lost().await;
    assert_eq!(heard.told(), ["WARN message=lease lost what=\"permit\" key=\"k\""]);
}

#[tokio::test(start_paused = true)]
async fn a_lock_in_a_store_that_is_lost_is_told_by_each_of_its_keys() {
    let (heard, store) = (Heard::listen(), FaultyStore::new());
    let turns = Turns { store: Arc::clone(&store) as _, ttl: SECOND };
    let wish = |name: &str| Wish { key: Key::new(name).unwrap(), is_shared: false };
    let deadline = tokio::time::Instant::now() + SECOND;
    let turn = turns.take(vec![wish("a"), wish("b")], deadline).await.unwrap().unwrap();
    // Away for longer than a turn lasts, so that the locks are others' to take.
    store.set_away(true);
    sleep(SECOND * 3).await;
    store.set_away(false);
    let other = turns.take(vec![wish("a"), wish("b")], tokio::time::Instant::now() + SECOND).await.unwrap();
    assert!(other.is_some());
    sleep(SECOND).await;
    let lost = |key: &str| format!("WARN message=lease lost what=\"lock\" key={key:?} fence");
    assert_eq!(heard.told(), [lost("a"), lost("b")]);
    drop(turn);
}

#[tokio::test(start_paused = true)]
async fn an_effect_that_vanishes_is_told_as_in_doubt() {
    let (heard, store) = (Heard::listen(), FaultyStore::new());
    let once = Idempotency::new(Arc::clone(&store) as _);
    let (key, other) = (key(), Key::new("other").unwrap());
    let running = once.run(&key, Fingerprint([1; 32]), |_| std::future::pending());
    assert!(poll_at_most(running, 20).await.is_none());
    settle().await;
    assert_eq!(heard.told(), ["WARN message=in doubt key=\"k\" fence"]);
    let ran = once.run(&other, Fingerprint([1; 32]), |_| async { Ok(Vec::new()) }).await.unwrap();
    assert!(matches!(ran, Ran::Done { .. }));
    assert!(heard.told().is_empty(), "an effect that ends is in no doubt");
}
