//! Closing with a limit: the one thing about a gate that needs a clock.

use std::{future::Future, time::Duration};

use tokio::time::{Instant, timeout_at};

use super::Gate;

impl Gate {
    /// Closes the gate, waits for those inside, but no longer than `within`, and says how many are left.
    ///
    /// The gate is closed when this returns its future, also if that is never awaited. Zero means that nobody is inside and nobody
    /// will be, and that all that the calls did has happened before. Closing a closed gate is fine: each caller waits for itself.
    ///
    /// # Panics
    ///
    /// The future panics when it is polled outside a tokio runtime with a timer. [`shut`](Gate::shut) and
    /// [`drained`](Gate::drained) need no runtime.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future only stops the waiting; the gate stays closed.
    pub fn close(&self, within: Duration) -> impl Future<Output = usize> + Send + '_ {
        self.shut();
        // None is a limit beyond the end of time, which is no limit.
        let until = Instant::now().checked_add(within);
        async move {
            let drained = match until {
                Some(until) => timeout_at(until, self.drained()).await.is_ok(),
                None => {
                    self.drained().await;
                    true
                }
            };
            if drained { 0 } else { self.inside() }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use tokio::{join, task::yield_now};

    use super::*;
    use crate::gate::Closed;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn a_gate_with_nobody_inside_closes_at_once() {
        let gate = Gate::new();
        let start = Instant::now();
        assert_eq!(gate.close(SECOND).await, 0);
        assert_eq!(start.elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn closing_waits_for_the_last_one_inside() {
        let gate = Gate::new();
        let (first, second) = (gate.enter_owned().unwrap(), gate.enter_owned().unwrap());
        let calls = async {
            yield_now().await;
            drop(first);
            yield_now().await;
            drop(second);
        };
        assert_eq!(join!(gate.close(SECOND), calls).0, 0);
    }

    #[tokio::test(start_paused = true)]
    async fn when_the_time_is_up_closing_says_how_many_are_left() {
        let gate = Gate::new();
        let (_first, _second) = (gate.enter().unwrap(), gate.enter().unwrap());
        let start = Instant::now();
        assert_eq!(gate.close(SECOND).await, 2);
        assert_eq!(start.elapsed(), SECOND);
    }

    #[tokio::test(start_paused = true)]
    async fn closing_twice_waits_twice() {
        let gate = Gate::new();
        let call = gate.enter_owned().unwrap();
        let leave = async {
            yield_now().await;
            drop(call);
        };
        let (first, second, ()) = join!(gate.close(SECOND), gate.close(Duration::MAX), leave);
        assert_eq!((first, second), (0, 0));
        assert_eq!(gate.close(Duration::ZERO).await, 0);
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_gets_in_while_it_is_closing_and_a_refused_call_is_not_counted() {
        let gate = Gate::new();
        let _call = gate.enter().unwrap();
        let closing = gate.close(SECOND);
        assert!(gate.is_closed());
        assert_eq!(gate.enter().unwrap_err(), Closed);
        assert_eq!(gate.enter_owned().unwrap_err(), Closed);
        assert_eq!(gate.inside(), 1);
        assert_eq!(closing.await, 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_closing_that_is_given_up_leaves_the_gate_closed() {
        let gate = Gate::new();
        let call = gate.enter().unwrap();
        assert!(tokio::time::timeout(SECOND, gate.close(Duration::MAX)).await.is_err());
        assert!(gate.is_closed());
        drop(call);
        assert_eq!(gate.close(SECOND).await, 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_that_panics_leaves() {
        let gate = Gate::new();
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let _inside = gate.enter().unwrap();
            panic!("on purpose");
        }));
        assert!(panicked.is_err());
        assert_eq!(gate.inside(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn waiting_for_an_open_gate_ends_when_it_closes() {
        let gate = Gate::new();
        let shut = async {
            yield_now().await;
            gate.shut();
        };
        join!(gate.drained(), shut);
    }
}
