//! What can go wrong while the parts of a server are opened and closed.

use std::{error::Error, time::Duration};

/// Any error of a part.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// Why a part is not open.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// It said so.
    #[error("failed to open {part}")]
    Failed {
        /// Its name.
        part: String,
        /// What it said.
        #[source]
        source: BoxError,
    },
    /// It panicked.
    #[error("failed to open {part}: it panicked: {message}")]
    Panicked {
        /// Its name.
        part: String,
        /// What the panic said.
        message: String,
    },
    /// It opened when the others were being closed already, so it is being closed again.
    #[error("failed to open {part}: the others are being closed")]
    TooLate {
        /// Its name.
        part: String,
    },
}

/// Why a server did not start. What had opened has been closed again, as far as that went.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// A step failed.
    #[error("failed to start")]
    Failed {
        /// The error of the step; an [`OpenError`] if that is what it returned.
        #[source]
        source: BoxError,
        /// How the closing of the others went.
        closing: Closing,
    },
    /// It panicked outside a part.
    #[error("failed to start: it panicked: {message}")]
    Panicked {
        /// What the panic said.
        message: String,
        /// How the closing of the others went.
        closing: Closing,
    },
}

/// How a closing went.
#[derive(Debug, Default)]
#[must_use = "it says whether everything is closed"]
pub struct Closing {
    /// How many calls were still inside when their time was up.
    pub left: usize,
    /// The parts that did not close well, in the order of closing.
    pub failures: Vec<CloseFailure>,
}

/// Why a part may not be closed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CloseFailure {
    /// It said so.
    #[error("failed to close {part}")]
    Failed {
        /// Its name.
        part: String,
        /// What it said.
        #[source]
        source: BoxError,
    },
    /// It panicked.
    #[error("failed to close {part}: it panicked: {message}")]
    Panicked {
        /// Its name.
        part: String,
        /// What the panic said.
        message: String,
    },
    /// Its closing took too long and was dropped.
    #[error("failed to close {part} within {within:?}")]
    TookTooLong {
        /// Its name.
        part: String,
        /// How long it had.
        within: Duration,
    },
    /// The runtime ended before all was closed.
    #[error("failed to close all parts: the runtime ended first")]
    RuntimeEnded,
}

impl StartError {
    /// How the closing of what had opened went.
    pub fn closing(&self) -> &Closing {
        let (Self::Failed { closing, .. } | Self::Panicked { closing, .. }) = self;
        closing
    }
}

impl Closing {
    /// Whether no call was left and every part closed well.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.left == 0 && self.failures.is_empty()
    }
}
