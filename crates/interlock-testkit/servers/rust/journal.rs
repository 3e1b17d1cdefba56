//! Race: an entry is appended by reading the whole file and writing it back with one line more, so one of two is lost.

use std::{io, path::Path, sync::Arc};

use rmcp::{handler::server::wrapper::Parameters, tool, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::fs;

use crate::{Seed, append, write};

#[derive(Clone)]
pub(crate) struct Journal {
    data: Arc<Path>,
    fixed: bool,
}

#[derive(Deserialize, JsonSchema)]
struct Entry {
    /// What happened
    text: String,
}

impl Journal {
    pub(crate) fn new(data: Arc<Path>, fixed: bool) -> Self {
        Self { data, fixed }
    }
}

impl Seed for Journal {
    async fn start(&self) -> io::Result<()> {
        write(&self.data.join("journal.txt"), "").await
    }
}

#[tool_router(server_handler)]
impl Journal {
    #[tool(description = "Adds an entry to the journal.")]
    async fn append_entry(&self, Parameters(entry): Parameters<Entry>) -> Result<String, String> {
        let file = self.data.join("journal.txt");
        let written = if self.fixed {
            append(&file, &entry.text).await
        } else {
            let before = fs::read_to_string(&file).await.map_err(|error| error.to_string())?;
            write(&file, &format!("{before}{}\n", entry.text)).await
        };
        written.map(|()| "written".to_owned()).map_err(|error| error.to_string())
    }

    #[tool(description = "The whole journal.", annotations(read_only_hint = true))]
    async fn read_journal(&self) -> Result<String, String> {
        fs::read_to_string(self.data.join("journal.txt")).await.map_err(|error| error.to_string())
    }
}
