//! Race: the lock is released after the check and taken again for the change, so two callers get the last piece.

use std::{collections::BTreeMap, io, path::Path, sync::Arc};

use rmcp::{handler::server::wrapper::Parameters, tool, tool_router};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

use crate::{Seed, append};

#[derive(Clone)]
pub(crate) struct Stock {
    data: Arc<Path>,
    fixed: bool,
    pieces: Arc<Mutex<BTreeMap<Item, u32>>>,
}

#[derive(Deserialize, Serialize, JsonSchema, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "lowercase")]
enum Item {
    Chair,
    Lamp,
}

#[derive(Deserialize, JsonSchema)]
struct Wish {
    item: Item,
    /// How many pieces
    #[schemars(range(min = 1, max = 3))]
    count: u32,
}

impl Stock {
    pub(crate) fn new(data: Arc<Path>, fixed: bool) -> Self {
        Self { data, fixed, pieces: Arc::default() }
    }

    async fn log(&self, count: u32) -> Result<(), String> {
        let line = format!("{count} reserved");
        append(&self.data.join("stock.log"), &line).await.map_err(|error| error.to_string())
    }
}

impl Seed for Stock {
    async fn start(&self) -> io::Result<()> {
        *self.pieces.lock().await = BTreeMap::from([(Item::Chair, 3), (Item::Lamp, 3)]);
        Ok(())
    }
}

#[tool_router(server_handler)]
impl Stock {
    #[tool(description = "Reserves pieces of an item, if there are enough.")]
    async fn reserve(&self, Parameters(wish): Parameters<Wish>) -> Result<String, String> {
        let left = |pieces: &BTreeMap<Item, u32>| {
            let there = pieces.get(&wish.item).copied().unwrap_or_default();
            there.checked_sub(wish.count).ok_or_else(|| format!("only {there} are left"))
        };
        if self.fixed {
            let mut pieces = self.pieces.lock().await;
            let left = left(&pieces)?;
            self.log(wish.count).await?;
            pieces.insert(wish.item, left);
            return Ok(format!("{left} are left"));
        }
        let left = left(&*self.pieces.lock().await)?;
        self.log(wish.count).await?;
        self.pieces.lock().await.insert(wish.item, left);
        Ok(format!("{left} are left"))
    }

    #[tool(description = "How many pieces of each item there are.")]
    async fn list_stock(&self) -> Result<String, String> {
        serde_json::to_string(&*self.pieces.lock().await).map_err(|error| error.to_string())
    }
}
