//! Files: the owner is compared in one step, the file deleted by id in another.

use async_trait::async_trait;
use interlock_sync::store::{Change, Expect};

use super::Plain;
use crate::{
    answer::{Deleted, File, Files},
    audit::Call,
    refusal::Refusal,
    rows::{FILE, FileRow, content, key, missing, row},
    twin::{Answer, FileRegistry},
};

pub(super) struct Naive(pub(super) Plain);

/// More files than this nobody has shown it.
const ALL: usize = 10_000;

#[async_trait]
impl FileRegistry for Naive {
    async fn delete(&self, call: &Call, id: &str) -> Answer<Deleted> {
        self.check_owner(call, id).await?;
        self.0.gap.think().await;
        self.0
            .change(call, Change::Delete { key: key(FILE, id)?, expect: Expect::Any })
            .await
            .map_err(|_| missing(FILE, id))?;
        Ok(Deleted { file_id: id.to_owned() })
    }

    async fn transfer(&self, call: &Call, id: &str, to: &str) -> Answer<File> {
        self.check_owner(call, id).await?;
        self.0.gap.think().await;
        self.0.put(call, key(FILE, id)?, content(&FileRow { owner: to.to_owned() })?).await?;
        Ok(File { file_id: id.to_owned(), owner_id: to.to_owned() })
    }

    async fn list(&self, call: &Call) -> Answer<Files> {
        let prefix = format!("{FILE}:");
        let mut files = Vec::new();
        for (key, record) in self.0.store.list(&prefix, None, ALL).await? {
            let FileRow { owner } = row(&record)?;
            if owner == call.caller.as_str() {
                let id = key.as_str().strip_prefix(&prefix).unwrap_or_default();
                files.push(File { file_id: id.to_owned(), owner_id: owner });
            }
        }
        Ok(Files { files })
    }
}

impl Naive {
    async fn check_owner(&self, call: &Call, id: &str) -> Answer<()> {
        let record = self.0.get(&key(FILE, id)?).await?.ok_or_else(|| missing(FILE, id))?;
        let FileRow { owner } = row(&record)?;
        if owner == call.caller.as_str() {
            return Ok(());
        }
        Err(Refusal::NotYours { kind: FILE, id: id.to_owned(), caller: call.caller.to_string() })
    }
}
