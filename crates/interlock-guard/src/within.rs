//! Waiting for a while.

use std::{
    future::{Future, poll_fn},
    pin::Pin,
    task::Poll,
    time::Duration,
};

use tokio::time::timeout;

/// What comes within a time. Nobody looks at the clock for what is there at once: most of what is waited for on the way of a call is.
pub(crate) async fn within<T>(time: Duration, awaited: &mut (impl Future<Output = T> + Unpin)) -> Option<T> {
    match poll_fn(|context| Poll::Ready(Pin::new(&mut *awaited).poll(context))).await {
        Poll::Ready(came) => Some(came),
        Poll::Pending => timeout(time, awaited).await.ok(),
    }
}

#[cfg(test)]
mod tests {
    use std::{future::pending, pin::pin};

    use tokio::time::{Instant, sleep};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn it_waits_as_long_as_it_was_told_and_no_longer() {
        let start = Instant::now();
        let second = Duration::from_secs(1);
        assert_eq!(within(second, &mut std::future::ready(1)).await, Some(1));
        assert_eq!(within(second, &mut pin!(sleep(second / 2))).await, Some(()));
        assert_eq!(within(second, &mut pending::<()>()).await, None);
        assert_eq!(start.elapsed(), second * 3 / 2);
    }
}
