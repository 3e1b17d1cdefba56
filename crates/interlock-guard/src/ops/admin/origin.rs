//! Who may ask: not a web page of another site, and nobody who reached a listener on loopback under a name of his own.

use std::net::IpAddr;

use http::{HeaderMap, HeaderName, header, uri::Authority};

/// The names under which the listener may be asked.
#[derive(Debug)]
pub(super) struct Allowed {
    is_loopback: bool,
    hosts: Vec<String>,
}

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");

impl Allowed {
    /// For a listener on this address, with these names beside.
    pub(super) fn new(address: IpAddr, hosts: &[String]) -> Self {
        Self {
            is_loopback: address.is_loopback(),
            hosts: hosts.iter().map(|host| host.to_ascii_lowercase()).collect(),
        }
    }

    /// Whether a request may be answered.
    ///
    /// # Errors
    ///
    /// With the reason, when not.
    pub(super) fn check(&self, headers: &HeaderMap) -> Result<(), &'static str> {
        let mut hosts = headers.get_all(header::HOST).iter();
        let (host, more) = (hosts.next(), hosts.next());
        let host = host.filter(|_| more.is_none()).and_then(|host| host.as_bytes().try_into().ok());
        let Some(host): Option<Authority> = host else { return Err("the request says no host") };
        if !self.is_known(host.host()) {
            return Err(
                "this listener does not go by that name; add it to the admin listener's hosts if it should",
            );
        }
        if let Some(origin) = headers.get(header::ORIGIN) {
            let ours = [format!("http://{host}"), format!("https://{host}")];
            if !ours.iter().any(|ours| origin.as_bytes().eq_ignore_ascii_case(ours.as_bytes())) {
                return Err("the request comes from another site");
            }
        }
        // A link from somewhere else may be followed; what the page there cannot do is read the answer.
        let is =
            |name, value: &str| headers.get(name).is_some_and(|there| there.as_bytes() == value.as_bytes());
        if (is(FETCH_SITE, "cross-site") || is(FETCH_SITE, "same-site")) && !is(FETCH_MODE, "navigate") {
            return Err("the request comes from another site");
        }
        Ok(())
    }

    fn is_known(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
        // An address is no name that somebody could make point elsewhere.
        address.is_ok()
            || host == "localhost"
            || self.hosts.contains(&host)
            || (!self.is_loopback && self.hosts.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    fn check(listener: Ipv4Addr, hosts: &[&str], headers: &[(&'static str, &str)]) -> bool {
        let hosts: Vec<_> = hosts.iter().map(|host| (*host).to_owned()).collect();
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        Allowed::new(listener.into(), &hosts).check(&map).is_ok()
    }

    #[test]
    fn a_listener_on_loopback_goes_by_no_other_name() {
        let here = Ipv4Addr::LOCALHOST;
        for host in ["127.0.0.1:9", "localhost:9", "LOCALHOST", "[::1]:9", "127.0.0.2"] {
            assert!(check(here, &[], &[("host", host)]), "{host}");
        }
        for host in [
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example:9",
            "",
            "a b",
            "@",
            "user@evil.example",
        ] {
            assert!(!check(here, &[], &[("host", host)]), "{host}");
        }
        assert!(check(here, &["Guard.internal"], &[("host", "guard.INTERNAL:80")]));
        assert!(!check(here, &[], &[]));
        assert!(!check(here, &[], &[("host", "localhost"), ("host", "evil.example")]));
    }

    #[test]
    fn a_listener_that_is_open_goes_by_any_name_until_names_are_given() {
        let open = Ipv4Addr::UNSPECIFIED;
        assert!(check(open, &[], &[("host", "guard:9")]));
        assert!(!check(open, &["guard"], &[("host", "evil.example")]));
        assert!(check(open, &["guard"], &[("host", "guard:9")]));
    }

    #[test]
    fn pages_of_other_sites_are_refused_and_links_are_followed() {
        let here = Ipv4Addr::LOCALHOST;
        let host = ("host", "127.0.0.1:9");
        assert!(check(here, &[], &[host, ("origin", "http://127.0.0.1:9")]));
        assert!(!check(here, &[], &[host, ("origin", "http://127.0.0.1:10")]));
        assert!(!check(here, &[], &[host, ("origin", "null")]));
        assert!(!check(here, &[], &[host, ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "no-cors")]));
        assert!(check(here, &[], &[host, ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")]));
        assert!(check(here, &[], &[host, ("sec-fetch-site", "same-origin"), ("sec-fetch-mode", "cors")]));
    }
}
