//! The tools of accounts.

use rmcp::{
    handler::server::{
        tool::Extension,
        wrapper::{Json, Parameters},
    },
    tool, tool_router,
};

use super::LedgerServer;
use crate::{
    answer::{Account, Moved},
    arguments::{ChangeBalance, GetAccount, SpendCredits, TransferCredits},
    audit::Call,
    caller::Caller,
    refusal::Refusal,
};

#[tool_router(router = credits, vis = "pub(super)")]
impl LedgerServer {
    #[tool(
        description = "Moves credits from one account to another. Refused if the payer has too few.",
        annotations(
            title = "Transfer credits",
            read_only_hint = false,
            destructive_hint = true,
            idempotent_hint = false,
            open_world_hint = false
        )
    )]
    async fn transfer_credits(
        &self,
        Parameters(wish): Parameters<TransferCredits>,
        Extension(caller): Extension<Caller>,
    ) -> Result<Json<Moved>, Refusal> {
        let call = Call { caller, tool: "transfer_credits" };
        self.twin().credits.transfer(&call, &wish).await.map(Json)
    }

    #[tool(
        description = "Takes credits from an account for a reason, which is kept in the audit log. Refused if it has too few.",
        annotations(
            title = "Spend credits",
            read_only_hint = false,
            destructive_hint = true,
            idempotent_hint = false,
            open_world_hint = false
        )
    )]
    async fn spend_credits(
        &self,
        Parameters(wish): Parameters<SpendCredits>,
        Extension(caller): Extension<Caller>,
    ) -> Result<Json<Account>, Refusal> {
        let call = Call { caller, tool: "spend_credits" };
        self.twin().credits.spend(&call, &wish).await.map(Json)
    }

    #[tool(
        description = "Takes credits from an account. Refused if it has too few.",
        annotations(
            title = "Debit a balance",
            read_only_hint = false,
            destructive_hint = true,
            idempotent_hint = false,
            open_world_hint = false
        )
    )]
    async fn debit_balance(
        &self,
        Parameters(wish): Parameters<ChangeBalance>,
        Extension(caller): Extension<Caller>,
    ) -> Result<Json<Account>, Refusal> {
        let call = Call { caller, tool: "debit_balance" };
        self.twin().credits.debit(&call, &wish).await.map(Json)
    }

    #[tool(
        description = "Gives credits to an account.",
        annotations(
            title = "Credit a balance",
            read_only_hint = false,
            destructive_hint = false,
            idempotent_hint = false,
            open_world_hint = false
        )
    )]
    async fn credit_balance(
        &self,
        Parameters(wish): Parameters<ChangeBalance>,
        Extension(caller): Extension<Caller>,
    ) -> Result<Json<Account>, Refusal> {
        let call = Call { caller, tool: "credit_balance" };
        self.twin().credits.credit(&call, &wish).await.map(Json)
    }

    #[tool(
        description = "Shows how many credits an account has.",
        annotations(
            title = "Look at an account",
            read_only_hint = true,
            destructive_hint = false,
            idempotent_hint = true,
            open_world_hint = false
        )
    )]
    async fn get_account(&self, Parameters(wish): Parameters<GetAccount>) -> Result<Json<Account>, Refusal> {
        self.twin().credits.account(wish.user_id.as_str()).await.map(Json)
    }
}
