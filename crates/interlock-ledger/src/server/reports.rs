//! The tools of reports and users' files.

use rmcp::{
    handler::server::{
        tool::Extension,
        wrapper::{Json, Parameters},
    },
    tool, tool_router,
};

use super::LedgerServer;
use crate::{
    answer::{Report, ReportContent, UserFile},
    arguments::{ProcessUserFile, ReadReport, UpdateReport, WriteReport},
    audit::Call,
    caller::Caller,
    refusal::Refusal,
};

#[tool_router(router = reports, vis = "pub(super)")]
impl LedgerServer {
    #[tool(
        description = "Makes a report. Refused if there is one of that name.",
        annotations(
            title = "Create a report",
            read_only_hint = false,
            destructive_hint = false,
            idempotent_hint = false,
            open_world_hint = false
        )
    )]
    async fn create_report(
        &self,
        Parameters(wish): Parameters<WriteReport>,
        Extension(caller): Extension<Caller>,
    ) -> Result<Json<Report>, Refusal> {
        let call = Call { caller, tool: "create_report" };
        self.twin().reports.create(&call, &wish).await.map(Json)
    }

    #[tool(
        description = "Writes a report over whatever is there.",
        annotations(
            title = "Save a report",
            read_only_hint = false,
            destructive_hint = true,
            idempotent_hint = true,
            open_world_hint = false
        )
    )]
    async fn save_report(
        &self,
        Parameters(wish): Parameters<WriteReport>,
        Extension(caller): Extension<Caller>,
    ) -> Result<Json<Report>, Refusal> {
        let call = Call { caller, tool: "save_report" };
        self.twin().reports.save(&call, &wish).await.map(Json)
    }

    #[tool(
        description = "Writes a report over the content that you have read, which its hash proves. Refused if it has changed since.",
        annotations(
            title = "Update a report",
            read_only_hint = false,
            destructive_hint = true,
            idempotent_hint = false,
            open_world_hint = false
        )
    )]
    async fn update_report(
        &self,
        Parameters(wish): Parameters<UpdateReport>,
        Extension(caller): Extension<Caller>,
    ) -> Result<Json<Report>, Refusal> {
        let call = Call { caller, tool: "update_report" };
        self.twin().reports.update(&call, &wish).await.map(Json)
    }

    #[tool(
        description = "Shows a report and its hash.",
        annotations(
            title = "Read a report",
            read_only_hint = true,
            destructive_hint = false,
            idempotent_hint = true,
            open_world_hint = false
        )
    )]
    async fn read_report(
        &self,
        Parameters(wish): Parameters<ReadReport>,
    ) -> Result<Json<ReportContent>, Refusal> {
        self.twin().reports.read(wish.report_id.as_str()).await.map(Json)
    }

    #[tool(
        description = "Adds an entry to a user's file.",
        annotations(
            title = "Add to a user's file",
            read_only_hint = false,
            destructive_hint = false,
            idempotent_hint = false,
            open_world_hint = false
        )
    )]
    async fn process_user_file(
        &self,
        Parameters(wish): Parameters<ProcessUserFile>,
        Extension(caller): Extension<Caller>,
    ) -> Result<Json<UserFile>, Refusal> {
        let call = Call { caller, tool: "process_user_file" };
        self.twin().reports.add_entry(&call, &wish).await.map(Json)
    }
}
