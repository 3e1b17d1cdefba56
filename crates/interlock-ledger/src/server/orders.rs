//! The tools of orders.

use rmcp::{
    handler::server::{
        tool::Extension,
        wrapper::{Json, Parameters},
    },
    tool, tool_router,
};

use super::LedgerServer;
use crate::{
    answer::Order,
    arguments::{GetOrder, ProcessOrder},
    audit::Call,
    caller::Caller,
    refusal::Refusal,
};

#[tool_router(router = orders, vis = "pub(super)")]
impl LedgerServer {
    #[tool(
        description = "Has an order paid for with a payment method. An order that is paid for is not charged again.",
        annotations(
            title = "Process an order",
            read_only_hint = false,
            destructive_hint = true,
            idempotent_hint = true,
            open_world_hint = true
        )
    )]
    async fn process_order(
        &self,
        Parameters(wish): Parameters<ProcessOrder>,
        Extension(caller): Extension<Caller>,
    ) -> Result<Json<Order>, Refusal> {
        let call = Call { caller, tool: "process_order" };
        self.twin().orders.process(&call, &wish).await.map(Json)
    }

    #[tool(
        description = "Shows how far an order is.",
        annotations(
            title = "Look at an order",
            read_only_hint = true,
            destructive_hint = false,
            idempotent_hint = true,
            open_world_hint = false
        )
    )]
    async fn get_order(&self, Parameters(wish): Parameters<GetOrder>) -> Result<Json<Order>, Refusal> {
        self.twin().orders.order(wish.order_id.as_str()).await.map(Json)
    }
}
