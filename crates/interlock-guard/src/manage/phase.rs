//! How far the closing has come. It only ever goes forward, and everybody can wait for it.

use std::sync::Arc;

use tokio::sync::watch;

/// How far the closing has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Calls are served.
    Serving,
    /// No call starts any more; those under way are waited for.
    Closing,
    /// Their time is up: those still under way are cancelled.
    Cancelling,
    /// Upstreams are being ended.
    Ending,
    /// Nothing is waited for any more.
    Now,
}

/// The phase, as everybody sees it. Clones are the same.
#[derive(Debug, Clone)]
pub struct Phases {
    sender: Arc<watch::Sender<Phase>>,
}

impl Default for Phases {
    fn default() -> Self {
        Self { sender: Arc::new(watch::Sender::new(Phase::Serving)) }
    }
}

impl Phases {
    /// The phase just now.
    #[must_use]
    pub fn now(&self) -> Phase {
        *self.sender.borrow()
    }

    /// Goes on to a phase; nothing happens if that was reached already.
    pub fn advance(&self, to: Phase) {
        self.sender.send_if_modified(|phase| {
            let is_later = *phase < to;
            *phase = (*phase).max(to);
            is_later
        });
    }

    /// Waits until a phase is reached, or one behind it.
    ///
    /// # Cancel safety
    ///
    /// Dropping it only stops the waiting.
    pub async fn reached(&self, phase: Phase) {
        // The sender is ours, so it cannot be gone.
        let _ = self.sender.subscribe().wait_for(|now| *now >= phase).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn it_never_goes_back_and_who_waits_for_an_earlier_one_is_told_too() {
        let phases = Phases::default();
        let other = phases.clone();
        let waiting = tokio::spawn(async move { other.reached(Phase::Cancelling).await });
        phases.advance(Phase::Closing);
        assert!(!waiting.is_finished());
        phases.advance(Phase::Now);
        waiting.await.unwrap();
        phases.advance(Phase::Ending);
        assert_eq!(phases.now(), Phase::Now);
    }
}
