//! What a model needs from a gate, the right one or a wrong one.

use std::future::Future;

use loom::future::block_on;

use crate::core::Gate;

/// Calls go through it until it is closed.
pub(crate) trait Door: Send + Sync + 'static {
    fn new() -> Self;

    /// Runs the call inside, or says `false`.
    fn call(&self, inside: impl FnOnce()) -> bool;

    /// Closes, and blocks until nobody is inside.
    fn close(&self);
}

/// A door whose closing can be polled.
pub(crate) trait Drains: Door {
    fn shut(&self);

    /// Ready when the door is shut and nobody is inside.
    fn drained(&self) -> impl Future<Output = ()>;
}

impl Door for Gate {
    fn new() -> Self {
        Self::new()
    }

    fn call(&self, inside: impl FnOnce()) -> bool {
        let Ok(_inside) = self.enter() else { return false };
        inside();
        true
    }

    fn close(&self) {
        self.shut();
        block_on(self.drained());
    }
}

impl Drains for Gate {
    fn shut(&self) {
        self.shut();
    }

    fn drained(&self) -> impl Future<Output = ()> {
        self.drained()
    }
}
