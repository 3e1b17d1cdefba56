//! Where a server listens.

use std::{net::IpAddr, str::FromStr};

/// An `http://` or `https://` URL, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// Whether it is spoken to through TLS.
    pub(crate) secure: bool,
    pub(crate) host: String,
    pub(crate) port: u16,
    /// With the query, if there is one.
    pub(crate) path: String,
}

/// Why a text is no address of a server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidAddress {
    /// Another scheme, or none.
    #[error("`{0}` is neither an http:// nor an https:// URL")]
    NotHttp(String),
    /// No host, or a port that is no number.
    #[error("`{0}` names no host and port: write http://127.0.0.1:PORT/PATH")]
    NoHost(String),
}

impl FromStr for Address {
    type Err = InvalidAddress;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (secure, rest) = match (text.strip_prefix("http://"), text.strip_prefix("https://")) {
            (Some(rest), _) => (false, rest),
            (_, Some(rest)) => (true, rest),
            _ => return Err(InvalidAddress::NotHttp(text.into())),
        };
        let bad = || InvalidAddress::NoHost(text.into());
        if text.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return Err(bad());
        }
        let (authority, path) = rest.find('/').map_or((rest, "/"), |at| rest.split_at(at));
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, port.parse().map_err(|_| bad())?),
            _ => (authority, if secure { 443 } else { 80 }),
        };
        if host.is_empty() || host.contains('@') {
            return Err(bad());
        }
        Ok(Self { secure, host: host.to_owned(), port, path: path.to_owned() })
    }
}

impl Address {
    /// Whether only this machine is spoken to.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        let bare = self.bare_host();
        bare == "localhost" || bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
    }

    /// Without the brackets of IPv6.
    pub(crate) fn bare_host(&self) -> &str {
        self.host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(&self.host)
    }

    pub(crate) fn scheme(&self) -> &'static str {
        if self.secure { "https" } else { "http" }
    }

    /// As it stands in a `Host` header.
    pub(crate) fn authority(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_taken_apart() {
        let address: Address = "http://127.0.0.1:8080/mcp?x=1".parse().unwrap();
        assert_eq!(
            (address.host.as_str(), address.port, address.path.as_str()),
            ("127.0.0.1", 8080, "/mcp?x=1")
        );
        let address: Address = "http://[::1]:9".parse().unwrap();
        assert_eq!((address.bare_host(), address.port, address.path.as_str()), ("::1", 9, "/"));
        assert!(address.is_loopback());
        let address: Address = "https://example.com/mcp".parse().unwrap();
        assert_eq!((address.scheme(), address.port, address.path.as_str()), ("https", 443, "/mcp"));
    }

    #[test]
    fn only_this_machine_is_loopback() {
        for (text, expected) in [
            ("http://localhost:1/", true),
            ("http://127.8.0.1/", true),
            ("http://10.0.0.1/", false),
            ("http://localhost.example.com/", false),
        ] {
            assert_eq!(text.parse::<Address>().unwrap().is_loopback(), expected, "{text}");
        }
    }

    #[test]
    fn what_cannot_be_reached_is_refused() {
        for text in ["a/", "ftp://a", "https://", "http://", "http://a:b/", "http://u@h/", "http://a b/"] {
            assert!(text.parse::<Address>().is_err(), "{text}");
        }
    }
}
