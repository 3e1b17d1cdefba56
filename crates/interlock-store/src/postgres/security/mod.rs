//! How a connection to the server is made: plainly, or under TLS where the URL demands it.

#[cfg(not(feature = "tls"))]
mod off;
#[cfg(feature = "tls")]
mod on;

use deadpool_postgres::{Manager, ManagerConfig};
use interlock_sync::store::Freed;
use tokio_postgres::{CancelToken, Config, Error, NoTls};

#[cfg(not(feature = "tls"))]
use self::off::{Tls, tls};
#[cfg(feature = "tls")]
use self::on::{Tls, tls};
use super::{address::AddressError, hints::follow};

/// How connections are made.
#[derive(Clone)]
pub(super) enum Security {
    /// As everybody can read them.
    Plain,
    /// Under TLS, or not at all. Without TLS in this build its type can be copied, with it it cannot: hence it is cloned by name.
    Tls(Tls),
}

impl Security {
    /// TLS, if this build has it.
    pub(super) fn tls(roots: Option<&[u8]>) -> Result<Self, AddressError> {
        tls(roots).map(Self::Tls)
    }

    /// What makes the connections of a pool.
    pub(super) fn manager(&self, config: Config, manager: ManagerConfig) -> Manager {
        match self {
            Self::Plain => Manager::from_config(config, NoTls, manager),
            Self::Tls(tls) => Manager::from_config(config, Tls::clone(tls), manager),
        }
    }

    /// Passes on what is told on a channel, for as long as a connection lasts.
    pub(super) async fn follow(&self, config: &Config, channel: &str, freed: &Freed) -> Result<(), Error> {
        match self {
            Self::Plain => follow(config, NoTls, channel, freed).await,
            Self::Tls(tls) => follow(config, Tls::clone(tls), channel, freed).await,
        }
    }

    /// Asks the server to stop what runs on a connection.
    pub(super) async fn cancel(&self, token: &CancelToken) -> Result<(), Error> {
        match self {
            Self::Plain => token.cancel_query(NoTls).await,
            Self::Tls(tls) => token.cancel_query(Tls::clone(tls)).await,
        }
    }
}
