//! Reports: looks whether a file exists, then writes it; reads, changes and writes in place.

use std::{
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use async_trait::async_trait;
use interlock_sync::{files::ContentHash, store::OpId};
use tokio::fs;

use super::Plain;
use crate::{
    answer::{Report, ReportContent, UserFile},
    arguments::{ProcessUserFile, UpdateReport, WriteReport},
    audit::{Call, Line},
    refusal::Refusal,
    rows::{key, missing},
    twin::{Answer, MakeError, Reports},
    values::LONGEST_TEXT,
};

pub(super) struct Naive {
    plain: Plain,
    reports: PathBuf,
    users: PathBuf,
}

const REPORT: &str = "report";

impl Naive {
    pub(super) fn new(plain: Plain, root: &Path) -> Result<Self, MakeError> {
        let open = |name: &str| {
            let path = root.join(name);
            std::fs::create_dir_all(&path)
                .map_err(|source| MakeError::Folder { path: path.clone(), source: source.into() })?;
            Ok::<_, MakeError>(path)
        };
        Ok(Self { plain, reports: open("reports")?, users: open("users")? })
    }

    /// Truncates the file and writes it: whoever reads meanwhile sees a part.
    async fn write(&self, call: &Call, path: &Path, kind: &str, id: &str, bytes: &[u8]) -> Answer<()> {
        fs::write(path, bytes).await.map_err(failed)?;
        let line = Line::intended(call, OpId::fresh(), std::iter::once(&key(kind, id)?));
        self.plain.audit.conclude(&line.written(None, Some(hash(bytes)))).await;
        Ok(())
    }
}

#[async_trait]
impl Reports for Naive {
    async fn create(&self, call: &Call, wish: &WriteReport) -> Answer<Report> {
        let (id, bytes) = (wish.report_id.as_str(), wish.content.as_str().as_bytes());
        let path = self.reports.join(id);
        if fs::try_exists(&path).await.map_err(failed)? {
            return Err(Refusal::Exists { kind: REPORT, id: id.to_owned() });
        }
        self.plain.gap.think().await;
        self.write(call, &path, REPORT, id, bytes).await?;
        Ok(report(id, bytes))
    }

    async fn save(&self, call: &Call, wish: &WriteReport) -> Answer<Report> {
        let (id, bytes) = (wish.report_id.as_str(), wish.content.as_str().as_bytes());
        self.write(call, &self.reports.join(id), REPORT, id, bytes).await?;
        Ok(report(id, bytes))
    }

    async fn update(&self, call: &Call, wish: &UpdateReport) -> Answer<Report> {
        let (id, bytes) = (wish.report_id.as_str(), wish.content.as_str().as_bytes());
        let current = self.read(id).await?.hash;
        if current != wish.hash.as_str() {
            return Err(Refusal::Changed {
                kind: REPORT,
                id: id.to_owned(),
                current: format!("hash {current}"),
            });
        }
        self.plain.gap.think().await;
        self.write(call, &self.reports.join(id), REPORT, id, bytes).await?;
        Ok(report(id, bytes))
    }

    async fn read(&self, id: &str) -> Answer<ReportContent> {
        let bytes = read(&self.reports.join(id)).await?.ok_or_else(|| missing(REPORT, id))?;
        let hash = hash(&bytes);
        let content = String::from_utf8(bytes).map_err(Refusal::internal)?;
        Ok(ReportContent { report_id: id.to_owned(), content, hash })
    }

    async fn add_entry(&self, call: &Call, wish: &ProcessUserFile) -> Answer<UserFile> {
        let user = wish.user_id.as_str();
        let path = self.users.join(user);
        let mut entries: Vec<String> = match read(&path).await? {
            Some(bytes) => serde_json::from_slice(&bytes)
                .map_err(|error| Refusal::internal(format!("the file of `{user}` is damaged: {error}")))?,
            None => Vec::new(),
        };
        entries.push(wish.entry.as_str().to_owned());
        let bytes = serde_json::to_vec(&entries).map_err(Refusal::internal)?;
        if bytes.len() > LONGEST_TEXT {
            return Err(Refusal::Full { id: user.to_owned() });
        }
        self.plain.gap.think().await;
        self.write(call, &path, "user-file", user, &bytes).await?;
        Ok(UserFile { user_id: user.to_owned(), entries })
    }
}

async fn read(path: &Path) -> Answer<Option<Vec<u8>>> {
    match fs::read(path).await {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(error)),
    }
}

fn report(id: &str, bytes: &[u8]) -> Report {
    Report { report_id: id.to_owned(), hash: hash(bytes), bytes: bytes.len() as u64 }
}

fn failed(error: io::Error) -> Refusal {
    Refusal::internal(format!("the file could not be used: {error}"))
}

fn hash(bytes: &[u8]) -> String {
    ContentHash::of(bytes).to_string()
}
