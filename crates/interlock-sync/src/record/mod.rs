//! Records that are written only if they are still what they were when they were read.
//!
//! [`Records::update`] is the one to start with: it reads, lets a function compute the new content, and writes only over the version
//! that was read; if someone was faster it starts again from what is there now. [`Records::add`] and [`Records::transfer`] leave the
//! arithmetic to the store, so that there is nothing to start again.
//!
//! Every change has an [`OpId`]. When an answer is lost the same operation is sent again under the same id, and the store says what
//! became of it. So a change is [applied or refused](Settled), once, or it says plainly that it is in doubt.

mod settle;
mod update;

use std::sync::Arc;

use crate::{
    retry::Retry,
    store::{Change, Content, Expect, Key, Mutation, OpId, Record, Store, StoreError, Version},
};

pub use self::{
    settle::{Settled, Unsettled},
    update::{Edit, NotUpdated, Updated},
};

/// Versioned records in a store.
///
/// # Example
///
/// A counter in a document that no other writer can spoil:
///
/// ```
/// # use std::sync::Arc;
/// # use interlock_sync::{memory::MemoryStore, record::{Edit, Records, Updated}, retry::Retry, store::{Content, Key}};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let records = Records::new(Arc::new(MemoryStore::default()));
/// let list = Key::new("shopping-list")?;
///
/// let updated = records
///     .update(&list, &Retry::default(), |now| {
///         let mut lines = match now.map(|record| &record.content) {
///             Some(Content::Bytes(bytes)) => bytes.clone(),
///             _ => Vec::new(),
///         };
///         lines.extend(b"milk\n");
///         Ok::<_, std::convert::Infallible>(Edit::Put(Content::Bytes(lines)))
///     })
///     .await?;
/// assert!(matches!(updated, Updated::Applied(_)));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Records {
    store: Arc<dyn Store>,
    resend: Retry,
}

impl Records {
    /// Records in a store. Lost answers are asked after with [`Retry::brief`].
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store, resend: Retry::brief() }
    }

    /// The same, asking after lost answers otherwise.
    #[must_use]
    pub fn resending(self, resend: Retry) -> Self {
        Self { resend, ..self }
    }

    /// The record, or `None`.
    ///
    /// # Errors
    ///
    /// When the store cannot be asked.
    pub async fn get(&self, key: &Key) -> Result<Option<Record>, StoreError> {
        crate::retry::retry_store(&self.resend, || self.store.get(key)).await
    }

    /// Writes a record that is not there yet.
    ///
    /// # Errors
    ///
    /// When the store cannot be asked; then nothing has changed.
    pub async fn put_if_absent(&self, key: &Key, content: Content) -> Result<Settled, StoreError> {
        self.change(Change::Put { key: key.clone(), expect: Expect::Absent, content }).await
    }

    /// Writes over this version and no other.
    ///
    /// # Errors
    ///
    /// When the store cannot be asked; then nothing has changed.
    pub async fn put_if_version(
        &self,
        key: &Key,
        version: Version,
        content: Content,
    ) -> Result<Settled, StoreError> {
        self.change(Change::Put { key: key.clone(), expect: Expect::Version(version), content }).await
    }

    /// Removes this version and no other.
    ///
    /// # Errors
    ///
    /// When the store cannot be asked; then nothing has changed.
    pub async fn delete_if(&self, key: &Key, version: Version) -> Result<Settled, StoreError> {
        self.change(Change::Delete { key: key.clone(), expect: Expect::Version(version) }).await
    }

    /// Adds to a number, unless it would fall below the floor: the debit, in one step.
    ///
    /// # Errors
    ///
    /// When the store cannot be asked; then nothing has changed.
    pub async fn add(&self, key: &Key, delta: i64, floor: Option<i64>) -> Result<Settled, StoreError> {
        self.change(Change::Add { key: key.clone(), delta, floor }).await
    }

    /// Moves an amount from one number to another; both change or neither, also if this process dies in between.
    ///
    /// # Errors
    ///
    /// When the store cannot be asked; then nothing has changed.
    pub async fn transfer(
        &self,
        from: &Key,
        to: &Key,
        amount: i64,
        floor: i64,
    ) -> Result<Settled, StoreError> {
        self.change(Change::Transfer { from: from.clone(), to: to.clone(), amount, floor }).await
    }

    /// Makes a change as a new operation.
    ///
    /// # Errors
    ///
    /// When the store cannot be asked; then nothing has changed.
    pub async fn change(&self, change: Change) -> Result<Settled, StoreError> {
        self.settle(&Mutation::new(OpId::fresh(), change)).await
    }
}

#[cfg(test)]
mod tests;
