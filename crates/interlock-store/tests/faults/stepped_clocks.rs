//! Clocks that are set, forwards and back: by hand where the clock is ours, with a preloaded one where it is the server's. Fences and
//! versions never go back, a late owner stays refused, and no rate limit locks its caller out.

mod calls;

use std::{sync::Arc, time::Duration};

use interlock_store::{Options, open};
use interlock_sync::{
    clock::{Clock, ManualClock, SystemClock, Timestamp},
    store::{
        Attempt, Begun, Change, Content, Expect, Fence, Fingerprint, LeaseAnswer, LeaseRequest, Mutation,
        OpId, Outcome, PermitAnswer, PermitRequest, Quota, Refusal, Store, Taken,
    },
};
use interlock_testkit::service::Setup;

use crate::{block_on, key, served, stage::Server, tally::say};

const HOUR: i64 = 3_600;
const MINUTE: Duration = Duration::from_secs(60);
const DAYS: Duration = Duration::from_secs(3 * 24 * 3_600);

/// A store whose clock can be set.
struct Scene {
    store: Arc<dyn Store>,
    clock: Hand,
    steps: u32,
}

enum Hand {
    Ours { clock: Arc<ManualClock>, start: Timestamp },
    Servers(Box<Server>),
}

impl Scene {
    /// Sets the clock so many seconds off the true time.
    fn set(&mut self, seconds: i64) {
        self.steps += 1;
        match &self.clock {
            Hand::Ours { clock, start } => {
                clock.set(Timestamp(start.0.saturating_add_signed(seconds * 1_000_000)))
            }
            Hand::Servers(server) => server.shift_clock(seconds),
        }
    }

    /// Lets some time pass in the ordinary way.
    async fn pass(&self, time: Duration) {
        match &self.clock {
            Hand::Ours { clock, .. } => clock.advance(time),
            Hand::Servers(_) => tokio::time::sleep(time).await,
        }
    }

    async fn lease(&self, owner: OpId) -> LeaseAnswer {
        self.store.acquire_lease(&LeaseRequest { key: key("job"), owner, ttl: MINUTE }).await.unwrap()
    }

    async fn granted(&self) -> Fence {
        match self.lease(OpId::fresh()).await {
            LeaseAnswer::Granted { fence } => fence,
            held @ LeaseAnswer::Held { .. } => panic!("{held:?}"),
        }
    }

    async fn write(&self, fence: Fence) -> Outcome {
        let change = Change::Put { key: key("guarded"), expect: Expect::Any, content: Content::Number(1) };
        let mutation = Mutation::new(OpId::fresh(), change).under(key("job"), fence);
        self.store.mutate(&mutation).await.unwrap()
    }

    async fn is_fenced(&self, fence: Fence) -> bool {
        matches!(self.write(fence).await, Outcome::Refused(Refusal::Fenced { .. }))
    }

    async fn fences(&mut self) {
        let first = self.granted().await;
        assert!(!self.is_fenced(first).await);
        self.set(2 * HOUR);
        assert!(self.is_fenced(first).await, "its time is over by the clock that counts");
        let second = self.granted().await;
        assert!(second > first);
        assert!(self.is_fenced(first).await && !self.is_fenced(second).await);
        for back in [0, -2 * HOUR, -30 * HOUR] {
            self.set(back);
            assert!(self.is_fenced(first).await, "the past does not bring a lease back");
            assert!(!self.is_fenced(second).await, "and ends none");
            let other = self.lease(OpId::fresh()).await;
            assert!(matches!(other, LeaseAnswer::Held { fence, .. } if fence == second), "{other:?}");
        }
        assert!(self.store.release_lease(&key("job"), second).await.unwrap());
        let mut last = second;
        // Earlier and later, by the clock, than the one before was granted or given back.
        for (granted, released) in
            [(-30, -30), (2, 0), (3, -2), (0, -40), (-40, -40), (-39, -41), (-1, -2), (-45, -46)]
        {
            self.set(granted * HOUR);
            let next = self.granted().await;
            assert!(next > last, "the fence went back from {last:?} to {next:?}");
            self.set(released * HOUR);
            assert!(self.is_fenced(first).await && self.is_fenced(last).await && !self.is_fenced(next).await);
            assert!(self.store.release_lease(&key("job"), next).await.unwrap());
            last = next;
        }
        self.set(0);
    }

    /// What was given back is free, also by a clock that is set back behind that moment, and its fence is not forgotten.
    async fn releases(&mut self) {
        for back in [-1, -HOUR, -30 * HOUR] {
            self.set(0);
            let owner = OpId::fresh();
            let LeaseAnswer::Granted { fence } = self.lease(owner).await else { panic!("it is held") };
            assert!(self.store.release_lease(&key("job"), fence).await.unwrap());
            self.set(back);
            assert!(self.is_fenced(fence).await, "a lease that was given back allows a write");
            assert!(!self.store.renew_lease(&key("job"), fence, MINUTE).await.unwrap());
            assert!(!self.store.release_lease(&key("job"), fence).await.unwrap(), "it is given back once");
            let next = self.granted().await;
            assert!(next > fence, "the fence went back from {fence:?} to {next:?}");
            assert!(self.store.release_lease(&key("job"), next).await.unwrap());
        }
        // Granted by a clock that was ahead, and given back so long ago that the row could be forgotten, were it not for the fence.
        self.set(30 * HOUR);
        let ahead = self.granted().await;
        self.set(0);
        assert!(self.store.release_lease(&key("job"), ahead).await.unwrap());
        self.set(26 * HOUR);
        self.store.sweep().await.unwrap();
        assert!(self.is_fenced(ahead).await);
        self.set(0);
        let next = self.granted().await;
        assert!(next > ahead, "the fence went back from {ahead:?} to {next:?}");
        assert!(self.store.release_lease(&key("job"), next).await.unwrap());
    }

    async fn versions(&mut self) {
        let mut last = None;
        for seconds in [0, 2 * HOUR, -2 * HOUR, 0, -48 * HOUR] {
            self.set(seconds);
            let change =
                Change::Put { key: key("record"), expect: Expect::Any, content: Content::Number(seconds) };
            let mutation = Mutation::new(OpId::fresh(), change);
            let Outcome::Applied(applied) = self.store.mutate(&mutation).await.unwrap() else {
                panic!("refused")
            };
            let version = applied.changed[0].to;
            assert!(version > last, "the version went back from {last:?} to {version:?}");
            last = version;
            self.set(seconds - HOUR);
            match self.store.mutate(&mutation).await.unwrap() {
                Outcome::Applied(again) => assert!(again.replayed, "its id was forgotten"),
                Outcome::Refused(refusal) => panic!("{refusal:?}"),
            }
        }
        self.set(0);
    }

    async fn logs(&mut self) {
        let mut places = vec![];
        for seconds in [0, 2 * HOUR, -2 * HOUR, 0, -48 * HOUR] {
            self.set(seconds);
            let op = OpId::fresh();
            let place =
                self.store.append(&op, &key("log"), &seconds.to_be_bytes()).await.unwrap().place().unwrap();
            assert!(places.last() < Some(&place), "the place went back to {place} from {places:?}");
            self.set(seconds - HOUR);
            let again =
                self.store.append(&op, &key("log"), &seconds.to_be_bytes()).await.unwrap().place().unwrap();
            assert_eq!(again, place, "its id was forgotten");
            places.push(place);
        }
        let entries = self.store.read_log(&key("log"), 0, 100).await.unwrap();
        assert_eq!(entries.iter().map(|entry| entry.sequence).collect::<Vec<_>>(), places);
        self.set(0);
    }

    async fn rates(&mut self) {
        let second = Duration::from_secs(1);
        let quotas = [("bucket", Quota::bucket(3, second).unwrap()), ("log", Quota::log(3, second).unwrap())];
        for (name, quota) in quotas {
            for seconds in [0, -2 * HOUR, 2 * HOUR, -30 * HOUR, 0] {
                self.set(seconds);
                let mut granted = 0;
                loop {
                    match self.store.take(&key(name), &quota, 1).await.unwrap() {
                        // A step forward fills the quota once, and a slow machine may see a little more of the true time.
                        Taken::Granted { .. } => granted += 1,
                        Taken::Refused { retry_after } => {
                            let wait = retry_after.expect("it can be granted");
                            assert!(wait <= second, "{name}: locked out for {wait:?} after a step");
                            self.pass(wait + Duration::from_millis(5)).await;
                            break;
                        }
                    }
                    assert!(granted < 1_000, "{name}: the limit is gone");
                }
                let after = self.store.take(&key(name), &quota, 1).await.unwrap();
                assert!(
                    matches!(after, Taken::Granted { .. }),
                    "{name}: {after:?} although it waited as told"
                );
            }
        }
        self.set(0);
    }

    async fn permits(&mut self) {
        let ask = |holder| PermitRequest { key: key("caller"), holder, limit: 2, ttl: MINUTE };
        let holders = [OpId::fresh(), OpId::fresh()];
        for holder in holders {
            let answer = self.store.acquire_permit(&ask(holder)).await.unwrap();
            assert!(matches!(answer, PermitAnswer::Granted { .. }), "{answer:?}");
        }
        for seconds in [-HOUR, -30 * HOUR, 0] {
            self.set(seconds);
            let answer = self.store.acquire_permit(&ask(OpId::fresh())).await.unwrap();
            assert!(matches!(answer, PermitAnswer::Full { .. }), "more than the limit are out: {answer:?}");
        }
        self.set(HOUR);
        let answer = self.store.acquire_permit(&ask(OpId::fresh())).await.unwrap();
        assert_eq!(answer, PermitAnswer::Granted { in_use: 1 }, "theirs have run out");
        self.set(0);
    }

    async fn attempts(&mut self) {
        let attempt = |owner| Attempt {
            key: key("charge"),
            fingerprint: Fingerprint([7; 32]),
            owner,
            ttl: MINUTE,
            keep: DAYS,
        };
        let begun = self.store.begin(&attempt(OpId::fresh())).await.unwrap();
        let Begun::Reserved { fence } = begun else { panic!("{begun:?}") };
        assert!(self.store.dispatch(&key("charge"), fence, MINUTE).await.unwrap());
        for seconds in [2 * HOUR, -2 * HOUR, 30 * HOUR, -30 * HOUR, 0] {
            self.set(seconds);
            match self.store.begin(&attempt(OpId::fresh())).await.unwrap() {
                Begun::Running { .. } => {}
                Begun::InDoubt { fence: doubtful } => assert_eq!(doubtful, fence),
                other => panic!("what was dispatched is run again: {other:?}"),
            }
        }
        self.set(0);
    }

    async fn all(mut self, name: &str) {
        self.fences().await;
        self.releases().await;
        self.versions().await;
        self.logs().await;
        self.rates().await;
        self.permits().await;
        self.attempts().await;
        self.calls_held().await;
        self.calls_seen().await;
        self.calls_once().await;
        let steps = self.steps;
        say(&format!(
            "{name}, stepped clocks: {steps} faults injected ({steps} steps of a clock); held: fences, versions, logs, limits, attempts, calls"
        ));
    }
}

fn options(clock: Arc<dyn Clock>) -> Options {
    Options::default().clock(clock).timeout(Duration::from_secs(30))
}

#[test]
fn a_clock_of_ours_that_is_set_takes_nothing_back() {
    let folder = tempfile::tempdir().unwrap();
    let file = format!("sqlite:{}", folder.path().join("state.db").display());
    for (name, url) in [("memory", "memory:"), ("sqlite", &file)] {
        let start = SystemClock.now();
        let clock = Arc::new(ManualClock::at(start));
        block_on(async {
            let store = open(url, &options(clock.clone())).await.unwrap();
            Scene { store, clock: Hand::Ours { clock, start }, steps: 0 }.all(name).await;
        });
    }
}

#[test]
fn a_clock_of_the_server_that_is_set_takes_nothing_back() {
    for backend in served() {
        let server = Server::start(backend, Setup { own_clock: true, ..Setup::default() }).unwrap();
        block_on(async {
            let store = open(&server.url(), &options(Arc::new(SystemClock))).await.unwrap();
            Scene { store, clock: Hand::Servers(Box::new(server)), steps: 0 }.all(backend.name()).await;
        });
    }
}
