//! Hints of what was given back: told by a statement of its own behind the one that gave it back, and heard on a connection of its own.
//!
//! Behind a pool that hands connections out by the transaction nothing is heard; then whoever waits finds out by asking again.

use std::{
    future::poll_fn,
    pin::pin,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use interlock_sync::store::{Freed, Key};
use tokio::{runtime::Handle, task::AbortHandle, time::sleep};
use tokio_postgres::{AsyncMessage, Config, Error, Socket, tls::MakeTlsConnect, types::Type};

use super::{
    fault::Effect,
    line::{Line, Param},
    security::Security,
};

/// Before a connection that broke is made anew.
const PAUSE: Duration = Duration::from_secs(2);

/// Where hints come from, and the task that listens, if somebody wants to hear.
pub(super) struct Hints {
    config: Config,
    security: Security,
    listening: Mutex<Option<AbortHandle>>,
}

impl Hints {
    pub(super) fn new(config: Config, security: Security) -> Self {
        Self { config, security, listening: Mutex::default() }
    }

    /// Tells all who listen in this namespace that these were given back. Nobody waits for it, and nobody misses it if it fails.
    pub(super) fn tell(line: &Arc<Line>, keys: Vec<String>) {
        if keys.is_empty() {
            return;
        }
        let line = Arc::clone(line);
        tokio::spawn(async move {
            let statement =
                "SELECT interlock.nothing_changed(), pg_notify($1, n.key) FROM unnest($2::text[]) AS n (key)";
            let channel = line.schema.channel().to_owned();
            let params: [Param<'_>; 2] = [(&channel, Type::TEXT), (&keys, Type::TEXT_ARRAY)];
            let _ = line.ask(Effect::Changes, statement, &params).await;
        });
    }

    /// Tells this one from now on, and whoever was told before no more.
    pub(super) fn listen(&self, line: &Line, freed: Freed) {
        let Ok(runtime) = Handle::try_current() else { return };
        let (config, security) = (self.config.clone(), self.security.clone());
        let channel = line.schema.channel().to_owned();
        let task = runtime.spawn(async move {
            loop {
                let _ = security.follow(&config, &channel, &freed).await;
                sleep(PAUSE).await;
            }
        });
        self.replace(Some(task.abort_handle()));
    }

    /// Listens no more.
    pub(super) fn stop(&self) {
        self.replace(None);
    }

    fn replace(&self, task: Option<AbortHandle>) {
        let before =
            std::mem::replace(&mut *self.listening.lock().unwrap_or_else(PoisonError::into_inner), task);
        if let Some(before) = before {
            before.abort();
        }
    }
}

impl Drop for Hints {
    fn drop(&mut self) {
        self.stop();
    }
}

impl std::fmt::Debug for Hints {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hints").finish_non_exhaustive()
    }
}

/// Passes on what is told on a channel, for as long as a connection lasts.
pub(super) async fn follow<T>(config: &Config, tls: T, channel: &str, freed: &Freed) -> Result<(), Error>
where
    T: MakeTlsConnect<Socket>,
{
    let (client, mut connection) = config.connect(tls).await?;
    // A schema's name has no quotes.
    let listen = format!("LISTEN \"{channel}\"");
    let mut listening = pin!(client.batch_execute(&listen));
    let mut is_listening = false;
    loop {
        tokio::select! {
            listened = &mut listening, if !is_listening => {
                listened?;
                is_listening = true;
            }
            message = poll_fn(|context| connection.poll_message(context)) => match message {
                Some(Ok(AsyncMessage::Notification(said))) => {
                    if let Ok(key) = Key::new(said.payload()) {
                        freed(&key);
                    }
                }
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(error),
                None => return Ok(()),
            },
        }
    }
}
