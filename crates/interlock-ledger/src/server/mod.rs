//! The tools: one router per topic, and what stands before all of them.
//!
//! Before every call stands [`Guarded`], the adapter of `interlock-sync` for rmcp: its gate and the caller's limits, and that a client which
//! goes away does not cut a tool off half way. A tool that panics is a tool error and not the end of the connection.

mod credits;
mod documents;
mod files;
mod orders;
mod reports;
mod usage;

use std::{panic::AssertUnwindSafe, sync::Arc};

use futures_util::FutureExt;
use interlock_sync::adapt::{CallerName, rmcp::Guarded};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    handler::server::{router::tool::ToolRouter, tool::ToolCallContext},
    model::{CallToolRequestParams, CallToolResponse, Implementation, ServerCapabilities, ServerConfig},
    service::RequestContext,
    tool_handler,
};

use crate::{Log, caller::Caller, refusal::Refusal, twin::Twin};

/// The tools as an MCP server. Clones are the same server.
#[derive(Clone)]
pub struct LedgerServer(Arc<Inner>);

struct Inner {
    twin: Twin,
    log: Log,
    router: ToolRouter<LedgerServer>,
}

/// What a model is told before it sees the tools.
const INSTRUCTIONS: &str = "A small ledger: accounts with credits, orders, reports, documents, files and usage counters. \
     Amounts are whole numbers. A refusal says what is so and what to do next, and that nothing was changed. \
     Read before you update: update_document wants the version and update_report the hash that you have read.";

impl LedgerServer {
    /// The server of a twin, with what stands before it.
    #[must_use]
    pub fn guarded(twin: Twin, log: Log) -> Guarded<Self> {
        let warden = twin.warden.clone();
        Guarded::new(Self::new(twin, log), warden, |context| CallerName::new(caller_of(context).as_str()))
    }

    fn new(twin: Twin, log: Log) -> Self {
        let router = Self::credits()
            + Self::orders()
            + Self::reports()
            + Self::documents()
            + Self::files()
            + Self::usage();
        Self(Arc::new(Inner { twin, log, router }))
    }

    fn twin(&self) -> &Twin {
        &self.0.twin
    }

    async fn admitted(
        &self,
        request: CallToolRequestParams,
        mut context: RequestContext<RoleServer>,
    ) -> Answered {
        let caller = caller_of(&context);
        let _permit = match &self.twin().limits {
            None => None,
            Some(limits) => match limits.admit(caller.as_str()).await {
                Ok(permit) => Some(permit),
                Err(refusal) => return Ok(refusal.into_answer().into()),
            },
        };
        context.extensions.insert(caller);
        self.0.router.call(ToolCallContext::new(self, request, context)).await
    }
}

type Answered = Result<CallToolResponse, ErrorData>;

/// Who calls: over HTTP whoever the token belongs to, else the one on the other end of the pipe.
fn caller_of(context: &RequestContext<RoleServer>) -> Caller {
    let parts = context.extensions.get::<http::request::Parts>();
    parts.and_then(|parts| parts.extensions.get::<Caller>()).cloned().unwrap_or_else(Caller::unnamed)
}

#[tool_handler(router = self.0.router)]
impl ServerHandler for LedgerServer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("interlock-ledger", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Answered {
        let tool = request.name.clone();
        // What a tool leaves half done, it leaves in a store or in files, whose operations are whole.
        let call = AssertUnwindSafe(self.admitted(request, context)).catch_unwind();
        call.await.unwrap_or_else(|_panic| {
            (self.0.log)(&format!("the tool `{tool}` panicked"));
            Ok(Refusal::internal(
                "this is a bug, and what the call did is not known; read before you try again",
            )
            .into_answer()
            .into())
        })
    }
}
