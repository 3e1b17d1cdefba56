//! The sessions over HTTP, by the id that their clients carry.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use foldhash::quality::RandomState;

use super::client::Session;
use crate::call::Caller;

/// Sessions that were opened and not yet closed.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    open: Mutex<HashMap<Arc<str>, Arc<Session>, RandomState>>,
    /// The last that their clients ended, by their ids: those of them that say what a replica must know would begin them again.
    ended: Mutex<VecDeque<Arc<str>>>,
}

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

    /// Takes in a session that another replica began, unless it is here by now. None if it was ended here, or there are too many.
    pub(crate) fn resume(&self, session: Arc<Session>) -> Option<Arc<Session>> {
        if self.ended().contains(&session.id) {
            return None;
        }
        // Of two requests that come at once one was first.
        if let Some(known) = self.find(&session.id, &session.caller) {
            return Some(known);
        }
        self.open(Arc::clone(&session)).ok()?;
        self.find(&session.id, &session.caller)
    }

    /// Ends a session as its client wishes: it does not come back.
    pub(crate) fn end_for_good(&self, id: &Arc<str>) {
        {
            let mut ended = self.ended();
            ended.push_back(Arc::clone(id));
            if ended.len() > MOST {
                ended.pop_front();
            }
        }
        self.end(id);
    }

    fn ended(&self) -> MutexGuard<'_, VecDeque<Arc<str>>> {
        self.ended.lock().unwrap_or_else(PoisonError::into_inner)
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
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
