//! Tests of the desk, on the memory store and tokio's time.

mod away;
mod cancels;
mod close;
mod ends;
mod fresh;
mod observe;
mod once;
mod plans;
mod tasks;
mod turns;

use std::{
    future::Future,
    num::NonZeroU32,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
    time::Duration,
};

use bytes::Bytes;
use interlock_model::{IdempotencyKey, KeyTemplate, Mode};
use interlock_sync::{
    store::Store as _,
    testing::{Fault, FaultyStore, Op},
};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::{Book, Carried, Desk, Stamp, Terms};
use crate::{
    call::{Answer, Caller, ToolCall},
    event::{Decision, Ending, Event, Watch},
    policy::{Ruled, ToolRules},
};

const SECOND: Duration = Duration::from_secs(1);

/// Rules by the name of a tool.
struct ByName(Box<dyn Fn(&str) -> ToolRules + Send + Sync>);

impl Book for ByName {
    fn of(&self, tool: &str, _: bool) -> Arc<ToolRules> {
        Arc::new((self.0)(tool))
    }
}

/// What happened, a line for each event.
#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl Watch for Notes {
    fn note(&self, event: &Event<'_>) {
        let line = match event {
            Event::Decided { call, decision, keys, .. } => match decision {
                Decision::Granted { fence } => format!("{} granted, fence {}", call.tool, fence.is_some()),
                Decision::Replayed => format!("{} replayed", call.tool),
                Decision::Refused { reason } => format!("{} refused: {reason}", call.tool),
                Decision::Observed { reason } => format!("{} observed: {reason} {keys:?}", call.tool),
            },
            Event::Ended { call, ending, .. } => match ending {
                Ending::Answered => format!("{} answered", call.tool),
                Ending::Failed => format!("{} failed", call.tool),
                Ending::Cancelled => format!("{} cancelled", call.tool),
                Ending::Unknown { reason } => format!("{} unknown: {reason}", call.tool),
            },
            Event::Store { error } => format!("store: {error}"),
            Event::WithoutKey { call, .. } => format!("{} without a key", call.tool),
            _ => return,
        };
        self.0.lock().unwrap().push(line);
    }
}

impl Notes {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

/// A desk with what a test looks at.
#[derive(Clone)]
struct World {
    desk: Arc<Desk>,
    store: Arc<FaultyStore>,
    notes: Arc<Notes>,
}

impl World {
    fn new(rules: impl Fn(&str) -> ToolRules + Send + Sync + 'static) -> Self {
        Self::on(FaultyStore::new(), rules)
    }

    fn on(store: Arc<FaultyStore>, rules: impl Fn(&str) -> ToolRules + Send + Sync + 'static) -> Self {
        let notes = Arc::new(Notes::default());
        let (book, watch) = (Arc::new(ByName(Box::new(rules))), Arc::clone(&notes));
        let desk = Arc::new(Desk::with(Arc::clone(&store) as _, book, watch, Terms::default()));
        Self { desk, store, notes }
    }

    /// Another replica on the same store.
    fn twin(&self, rules: impl Fn(&str) -> ToolRules + Send + Sync + 'static) -> Self {
        Self::on(Arc::clone(&self.store), rules)
    }

    /// A call whose upstream answers at once.
    async fn ask(&self, call: ToolCall) -> String {
        said(&self.desk.carry(call, |_| async { done("ok") }).await)
    }

    /// A call that is under way until the test ends it.
    fn start(&self, call: ToolCall) -> Started {
        let (started, has_started) = oneshot::channel();
        let (end, ended) = oneshot::channel();
        let desk = Arc::clone(&self.desk);
        let forward = move |stamp| async move {
            let _ = started.send(stamp);
            ended.await.unwrap_or(Answer::Lost { reason: "the test let go".into(), may_have_run: true })
        };
        let carried = tokio::spawn(async move { said(&desk.carry(call, forward).await) });
        Started { carried, has_started, end: Some(end) }
    }

    /// Nothing is left of any call, here or in the store.
    async fn assert_idle(&self) {
        // A call leaves just after it was answered, and what could not be settled is settled later.
        while self.desk.inside() > 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        assert!(self.desk.lines.is_empty(), "somebody stands in line");
        // A memory store does it at once; what has run out may be there still.
        drop(self.store.sweep());
        let state = format!("{:?}", self.store);
        assert!(state.contains("calls: {}, locks: {}, places: {}"), "the store keeps something: {state}");
    }
}

/// A call under way.
struct Started {
    carried: tokio::task::JoinHandle<String>,
    has_started: oneshot::Receiver<Stamp>,
    end: Option<oneshot::Sender<Answer>>,
}

impl Started {
    async fn is_running(&mut self) -> bool {
        rest().await;
        !matches!(self.has_started.try_recv(), Err(oneshot::error::TryRecvError::Empty))
    }

    fn answer(&mut self, answer: Answer) {
        assert!(self.end.take().expect("it was not answered before").send(answer).is_ok(), "nobody listens");
    }

    async fn end(mut self, answer: Answer) -> String {
        self.answer(answer);
        self.carried.await.unwrap()
    }
}

/// Lets all tasks go on until none can without time passing.
async fn rest() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

fn rules() -> ToolRules {
    ToolRules {
        deny: None,
        allow: None,
        deny_callers: None,
        rate: None,
        in_flight: None,
        lock: None,
        lock_shared: None,
        observes: None,
        changes: None,
        requires_fresh: None,
        idempotency: None,
        idempotency_required: false,
        timeout: SECOND * 60,
        grace: SECOND * 10,
        wait: SECOND * 30,
        cancel: None,
        queue: 100_000,
        keep: SECOND * 3600,
        passes_without_store: false,
        notes_locks: false,
    }
}

fn ruled<T>(value: T) -> Option<Ruled<T>> {
    Some(Ruled { rule: "*".into(), mode: Mode::Enforce, value })
}

fn observed<T>(value: T) -> Option<Ruled<T>> {
    Some(Ruled { rule: "*".into(), mode: Mode::Observe, value })
}

fn keys(texts: &[&str]) -> Option<Ruled<Vec<KeyTemplate>>> {
    ruled(texts.iter().map(|text| text.parse().unwrap()).collect())
}

fn places(limit: u32) -> Option<Ruled<NonZeroU32>> {
    ruled(NonZeroU32::new(limit).unwrap())
}

fn locking(texts: &[&str]) -> ToolRules {
    ToolRules { lock: keys(texts), ..rules() }
}

fn by_meta() -> ToolRules {
    ToolRules { idempotency: ruled(IdempotencyKey::Meta), ..rules() }
}

fn call(tool: &str, arguments: Value) -> ToolCall {
    ToolCall {
        caller: Caller::new("alice"),
        reader: Some("session-1".into()),
        upstream: "bank".into(),
        tool: tool.into(),
        is_read_only: false,
        arguments: Bytes::from(arguments.to_string()),
        meta: Bytes::new(),
        traceparent: None,
    }
}

fn plain(tool: &str) -> ToolCall {
    call(tool, json!({}))
}

fn keyed(tool: &str, arguments: Value, key: Value) -> ToolCall {
    let meta = Bytes::from(json!({ "dev.interlock/idempotency-key": key }).to_string());
    ToolCall { meta, ..call(tool, arguments) }
}

fn by(reader: &str, call: ToolCall) -> ToolCall {
    ToolCall { reader: Some(reader.into()), caller: Caller::new(reader), ..call }
}

fn done(text: &str) -> Answer {
    let result = Bytes::from(json!({ "content": [{ "type": "text", "text": text }] }).to_string());
    Answer::Result { result, is_error: false, task: None }
}

/// What the caller gets, in one line.
fn said(carried: &Carried) -> String {
    let text = |result: &Bytes| {
        let result: Value = serde_json::from_slice(result).unwrap();
        result["content"][0]["text"].as_str().unwrap_or_default().to_owned()
    };
    match carried {
        Carried::Answer(Answer::Result { result, .. } | Answer::Asks { result }) => text(result),
        Carried::Answer(Answer::Error { error }) => format!("error {}", String::from_utf8_lossy(error)),
        Carried::Answer(Answer::Lost { .. } | Answer::Cancelled) => panic!("the caller is told in words"),
        Carried::Said(result) | Carried::Lacks { said: result, .. } => text(result),
        Carried::Again(result) => format!("again: {}", text(result)),
    }
}

/// Polls a future so often, letting tasks and time go on in between, and drops it if it is not done then.
async fn poll_at_most<F: Future>(future: F, times: usize) -> Option<F::Output> {
    let mut future: Pin<Box<F>> = Box::pin(future);
    for _ in 0..times {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return Some(output);
        }
        tokio::task::yield_now().await;
    }
    None
}
