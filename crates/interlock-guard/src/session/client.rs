//! One client, and its conversation with each upstream.

use std::{
    collections::{HashMap, HashSet},
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use tokio::task::AbortHandle;

use super::{
    asks::Asks, engine::Engine, flights::Flights, outbox::Outbox, pass::Known, revision::HANDSHAKE,
    streams::Streams,
};
use crate::{
    call::Caller,
    event::Event,
    message::Message,
    upstream::{Hear, Link, Lost, Upstream},
};

/// One client.
pub(crate) struct Session {
    /// What nobody can guess: whoever knows it is the client.
    pub(crate) id: Arc<str>,
    /// By what the store knows it; the id, unless that is a long one.
    pub(crate) name: Arc<str>,
    pub(crate) caller: Caller,
    pub(super) engine: Arc<Engine>,
    pub(super) style: Style,
    pub(super) routes: Vec<Mutex<Route>>,
    pub(super) flights: Arc<Flights>,
    pub(super) asks: Asks,
    /// What belongs to no request of the client.
    pub(crate) out: Arc<Outbox>,
    /// Streams of answers that a client may come back to.
    pub(crate) streams: Streams,
    /// What the client said of itself, for a server that is started again.
    pub(super) hello: OnceLock<Message>,
    /// The revision that was agreed on.
    pub(crate) version: OnceLock<String>,
    /// The resources whose changes it wants to hear of.
    pub(super) subscribed: Mutex<HashSet<String>>,
    /// Where resources and tasks were last seen.
    pub(super) places: Mutex<HashMap<String, usize>>,
    /// Of servers with several processes: where tasks were begun.
    begun_tasks: Mutex<HashMap<String, Weak<Link>>>,
    began: Instant,
    /// When it was last heard of, in ms since it began.
    seen: AtomicU64,
    itself: Weak<Self>,
}

/// What kind of client it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// The one on stdio: every upstream is its own, and everything passes.
    Alone,
    /// One of many, with a session.
    Session,
    /// All that have no session.
    Stateless,
}

/// How many tasks of servers with several processes are remembered.
const MOST_TASKS: usize = 10_000;

/// The way to one upstream.
#[derive(Debug, Default)]
pub(super) struct Route {
    link: Option<Arc<Link>>,
    listening: Option<AbortHandle>,
}

impl Session {
    pub(crate) fn new(engine: &Arc<Engine>, caller: Caller, style: Style) -> Arc<Self> {
        let id: Arc<str> = unguessable().into();
        Self::begun(engine, caller, style, Arc::clone(&id), id)
    }

    /// One with an id that says what another replica must know.
    pub(crate) fn with_pass(engine: &Arc<Engine>, caller: Caller, id: &str, name: Arc<str>) -> Arc<Self> {
        Self::begun(engine, caller, Style::Session, id.into(), name)
    }

    /// One that another replica began so, in this revision.
    pub(crate) fn resumed(
        engine: &Arc<Engine>,
        caller: Caller,
        id: &str,
        known: Known,
        version: String,
    ) -> Arc<Self> {
        let session = Self::with_pass(engine, caller, id, known.name);
        let _ = session.hello.set(known.hello);
        let _ = session.version.set(version);
        session.out.remember();
        session
    }

    fn begun(engine: &Arc<Engine>, caller: Caller, style: Style, id: Arc<str>, name: Arc<str>) -> Arc<Self> {
        Arc::new_cyclic(|itself| Self {
            id,
            name,
            caller,
            engine: Arc::clone(engine),
            style,
            routes: engine.upstreams.iter().map(|_| Mutex::default()).collect(),
            flights: Arc::default(),
            asks: Asks::default(),
            out: Arc::default(),
            streams: Streams::default(),
            hello: OnceLock::new(),
            version: OnceLock::new(),
            subscribed: Mutex::default(),
            places: Mutex::default(),
            begun_tasks: Mutex::default(),
            began: Instant::now(),
            seen: AtomicU64::new(0),
            itself: itself.clone(),
        })
    }

    /// The conversation for a request: where the task that it asks about was begun, or else the usual one.
    pub(super) async fn link_for(
        &self,
        index: usize,
        caller: &Caller,
        message: &Message,
    ) -> Result<Arc<Link>, Lost> {
        if let Some(id) = message.parts().task_id.and_then(|span| message.text(span)) {
            let tasks = self.begun_tasks.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(link) = tasks.get(&*id).and_then(Weak::upgrade) {
                return Ok(link);
            }
        }
        self.link(index, caller).await
    }

    /// Notes where a task was begun, if that could be several places.
    pub(super) fn note_task(&self, id: &str, link: Option<&Weak<Link>>) {
        let Some(link) = link.filter(|_| self.engine.upstreams.iter().any(|one| one.has_several())) else {
            return;
        };
        let mut tasks = self.begun_tasks.lock().unwrap_or_else(PoisonError::into_inner);
        if tasks.len() >= MOST_TASKS {
            tasks.retain(|_, link| link.strong_count() > 0);
        }
        if tasks.len() >= MOST_TASKS {
            tasks.clear();
        }
        tasks.insert(id.to_owned(), Weak::clone(link));
    }

    /// The conversation with an upstream, after its greeting.
    pub(super) async fn link(&self, index: usize, caller: &Caller) -> Result<Arc<Link>, Lost> {
        // Greetings are rare and long: a call should not have to carry the room for them.
        let link = match self.style {
            Style::Stateless
                if self.engine.upstreams.get(index).is_some_and(|upstream| upstream.is_shared()) =>
            {
                Box::pin(self.join_stateless(index, caller)).await?
            }
            _ => self.join(index)?,
        };
        if !link.is_greeted() {
            Box::pin(self.greet(&link)).await?;
        }
        Ok(link)
    }

    /// The conversation with an upstream, from which the client hears from now on.
    pub(super) fn join(&self, index: usize) -> Result<Arc<Link>, Lost> {
        let Some((upstream, route)) = self.engine.upstreams.get(index).zip(self.routes.get(index)) else {
            return Err(Lost::before("there is no such upstream".to_owned()));
        };
        let is_shared = upstream.is_shared();
        let mut route = lock(route);
        let current = if is_shared {
            Some(upstream.home(route.link.as_ref())?)
        } else {
            // A process of one's own that has ended is started again; a server behind a URL may answer again.
            if let Some(process) =
                route.link.take_if(|link| link.is_over()).as_deref().and_then(Link::process)
            {
                process.end();
            }
            route.link.clone()
        };
        let link = match current {
            Some(link) => link,
            None => upstream.own(Some(&self.caller)).inspect_err(|lost| self.note_full(upstream, lost))?,
        };
        if !route.link.as_ref().is_some_and(|known| Arc::ptr_eq(known, &link)) {
            let ear: Weak<dyn Hear> = self.itself.clone();
            match self.style {
                Style::Alone => link.belongs_to(ear),
                Style::Session if !is_shared => link.belongs_to(ear),
                Style::Session => link.also_heard_by(ear),
                Style::Stateless => {}
            }
            route.link = Some(Arc::clone(&link));
        }
        Ok(link)
    }

    /// That a caller got no process, because there are as many as may be, concerns whoever keeps the guard.
    fn note_full(&self, upstream: &Upstream, lost: &Lost) {
        if lost.is_full {
            self.engine.watch.note(&Event::Message {
                caller: &self.caller,
                method: "initialize",
                about: Some(&upstream.name),
                refused: Some("processes"),
            });
        }
    }

    /// The same for clients without a handshake, who share what they have.
    async fn join_stateless(&self, index: usize, caller: &Caller) -> Result<Arc<Link>, Lost> {
        match self.engine.upstreams.get(index).zip(self.routes.get(index)) {
            Some((upstream, route)) if upstream.is_shared() => {
                let link = upstream.for_caller(caller).without_handshake().await?;
                lock(route).link = Some(Arc::clone(&link));
                Ok(link)
            }
            _ => self.join(index),
        }
    }

    /// The conversations that were begun.
    pub(super) fn links(&self) -> Vec<Arc<Link>> {
        self.routes.iter().filter_map(|route| lock(route).link.clone()).collect()
    }

    /// Hears what servers behind URLs say by themselves.
    pub(crate) fn listen(&self) {
        for route in &self.routes {
            let mut route = lock(route);
            if route.listening.as_ref().is_none_or(AbortHandle::is_finished)
                && let Some(link) = &route.link
                && link.http().is_some()
            {
                let task = tokio::spawn(crate::upstream::listen(Arc::downgrade(link)));
                route.listening = Some(task.abort_handle());
            }
        }
    }

    /// Takes leave of the upstreams.
    pub(crate) fn leave(&self) {
        self.out.close();
        for (route, upstream) in self.routes.iter().zip(&self.engine.upstreams) {
            let Route { link, listening } = std::mem::take(&mut *lock(route));
            if let Some(listening) = listening {
                listening.abort();
            }
            let Some(link) = link else { continue };
            if let Some(http) = link.http() {
                drop(http.leave());
            } else if !upstream.is_shared()
                && let Some(process) = link.process()
            {
                process.end();
            }
        }
    }

    /// Whether its revision lets it come back to a stream that has brought nothing yet.
    pub(crate) fn comes_back(&self) -> bool {
        self.version.get().is_some_and(|version| version.as_str() >= HANDSHAKE)
    }

    /// Notes that the client is there.
    pub(crate) fn touch(&self) {
        let now = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.seen.store(now, Ordering::Relaxed);
    }

    /// Whether nothing of it is in flight and nobody listens.
    pub(super) fn is_idle(&self) -> bool {
        self.flights.is_empty() && Arc::strong_count(&self.out) == 1
    }

    /// When it was last heard of.
    pub(super) fn last_seen(&self) -> Instant {
        self.began + std::time::Duration::from_millis(self.seen.load(Ordering::Relaxed))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.leave();
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not its id: who reads a log must not be able to take a session over.
        f.debug_struct("Session")
            .field("caller", &self.caller)
            .field("style", &self.style)
            .finish_non_exhaustive()
    }
}

fn lock(route: &Mutex<Route>) -> MutexGuard<'_, Route> {
    route.lock().unwrap_or_else(PoisonError::into_inner)
}

/// 128 bits of chance.
pub(super) fn unguessable() -> String {
    let mut bytes = [0; 16];
    match getrandom::fill(&mut bytes) {
        Ok(()) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        // An id that could be guessed would give sessions away.
        Err(error) => unreachable!("the system has no random numbers: {error}"),
    }
}
