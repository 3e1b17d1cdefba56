//! The layer before services that count what reaches them.

use std::{
    convert::Infallible,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use http::{Request, Response, StatusCode, request::Parts};
use http_body_util::{BodyExt, Full, combinators::BoxBody};
use tower::{Service, ServiceExt};
use tower_layer::Layer;

use super::*;
use crate::{
    adapt::{CallRefusal, CallerName, KeySource, Policy, Rule, Warden, tests::Work},
    store::Quota,
    testing::settle,
};

type Bytes = std::io::Cursor<Vec<u8>>;

/// A service that counts how often it was asked whether it is ready, and whose calls end when the test says so.
#[derive(Clone)]
struct Counting {
    asked: Arc<AtomicUsize>,
    work: Work,
}

impl Service<Request<String>> for Counting {
    type Response = Response<BoxBody<Bytes, Infallible>>;
    type Error = Infallible;
    type Future = std::pin::Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<String>) -> Self::Future {
        let work = self.work.clone();
        Box::pin(async move {
            work.go().await;
            Ok(Response::new(Full::new(Bytes::new(request.into_body().into_bytes())).boxed()))
        })
    }
}

fn by_header(parts: &Parts) -> CallerName {
    parts.headers.get("x-caller").and_then(|name| name.to_str().ok()).unwrap_or_default().into()
}

fn setup(rule: Rule) -> (Limited<Counting>, Counting, Warden) {
    let inner = Counting { asked: Arc::default(), work: Work::new() };
    let policy = Policy::builder().rule(rule).wait(Duration::from_secs(1)).queue(1).build().unwrap();
    let warden = Warden::new(policy);
    let layer = LimitLayer::new(warden.clone(), by_header).unwrap();
    (layer.layer(inner.clone()), inner, warden)
}

fn request(caller: &str) -> Request<String> {
    Request::post("/mcp").header("x-caller", caller).body("body".to_owned()).unwrap()
}

fn retry_after(response: &Response<HeldBody<BoxBody<Bytes, Infallible>>>) -> u64 {
    response.headers()["retry-after"].to_str().unwrap().parse().unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_comes_too_often_is_refused_before_the_service_hears_of_it() {
    let (service, inner, _) = setup(Rule::of("/mcp*").rate(Quota::log(1, Duration::from_secs(60)).unwrap()));
    inner.work.let_end(9);
    assert_eq!(service.clone().oneshot(request("a")).await.unwrap().status(), StatusCode::OK);
    let refused = service.clone().oneshot(request("a")).await.unwrap();
    assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS);
    assert!((1..=60).contains(&retry_after(&refused)));
    assert_eq!(refused.extensions().get::<CallRefusal>().unwrap().reason.name(), "rate");
    assert!(refused.into_body().collect().await.unwrap().to_bytes().is_empty());
    assert_eq!(inner.asked.load(Ordering::SeqCst), 1);
    assert_eq!(service.clone().oneshot(request("b")).await.unwrap().status(), StatusCode::OK);
    assert_eq!(inner.work.counts(), (2, 2));
}

#[tokio::test(start_paused = true)]
async fn a_request_is_in_flight_until_its_response_has_been_read_or_dropped() {
    let (service, inner, warden) = setup(Rule::of("*").in_flight(1));
    inner.work.let_end(9);
    let first = service.clone().oneshot(request("a")).await.unwrap();
    let waits = tokio::spawn(service.clone().oneshot(request("a")));
    settle().await;
    assert_eq!((inner.work.counts(), inner.asked.load(Ordering::SeqCst)), ((1, 1), 1));
    let too_many = service.clone().oneshot(request("a")).await.unwrap();
    assert_eq!((too_many.status(), retry_after(&too_many)), (StatusCode::TOO_MANY_REQUESTS, 1));

    let mut body = first.into_body();
    let frame = body.frame().await.unwrap().unwrap();
    assert_eq!(frame.into_data().unwrap().into_inner(), b"body");
    let second = waits.await.unwrap().unwrap();
    assert_eq!((second.status(), inner.work.counts()), (StatusCode::OK, (2, 2)));
    drop(second);
    assert!(warden.is_idle());
}

#[tokio::test(start_paused = true)]
async fn a_request_that_waits_too_long_is_refused_and_one_that_is_dropped_leaves_nothing() {
    let (service, inner, warden) = setup(Rule::of("*").in_flight(1));
    let first = tokio::spawn(service.clone().oneshot(request("a")));
    settle().await;
    let late = service.clone().oneshot(request("a")).await.unwrap();
    assert_eq!(late.status(), StatusCode::TOO_MANY_REQUESTS);
    first.abort();
    assert!(first.await.unwrap_err().is_cancelled());
    assert!(warden.is_idle());
    assert_eq!(inner.work.counts(), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn after_closing_what_runs_is_answered_and_what_comes_is_told_to_come_back() {
    let (service, inner, warden) = setup(Rule::of("*").in_flight(9));
    let runs = tokio::spawn(service.clone().oneshot(request("a")));
    settle().await;
    let closing = warden.gate().close(Duration::from_secs(60));
    let refused = service.clone().oneshot(request("a")).await.unwrap();
    assert_eq!((refused.status(), retry_after(&refused)), (StatusCode::SERVICE_UNAVAILABLE, 1));
    inner.work.let_end(1);
    assert_eq!(runs.await.unwrap().unwrap().status(), StatusCode::OK);
    assert_eq!(closing.await, 0);
}

#[test]
fn a_policy_that_needs_the_body_is_refused() {
    let refused = |rule: Rule| {
        let policy = Policy::builder().rule(Rule::of("fine").in_flight(1)).rule(rule).build().unwrap();
        LimitLayer::new(Warden::new(policy), by_header).unwrap_err().rule
    };
    assert_eq!(refused(Rule::of("a").lock("x")), "a");
    assert_eq!(refused(Rule::of("b").lock_shared("x")), "b");
    assert_eq!(refused(Rule::of("c").idempotency(KeySource::Meta)), "c");
    assert_eq!(refused(Rule::of("d").timeout(Duration::from_secs(1))), "d");
}
