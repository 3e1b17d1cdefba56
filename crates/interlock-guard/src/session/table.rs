//! The sessions over HTTP, by the id that their clients carry.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use foldhash::quality::RandomState;

use super::client::Session;
use crate::call::Caller;

/// Sessions that were opened and not yet closed.
#[derive(Debug, Default)]
pub(crate) struct Sessions(Mutex<HashMap<Arc<str>, Arc<Session>, RandomState>>);

/// How many sessions there may be.
const MOST: usize = 10_000;

impl Sessions {
    /// Takes a session in. `Err` if there are too many.
    pub(crate) fn open(&self, session: Arc<Session>) -> Result<(), Arc<Session>> {
        let mut sessions = self.sessions();
        if sessions.len() >= MOST {
            // Whoever was silent for longest has most likely gone without a word; but nobody makes room for itself at the cost of others
            // while it has sessions of its own to lose.
            let oldest = sessions
                .values()
                .filter(|other| other.is_idle())
                .min_by_key(|other| (other.caller != session.caller, other.last_seen()));
            let Some(id) = oldest.map(|session| Arc::clone(&session.id)) else { return Err(session) };
            if let Some(gone) = sessions.remove(&id) {
                gone.leave();
            }
        }
        sessions.insert(Arc::clone(&session.id), session);
        Ok(())
    }

    /// The session with this id, if this caller opened it. For others it does not exist.
    pub(crate) fn find(&self, id: &str, caller: &Caller) -> Option<Arc<Session>> {
        self.sessions().get(id).filter(|session| session.caller == *caller).cloned()
    }

    /// Ends a session.
    pub(crate) fn end(&self, id: &str) {
        let session = self.sessions().remove(id);
        if let Some(session) = session {
            session.leave();
        }
    }

    /// Whether one of them is such.
    pub(super) fn any(&self, is: impl Fn(&Session) -> bool) -> bool {
        self.sessions().values().any(|session| is(session))
    }

    /// Ends those that nothing was heard of for so long.
    pub(crate) fn sweep(&self, idle: Duration) {
        let gone: Vec<_> = {
            let mut sessions = self.sessions();
            let is_gone = |session: &Session| session.is_idle() && session.last_seen().elapsed() > idle;
            let ids: Vec<_> = sessions
                .iter()
                .filter(|(_, session)| is_gone(session))
                .map(|(id, _)| Arc::clone(id))
                .collect();
            ids.iter().filter_map(|id| sessions.remove(id)).collect()
        };
        for session in gone {
            session.leave();
        }
    }

    /// Ends the streams of all.
    pub(crate) fn close(&self) {
        for session in self.sessions().values() {
            session.out.close();
        }
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<Arc<str>, Arc<Session>, RandomState>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
