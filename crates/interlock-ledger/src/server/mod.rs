//! The tools: one router per topic, and what stands before all of them.
//!
//! Every call passes the gate, then the caller's limits, then its tool, in a task of its own: a client that goes away does not cut a tool
//! off half way, and a tool that panics is a tool error and not the end of the connection.

mod credits;
mod documents;
mod files;
mod orders;
mod reports;
mod usage;

use std::sync::Arc;

use interlock_sync::gate::Gate;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    handler::server::{router::tool::ToolRouter, tool::ToolCallContext},
    model::{CallToolRequestParams, CallToolResponse, Implementation, ServerCapabilities, ServerConfig},
    service::RequestContext,
    tool_handler,
};

use crate::{Log, caller::Caller, refusal::Refusal, twin::Twin};

/// The ledger as an MCP server. Clones are the same server.
#[derive(Clone)]
pub struct LedgerServer(Arc<Inner>);

struct Inner {
    twin: Twin,
    gate: Gate,
    log: Log,
    router: ToolRouter<LedgerServer>,
}

/// What a model is told before it sees the tools.
const INSTRUCTIONS: &str = "A small ledger: accounts with credits, orders, reports, documents, files and usage counters. \
     Amounts are whole numbers. A refusal says what is so and what to do next, and that nothing was changed. \
     Read before you update: update_document wants the version and update_report the hash that you have read.";

impl LedgerServer {
    /// A server of a twin.
    #[must_use]
    pub fn new(twin: Twin, log: Log) -> Self {
        let router = Self::credits()
            + Self::orders()
            + Self::reports()
            + Self::documents()
            + Self::files()
            + Self::usage();
        Self(Arc::new(Inner { twin, gate: Gate::new(), log, router }))
    }

    /// The gate that every call passes. Once it is closed, calls are refused.
    #[must_use]
    pub fn gate(&self) -> &Gate {
        &self.0.gate
    }

    fn twin(&self) -> &Twin {
        &self.0.twin
    }

    async fn admitted(
        self,
        request: CallToolRequestParams,
        mut context: RequestContext<RoleServer>,
    ) -> Answered {
        let caller = caller_of(&context);
        let _permit = match self.twin().limits.admit(caller.as_str()).await {
            Ok(permit) => permit,
            Err(refusal) => return Ok(refusal.into_answer().into()),
        };
        context.extensions.insert(caller);
        self.0.router.call(ToolCallContext::new(&self, request, context)).await
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
        let Ok(inside) = self.0.gate.enter_owned() else {
            return Ok(Refusal::Closing.into_answer().into());
        };
        let (server, tool) = (self.clone(), request.name.clone());
        let call = tokio::spawn(async move {
            let _inside = inside;
            server.admitted(request, context).await
        });
        call.await.unwrap_or_else(|error| {
            (self.0.log)(&format!("the tool `{tool}` failed: {error}"));
            Ok(Refusal::internal(
                "this is a bug, and what the call did is not known; read before you try again",
            )
            .into_answer()
            .into())
        })
    }
}
