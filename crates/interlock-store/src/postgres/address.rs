//! From a URL to a pool of connections, none of which is made yet.

use std::{error::Error, num::NonZeroUsize};

use deadpool_postgres::{Manager, ManagerConfig, Pool, RecyclingMethod};
use tokio_postgres::{
    Config, NoTls,
    config::{SslMode, SslNegotiation},
};

/// How many connections one process has at most, unless told otherwise. A connection is busy for one statement, and additions to one record share one,
/// so this is no limit on callers; each costs the server a process.
const CONNECTIONS: usize = 16;

/// Why a URL names no server that this can speak to.
#[derive(Debug, thiserror::Error)]
pub(super) enum AddressError {
    /// The driver does not understand it.
    #[error("{0}")]
    Syntax(String),
    /// There is no TLS here.
    #[error(
        "it demands TLS (`sslmode`, `sslnegotiation`), which this store does not speak; connect through a proxy or tunnel on this \
         machine, and leave `sslmode` out or set it to `disable`"
    )]
    Tls,
}

/// A pool for the server that a URL names.
pub(super) fn pool(url: &str, connections: Option<NonZeroUsize>) -> Result<Pool, AddressError> {
    let config = config(url)?;
    // A connection that may be in an unknown state never comes back to the pool, so there is nothing to clean when one is taken
    // out again.
    let manager =
        Manager::from_config(config, NoTls, ManagerConfig { recycling_method: RecyclingMethod::Fast });
    let pool = Pool::builder(manager).max_size(connections.map_or(CONNECTIONS, NonZeroUsize::get)).build();
    Ok(pool.expect("a pool without time limits of its own needs no runtime to be built"))
}

fn config(url: &str) -> Result<Config, AddressError> {
    // The driver knows only some of libpq's modes, and takes the others for a mistake in writing.
    if ["sslmode=verify-ca", "sslmode=verify-full"].iter().any(|mode| url.contains(mode)) {
        return Err(AddressError::Tls);
    }
    let mut config: Config = url.parse().map_err(syntax)?;
    if config.get_ssl_mode() == SslMode::Require || config.get_ssl_negotiation() == SslNegotiation::Direct {
        return Err(AddressError::Tls);
    }
    config.ssl_mode(SslMode::Disable);
    if config.get_application_name().is_none() {
        config.application_name("interlock");
    }
    Ok(config)
}

/// What the driver says, with what it says in the cause.
fn syntax(error: tokio_postgres::Error) -> AddressError {
    let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
    AddressError::Syntax(format!("{error}{cause}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_that_demands_tls_is_refused_with_words_that_help() {
        for demand in ["sslmode=require", "sslmode=verify-full", "sslmode=verify-ca", "sslnegotiation=direct"]
        {
            let refused = config(&format!("postgres://u@h/db?{demand}")).unwrap_err();
            assert!(refused.to_string().contains("TLS"), "{demand}: {refused}");
        }
        for fine in ["", "?sslmode=disable", "?sslmode=prefer"] {
            assert!(config(&format!("postgresql://u:p@h:5432/db{fine}")).is_ok(), "{fine}");
        }
    }

    #[test]
    fn a_malformed_url_says_what_is_wrong_with_it() {
        let refused = config("postgres://u@h:port/db").unwrap_err();
        assert_eq!(refused.to_string(), "invalid connection string: invalid value for option `port`");
        let refused = config("postgres://u@h/db?pool=7").unwrap_err();
        assert_eq!(refused.to_string(), "invalid connection string: unknown option `pool`");
    }

    #[test]
    fn a_connection_says_who_it_belongs_to() {
        assert_eq!(config("postgres://u@h/db").unwrap().get_application_name(), Some("interlock"));
        let named = config("postgres://u@h/db?application_name=shop").unwrap();
        assert_eq!(named.get_application_name(), Some("shop"));
    }
}
