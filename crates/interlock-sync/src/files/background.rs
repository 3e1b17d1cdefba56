//! The same operations for async callers. The kernel has no other way to open or rename a file than to block, so a thread of the
//! runtime that is meant for that does it.

use std::path::PathBuf;

use tokio::task::spawn_blocking;

use super::{Content, ContentHash, Created, Deletion, Entry, Files, FilesError, State, Swap};

/// [`Files`] whose operations run on tokio's threads for blocking work.
///
/// # Errors
///
/// All operations fail as those of [`Files`] do, and with [`FilesError::ShuttingDown`] when the runtime ended before they began.
///
/// # Panics
///
/// The futures panic outside a tokio runtime.
///
/// # Cancel safety
///
/// Dropping a future does not stop an operation that has begun; whether it happened can be seen by reading. None stops half way.
///
/// # Examples
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let root = folder.path();
/// use interlock_sync::files::{AsyncFiles, Files};
///
/// let files = AsyncFiles::from(Files::open(root)?);
/// files.replace("report.md", "final").await?;
/// assert_eq!(files.read("report.md", 1 << 20).await?.ok_or("gone")?.bytes, b"final");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct AsyncFiles {
    files: Files,
}

impl From<Files> for AsyncFiles {
    fn from(files: Files) -> Self {
        Self { files }
    }
}

impl AsyncFiles {
    /// The files for callers that may block.
    #[must_use]
    pub fn blocking(&self) -> &Files {
        &self.files
    }

    /// See [`Files::read`].
    pub async fn read(&self, path: impl Into<PathBuf>, limit: u64) -> Result<Option<Content>, FilesError> {
        let path = path.into();
        self.run(move |files| files.read(path, limit)).await
    }

    /// See [`Files::list`].
    pub async fn list(&self, folder: impl Into<PathBuf>) -> Result<Vec<Entry>, FilesError> {
        let folder = folder.into();
        self.run(move |files| files.list(folder)).await
    }

    /// See [`Files::make_folder`].
    pub async fn make_folder(&self, path: impl Into<PathBuf>) -> Result<(), FilesError> {
        let path = path.into();
        self.run(move |files| files.make_folder(path)).await
    }

    /// See [`Files::create_new`].
    pub async fn create_new(
        &self,
        path: impl Into<PathBuf>,
        content: impl Into<Vec<u8>>,
    ) -> Result<Created, FilesError> {
        let (path, content) = (path.into(), content.into());
        self.run(move |files| files.create_new(path, &content)).await
    }

    /// See [`Files::replace`].
    pub async fn replace(
        &self,
        path: impl Into<PathBuf>,
        content: impl Into<Vec<u8>>,
    ) -> Result<(), FilesError> {
        let (path, content) = (path.into(), content.into());
        self.run(move |files| files.replace(path, &content)).await
    }

    /// See [`Files::append`].
    pub async fn append(
        &self,
        path: impl Into<PathBuf>,
        record: impl Into<Vec<u8>>,
    ) -> Result<(), FilesError> {
        let (path, record) = (path.into(), record.into());
        self.run(move |files| files.append(path, &record)).await
    }

    /// See [`Files::compare_and_swap`].
    pub async fn compare_and_swap(
        &self,
        path: impl Into<PathBuf>,
        expected: State,
        new: impl Into<Vec<u8>>,
    ) -> Result<Swap, FilesError> {
        let (path, new) = (path.into(), new.into());
        self.run(move |files| files.compare_and_swap(path, expected, &new)).await
    }

    /// See [`Files::delete_if`].
    pub async fn delete_if(
        &self,
        path: impl Into<PathBuf>,
        expected: ContentHash,
    ) -> Result<Deletion, FilesError> {
        let path = path.into();
        self.run(move |files| files.delete_if(path, expected)).await
    }

    async fn run<T: Send + 'static>(
        &self,
        operation: impl FnOnce(Files) -> Result<T, FilesError> + Send + 'static,
    ) -> Result<T, FilesError> {
        let files = self.files.clone();
        match spawn_blocking(move || operation(files)).await {
            Ok(answer) => answer,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_) => Err(FilesError::ShuttingDown),
            },
        }
    }
}
