//! A guarded server in a process of its own, spoken to over its standard input and output by a real client.
//!
//! This program is both: started by cargo it is the client, and starts itself once more as the server. That is why it has no test
//! harness, which would write to the same output.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use interlock_sync::adapt::{
    CallerName, IDEMPOTENCY_KEY, KeySource, Policy, Rule, Warden,
    rmcp::{Guarded, REFUSAL},
};
use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt,
    model::*,
    service::RequestContext,
    transport::{TokioChildProcess, stdio},
};
use serde_json::{Value, json};

const SERVE: &str = "serve-over-stdio";

/// A counter that reads, waits and writes back: the classic gap.
#[derive(Default)]
struct Counter(AtomicU64);

impl ServerHandler for Counter {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn call_tool(
        &self,
        _: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let count = self.0.load(Ordering::SeqCst);
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        self.0.store(count + 1, Ordering::SeqCst);
        Ok(CallToolResult::structured(json!({ "count": count + 1 })).into())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    #[expect(
        clippy::disallowed_methods,
        reason = "it is the program here, and tells by its arguments which of the two it is"
    )]
    let is_server = std::env::args().any(|argument| argument == SERVE);
    if is_server { serve().await } else { every_call_counts_once_over_stdio().await }
}

async fn serve() -> Result<(), Box<dyn std::error::Error>> {
    let rule = Rule::of("increment").lock("counter:{args.name}").idempotency(KeySource::Meta);
    let warden = Warden::new(Policy::builder().rule(rule).build()?);
    let server = Guarded::new(Counter::default(), warden, |_| CallerName::new("stdio"));
    server.serve(stdio()).await?.waiting().await?;
    Ok(())
}

async fn every_call_counts_once_over_stdio() -> Result<(), Box<dyn std::error::Error>> {
    let mut server = tokio::process::Command::new(std::env::current_exe()?);
    server.arg(SERVE);
    let client = Arc::new(().serve(TokioChildProcess::new(server)?).await?);
    let call = |arguments: Value, key: Option<&str>| {
        let mut params = CallToolRequestParams::new("increment");
        params.arguments = arguments.as_object().cloned();
        if let Some(key) = key {
            let mut meta = RequestMetaObject::new();
            meta.insert(IDEMPOTENCY_KEY.to_owned(), key.into());
            params.meta = Some(meta);
        }
        let client = Arc::clone(&client);
        tokio::spawn(async move { client.call_tool(params).await })
    };
    let of =
        |result: CallToolResult| result.structured_content.and_then(|content| content.get("count")?.as_u64());

    let mut counts = Vec::new();
    for call in (0..50).map(|_| call(json!({"name": "a"}), None)).collect::<Vec<_>>() {
        counts.push(of(call.await??));
    }
    counts.sort_unstable();
    assert_eq!(counts, (1..=50).map(Some).collect::<Vec<_>>(), "no update is lost");

    for call in (0..50).map(|_| call(json!({"name": "a"}), Some("k"))).collect::<Vec<_>>() {
        assert_eq!(of(call.await??), Some(51), "the duplicates are told the answer of the one that ran");
    }

    let refused = call(json!({}), None).await??;
    let reason = refused.meta.as_ref().and_then(|meta| meta.get(REFUSAL)?.get("reason"));
    assert_eq!(reason, Some(&json!("argument")));
    Ok(())
}
