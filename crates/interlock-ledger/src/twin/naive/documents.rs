//! Documents: the version is compared in one step, the body written by id in another.

use async_trait::async_trait;
use interlock_sync::store::Content;

use super::Plain;
use crate::{
    answer::{Document, DocumentSaved},
    arguments::{CreateDocument, UpdateDocument},
    audit::Call,
    refusal::Refusal,
    rows::{DOCUMENT, key, missing, text},
    twin::{Answer, Documents},
};

pub(super) struct Naive(pub(super) Plain);

#[async_trait]
impl Documents for Naive {
    async fn create(&self, call: &Call, wish: &CreateDocument) -> Answer<DocumentSaved> {
        let id = wish.id.as_str();
        if self.0.get(&key(DOCUMENT, id)?).await?.is_some() {
            return Err(Refusal::Exists { kind: DOCUMENT, id: id.to_owned() });
        }
        self.0.gap.think().await;
        self.write(call, id, wish.body.as_str()).await
    }

    async fn update(&self, call: &Call, wish: &UpdateDocument) -> Answer<DocumentSaved> {
        let id = wish.id.as_str();
        let record = self.0.get(&key(DOCUMENT, id)?).await?.ok_or_else(|| missing(DOCUMENT, id))?;
        if record.version.0 != wish.version {
            let current = format!("version {}", record.version.0);
            return Err(Refusal::Changed { kind: DOCUMENT, id: id.to_owned(), current });
        }
        self.0.gap.think().await;
        self.write(call, id, wish.body.as_str()).await
    }

    async fn document(&self, id: &str) -> Answer<Document> {
        let record = self.0.get(&key(DOCUMENT, id)?).await?.ok_or_else(|| missing(DOCUMENT, id))?;
        Ok(Document { id: id.to_owned(), version: record.version.0, body: text(record)? })
    }
}

impl Naive {
    async fn write(&self, call: &Call, id: &str, body: &str) -> Answer<DocumentSaved> {
        let applied = self.0.put(call, key(DOCUMENT, id)?, Content::Bytes(body.into())).await?;
        let version = applied.changed.first().and_then(|changed| changed.to);
        Ok(DocumentSaved { id: id.to_owned(), version: version.map_or(0, |version| version.0) })
    }
}
