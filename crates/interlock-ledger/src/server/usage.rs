//! The tools of the usage counter.

use rmcp::{
    handler::server::{
        tool::Extension,
        wrapper::{Json, Parameters},
    },
    tool, tool_router,
};

use super::LedgerServer;
use crate::{
    answer::Usage,
    arguments::{IncrementUsage, Nothing},
    audit::Call,
    caller::Caller,
    refusal::Refusal,
};

#[tool_router(router = usage, vis = "pub(super)")]
impl LedgerServer {
    #[tool(
        description = "Adds to what you have used.",
        annotations(
            title = "Count usage",
            read_only_hint = false,
            destructive_hint = false,
            idempotent_hint = false,
            open_world_hint = false
        )
    )]
    async fn increment_usage(
        &self,
        Parameters(wish): Parameters<IncrementUsage>,
        Extension(caller): Extension<Caller>,
    ) -> Result<Json<Usage>, Refusal> {
        let call = Call { caller, tool: "increment_usage" };
        self.twin().usage.increment(&call, wish.amount.get()).await.map(Json)
    }

    #[tool(
        description = "Shows how much you have used.",
        annotations(
            title = "Look at usage",
            read_only_hint = true,
            destructive_hint = false,
            idempotent_hint = true,
            open_world_hint = false
        )
    )]
    async fn get_usage(
        &self,
        Parameters(Nothing {}): Parameters<Nothing>,
        Extension(caller): Extension<Caller>,
    ) -> Result<Json<Usage>, Refusal> {
        let call = Call { caller, tool: "get_usage" };
        self.twin().usage.usage(&call).await.map(Json)
    }
}
