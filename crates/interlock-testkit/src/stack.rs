//! Room for deep recursion, as the scan gives it to parsers.

use std::thread;

/// Runs a test on a thread with a stack of 64 MB. A panic in it is the test's own.
///
/// # Panics
/// If the machine gives no thread, or if the test panics.
pub fn with_stack<T: Send + 'static>(test: impl FnOnce() -> T + Send + 'static) -> T {
    let thread = thread::Builder::new().stack_size(64 << 20).spawn(test).expect("the machine gives a thread");
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
