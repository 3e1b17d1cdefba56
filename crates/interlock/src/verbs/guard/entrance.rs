//! Where clients come in over HTTP: the address, TLS, and who is let in. The last two can change while they come.

use std::{net::SocketAddr, sync::Arc};

use anyhow::{Context, Result};
use interlock_guard::{
    event::{Event, Watch},
    identity::{ClientCertificates, Doors, Tls},
    listen,
    policy::{Config, IdentityConfig, TlsFiles},
};
use tokio::{net::TcpListener, sync::watch};

/// What can change of the way in. Changes are made one after another, in the background: keys may have to be fetched.
pub(super) struct Entrance {
    wanted: watch::Sender<IdentityConfig>,
}

/// What is changed.
struct Changing {
    at: SocketAddr,
    doors: Arc<Doors>,
    tls: Option<(Arc<Tls>, TlsFiles)>,
    watch: Arc<dyn Watch>,
}

impl Entrance {
    /// Opens it, with the listener and how that behaves.
    pub(super) async fn open(
        config: &Config,
        address: SocketAddr,
        watch: &Arc<dyn Watch>,
    ) -> Result<(TcpListener, listen::Options, Self)> {
        let heard = Arc::clone(watch);
        let told = move |error: &_| {
            let words = format!("the keys of callers were not fetched again: {error}");
            heard.note(&Event::Notice { about: "identity", words: &words });
        };
        let doors = Doors::open(&config.identity, Arc::new(told)).await;
        let doors = Arc::new(doors.context("failed to read who may call")?);
        let tls = match &config.listen.tls {
            Some(files) => {
                let clients = ClientCertificates::of(files, &config.identity);
                let tls = Tls::open(files, clients, config.listen.limits.slow);
                Some((Arc::new(tls.context("failed to set up TLS")?), files.clone()))
            }
            None => None,
        };
        let listener =
            TcpListener::bind(address).await.with_context(|| format!("failed to listen on {address}"))?;
        let at = listener.local_addr()?;
        warn_if_open(at, &config.identity, watch);
        let spoken = tls.as_ref().map(|(tls, _)| Arc::clone(tls));
        let options = listen::Options::new(&config.listen, Arc::clone(&doors) as _, spoken);
        let (wanted, wishes) = watch::channel(config.identity.clone());
        tokio::spawn(Changing { at, doors, tls, watch: Arc::clone(watch) }.follow(wishes));
        Ok((listener, options, Self { wanted }))
    }

    /// Lets in whom this says, with all keys and certificates read again.
    pub(super) fn renew(&self, identity: &IdentityConfig) {
        self.wanted.send_replace(identity.clone());
    }
}

impl Changing {
    async fn follow(self, mut wishes: watch::Receiver<IdentityConfig>) {
        while wishes.changed().await.is_ok() {
            let identity = wishes.borrow_and_update().clone();
            let notice = |words: String| {
                self.watch.note(&Event::Notice { about: "identity", words: &words });
            };
            if let Err(error) = self.doors.change(&identity).await {
                notice(format!("who may call stays as it was: {error}"));
                // Certificates are asked for as they were, too.
                continue;
            }
            warn_if_open(self.at, &identity, &self.watch);
            if let Some((tls, files)) = &self.tls
                && let Err(error) = tls.reload(ClientCertificates::of(files, &identity))
            {
                notice(format!("TLS stays as it was: {error}"));
            }
        }
    }
}

fn warn_if_open(at: SocketAddr, identity: &IdentityConfig, watch: &Arc<dyn Watch>) {
    if !at.ip().is_loopback() && !identity.verifies() {
        let words = format!("everybody who reaches {at} may call, and nobody is told from another");
        watch.note(&Event::Notice { about: "identity", words: &words });
    }
}
