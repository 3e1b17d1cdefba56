//! The hold on the Node processes of one instance.

use std::{io, os::unix::net::UnixListener as Listener, time::Duration};

use async_trait::async_trait;
use futures_util::{FutureExt, future::join_all};
use interlock_model::{Perturbation, RaceWindow};
use tokio::{
    net::UnixListener,
    time::{Instant, timeout, timeout_at},
};

use super::peer::{Peer, Seen};
use crate::perturb::{Leash, Observed};

/// How long the first process gets to connect. By the time calls are sent the server has answered others.
const CONNECT: Duration = Duration::from_secs(15);
/// How long further ones get to speak: a wrapper that waits for its child without a loop never will.
const OTHERS: Duration = Duration::from_millis(50);
/// How long a process gets to answer us.
const ANSWER: Duration = Duration::from_secs(10);

/// See [`Node`](super::Node).
#[derive(Debug)]
pub(super) struct NodeLeash {
    /// Becomes a tokio listener when it is first needed, which is sure to be inside of a runtime.
    listener: Option<Listener>,
    accepting: Option<UnixListener>,
    peers: Vec<Peer>,
    armed: Vec<Peer>,
    run: u64,
}

impl NodeLeash {
    pub(super) fn new(listener: Listener) -> Self {
        Self { listener: Some(listener), accepting: None, peers: Vec::new(), armed: Vec::new(), run: 0 }
    }

    /// Takes in whoever has connected; waits if nobody ever did.
    async fn gather(&mut self) -> io::Result<()> {
        if let Some(listener) = self.listener.take() {
            self.accepting = Some(UnixListener::from_std(listener)?);
        }
        let Some(accepting) = &self.accepting else { return Ok(()) };
        let deadline = Instant::now() + CONNECT;
        loop {
            while let Some(accepted) = accepting.accept().now_or_never() {
                self.peers.push(Peer::new(accepted?.0));
            }
            let greetings =
                self.peers.iter_mut().map(async |peer| match timeout(OTHERS, peer.greet()).await {
                    Ok(heard) => heard.is_ok(),
                    Err(_) => true,
                });
            let mut alive = join_all(greetings).await.into_iter();
            self.peers.retain(|_| alive.next().unwrap_or_default());
            if self.peers.iter().any(|peer| peer.greeted) {
                return Ok(());
            }
            if let Some(trouble) = self.peers.iter().find_map(|peer| peer.trouble.as_ref()) {
                return Err(io::Error::other(format!(
                    "the preload does not fit this version of Node: {trouble}"
                )));
            }
            if self.peers.is_empty() {
                let first = timeout_at(deadline, accepting.accept()).await;
                self.peers.push(Peer::new(first.map_err(|_| nobody())??.0));
            }
            if Instant::now() > deadline {
                return Err(nobody());
            }
        }
    }
}

fn nobody() -> io::Error {
    let text =
        "no Node process of the server has loaded the preload (is it Node, and is NODE_OPTIONS passed on?)";
    io::Error::new(io::ErrorKind::TimedOut, text)
}

#[async_trait]
impl Leash for NodeLeash {
    async fn arm(&mut self, perturbation: &Perturbation, ids: &[i64]) -> io::Result<()> {
        let (choices, windows): (_, &[RaceWindow]) = match perturbation {
            Perturbation::NodeOrder { choices } => (Some(choices.as_slice()), &[]),
            Perturbation::HeldWindow { windows } => (None, windows),
            Perturbation::None => (None, &[]),
            _ => {
                return Err(io::Error::new(io::ErrorKind::InvalidInput, "not an order of Node's operations"));
            }
        };
        self.peers.append(&mut self.armed);
        self.gather().await?;
        self.run += 1;
        let run = self.run;
        let (greeted, silent): (Vec<_>, Vec<_>) = self.peers.drain(..).partition(|peer| peer.greeted);
        self.peers = silent;
        let arming = greeted.into_iter().map(async |mut peer| {
            let armed = timeout(ANSWER, peer.arm(run, ids, choices, windows)).await;
            matches!(armed, Ok(Ok(()))).then_some(peer)
        });
        self.armed = join_all(arming).await.into_iter().flatten().collect();
        if self.armed.is_empty() { Err(nobody()) } else { Ok(()) }
    }

    async fn disarm(&mut self) -> io::Result<Observed> {
        let run = self.run;
        let asking = self.armed.drain(..).map(async |mut peer| {
            let seen = timeout(ANSWER, peer.disarm(run)).await.ok()?.ok()?;
            Some((peer, seen))
        });
        let mut best: Option<Seen> = None;
        for (peer, seen) in join_all(asking).await.into_iter().flatten() {
            self.peers.push(peer);
            if best.as_ref().is_none_or(|best| weight(&seen) > weight(best)) {
                best = Some(seen);
            }
        }
        best.map(|seen| seen.observed).ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "the server's Node process is gone or does not answer",
            )
        })
    }
}

/// The server among its wrappers is the one that the calls reached and that did something for them.
fn weight(seen: &Seen) -> (u64, usize) {
    (seen.arrived, seen.observed.ticks.len())
}
