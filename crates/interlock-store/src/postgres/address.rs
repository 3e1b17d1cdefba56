//! From a URL to a pool of connections, none of which is made yet.

use std::{error::Error, num::NonZeroUsize};

use deadpool_postgres::{ManagerConfig, Pool, RecyclingMethod};
use tokio_postgres::{
    Config,
    config::{SslMode, SslNegotiation},
};

use super::security::Security;

/// How many connections one process has at most, unless told otherwise. A connection is busy for one statement, and additions to one record share one,
/// so this is no limit on callers; each costs the server a process.
const CONNECTIONS: usize = 16;

/// More than any server has processes for. The pool makes room for all of them at once.
const MOST_CONNECTIONS: usize = 1_000;

/// Why a URL names no server that this can speak to.
#[derive(Debug, thiserror::Error)]
pub(super) enum AddressError {
    /// The driver does not understand it.
    #[error("{0}")]
    Syntax(String),
    /// TLS is demanded, and this build has none.
    #[error(
        "it demands TLS (`sslmode`, `sslnegotiation`), which interlock-store speaks with its feature `tls`; without it, connect through a \
         proxy or tunnel on this machine, and leave `sslmode` out or set it to `disable`"
    )]
    #[cfg_attr(feature = "tls", expect(dead_code, reason = "what has TLS does not miss it"))]
    NoTls,
    /// There is nothing to check the server's certificate with.
    #[error("the root certificates cannot be used: {0}")]
    #[cfg_attr(not(feature = "tls"), expect(dead_code, reason = "without TLS nobody looks at them"))]
    Roots(String),
}

/// A pool for the server that a URL names, how its connections are made, and to what.
pub(super) fn pool(
    url: &str,
    connections: Option<NonZeroUsize>,
    roots: Option<&[u8]>,
) -> Result<(Pool, Security, Config), AddressError> {
    let (config, demands_tls) = config(url)?;
    let security = if demands_tls { Security::tls(roots)? } else { Security::Plain };
    // A connection that may be in an unknown state never comes back to the pool, so there is nothing to clean when one is taken
    // out again.
    let manager = security.manager(config.clone(), ManagerConfig { recycling_method: RecyclingMethod::Fast });
    let most = connections.map_or(CONNECTIONS, |most| most.get().min(MOST_CONNECTIONS));
    let pool = Pool::builder(manager).max_size(most).build();
    Ok((pool.expect("a pool without time limits of its own needs no runtime to be built"), security, config))
}

/// What the URL says, and whether it demands TLS. Where it does not, there is none: a connection that is encrypted only if the server likes
/// protects from nobody who could change it.
fn config(url: &str) -> Result<(Config, bool), AddressError> {
    // The driver knows only some of libpq's modes, and takes the others for a mistake in writing. Whoever demands TLS here is given all of
    // it: the certificate is checked, and its name.
    let (mut text, mut demands_tls) = (url.to_owned(), false);
    for mode in ["sslmode=verify-ca", "sslmode=verify-full"] {
        demands_tls |= url.contains(mode);
        text = text.replace(mode, "sslmode=require");
    }
    let mut config: Config = text.parse().map_err(syntax)?;
    demands_tls |=
        config.get_ssl_mode() == SslMode::Require || config.get_ssl_negotiation() == SslNegotiation::Direct;
    config.ssl_mode(if demands_tls { SslMode::Require } else { SslMode::Disable });
    if config.get_application_name().is_none() {
        config.application_name("interlock");
    }
    Ok((config, demands_tls))
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
    fn tls_is_spoken_where_the_url_demands_it_and_nowhere_else() {
        for demand in ["sslmode=require", "sslmode=verify-full", "sslmode=verify-ca", "sslnegotiation=direct"]
        {
            let (config, demands_tls) = config(&format!("postgres://u@h/db?{demand}")).unwrap();
            assert!(demands_tls && config.get_ssl_mode() == SslMode::Require, "{demand}");
        }
        for fine in ["", "?sslmode=disable", "?sslmode=prefer"] {
            let (config, demands_tls) = config(&format!("postgresql://u:p@h:5432/db{fine}")).unwrap();
            assert!(!demands_tls && config.get_ssl_mode() == SslMode::Disable, "{fine}");
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
        assert_eq!(config("postgres://u@h/db").unwrap().0.get_application_name(), Some("interlock"));
        let (named, _) = config("postgres://u@h/db?application_name=shop").unwrap();
        assert_eq!(named.get_application_name(), Some("shop"));
    }
}
