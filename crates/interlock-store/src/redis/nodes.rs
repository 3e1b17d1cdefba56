//! Which node of a cluster has the namespace: the one that the URL names, until a node names another.

use std::sync::{Mutex, MutexGuard, PoisonError};

use redis::{Client, ConnectionAddr, ConnectionInfo, ErrorKind, RedisError, RedisResult, ServerErrorKind};

use super::client::client;

/// The node to talk to.
pub(super) struct Nodes {
    /// The one that the URL names.
    home: Client,
    /// Another one, to which a node has sent us.
    away: Mutex<Option<Client>>,
    roots: Option<Box<[u8]>>,
}

impl Nodes {
    /// At first the node at this address. The roots are for TLS, and for the other nodes as well.
    pub(super) fn new(info: ConnectionInfo, roots: Option<&[u8]>) -> RedisResult<Self> {
        Ok(Self { home: client(info, roots)?, away: Mutex::default(), roots: roots.map(Box::from) })
    }

    pub(super) fn current(&self) -> Client {
        self.away().clone().unwrap_or_else(|| self.home.clone())
    }

    /// Goes where an error says that the namespace is now, if it says so.
    pub(super) fn follow(&self, error: &RedisError) -> bool {
        if error.kind() != ErrorKind::Server(ServerErrorKind::Moved) {
            return false;
        }
        let info = self.current().get_connection_info().clone();
        let there = error.redirect_node().and_then(|(node, _)| at(info.addr(), node));
        let there = there.and_then(|addr| client(info.set_addr(addr), self.roots.as_deref()).ok());
        let known = there.is_some();
        if known {
            *self.away() = there;
        }
        known
    }

    /// Asks the node of the URL next time: the other one cannot be reached.
    pub(super) fn go_home(&self) {
        *self.away() = None;
    }

    /// Nothing can panic while this is held.
    fn away(&self) -> MutexGuard<'_, Option<Client>> {
        self.away.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The address of another node, reached in the same way. Without a host it is that of the node that says so.
fn at(from: &ConnectionAddr, node: &str) -> Option<ConnectionAddr> {
    let (host, port) = node.rsplit_once(':')?;
    let port = port.parse().ok()?;
    let host = match (host, from) {
        ("?", _) => return None,
        ("", ConnectionAddr::Tcp(host, _) | ConnectionAddr::TcpTls { host, .. }) => host,
        (host, _) => host,
    };
    let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
    match from {
        ConnectionAddr::Tcp(..) => Some(ConnectionAddr::Tcp(host, port)),
        ConnectionAddr::TcpTls { insecure, tls_params, .. } => {
            let (insecure, tls_params) = (*insecure, tls_params.clone());
            Some(ConnectionAddr::TcpTls { host, port, insecure, tls_params })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_reached_as_the_one_that_named_it() {
        let here = ConnectionAddr::Tcp("here".into(), 1);
        let there = |node| at(&here, node);
        assert_eq!(there("there:7000"), Some(ConnectionAddr::Tcp("there".into(), 7000)));
        assert_eq!(there("::1:7000"), Some(ConnectionAddr::Tcp("::1".into(), 7000)));
        assert_eq!(there("[::1]:7000"), Some(ConnectionAddr::Tcp("::1".into(), 7000)));
        assert_eq!(there(":7000"), Some(ConnectionAddr::Tcp("here".into(), 7000)));
        for nobody in ["?:7000", "there", "there:", "there:70000", ""] {
            assert_eq!(there(nobody), None, "{nobody}");
        }
        let secure = |host: &str, port| ConnectionAddr::TcpTls {
            host: host.into(),
            port,
            insecure: false,
            tls_params: None,
        };
        assert_eq!(at(&secure("here", 1), "there:2"), Some(secure("there", 2)));
    }
}
