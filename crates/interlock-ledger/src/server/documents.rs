//! The tools of documents.

use rmcp::{
    handler::server::{
        tool::Extension,
        wrapper::{Json, Parameters},
    },
    tool, tool_router,
};

use super::LedgerServer;
use crate::{
    answer::{Document, DocumentSaved},
    arguments::{CreateDocument, GetDocument, UpdateDocument},
    audit::Call,
    caller::Caller,
    refusal::Refusal,
};

#[tool_router(router = documents, vis = "pub(super)")]
impl LedgerServer {
    #[tool(
        description = "Makes a document. Refused if there is one of that id.",
        annotations(
            title = "Create a document",
            read_only_hint = false,
            destructive_hint = false,
            idempotent_hint = false,
            open_world_hint = false
        )
    )]
    async fn create_document(
        &self,
        Parameters(wish): Parameters<CreateDocument>,
        Extension(caller): Extension<Caller>,
    ) -> Result<Json<DocumentSaved>, Refusal> {
        let call = Call { caller, tool: "create_document" };
        self.twin().documents.create(&call, &wish).await.map(Json)
    }

    #[tool(
        description = "Writes a document over the version that you have read. Refused if it has changed since.",
        annotations(
            title = "Update a document",
            read_only_hint = false,
            destructive_hint = true,
            idempotent_hint = false,
            open_world_hint = false
        )
    )]
    async fn update_document(
        &self,
        Parameters(wish): Parameters<UpdateDocument>,
        Extension(caller): Extension<Caller>,
    ) -> Result<Json<DocumentSaved>, Refusal> {
        let call = Call { caller, tool: "update_document" };
        self.twin().documents.update(&call, &wish).await.map(Json)
    }

    #[tool(
        description = "Shows a document and its version.",
        annotations(
            title = "Look at a document",
            read_only_hint = true,
            destructive_hint = false,
            idempotent_hint = true,
            open_world_hint = false
        )
    )]
    async fn get_document(
        &self,
        Parameters(wish): Parameters<GetDocument>,
    ) -> Result<Json<Document>, Refusal> {
        self.twin().documents.document(wish.id.as_str()).await.map(Json)
    }
}
