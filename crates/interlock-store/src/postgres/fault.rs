//! Driver and server codes, folded to what a caller can act on. What decides is whether the statement can have taken effect.

use std::{error::Error, io, sync::Arc};

use deadpool_postgres::PoolError;
use interlock_sync::store::StoreError;
use tokio_postgres::error::{DbError, Severity, SqlState};

/// Whether a statement changes anything. One that only reads has not taken effect, whatever became of its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    Reads,
    Changes,
}

/// Why there is no answer. It can be cloned, because the callers whose wishes travelled together all hear of it.
#[derive(Debug, Clone)]
pub(super) struct Failure {
    kind: Kind,
    reason: &'static str,
    source: Option<Arc<dyn Error + Send + Sync>>,
    /// Whether the connection it happened on is as good as before.
    usable: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Unavailable,
    InDoubt,
    Broken,
    /// The server undid everything because others were in the way; at once it may work.
    Again,
}

impl Failure {
    /// There was no connection to be had.
    pub(super) fn connecting(source: PoolError) -> Self {
        let refused_for_good = match &source {
            PoolError::Backend(error) => error.code().is_some_and(is_for_good),
            _ => false,
        };
        let kind = if refused_for_good { Kind::Broken } else { Kind::Unavailable };
        Self::new(kind, "failed to connect to PostgreSQL", Some(Arc::new(source)))
    }

    /// All connections stayed busy, or a new one was not made in time.
    pub(super) fn waiting() -> Self {
        Self::new(Kind::Unavailable, "no connection to PostgreSQL became free in time", None)
    }

    /// The statement was sent and did not answer in time.
    pub(super) fn late(effect: Effect) -> Self {
        Self::lost(effect, "PostgreSQL did not answer in time", None)
    }

    /// Whoever was to run the statement is gone, perhaps with a runtime that was shut down.
    pub(super) fn abandoned(effect: Effect) -> Self {
        Self::lost(effect, "the statement was given up", None)
    }

    /// The statement was sent, and this came back.
    pub(super) fn answering(source: tokio_postgres::Error, effect: Effect) -> Self {
        let Some(said) = source.as_db_error() else {
            let cut = source.is_closed() || source.source().is_some_and(|cause| cause.is::<io::Error>());
            return if cut {
                Self::lost(effect, "the connection to PostgreSQL was lost", Some(Arc::new(source)))
            } else {
                Self::new(Kind::Broken, "PostgreSQL's answer was not understood", Some(Arc::new(source)))
            };
        };
        // An error ends the transaction with nothing done. Worse than that ends the session, at a moment that nobody can tell.
        if !is_plain(said) || is_silent_on_the_end(said.code()) {
            return Self::lost(effect, "PostgreSQL ended the session", Some(Arc::new(source)));
        }
        let (kind, usable) = match said.code() {
            code if *code == SqlState::T_R_SERIALIZATION_FAILURE
                || *code == SqlState::T_R_DEADLOCK_DETECTED =>
            {
                (Kind::Again, true)
            }
            // A server that was primary: a new connection may find the present one.
            code if *code == SqlState::READ_ONLY_SQL_TRANSACTION => (Kind::Unavailable, false),
            code if is_passing(code) => (Kind::Unavailable, true),
            _ => (Kind::Broken, true),
        };
        Self { usable, ..Self::new(kind, "PostgreSQL refused the statement", Some(Arc::new(source))) }
    }

    /// The answer makes no sense.
    pub(super) fn nonsense(reason: &'static str) -> Self {
        Self::new(Kind::Broken, reason, None)
    }

    /// A column is not what it should be.
    pub(super) fn unreadable(source: tokio_postgres::Error) -> Self {
        Self::new(Kind::Broken, "PostgreSQL's answer was not understood", Some(Arc::new(source)))
    }

    /// The same, of something that was done before this.
    pub(super) fn into_doubt(self) -> Self {
        Self { kind: Kind::InDoubt, ..self }
    }

    /// Whether nothing took effect and the same statement may work at once.
    pub(super) fn is_passing_conflict(&self) -> bool {
        self.kind == Kind::Again
    }

    /// Whether the next statement may use the same connection.
    pub(super) fn leaves_connection_usable(&self) -> bool {
        self.usable
    }

    fn lost(effect: Effect, reason: &'static str, source: Option<Arc<dyn Error + Send + Sync>>) -> Self {
        let kind = match effect {
            Effect::Reads => Kind::Unavailable,
            Effect::Changes => Kind::InDoubt,
        };
        Self::new(kind, reason, source)
    }

    fn new(kind: Kind, reason: &'static str, source: Option<Arc<dyn Error + Send + Sync>>) -> Self {
        Self { kind, reason, source, usable: false }
    }
}

impl From<Failure> for StoreError {
    fn from(failure: Failure) -> Self {
        let source = failure.source.map(|shared| Box::new(shared) as Box<dyn Error + Send + Sync>);
        let reason = failure.reason.to_owned();
        match failure.kind {
            Kind::Unavailable | Kind::Again => Self::Unavailable { reason, source },
            Kind::InDoubt => Self::InDoubt { reason, source },
            Kind::Broken => Self::Broken { reason, source },
        }
    }
}

fn is_plain(said: &DbError) -> bool {
    match said.parsed_severity() {
        Some(severity) => severity == Severity::Error,
        // A proxy need not send the severity twice.
        None => said.severity() == "ERROR",
    }
}

/// Whether the code says that the outcome is not known: a proxy tells in this way that it lost the server.
fn is_silent_on_the_end(code: &SqlState) -> bool {
    *code == SqlState::T_R_STATEMENT_COMPLETION_UNKNOWN || code.code().starts_with("08")
}

/// Whether an error is about the server's state and not about the statement: resources, an operator, a lock.
fn is_passing(code: &SqlState) -> bool {
    *code == SqlState::LOCK_NOT_AVAILABLE || ["53", "57"].iter().any(|class| code.code().starts_with(class))
}

/// Whether a server that refuses a connection will refuse the next one, too: a wrong password, an unknown database.
fn is_for_good(code: &SqlState) -> bool {
    ["28", "3D", "42"].iter().any(|class| code.code().starts_with(class))
}
