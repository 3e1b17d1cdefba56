//! What can be asked about audits.

use interlock_sync::record::Settled;
use interlock_sync::store::{Change, Content, Expect, Key, Mutation, OpId, Record};

use super::{
    Asked, Done, Form, JobError, Jobs, Progress, State, digest,
    entry::{decode, expand},
    key, newest_first,
};

/// A score at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    /// Of which audit.
    pub id: OpId,
    /// What came of it.
    pub done: Done,
}

impl Jobs {
    /// How an audit stands; nothing if it is not known.
    ///
    /// # Errors
    ///
    /// When the store cannot be asked.
    pub async fn state(&self, id: OpId) -> Result<Option<State>, JobError> {
        // The end first: it is there before the entry of the queue goes.
        if let Some(done) = self.done(id).await? {
            return Ok(Some(State::Done(done)));
        }
        let Some(asked) = self.bytes(&key("queue", id)?).await? else {
            // It may have ended between the two questions.
            return Ok(self.done(id).await?.map(State::Done));
        };
        let asked = decode(&asked, "queue")?;
        Ok(Some(match self.bytes(&key("progress", id)?).await? {
            None => State::Queued(asked),
            Some(progress) => State::Running(asked, decode(&progress, "progress")?),
        }))
    }

    /// What came of an audit, if it has ended.
    ///
    /// # Errors
    ///
    /// When the store cannot be asked.
    pub async fn done(&self, id: OpId) -> Result<Option<Done>, JobError> {
        match self.bytes(&newest_first("done", id)?).await? {
            Some(done) => decode(&done, "done").map(Some),
            None => Ok(None),
        }
    }

    /// A report, as it was written.
    ///
    /// # Errors
    ///
    /// When the store cannot be asked.
    pub async fn report(&self, id: OpId, form: Form) -> Result<Option<Vec<u8>>, JobError> {
        let bytes = self.bytes(&report_key(id, form)?).await?;
        Ok(bytes.and_then(|bytes| expand(&bytes)))
    }

    /// The audits that have not ended, oldest first.
    ///
    /// # Errors
    ///
    /// When the store cannot be asked.
    pub async fn queue(&self, limit: usize) -> Result<Vec<(OpId, State)>, JobError> {
        let mut all = Vec::new();
        for (entry, record) in self.store.list("queue:", None, limit).await? {
            let Some(id) = id_of(&entry) else { continue };
            let asked: Asked = decode(&bytes(record), "queue")?;
            let progress = self.bytes(&key("progress", id)?).await?;
            let progress = progress.map(|progress| decode::<Progress>(&progress, "progress")).transpose()?;
            all.push((
                id,
                progress.map_or_else(
                    || State::Queued(asked.clone()),
                    |progress| State::Running(asked.clone(), progress),
                ),
            ));
        }
        Ok(all)
    }

    /// How many audits have not ended; counted up to `limit`.
    ///
    /// # Errors
    ///
    /// When the store cannot be asked.
    pub async fn waiting(&self, limit: usize) -> Result<usize, JobError> {
        Ok(self.store.list("queue:", None, limit).await?.len())
    }

    /// The audits that ended last, newest first, behind one of them.
    ///
    /// # Errors
    ///
    /// When the store cannot be asked.
    pub async fn recent(&self, after: Option<OpId>, limit: usize) -> Result<Vec<Point>, JobError> {
        let after = after.map(|id| newest_first("done", id)).transpose()?;
        self.points("done:", after.as_ref(), limit).await
    }

    /// The audits of a target, newest first.
    ///
    /// # Errors
    ///
    /// When the store cannot be asked.
    pub async fn history(&self, target: &str, limit: usize) -> Result<Vec<Point>, JobError> {
        self.history_of(&digest(target), limit).await
    }

    /// The same, by the target's [digest].
    ///
    /// # Errors
    ///
    /// When the store cannot be asked.
    pub async fn history_of(&self, digest: &str, limit: usize) -> Result<Vec<Point>, JobError> {
        self.points(&format!("history:{digest}:"), None, limit).await
    }

    async fn points(&self, prefix: &str, after: Option<&Key>, limit: usize) -> Result<Vec<Point>, JobError> {
        let listed = self.store.list(prefix, after, limit).await?;
        let point = |(key, record): (Key, Record)| {
            let id = OpId(!id_of(&key)?.0);
            Some(decode(&bytes(record), key.as_str()).map(|done| Point { id, done }))
        };
        listed.into_iter().filter_map(point).collect()
    }

    pub(super) async fn bytes(&self, key: &Key) -> Result<Option<Vec<u8>>, JobError> {
        Ok(self.records.get(key).await?.map(bytes))
    }

    /// Writes what nobody else writes.
    pub(super) async fn put(&self, key: &Key, content: Vec<u8>) -> Result<(), JobError> {
        let change = Change::Put { key: key.clone(), expect: Expect::Any, content: Content::Bytes(content) };
        match self.records.settle(&Mutation::new(OpId::fresh(), change)).await? {
            Settled::Applied(_) | Settled::Refused(_) => Ok(()),
            Settled::InDoubt { .. } => Err(JobError::InDoubt),
        }
    }

    /// Removes what is there, if it is.
    pub(super) async fn remove(&self, key: &Key) -> Result<(), JobError> {
        let change = Change::Delete { key: key.clone(), expect: Expect::Any };
        match self.records.settle(&Mutation::new(OpId::fresh(), change)).await? {
            Settled::Applied(_) | Settled::Refused(_) => Ok(()),
            Settled::InDoubt { .. } => Err(JobError::InDoubt),
        }
    }
}

pub(super) fn report_key(id: OpId, form: Form) -> Result<Key, JobError> {
    Ok(Key::new(format!("report:{id}:{}", form.ending()))?)
}

pub(super) fn bytes(record: Record) -> Vec<u8> {
    match record.content {
        Content::Bytes(bytes) => bytes,
        Content::Number(number) => number.to_string().into_bytes(),
    }
}

/// The id that a key ends in.
pub(super) fn id_of(key: &Key) -> Option<OpId> {
    let text = key.as_str().rsplit(':').next()?;
    parse_id(text)
}

/// An id, as it stands in keys and addresses.
#[must_use]
pub fn parse_id(text: &str) -> Option<OpId> {
    let is_id = text.len() == 32 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    is_id.then(|| u128::from_str_radix(text, 16).ok().map(OpId))?
}
