//! The queue in front of a hot record, without a server: who travels with whom, and what those hear who cannot.

use std::sync::Mutex;

use interlock_sync::store::StoreError;
use tokio::{
    sync::Semaphore,
    task::JoinHandle,
    time::{Instant, advance},
};

use super::super::{
    fault::Failure,
    fold::{Fold, Gather},
};
use super::*;

/// Notes who travelled together, and lets a journey end only when the test allows it.
struct Notes {
    journeys: Mutex<Vec<Vec<u128>>>,
    may_end: Arc<Semaphore>,
}

const PANICS: u128 = 666;
const ANSWERS_NOBODY: u128 = 777;

impl Gather for Notes {
    type Key = &'static str;
    type Wish = u128;
    type Answer = u128;

    fn size(_: &u128) -> usize {
        1
    }

    fn id(wish: &u128) -> u128 {
        *wish
    }

    async fn send(&self, _: &&'static str, wishes: Vec<u128>) -> Result<Vec<u128>, Failure> {
        self.journeys.lock().unwrap().push(wishes.clone());
        self.may_end.acquire().await.unwrap().forget();
        assert!(!wishes.contains(&PANICS), "this is meant to panic");
        Ok(if wishes.contains(&ANSWERS_NOBODY) { vec![] } else { wishes })
    }
}

struct Queue {
    fold: Arc<Fold<Notes>>,
    may_end: Arc<Semaphore>,
}

impl Queue {
    fn new() -> Self {
        let may_end = Arc::new(Semaphore::new(0));
        Self { fold: Fold::new(Notes { journeys: Mutex::default(), may_end: may_end.clone() }), may_end }
    }

    /// Sends a wish that has ten seconds, and lets everything run that can.
    async fn join(&self, key: &'static str, wish: u128) -> JoinHandle<Result<u128, Failure>> {
        let fold = self.fold.clone();
        let deadline = Instant::now() + Duration::from_secs(10);
        let joined = tokio::spawn(async move { fold.join(key, wish, deadline).await });
        settle().await;
        joined
    }

    async fn end_journeys(&self, count: usize) {
        self.may_end.add_permits(count);
        settle().await;
    }

    fn journeys(&self) -> Vec<Vec<u128>> {
        self.fold.means.journeys.lock().unwrap().clone()
    }

    /// Whether nobody travels for any key, and nothing is left of those who did.
    fn is_idle(&self) -> bool {
        format!("{:?}", self.fold) == "Fold { keys: 0, .. }"
    }
}

/// Lets every task run until all of them wait.
async fn settle() {
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn those_who_come_during_a_journey_travel_together_on_the_next_in_order() {
    let queue = Queue::new();
    let mut callers = vec![];
    for wish in 1..=5 {
        callers.push(queue.join("hot", wish).await);
    }
    let other = queue.join("cold", 9).await;
    assert_eq!(queue.journeys(), [vec![1], vec![9]], "no key waits for another");
    queue.end_journeys(3).await;
    assert_eq!(queue.journeys()[2..], [vec![2, 3, 4, 5]]);
    for (wish, caller) in (1..).zip(callers) {
        assert_eq!(caller.await.unwrap().unwrap(), wish);
    }
    other.await.unwrap().unwrap();
    advance(Duration::from_millis(10)).await;
    settle().await;
    assert!(queue.is_idle());
}

#[tokio::test(start_paused = true)]
async fn those_who_travelled_together_are_waited_for_a_little() {
    let queue = Queue::new();
    for wish in 1..=4 {
        drop(queue.join("hot", wish).await);
    }
    advance(Duration::from_millis(8)).await;
    queue.end_journeys(1).await;
    advance(Duration::from_millis(8)).await;
    queue.end_journeys(1).await;
    assert_eq!(queue.journeys(), [vec![1], vec![2, 3, 4]]);
    let (first, second) = (queue.join("hot", 5).await, queue.join("hot", 6).await);
    assert_eq!(queue.journeys().len(), 2, "three had come, and two are back");
    let third = queue.join("hot", 7).await;
    assert_eq!(queue.journeys()[2..], [vec![5, 6, 7]]);
    queue.end_journeys(1).await;
    for caller in [first, second, third] {
        caller.await.unwrap().unwrap();
    }
    let last = queue.join("hot", 8).await;
    advance(Duration::from_millis(10)).await;
    queue.end_journeys(1).await;
    last.await.unwrap().unwrap();
    assert_eq!(queue.journeys()[3..], [vec![8]], "who does not come back is not waited for long");
    settle().await;
    assert!(queue.is_idle());
}

#[tokio::test(start_paused = true)]
async fn twins_travel_one_after_the_other() {
    let queue = Queue::new();
    let mut callers = vec![];
    for wish in [1, 2, 3, 2, 4] {
        callers.push(queue.join("hot", wish).await);
    }
    queue.end_journeys(2).await;
    assert_eq!(queue.journeys(), [vec![1], vec![2, 3], vec![2, 4]]);
    queue.end_journeys(1).await;
    for caller in callers {
        caller.await.unwrap().unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_runs_out_of_time_knows_whether_its_wish_was_sent() {
    let queue = Queue::new();
    let (sent, waiting, gone) =
        (queue.join("hot", 1).await, queue.join("hot", 2).await, queue.join("hot", 3).await);
    gone.abort();
    advance(Duration::from_secs(11)).await;
    let (sent, waiting) = (
        StoreError::from(sent.await.unwrap().unwrap_err()),
        StoreError::from(waiting.await.unwrap().unwrap_err()),
    );
    assert!(matches!(sent, StoreError::InDoubt { .. }), "{sent:?}");
    assert!(matches!(waiting, StoreError::Unavailable { .. }), "{waiting:?}");
    queue.end_journeys(1).await;
    assert_eq!(queue.journeys(), [vec![1]], "what nobody waits for any more is not sent");
    assert!(queue.is_idle());
}

#[tokio::test(start_paused = true)]
async fn a_journey_that_ends_badly_strands_nobody() {
    for bad in [PANICS, ANSWERS_NOBODY] {
        let queue = Queue::new();
        let (first, second) = (queue.join("hot", bad).await, queue.join("hot", 2).await);
        queue.end_journeys(2).await;
        let failed = StoreError::from(first.await.unwrap().unwrap_err());
        if bad == PANICS {
            assert!(matches!(failed, StoreError::InDoubt { .. }), "{failed:?}");
            assert!(StoreError::from(second.await.unwrap().unwrap_err()).is_retryable());
        } else {
            assert!(matches!(failed, StoreError::Broken { .. }), "{failed:?}");
            assert_eq!(second.await.unwrap().unwrap(), 2);
        }
        settle().await;
        assert!(queue.is_idle());
        let next = queue.join("hot", 3).await;
        queue.end_journeys(1).await;
        assert_eq!(next.await.unwrap().unwrap(), 3, "the next finds a new traveller");
    }
}
