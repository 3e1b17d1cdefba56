//! The engine from outside: real processes, real sockets, real clients.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test that meets what it does not expect has failed"
)]

mod batches;
mod eras;
mod hostile;
mod http;
mod instances;
mod kit;
mod limits;
mod merged;
mod sdk;
mod stdio;
mod tls;
