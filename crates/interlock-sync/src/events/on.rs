//! Everything goes to whoever subscribed to `tracing`.

use std::future::Future;

use tracing::{Instrument, debug_span, info, instrument::Instrumented, warn};

const TARGET: &str = "interlock_sync";

/// The same future, with all that happens in it inside a span.
pub(crate) fn waiting<F: Future>(tool: &str, future: F) -> Instrumented<F> {
    future.instrument(debug_span!(target: TARGET, "wait", tool))
}

pub(crate) fn refused(tool: &str, reason: &'static str) {
    info!(target: TARGET, tool, reason, "refused");
}

pub(crate) fn lost(what: &'static str, key: &str, fence: Option<u64>) {
    warn!(target: TARGET, what, key, fence, "lease lost");
}

pub(crate) fn in_doubt(key: &str, fence: u64) {
    warn!(target: TARGET, key, fence, "in doubt");
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use tracing::{
        Event, Metadata, Subscriber,
        field::{Field, Visit},
        span,
    };

    use super::*;

    /// Writes down what it is told, as text.
    #[derive(Default, Clone)]
    struct Listener(Arc<Mutex<Vec<String>>>);

    struct Line(String);

    impl Visit for Line {
        fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
            self.0 += &format!(" {}={value:?}", field.name());
        }
    }

    impl Subscriber for Listener {
        fn enabled(&self, metadata: &Metadata<'_>) -> bool {
            metadata.target() == TARGET
        }

        fn new_span(&self, attributes: &span::Attributes<'_>) -> span::Id {
            let mut line = Line(format!("span {}", attributes.metadata().name()));
            attributes.record(&mut line);
            self.0.lock().unwrap().push(line.0);
            span::Id::from_u64(1)
        }

        fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

        fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

        fn event(&self, event: &Event<'_>) {
            let mut line = Line(event.metadata().level().to_string());
            event.record(&mut line);
            self.0.lock().unwrap().push(line.0);
        }

        fn enter(&self, _: &span::Id) {}

        fn exit(&self, _: &span::Id) {}
    }

    #[tokio::test]
    async fn waits_refusals_losses_and_doubts_are_told() {
        let listener = Listener::default();
        let told = Arc::clone(&listener.0);
        let _default = tracing::subscriber::set_default(listener);
        waiting("pay", async {}).await;
        refused("pay", "rate");
        lost("lease", "order:1", Some(7));
        in_doubt("once:1", 8);
        assert_eq!(
            *told.lock().unwrap(),
            [
                "span wait tool=\"pay\"",
                "INFO message=refused tool=\"pay\" reason=\"rate\"",
                "WARN message=lease lost what=\"lease\" key=\"order:1\" fence=7",
                "WARN message=in doubt key=\"once:1\" fence=8",
            ]
        );
    }
}
