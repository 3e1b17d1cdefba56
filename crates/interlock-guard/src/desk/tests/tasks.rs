//! Tasks: what goes on behind an answer.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::call::{Task, TaskState, TaskWatch};

/// A task that says these states one after the other, and the last one for ever.
fn task(states: Vec<TaskState>, ttl_ms: Option<u64>) -> (Answer, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let watch = TaskWatch::new(move || {
        let at = count.fetch_add(1, Ordering::SeqCst).min(states.len() - 1);
        std::future::ready(states[at].clone())
    });
    let task = Task { id: "task-1".into(), ttl_ms, poll_ms: Some(500), watch };
    let result = json!({ "task": { "taskId": "task-1" }, "content": [{ "type": "text", "text": "begun" }] });
    (Answer::Result { result: Bytes::from(result.to_string()), is_error: false, task: Some(task) }, asked)
}

fn shop() -> World {
    World::new(|_| ToolRules { lock: keys(&["k"]), in_flight: places(1), wait: SECOND * 3600, ..by_meta() })
}

#[tokio::test(start_paused = true)]
async fn a_task_holds_everything_until_it_is_over() {
    let world = shop();
    let order = || keyed("order", json!({}), json!("k-1"));
    let mut first = world.start(order());
    assert!(first.is_running().await);
    let mut states = vec![TaskState::Working; 1_000];
    states.push(TaskState::Ended { is_error: false });
    let (answer, asked) = task(states, Some(3_600_000));
    assert_eq!(first.end(answer).await, "begun", "the caller need not wait for it");
    let mut next = world.start(plain("next"));
    // Beyond every lease: it is prolonged while the task works.
    tokio::time::sleep(SECOND * 400).await;
    assert!(!next.is_running().await);
    tokio::time::sleep(SECOND * 120).await;
    assert!(next.is_running().await);
    assert_eq!(asked.load(Ordering::SeqCst), 1_001);
    next.end(done("ok")).await;
    assert_eq!(world.ask(order()).await, "again: begun");
    world.assert_idle().await;
}

#[tokio::test(start_paused = true)]
async fn a_task_that_is_lost_or_outlives_its_time_is_given_up() {
    let lost = TaskState::Lost { reason: "no such task".into() };
    for (state, ttl) in [(lost, None), (TaskState::Working, Some(30_000))] {
        let world = shop();
        let mut first = world.start(plain("order"));
        assert!(first.is_running().await);
        first.end(task(vec![state], ttl).0).await;
        assert_eq!(world.ask(plain("next")).await, "ok");
        world.assert_idle().await;
        assert!(world.notes.take().contains(&"order unknown: the task was lost".to_owned()));
    }
}

#[tokio::test(start_paused = true)]
async fn closing_does_not_wait_for_tasks() {
    let world = shop();
    let mut first = world.start(plain("order"));
    assert!(first.is_running().await);
    first.end(task(vec![TaskState::Working], None).0).await;
    assert_eq!(world.desk.close(SECOND).await, 0);
}
