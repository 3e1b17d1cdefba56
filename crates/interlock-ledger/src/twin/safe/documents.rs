//! Documents: made only if absent, written only over the version that the caller has read.

use async_trait::async_trait;
use interlock_sync::store::{self, Applied, Change, Content, Expect, Version};

use crate::{
    answer::{Document, DocumentSaved},
    arguments::{CreateDocument, UpdateDocument},
    audit::Call,
    book::{Book, Done},
    refusal::Refusal,
    rows::{DOCUMENT, key, missing, text},
    twin::{Answer, Documents},
};

pub(super) struct Safe {
    pub(super) book: Book,
}

#[async_trait]
impl Documents for Safe {
    async fn create(&self, call: &Call, wish: &CreateDocument) -> Answer<DocumentSaved> {
        let (id, content) = (wish.id.as_str(), Content::Bytes(wish.body.as_str().into()));
        let change = Change::Put { key: key(DOCUMENT, id)?, expect: Expect::Absent, content };
        match self.book.change(call, change, None).await? {
            Done::Applied(applied) => Ok(saved(id, &applied)),
            Done::Refused(store::Refusal::Conflict { .. }) => {
                Err(Refusal::Exists { kind: DOCUMENT, id: id.to_owned() })
            }
            Done::Refused(refusal) => Err(Refusal::by_store(refusal)),
        }
    }

    async fn update(&self, call: &Call, wish: &UpdateDocument) -> Answer<DocumentSaved> {
        let (id, content) = (wish.id.as_str(), Content::Bytes(wish.body.as_str().into()));
        // The caller's body was written for this version. To send it again over a newer one would lose what came between.
        let expect = Expect::Version(Version(wish.version));
        match self.book.change(call, Change::Put { key: key(DOCUMENT, id)?, expect, content }, None).await? {
            Done::Applied(applied) => Ok(saved(id, &applied)),
            Done::Refused(store::Refusal::Conflict { current: None, .. }) => Err(missing(DOCUMENT, id)),
            Done::Refused(store::Refusal::Conflict { current: Some(record), .. }) => Err(Refusal::Changed {
                kind: DOCUMENT,
                id: id.to_owned(),
                current: format!("version {}", record.version.0),
            }),
            Done::Refused(refusal) => Err(Refusal::by_store(refusal)),
        }
    }

    async fn document(&self, id: &str) -> Answer<Document> {
        let record = self.book.get(&key(DOCUMENT, id)?).await?.ok_or_else(|| missing(DOCUMENT, id))?;
        Ok(Document { id: id.to_owned(), version: record.version.0, body: text(record)? })
    }
}

fn saved(id: &str, applied: &Applied) -> DocumentSaved {
    let version = applied.changed.first().and_then(|changed| changed.to);
    DocumentSaved { id: id.to_owned(), version: version.map_or(0, |version| version.0) }
}
