//! Race: two files change together, one after the other, so a reader in between sees one language in the first and another in the
//! second.

use std::{io, path::Path, sync::Arc};

use rmcp::{handler::server::wrapper::Parameters, tool, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::{fs, sync::RwLock};

use crate::{Seed, write};

#[derive(Clone)]
pub(crate) struct Phrases {
    data: Arc<Path>,
    fixed: bool,
    lock: Arc<RwLock<()>>,
}

#[derive(Deserialize, JsonSchema)]
struct Wish {
    language: Language,
}

#[derive(Deserialize, JsonSchema, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum Language {
    French,
    German,
    English,
}

impl Language {
    const fn phrases(self) -> (&'static str, &'static str) {
        match self {
            Self::French => ("bonjour", "au revoir"),
            Self::German => ("guten Tag", "auf Wiedersehen"),
            Self::English => ("hello", "goodbye"),
        }
    }
}

impl Phrases {
    pub(crate) fn new(data: Arc<Path>, fixed: bool) -> Self {
        Self { data, fixed, lock: Arc::default() }
    }

    async fn write_both(&self, language: Language) -> io::Result<()> {
        let (greeting, farewell) = language.phrases();
        write(&self.data.join("greeting.txt"), greeting).await?;
        write(&self.data.join("farewell.txt"), farewell).await
    }

    async fn read_both(&self) -> io::Result<String> {
        let farewell = fs::read_to_string(self.data.join("farewell.txt")).await?;
        let greeting = fs::read_to_string(self.data.join("greeting.txt")).await?;
        Ok(format!("{greeting}, {farewell}"))
    }
}

impl Seed for Phrases {
    async fn start(&self) -> io::Result<()> {
        self.write_both(Language::English).await
    }
}

#[tool_router(server_handler)]
impl Phrases {
    #[tool(description = "Chooses the language of all phrases.")]
    async fn set_language(&self, Parameters(wish): Parameters<Wish>) -> Result<String, String> {
        let _guard = if self.fixed { Some(self.lock.write().await) } else { None };
        self.write_both(wish.language).await.map(|()| "changed".to_owned()).map_err(|error| error.to_string())
    }

    #[tool(description = "The phrases in the chosen language.")]
    async fn read_phrases(&self) -> Result<String, String> {
        let _guard = if self.fixed { Some(self.lock.read().await) } else { None };
        self.read_both().await.map_err(|error| error.to_string())
    }
}
