//! Durability: what a Redis forgets when it restarts, by what it says of its own persistence.
//!
//! `INFO persistence` is asked and not `CONFIG`, which hosted servers disable. It says whether there is an append-only file; how often that is
//! flushed, and whether snapshots are made, it does not say.

use interlock_sync::store::StoreError;

use super::link::Link;
use crate::{
    Caveat, Options,
    open::{Caveats, without_secrets},
};

/// What can go wrong with a store that forgets.
const HARM: &str = "a lock may then be granted to a second caller while the first one still works, and a call that is sent again with its idempotency \
                    key may run twice";

pub(super) fn caveats(url: &str, options: &Options) -> Caveats {
    let (url, timeout, roots) = (url.to_owned(), options.timeout, options.root_certificates.clone());
    Box::pin(async move {
        let place = without_secrets(&url);
        let answer = match Link::new(&url, place.clone(), timeout, roots.as_deref()) {
            Ok(link) => link.ask::<String>(redis::cmd("INFO").arg("persistence")).await,
            Err(error) => Err(StoreError::Broken { reason: error.to_string(), source: None }),
        };
        caveat(&place, &answer).into_iter().collect()
    })
}

/// What there is to say about a server that answered so.
fn caveat(place: &str, answer: &Result<String, StoreError>) -> Option<Caveat> {
    let unknown = |why: &str| {
        Caveat::Unknown(format!(
            "whether {place} keeps its data through a restart could not be found out ({why}); if it writes no append-only file, {HARM}: see that \
             it has `appendonly yes`"
        ))
    };
    let said = match answer {
        Ok(said) => said,
        Err(error) => return Some(unknown(&format!("INFO persistence: {error}"))),
    };
    match said.lines().find_map(|line| line.trim().strip_prefix("aof_enabled:")) {
        Some("1") => None,
        Some("0") => Some(Caveat::Forgets(format!(
            "{place} writes no append-only file: when it restarts it has forgotten what it granted since its last snapshot, or all of it; {HARM}. \
             Set `appendonly yes`, and `appendfsync always` if not even the last second may be lost"
        ))),
        _ => Some(unknown("INFO persistence does not say it")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_server_with_an_append_only_file_has_nothing_said_of_it() {
        let of = |said: &str| caveat("redis://h", &Ok(said.to_owned()));
        assert_eq!(of("# Persistence\r\nloading:0\r\naof_enabled:1\r\n"), None);
        let forgets = of("# Persistence\r\nloading:0\r\naof_enabled:0\r\n");
        assert!(
            matches!(forgets, Some(Caveat::Forgets(words)) if words.contains("writes no append-only file"))
        );
        assert!(matches!(of("# Persistence\r\nloading:0\r\n"), Some(Caveat::Unknown(_))));
        let forbidden = Err(StoreError::Broken { reason: "NOPERM".into(), source: None });
        let unknown = caveat("redis://h", &forbidden);
        assert!(matches!(unknown, Some(Caveat::Unknown(words)) if words.contains("could not be found out")));
    }
}
