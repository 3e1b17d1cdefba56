//! What happens to the stores when something breaks: clients killed, servers killed and started again, a network that loses answers,
//! a holder that is stopped, a clock that is set. One file per fault, and one with all of them at once.
//!
//! The work is done by processes of their own (`client`), each with a journal of what it was about to do and what was acknowledged to it.
//! Afterwards the `judge` holds the journals against the store: nothing lost, nothing twice, sums conserved, and every doubt
//! resolved by asking. Each run says how many faults it injected.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a check that meets what it does not expect has failed"
)]

mod all_at_once;
mod killed_clients;
mod killed_servers;
mod spoiled_network;
mod stepped_clocks;
mod stopped_holders;

mod admitted;
mod bounds;
mod caller;
mod calls;
mod client;
mod dice;
mod holder;
mod journal;
mod judge;
mod limited;
mod process;
mod proxy;
mod stage;
mod tally;

use interlock_sync::store::Key;

/// The stores that outlive a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Backend {
    Sqlite,
    Redis,
    Postgres,
}

/// All of them.
pub(crate) const BACKENDS: &[Backend] = &[Backend::Sqlite, Backend::Redis, Backend::Postgres];

impl Backend {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Redis => "redis",
            Self::Postgres => "postgres",
        }
    }

    /// Whether there is a server to kill, and a network before it.
    pub(crate) fn is_served(self) -> bool {
        self != Self::Sqlite
    }
}

/// The stores with a server.
pub(crate) fn served() -> impl Iterator<Item = Backend> {
    BACKENDS.iter().copied().filter(|backend| backend.is_served())
}

pub(crate) fn key(text: impl AsRef<str>) -> Key {
    Key::new(text).expect("a good key")
}

/// Runs something asynchronous.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.unwrap().block_on(future)
}

/// Also where the other tests' processes begin: with orders in its environment it is a client.
#[test]
fn clients_that_nothing_happens_to_settle_everything() {
    if process::obeyed() {
        return;
    }
    for &backend in BACKENDS {
        let mut stage = stage::Stage::new(backend, stage::Road::Straight);
        let clients = [stage.client(None), stage.client(None)];
        for client in &clients {
            stage.wait_for_notes(client, 60);
        }
        clients.into_iter().for_each(|client| stage.dismiss(client));
        stage.judge("nothing");
    }
}
