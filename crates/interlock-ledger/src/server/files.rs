//! The tools of files that belong to somebody.

use rmcp::{
    handler::server::{
        tool::Extension,
        wrapper::{Json, Parameters},
    },
    tool, tool_router,
};

use super::LedgerServer;
use crate::{
    answer::{Deleted, File, Files},
    arguments::{DeleteFile, Nothing, TransferFile},
    audit::Call,
    caller::Caller,
    refusal::Refusal,
};

#[tool_router(router = files, vis = "pub(super)")]
impl LedgerServer {
    #[tool(
        description = "Deletes a file of yours.",
        annotations(
            title = "Delete a file",
            read_only_hint = false,
            destructive_hint = true,
            idempotent_hint = false,
            open_world_hint = false
        )
    )]
    async fn delete_file(
        &self,
        Parameters(wish): Parameters<DeleteFile>,
        Extension(caller): Extension<Caller>,
    ) -> Result<Json<Deleted>, Refusal> {
        let call = Call { caller, tool: "delete_file" };
        self.twin().files.delete(&call, wish.file_id.as_str()).await.map(Json)
    }

    #[tool(
        description = "Gives a file of yours to somebody else.",
        annotations(
            title = "Give a file away",
            read_only_hint = false,
            destructive_hint = true,
            idempotent_hint = false,
            open_world_hint = false
        )
    )]
    async fn transfer_file(
        &self,
        Parameters(wish): Parameters<TransferFile>,
        Extension(caller): Extension<Caller>,
    ) -> Result<Json<File>, Refusal> {
        let call = Call { caller, tool: "transfer_file" };
        self.twin().files.transfer(&call, wish.file_id.as_str(), wish.to_user_id.as_str()).await.map(Json)
    }

    #[tool(
        description = "Lists your files.",
        annotations(
            title = "List files",
            read_only_hint = true,
            destructive_hint = false,
            idempotent_hint = true,
            open_world_hint = false
        )
    )]
    async fn list_files(
        &self,
        Parameters(Nothing {}): Parameters<Nothing>,
        Extension(caller): Extension<Caller>,
    ) -> Result<Json<Files>, Refusal> {
        let call = Call { caller, tool: "list_files" };
        self.twin().files.list(&call).await.map(Json)
    }
}
