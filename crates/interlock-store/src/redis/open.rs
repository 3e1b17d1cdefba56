//! From a URL to a store on a server that can keep its promises.

use std::{collections::HashMap, sync::Arc};

use interlock_sync::store::StoreError;
use redis::{ErrorKind, RedisError, ServerErrorKind};

use super::{durability::caveats, keys::Keys, link::Link, scripts::Scripts, store::RedisStore};
use crate::{
    Backend, OpenError, Options,
    open::{Opening, without_secrets},
};

/// The entry in the list of backends.
pub const BACKEND: Backend =
    Backend { schemes: &["redis", "rediss"], example: "redis://…", open, caveats: Some(caveats) };

const NO_TLS: &str = "TLS needs the feature `tls` of interlock-store: without it, use `redis://` inside a private network, or through a \
                      tunnel such as stunnel";

const PARAMETERS: &str = "`redis:` takes no parameters; what can be set is set when the store is opened";

const FRAGMENT: &str = "nothing may follow a `#`: under TLS the server's certificate is always checked";

fn open(url: &str, options: &Options) -> Opening {
    let (url, options) = (url.to_owned(), options.clone());
    Box::pin(async move {
        let scripts = Scripts::new(options.remember_ops);
        Ok(Arc::new(open_with(&url, &options, scripts).await?) as _)
    })
}

/// Opens a store with these scripts.
pub(super) async fn open_with(
    url: &str,
    options: &Options,
    scripts: Scripts,
) -> Result<RedisStore, OpenError> {
    let place = without_secrets(url);
    let malformed = |reason: String| OpenError::Malformed { url: place.clone(), reason };
    if url.starts_with("rediss:") && cfg!(not(feature = "tls")) {
        return Err(malformed(NO_TLS.into()));
    }
    // The driver passes over what it does not know, and whoever wrote it believes that it is kept to.
    if url.contains('?') {
        return Err(malformed(PARAMETERS.into()));
    }
    if url.contains('#') {
        return Err(malformed(FRAGMENT.into()));
    }
    let link = Link::new(url, place.clone(), options.timeout, options.root_certificates.as_deref());
    let link = link.map_err(|error| malformed(error.to_string()))?;
    let keys = Keys::new(&options.namespace);
    let store = RedisStore { link, keys, scripts };
    match prepare(&store).await {
        Ok(()) => Ok(store),
        Err(source) => Err(OpenError::Unreachable { url: place, source: source.into() }),
    }
}

/// Connects, and finds out what would otherwise show later, in the middle of something.
async fn prepare(store: &RedisStore) -> Result<(), StoreError> {
    // Also tells the wrong node of a cluster, and a key of somebody else's in our place.
    let _: Option<u64> = store.link.ask(redis::cmd("GET").arg(store.keys.version())).await?;
    let memory = store.link.ask::<String>(redis::cmd("INFO").arg("memory")).await;
    if let Some(memory) = unless_forbidden(memory)? {
        refuse_eviction(&memory)?;
    }
    for script in store.scripts.all() {
        store.link.load(script).await?;
    }
    Ok(())
}

/// A server that makes room by forgetting would forget leases and op-ids first, because those have an expiry.
fn refuse_eviction(memory: &str) -> Result<(), StoreError> {
    let said: HashMap<&str, &str> = memory.lines().filter_map(|line| line.split_once(':')).collect();
    let limited = said.get("maxmemory").is_some_and(|limit| *limit != "0");
    match said.get("maxmemory_policy") {
        Some(policy) if limited && *policy != "noeviction" => {
            let reason = format!(
                "it has a maxmemory and the maxmemory-policy {policy}, so it would silently forget leases, op-ids and records; set the \
                 policy to noeviction"
            );
            Err(StoreError::Broken { reason, source: None })
        }
        _ => Ok(()),
    }
}

/// What the account may not ask stays unknown.
fn unless_forbidden<T>(answer: Result<T, StoreError>) -> Result<Option<T>, StoreError> {
    match answer {
        Err(StoreError::Broken { source: Some(source), .. })
            if source
                .downcast_ref::<RedisError>()
                .is_some_and(|error| error.kind() == ErrorKind::Server(ServerErrorKind::NoPerm)) =>
        {
            Ok(None)
        }
        answer => answer.map(Some),
    }
}
