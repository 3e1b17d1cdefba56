//! Why a connection, or what came over it, is of no use.

use std::io;

/// Why a connection, or what came over it, is of no use.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Broken {
    /// The system says so.
    #[error("the connection broke: {0}")]
    Connection(#[from] io::Error),
    /// The server hung up too early.
    #[error("the server hung up before its answer was whole")]
    HungUp,
    /// What should be the head of an answer is none.
    #[error("its answer is not HTTP: {0}")]
    Head(#[source] httparse::Error),
    /// Its head does not end.
    #[error("the head of its answer is too long")]
    TooLong,
    /// Its status is none.
    #[error("its answer has no status")]
    Status,
    /// It has a header that cannot be one.
    #[error("its answer has a header that cannot be one")]
    Header,
    /// It states no length, or several.
    #[error("its answer does not say how long it is")]
    Length,
    /// A piece of it does not begin or end as it should.
    #[error("a chunk of its answer does not begin or end as it should")]
    Chunk,
    /// It speaks another protocol from here on, for which nobody asked.
    #[error("it changed the protocol, for which nobody asked")]
    Switched,
}
