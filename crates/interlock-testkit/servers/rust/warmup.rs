//! Race: the first call opens a connection, and two first calls open two.

use std::{
    io,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use rmcp::{handler::server::wrapper::Parameters, tool, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::sync::Mutex;

use crate::{Seed, append};

#[derive(Clone)]
pub(crate) struct Warmup {
    data: Arc<Path>,
    fixed: bool,
    connection: Arc<Mutex<Option<u32>>>,
    opened: Arc<AtomicU32>,
}

#[derive(Deserialize, JsonSchema)]
struct Question {
    question: String,
}

impl Warmup {
    pub(crate) fn new(data: Arc<Path>, fixed: bool) -> Self {
        Self { data, fixed, connection: Arc::default(), opened: Arc::default() }
    }

    async fn open(&self) -> Result<u32, String> {
        let number = self.opened.fetch_add(1, Ordering::SeqCst) + 1;
        let line = format!("connection {number}");
        append(&self.data.join("connections.log"), &line).await.map_err(|error| error.to_string())?;
        Ok(number)
    }

    async fn connection(&self) -> Result<u32, String> {
        if self.fixed {
            let mut connection = self.connection.lock().await;
            if let Some(number) = *connection {
                return Ok(number);
            }
            return Ok(*connection.insert(self.open().await?));
        }
        let known = *self.connection.lock().await;
        if let Some(number) = known {
            return Ok(number);
        }
        let number = self.open().await?;
        Ok(*self.connection.lock().await.insert(number))
    }
}

impl Seed for Warmup {
    async fn start(&self) -> io::Result<()> {
        *self.connection.lock().await = None;
        self.opened.store(0, Ordering::SeqCst);
        Ok(())
    }
}

#[tool_router(server_handler)]
impl Warmup {
    #[tool(description = "Asks something, over a connection that is opened when it is first needed.")]
    async fn ask(&self, Parameters(asked): Parameters<Question>) -> Result<String, String> {
        let number = self.connection().await?;
        Ok(format!("connection {number} does not know: {}", asked.question))
    }

    #[tool(description = "How many connections were opened.")]
    async fn count_connections(&self) -> String {
        self.opened.load(Ordering::SeqCst).to_string()
    }
}
