//! The only way from an audit to the network: a proxy on loopback that connects to hosts on a list, at public addresses, and nowhere else.
//!
//! `git`, `npm` and `pip` resolve names and follow redirects by themselves, so nothing that is looked at before they start can hold for what
//! they do. Through a proxy each connection is asked for by name, also the one after a redirect: the proxy resolves the name, judges the
//! address, and connects to the very address that it judged. Each audit has a ticket with the hosts that it may reach and how much it may
//! fetch; without one the proxy connects to nothing.

mod address;
mod proxy;

use std::{
    collections::HashMap,
    fmt, io,
    net::SocketAddr,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError, atomic::AtomicU64},
};

use interlock_sync::store::OpId;
use tokio::{net::TcpListener, task::JoinHandle};

pub use self::address::is_public;

/// Finds the addresses of a name.
pub type Resolve = Arc<
    dyn Fn(String, u16) -> Pin<Box<dyn Future<Output = io::Result<Vec<SocketAddr>>> + Send>> + Send + Sync,
>;

/// The proxy; it ends when this is dropped.
pub struct Egress {
    address: SocketAddr,
    rules: Arc<Rules>,
    task: JoinHandle<()>,
}

/// What is allowed.
struct Rules {
    /// Hosts whose addresses the operator vouches for, whatever they are.
    private: Vec<String>,
    tickets: Mutex<HashMap<String, Arc<Pass>>>,
    resolve: Resolve,
}

/// What one audit may reach.
struct Pass {
    hosts: Vec<String>,
    /// How many bytes it may still fetch.
    left: AtomicU64,
}

/// A way out for one audit; closed when this is dropped.
pub struct Ticket {
    rules: Arc<Rules>,
    secret: String,
    /// The proxy's address with the ticket in it, as clients take it.
    pub url: String,
}

impl Egress {
    /// Listens on loopback.
    ///
    /// # Errors
    ///
    /// When there is no port for it.
    pub async fn start(private: Vec<String>) -> io::Result<Self> {
        let resolve: Resolve = Arc::new(|host, port| {
            Box::pin(async move { Ok(tokio::net::lookup_host((host, port)).await?.collect()) })
        });
        Self::start_with(private, resolve).await
    }

    async fn start_with(private: Vec<String>, resolve: Resolve) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let rules = Arc::new(Rules { private, tickets: Mutex::default(), resolve });
        let task = tokio::spawn(proxy::serve(listener, Arc::clone(&rules)));
        Ok(Self { address, rules, task })
    }

    /// A way to these hosts, for so many bytes.
    #[must_use]
    pub fn ticket(&self, hosts: Vec<String>, bytes: u64) -> Ticket {
        // Whoever is on this machine can reach the port, so the secret must not be guessed: 80 bits of it are chance.
        let secret = OpId::fresh().to_string();
        let pass = Arc::new(Pass { hosts, left: AtomicU64::new(bytes) });
        self.rules.tickets.lock().unwrap_or_else(PoisonError::into_inner).insert(secret.clone(), pass);
        let url = format!("http://audit:{secret}@{}", self.address);
        Ticket { rules: Arc::clone(&self.rules), secret, url }
    }
}

impl Drop for Egress {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.rules.tickets.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.secret);
    }
}

impl fmt::Debug for Egress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Egress").field("address", &self.address).finish_non_exhaustive()
    }
}

impl fmt::Debug for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ticket")
    }
}

#[cfg(test)]
mod tests;
