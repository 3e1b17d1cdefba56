//! Files: who owns one is judged on the very version that is changed, so an owner who has just given it away cannot delete it.

use async_trait::async_trait;
use interlock_sync::store::Record;

use crate::{
    answer::{Deleted, File, Files},
    audit::Call,
    book::{Book, Edit},
    refusal::Refusal,
    rows::{FILE, FileRow, content, key, missing, row},
    twin::{Answer, FileRegistry},
};

pub(super) struct Safe {
    pub(super) book: Book,
}

/// How many files are read at a time.
const PAGE: usize = 256;

#[async_trait]
impl FileRegistry for Safe {
    async fn delete(&self, call: &Call, id: &str) -> Answer<Deleted> {
        let judge = |record: Option<&Record>| owned(call, id, record).map(|_| Edit::Delete);
        self.book.update(call, &key(FILE, id)?, judge).await?;
        Ok(Deleted { file_id: id.to_owned() })
    }

    async fn transfer(&self, call: &Call, id: &str, to: &str) -> Answer<File> {
        let given = content(&FileRow { owner: to.to_owned() })?;
        let judge = |record: Option<&Record>| owned(call, id, record).map(|_| Edit::Put(given.clone()));
        self.book.update(call, &key(FILE, id)?, judge).await?;
        Ok(File { file_id: id.to_owned(), owner_id: to.to_owned() })
    }

    async fn list(&self, call: &Call) -> Answer<Files> {
        let (prefix, mut files, mut after) = (format!("{FILE}:"), Vec::new(), None);
        loop {
            let page = self.book.store.list(&prefix, after.as_ref(), PAGE).await?;
            let Some((last, _)) = page.last() else { return Ok(Files { files }) };
            after = Some(last.clone());
            for (key, record) in &page {
                let FileRow { owner } = row(record)?;
                if owner == call.caller.as_str() {
                    let id = key.as_str().strip_prefix(&prefix).unwrap_or_default();
                    files.push(File { file_id: id.to_owned(), owner_id: owner });
                }
            }
        }
    }
}

fn owned(call: &Call, id: &str, record: Option<&Record>) -> Answer<()> {
    let FileRow { owner } = row(record.ok_or_else(|| missing(FILE, id))?)?;
    if owner == call.caller.as_str() {
        return Ok(());
    }
    Err(Refusal::NotYours { kind: FILE, id: id.to_owned(), caller: call.caller.to_string() })
}
