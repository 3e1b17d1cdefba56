//! The server in this process, over a store that can be taken away, and the audit log that only a library call can read.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on fails")]

mod audit;
mod away;
mod flaky;

use std::{num::NonZeroU32, sync::Arc, time::Duration};

use interlock_ledger::{
    caller::Caller,
    payments::Payments,
    seed::seed,
    server::LedgerServer,
    twin::{Parts, naive, safe},
};
use interlock_sync::store::Store;
use rmcp::{RoleClient, ServiceExt, model::CallToolRequestParams, service::RunningService};
use serde_json::Value;
use tempfile::TempDir;

/// A client of a server of its own.
struct Ledger {
    client: RunningService<RoleClient, ()>,
    _files: TempDir,
}

impl Ledger {
    /// Serves one of the twins on a store, seeded.
    async fn serve(store: Arc<dyn Store>, is_naive: bool) -> Self {
        let files = tempfile::tempdir().unwrap();
        let parts = Parts {
            store: store.clone(),
            files: files.path().to_owned(),
            payments: Payments::new("http://127.0.0.1:9", Duration::from_secs(1)).unwrap(),
            rate: 6000,
            in_flight: NonZeroU32::new(64).unwrap(),
            think: Duration::ZERO,
            log: Arc::new(|_| {}),
        };
        seed(store, parts.log.clone(), &Caller::unnamed()).await.unwrap();
        let twin = if is_naive { naive::make(&parts) } else { safe::make(&parts) }.unwrap();
        let server = LedgerServer::guarded(twin, parts.log.clone());
        let (here, there) = tokio::io::duplex(1 << 16);
        tokio::spawn(async move { server.serve(there).await.unwrap().waiting().await });
        Self { client: ().serve(here).await.unwrap(), _files: files }
    }

    /// Calls a tool: its structured answer, or the words of its refusal.
    async fn call(&self, tool: &str, arguments: Value) -> Result<Value, String> {
        let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let called = self.client.call_tool(params).await.expect("the server answers");
        if called.is_error == Some(true) {
            return Err(called.content.first().and_then(|content| content.as_text()).unwrap().text.clone());
        }
        Ok(called.structured_content.unwrap())
    }
}
