//! A real server behind the wrapper, and real clients.

use std::{future::Future, sync::Arc, time::Duration};

use rmcp::{
    ErrorData, RoleClient, RoleServer, ServerHandler, ServiceError, ServiceExt,
    model::*,
    service::{RequestContext, RunningService},
};
use serde_json::{Value, json};

use super::*;
use crate::{
    adapt::{
        CallerName, IDEMPOTENCY_KEY, KeySource, Policy, Rule, Warden,
        tests::{Said, Work},
    },
    idempotency::EffectContext,
    memory::MemoryStore,
    store::Quota,
    testing::settle,
};

const MINUTE: Duration = Duration::from_secs(60);

/// A server whose calls end when the test says so.
#[derive(Debug, Clone)]
struct Server(Work);

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().enable_prompts().build())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if request.name == "unknown" {
            return Err(ErrorData::invalid_params("no such tool", None));
        }
        let Said(text) = self.0.clone().go().await;
        let effect = context.extensions.get::<EffectContext>().map(EffectContext::provider_key);
        Ok(CallToolResult::structured(json!({ "text": text, "providerKey": effect })).into())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = Arc::new(json!({"type": "object"}).as_object().cloned().unwrap());
        Ok(ListToolsResult::with_all_items(vec![Tool::new("pay", "pays", schema)]))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        Err(ErrorData::invalid_params(format!("no prompt {}", request.name), None))
    }
}

type Client = Arc<RunningService<RoleClient, ()>>;
type Answered = tokio::task::JoinHandle<Result<CallToolResult, ServiceError>>;

/// A client that is served by the same server and warden as the others.
async fn client(server: &Server, warden: &Warden, name: &'static str) -> Client {
    let guarded = Guarded::new(server.clone(), warden.clone(), move |_| CallerName::new(name));
    let (ours, theirs) = tokio::io::duplex(4096);
    tokio::spawn(async move { guarded.serve(ours).await.unwrap().waiting().await });
    Arc::new(().serve(theirs).await.unwrap())
}

fn setup(rule: Rule) -> (Server, Warden) {
    (Server(Work::new()), Warden::new(Policy::builder().rule(rule).build().unwrap()))
}

fn request(tool: &'static str, arguments: Value, key: Option<&str>) -> CallToolRequestParams {
    let mut params = CallToolRequestParams::new(tool);
    params.arguments = arguments.as_object().cloned();
    if let Some(key) = key {
        let mut meta = RequestMetaObject::new();
        meta.insert(IDEMPOTENCY_KEY.to_owned(), key.into());
        params.meta = Some(meta);
    }
    params
}

fn call(client: &Client, params: CallToolRequestParams) -> Answered {
    let client = Arc::clone(client);
    tokio::spawn(async move { client.call_tool(params).await })
}

/// Lets messages go back and forth until it is so, and fails if it never is.
async fn until(mut is_so: impl FnMut() -> bool) {
    for _ in 0..100_000 {
        if is_so() {
            return;
        }
        tokio::task::yield_now().await;
    }
    panic!("it never was so");
}

fn refusal(result: &CallToolResult) -> &Value {
    assert_eq!((result.is_error, &result.structured_content), (Some(true), &None));
    &result.meta.as_ref().unwrap()[REFUSAL]
}

fn is_answer(result: &CallToolResult) -> bool {
    result.is_error == Some(false)
}

#[tokio::test(start_paused = true)]
async fn limits_are_per_caller_and_a_refusal_is_words_and_details() {
    let (server, warden) = setup(Rule::of("*").rate(Quota::log(1, MINUTE).unwrap()));
    let (alice, bob) = (client(&server, &warden, "alice").await, client(&server, &warden, "bob").await);
    server.0.let_end(3);
    assert!(is_answer(&call(&alice, request("pay", json!({}), None)).await.unwrap().unwrap()));
    let refused = call(&alice, request("pay", json!({}), None)).await.unwrap().unwrap();
    let details = refusal(&refused);
    assert_eq!((&details["reason"], &details["retryable"]), (&json!("rate"), &json!(true)));
    assert_eq!(details["mayHaveRun"], json!(false));
    assert!((1..=60_000).contains(&details["retryAfterMs"].as_u64().unwrap()));
    let words = &refused.content[0].as_text().unwrap().text;
    assert!(words.starts_with("`pay` was not run: it was called too often. Try again in "), "{words}");
    assert!(is_answer(&call(&bob, request("pay", json!({}), None)).await.unwrap().unwrap()));
    assert_eq!(server.0.counts(), (2, 2));
}

#[tokio::test(start_paused = true)]
async fn a_lock_serialises_one_key_over_all_clients_and_lets_others_run() {
    let (server, warden) = setup(Rule::of("pay").lock("order:{args.orderId}"));
    let (alice, bob) = (client(&server, &warden, "alice").await, client(&server, &warden, "bob").await);
    let pay = |client, order: &str| call(client, request("pay", json!({ "orderId": order }), None));
    let calls = [pay(&alice, "o-1"), pay(&bob, "o-1"), pay(&bob, "o-2")];
    until(|| warden.gate().inside() == 3).await;
    settle().await;
    assert_eq!(server.0.counts(), (2, 0));
    server.0.let_end(3);
    for call in calls {
        assert!(is_answer(&call.await.unwrap().unwrap()));
    }
    let refused = call(&alice, request("pay", json!({}), None)).await.unwrap().unwrap();
    assert_eq!(refusal(&refused)["reason"], json!("argument"));
    assert!(warden.is_idle());
}

#[tokio::test(start_paused = true)]
async fn of_fifty_duplicates_the_handler_runs_one_and_all_have_its_result() {
    let policy = || Policy::builder().rule(Rule::of("*").idempotency(KeySource::Meta).in_flight(1));
    for policy in [policy(), policy().on(Arc::new(MemoryStore::default()))] {
        let (server, warden) = (Server(Work::new()), Warden::new(policy.build().unwrap()));
        let alice = client(&server, &warden, "alice").await;
        let again: Vec<Client> = vec![client(&server, &warden, "alice").await, Arc::clone(&alice)];
        let calls: Vec<Answered> =
            (0..50).map(|n| call(&again[n % 2], request("pay", json!({"n": 1}), Some("k-1")))).collect();
        until(|| server.0.counts().0 == 1).await;
        server.0.let_end(50);
        let mut results = Vec::new();
        for call in calls {
            results.push(call.await.unwrap().unwrap());
        }
        assert!(results.iter().all(|result| is_answer(result) && *result == results[0]));
        assert!(results[0].structured_content.as_ref().unwrap()["providerKey"].is_string());
        let other = call(&alice, request("pay", json!({"n": 2}), Some("k-1"))).await.unwrap().unwrap();
        assert_eq!(refusal(&other)["reason"], json!("idempotency-mismatch"));
        assert_eq!(server.0.counts(), (1, 1));
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_of_the_protocol_is_passed_on_and_replayed_as_one() {
    let (server, warden) = setup(Rule::of("*").idempotency(KeySource::Meta));
    let alice = client(&server, &warden, "alice").await;
    for _ in 0..2 {
        let error = call(&alice, request("unknown", json!({}), Some("k"))).await.unwrap().unwrap_err();
        let ServiceError::McpError(error) = error else { panic!("{error}") };
        assert_eq!((error.code, &*error.message), (ErrorCode::INVALID_PARAMS, "no such tool"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_cancelled_while_it_runs_keeps_its_lock_until_the_handler_has_ended() {
    let (server, warden) = setup(Rule::of("*").lock("x"));
    let alice = client(&server, &warden, "alice").await;
    let first = call(&alice, request("pay", json!({}), None));
    until(|| server.0.counts() == (1, 0)).await;
    // Dropping the future tells the server that the request is cancelled.
    first.abort();
    let second = call(&alice, request("pay", json!({}), None));
    until(|| warden.gate().inside() == 2).await;
    settle().await;
    assert_eq!(server.0.counts(), (1, 0), "the handler is still at it, so the lock is held");
    server.0.let_end(1);
    until(|| server.0.counts() == (2, 1)).await;
    server.0.let_end(1);
    assert!(is_answer(&second.await.unwrap().unwrap()));
    assert!(warden.is_idle());
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_cancelled_while_it_waits_never_starts() {
    let (server, warden) = setup(Rule::of("*").lock("x"));
    let alice = client(&server, &warden, "alice").await;
    let first = call(&alice, request("pay", json!({}), None));
    until(|| server.0.counts() == (1, 0)).await;
    let waits = call(&alice, request("pay", json!({}), None));
    until(|| warden.gate().inside() == 2).await;
    waits.abort();
    until(|| warden.gate().inside() == 1).await;
    server.0.let_end(2);
    assert!(is_answer(&first.await.unwrap().unwrap()));
    assert_eq!((server.0.counts(), warden.is_idle()), ((1, 1), true));
}

#[tokio::test(start_paused = true)]
async fn a_request_whose_future_is_dropped_runs_to_its_end() {
    let (server, warden) = setup(Rule::of("*").lock("x"));
    let guarded = Guarded::new(server.clone(), warden.clone(), |_| CallerName::new("alice"));
    let (ours, theirs) = tokio::io::duplex(4096);
    let serving = tokio::spawn(guarded.clone().serve(ours));
    let _client = ().serve(theirs).await.unwrap();
    let peer = serving.await.unwrap().unwrap().peer().clone();
    let context = RequestContext::new(NumberOrString::Number(1), peer);
    {
        let request = std::pin::pin!(guarded.call_tool(request("pay", json!({}), None), context));
        assert!(
            crate::testing::poll_once(request as std::pin::Pin<&mut dyn Future<Output = _>>).is_pending()
        );
    }
    settle().await;
    assert_eq!((server.0.counts(), warden.is_idle()), ((1, 0), false));
    server.0.let_end(1);
    until(|| warden.is_idle()).await;
    assert_eq!(server.0.counts(), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn closing_answers_what_runs_and_refuses_what_is_new() {
    let (server, warden) = setup(Rule::of("*").in_flight(5));
    let alice = client(&server, &warden, "alice").await;
    let runs = call(&alice, request("pay", json!({}), None));
    until(|| server.0.counts() == (1, 0)).await;
    let closing = warden.gate().close(MINUTE);
    let refused = call(&alice, request("pay", json!({}), None)).await.unwrap().unwrap();
    assert_eq!(refusal(&refused)["reason"], json!("closed"));
    server.0.let_end(1);
    assert_eq!(closing.await, 0);
    assert!(is_answer(&runs.await.unwrap().unwrap()));
    assert_eq!(server.0.counts(), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn everything_else_is_passed_on() {
    let (server, warden) = setup(Rule::of("*").lock("x"));
    warden.gate().shut();
    let alice = client(&server, &warden, "alice").await;
    let info = alice.peer_info().unwrap();
    assert!(info.capabilities.tools.is_some() && info.capabilities.prompts.is_some());
    assert_eq!(alice.list_all_tools().await.unwrap()[0].name, "pay");
    let ServiceError::McpError(error) = alice.get_prompt(GetPromptRequestParams::new("p")).await.unwrap_err()
    else {
        panic!("the handler answers")
    };
    assert_eq!(error.message, "no prompt p");
}
