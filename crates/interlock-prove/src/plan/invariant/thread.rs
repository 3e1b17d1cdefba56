//! A thread of its own for the expression library: its parser descends with large frames, and a fault in it must not be ours.

use std::thread;

/// Measured without optimisation: an expression at the limits fits into a quarter of it. What is not used is not taken.
const STACK: usize = 128 * 1024 * 1024;

/// Runs something there and waits for it; that it panicked is an error in words.
pub(super) fn apart<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, String> {
    thread::scope(|scope| {
        let running = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        let running = running.map_err(|error| format!("no thread could be started: {error}"))?;
        running.join().map_err(|_panic| "the expression library failed on it".to_owned())
    })
}
