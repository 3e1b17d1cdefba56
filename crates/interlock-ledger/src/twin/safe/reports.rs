//! Reports: made exclusively, replaced atomically, updated only over the content that was read; users' files likewise.

use std::path::Path;

use async_trait::async_trait;
use interlock_sync::{
    files::{AsyncFiles, ContentHash, Created, Files, FilesError, State, Swap},
    lock::KeyedLock,
    retry::{Dice, Retry},
    store::{Key, OpId},
};

use crate::{
    answer::{Report, ReportContent, UserFile},
    arguments::{ProcessUserFile, UpdateReport, WriteReport},
    audit::{Call, Line},
    book::Book,
    refusal::Refusal,
    rows::{key, missing},
    twin::{Answer, MakeError, Reports},
    values::LONGEST_TEXT,
};

pub(super) struct Safe {
    book: Book,
    reports: AsyncFiles,
    users: AsyncFiles,
    /// Those who write the same file in this process take turns, instead of all but one computing in vain.
    turns: KeyedLock<String>,
}

const REPORT: &str = "report";
const USER_FILE: &str = "user-file";

/// No file that was written here is larger.
const LARGEST: u64 = LONGEST_TEXT as u64;

impl Safe {
    pub(super) fn new(book: Book, root: &Path) -> Result<Self, MakeError> {
        let open = |name: &str| {
            let path = root.join(name);
            let failed = |source: Box<dyn std::error::Error + Send + Sync>| MakeError::Folder {
                path: path.clone(),
                source,
            };
            std::fs::create_dir_all(&path).map_err(|error| failed(error.into()))?;
            Files::open(&path).map(AsyncFiles::from).map_err(|error| failed(error.into()))
        };
        Ok(Self { book, reports: open("reports")?, users: open("users")?, turns: KeyedLock::new() })
    }

    /// Announces a change of a file, makes it, and concludes with the hashes before and after.
    async fn write<T>(
        &self,
        call: &Call,
        file: Key,
        change: impl Future<Output = Result<(Option<Versions>, T), FilesError>> + Send,
    ) -> Answer<T> {
        let line = Line::intended(call, OpId::fresh(), std::iter::once(&file));
        self.book.audit.intend(&line).await?;
        let (versions, answer) = change.await.map_err(|error| failed(&error))?;
        let line = match versions {
            Some(Versions { from, to }) => line.written(from, Some(to)),
            None => line.refused(),
        };
        self.book.audit.conclude(&line).await;
        Ok(answer)
    }

    /// Swaps a file that is as expected, and says what it was otherwise.
    async fn swap(
        &self,
        call: &Call,
        file: Key,
        (files, name): (&AsyncFiles, &str),
        expected: State,
        bytes: &[u8],
    ) -> Answer<Result<(), State>> {
        let change = async {
            Ok(match files.compare_and_swap(name, expected, bytes).await? {
                Swap::Done { hash } => {
                    (Some(Versions { from: hash_in(expected), to: hash.to_string() }), Ok(()))
                }
                Swap::Conflict { found } => (None, Err(found)),
            })
        };
        self.write(call, file, change).await
    }
}

/// The hashes of a file before and after a change.
struct Versions {
    from: Option<String>,
    to: String,
}

#[async_trait]
impl Reports for Safe {
    async fn create(&self, call: &Call, wish: &WriteReport) -> Answer<Report> {
        let (id, bytes) = (wish.report_id.as_str(), wish.content.as_str().as_bytes());
        let change = async {
            let is_new = self.reports.create_new(id, bytes).await? == Created::New;
            Ok((is_new.then(|| Versions { from: None, to: ContentHash::of(bytes).to_string() }), is_new))
        };
        if self.write(call, key(REPORT, id)?, change).await? {
            return Ok(report(id, bytes));
        }
        Err(Refusal::Exists { kind: REPORT, id: id.to_owned() })
    }

    /// A swap from whatever is there, so that the audit log can say what was replaced.
    async fn save(&self, call: &Call, wish: &WriteReport) -> Answer<Report> {
        let (id, bytes) = (wish.report_id.as_str(), wish.content.as_str().as_bytes());
        let _turn = self.turns.lock(format!("{REPORT}/{id}")).await;
        let mut delays = Retry::times(16).delays(Dice::fresh());
        let mut expected =
            state_of(self.reports.read(id, LARGEST).await.map_err(|error| failed(&error))?.as_ref());
        loop {
            match self.swap(call, key(REPORT, id)?, (&self.reports, id), expected, bytes).await? {
                Ok(()) => return Ok(report(id, bytes)),
                Err(found) => expected = found,
            }
            pause_or_give_up(&mut delays, id).await?;
        }
    }

    async fn update(&self, call: &Call, wish: &UpdateReport) -> Answer<Report> {
        let (id, bytes) = (wish.report_id.as_str(), wish.content.as_str().as_bytes());
        let changed = |current: String| Refusal::Changed { kind: REPORT, id: id.to_owned(), current };
        // What is no hash is the hash of nothing that was ever read.
        let Ok(read) = wish.hash.as_str().parse() else {
            let current = self.read(id).await?.hash;
            return Err(changed(format!("hash {current}")));
        };
        match self.swap(call, key(REPORT, id)?, (&self.reports, id), State::Is(read), bytes).await? {
            Ok(()) => Ok(report(id, bytes)),
            Err(State::Absent) => Err(missing(REPORT, id)),
            Err(State::Is(current)) => Err(changed(format!("hash {current}"))),
        }
    }

    async fn read(&self, id: &str) -> Answer<ReportContent> {
        let content = self.reports.read(id, LARGEST).await.map_err(|error| failed(&error))?;
        let content = content.ok_or_else(|| missing(REPORT, id))?;
        let hash = content.hash.to_string();
        let content = String::from_utf8(content.bytes).map_err(Refusal::internal)?;
        Ok(ReportContent { report_id: id.to_owned(), content, hash })
    }

    async fn add_entry(&self, call: &Call, wish: &ProcessUserFile) -> Answer<UserFile> {
        let user = wish.user_id.as_str();
        let _turn = self.turns.lock(format!("{USER_FILE}/{user}")).await;
        let mut delays = Retry::times(16).delays(Dice::fresh());
        loop {
            let now = self.users.read(user, LARGEST).await.map_err(|error| failed(&error))?;
            let entries = with_entry(user, now.as_ref().map(|content| &*content.bytes), wish.entry.as_str())?;
            let bytes = serde_json::to_vec(&entries).map_err(Refusal::internal)?;
            if bytes.len() > LONGEST_TEXT {
                return Err(Refusal::Full { id: user.to_owned() });
            }
            let place = (&self.users, user);
            if self.swap(call, key(USER_FILE, user)?, place, state_of(now.as_ref()), &bytes).await?.is_ok() {
                return Ok(UserFile { user_id: user.to_owned(), entries });
            }
            pause_or_give_up(&mut delays, user).await?;
        }
    }
}

/// Only another process can have been faster: in this one they take turns.
async fn pause_or_give_up(delays: &mut impl Iterator<Item = std::time::Duration>, id: &str) -> Answer<()> {
    let Some(pause) = delays.next() else {
        return Err(Refusal::Unavailable { reason: format!("the file of `{id}` changes too fast") });
    };
    tokio::time::sleep(pause).await;
    Ok(())
}

fn state_of(content: Option<&interlock_sync::files::Content>) -> State {
    content.map_or(State::Absent, |content| State::Is(content.hash))
}

fn hash_in(state: State) -> Option<String> {
    match state {
        State::Absent => None,
        State::Is(hash) => Some(hash.to_string()),
    }
}

fn with_entry(user: &str, now: Option<&[u8]>, entry: &str) -> Answer<Vec<String>> {
    let mut entries: Vec<String> = match now {
        Some(bytes) => serde_json::from_slice(bytes)
            .map_err(|error| Refusal::internal(format!("the file of `{user}` is damaged: {error}")))?,
        None => Vec::new(),
    };
    entries.push(entry.to_owned());
    Ok(entries)
}

fn report(id: &str, bytes: &[u8]) -> Report {
    Report { report_id: id.to_owned(), hash: ContentHash::of(bytes).to_string(), bytes: bytes.len() as u64 }
}

/// A change of a file that failed is not there: it becomes visible in one step, at its end.
fn failed(error: &FilesError) -> Refusal {
    Refusal::internal(format!("the file could not be used: {error}"))
}
