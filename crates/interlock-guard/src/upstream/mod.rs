//! The servers behind the guard: child processes and Streamable HTTP.
//!
//! A `Link` is one conversation. A child that everybody shares has one, and perhaps a second for the other era; a server behind a URL has
//! one for each session, and so has a child that is started for each session. Several children that everybody shares: `instances.rs`. Requests go out under numbers of our own, so that two
//! clients with the same ids and tokens never get each other's messages.

mod child;
mod eras;
mod greet;
mod http;
mod instances;
mod link;
mod mirror;
mod parcel;
mod pending;
mod survey;
mod tools;

use std::{
    fmt, io,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak, atomic::AtomicUsize},
};

use ::http::{HeaderMap, HeaderName, HeaderValue, Uri};

pub(crate) use self::{
    child::Lines,
    greet::{Refusal, STATED, STATED_FOR_TASKS, agreed},
    http::{Client, decoded, listen::listen},
    link::{Begun, Hear, Link},
    mirror::disagreement,
    parcel::Parcel,
    pending::{Lost, Reply},
};
pub use self::{
    child::{Complaints, Process},
    survey::Unsaid,
};
use self::{
    eras::Eras,
    http::{Http, Place},
    tools::Tools,
};
use crate::{
    call::Caller,
    identity::{InvalidTls, authorities},
    leftover::Children,
    policy::{Processes, Reach, Sharing, UpstreamConfig},
};

/// A server behind the guard.
pub struct Upstream {
    /// What it is called.
    pub name: Arc<str>,
    /// How it is reached.
    pub config: UpstreamConfig,
    /// What this process of it is called.
    label: Arc<str>,
    /// The other processes that everybody shares; each is an upstream of its own, of which only this one knows.
    twins: Vec<Arc<Self>>,
    /// Whose turn it is among processes that are alike.
    turn: AtomicUsize,
    place: Option<(Client, Arc<Place>)>,
    complain: Option<Complaints>,
    main: Mutex<Option<Arc<Link>>>,
    /// Who is told which processes run.
    children: OnceLock<Arc<Children>>,
    /// Processes beside the one that everybody shares.
    own: Mutex<Vec<Own>>,
    eras: Eras,
    /// The same for all of its processes.
    pub(crate) tools: Arc<Tools>,
}

/// A process beside the one that everybody shares.
struct Own {
    /// Whose it is; `None` for one that is nobody's alone.
    caller: Option<Caller>,
    body: Weak<crate::manage::process::Process>,
}

/// Why an upstream cannot be reached at all.
#[derive(Debug, thiserror::Error)]
pub enum InvalidUpstream {
    /// The URL is none.
    #[error("read the URL {0:?}: {1}")]
    Url(String, #[source] ::http::uri::InvalidUri),
    /// It is one, but not of a web server.
    #[error("use the URL {0:?}: it must begin with http:// or https:// and name a host")]
    Scheme(String),
    /// A header that should be added cannot be one.
    #[error("use the header {0:?}: its name or value has characters that headers cannot have")]
    Header(String),
    /// The server speaks TLS, and there is nothing to check its certificate by.
    #[error("read the system's certificates: {0}")]
    Tls(#[source] io::Error),
    /// The authorities that it should be checked by cannot be read.
    #[error("read the authorities of `ca`: {0}")]
    Authorities(#[from] InvalidTls),
}

impl Upstream {
    /// An upstream that was not started yet. `complain` gets its name and each line that it writes to its standard error.
    ///
    /// # Errors
    ///
    /// If its URL or headers are none.
    pub fn new(config: UpstreamConfig, complain: Option<Complaints>) -> Result<Self, InvalidUpstream> {
        let place = match &config.reach {
            Reach::Command { .. } => None,
            Reach::Url { url, headers, ca } => {
                let uri: Uri = url.parse().map_err(|error| InvalidUpstream::Url(url.clone(), error))?;
                if !matches!(uri.scheme_str(), Some("http" | "https")) || uri.host().is_none() {
                    return Err(InvalidUpstream::Scheme(url.clone()));
                }
                let mut map = HeaderMap::new();
                for (name, value) in headers {
                    let invalid = || InvalidUpstream::Header(name.clone());
                    let value = HeaderValue::from_str(value).map_err(|_| invalid())?;
                    map.insert(HeaderName::from_bytes(name.as_bytes()).map_err(|_| invalid())?, value);
                }
                let client = match ca {
                    Some(ca) => Client::trusting(authorities(ca)?),
                    None => Client::new(uri.scheme_str() == Some("https")),
                };
                let client = client.map_err(InvalidUpstream::Tls)?;
                Some((client, Arc::new(Place { uri, headers: map })))
            }
        };
        let tools = Arc::default();
        let single = |label: &str, twins, place| Self {
            name: config.name.as_str().into(),
            config: config.clone(),
            label: label.into(),
            twins,
            turn: AtomicUsize::new(0),
            place,
            complain: complain.clone(),
            main: Mutex::default(),
            children: OnceLock::new(),
            own: Mutex::default(),
            eras: Eras::default(),
            tools: Arc::clone(&tools),
        };
        let labels = config.instances();
        let twins = labels.iter().skip(1).map(|label| Arc::new(single(label, Vec::new(), None))).collect();
        Ok(single(labels.first().map_or(&config.name, |first| first), twins, place))
    }

    /// The same, whose processes are known to whoever ends them when the guard cannot.
    #[must_use]
    pub fn with_children(self, children: Arc<Children>) -> Self {
        for one in self.instances() {
            let _ = one.children.set(Arc::clone(&children));
        }
        self
    }

    /// Starts its process, if it is one that everybody shares; a process that ran before is left to itself.
    ///
    /// # Errors
    ///
    /// If the process cannot be started.
    pub fn start(&self) -> io::Result<()> {
        if self.place.is_none() && self.config.sharing == Sharing::One {
            let link = self.spawn()?;
            self.tools.forget();
            self.eras.is_started_again();
            *self.main() = Some(link);
        }
        Ok(())
    }

    /// The process that everybody shares, if it has one and it was started.
    #[must_use]
    pub fn process(&self) -> Option<Process> {
        self.main().as_ref().and_then(|link| link.process().cloned())
    }

    /// The processes beside the one that everybody shares: those that sessions have for themselves, and that for the other era. Those that have
    /// ended but are not forgotten yet are included.
    #[must_use]
    pub fn own_processes(&self) -> Vec<Arc<crate::manage::process::Process>> {
        let own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        own.iter().filter_map(|own| own.body.upgrade()).collect()
    }

    /// The conversation that everybody shares.
    pub(crate) fn shared(&self) -> Result<Arc<Link>, Lost> {
        self.main().clone().ok_or_else(|| Lost::before("it is not running".to_owned()))
    }

    /// A conversation of one's own: a process, or a session with a server behind a URL. For a caller no more processes are started than there may
    /// be, of which one that was told to end is one until it has.
    pub(crate) fn own(&self, caller: Option<&Caller>) -> Result<Arc<Link>, Lost> {
        match &self.place {
            Some((client, place)) => Ok(Link::over(&self.name, Http::new(client.clone(), Arc::clone(place)))),
            None => {
                let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
                own.retain(|own| own.body.strong_count() > 0);
                if let Some(caller) = caller {
                    self.bound(&own, caller)?;
                }
                let cannot = |error| Lost::before(format!("it cannot be started: {error}"));
                let link = self.spawn().map_err(cannot)?;
                if let Some(process) = link.process() {
                    own.push(Own { caller: caller.cloned(), body: Arc::downgrade(&process.body) });
                }
                Ok(link)
            }
        }
    }

    /// Whether everybody talks to the same process.
    pub(crate) fn is_shared(&self) -> bool {
        self.place.is_none() && self.config.sharing == Sharing::One
    }

    /// Whether a caller may have one more process.
    fn bound(&self, own: &[Own], caller: &Caller) -> Result<(), Lost> {
        let Processes { most, per_caller, .. } = self.config.processes;
        let owned = || own.iter().filter_map(|own| own.caller.as_ref());
        let too_many = |whose: &str, count: usize, key: &str| {
            let reason = format!(
                "{whose} {count} processes of it already, one for each session, and no more are started (`{key}`): end a session first"
            );
            Err(Lost { is_full: true, ..Lost::before(reason) })
        };
        match (owned().filter(|other| *other == caller).count(), owned().count()) {
            (count, _) if count >= per_caller => too_many("you have", count, "processes_per_caller"),
            (_, count) if count >= most => too_many("callers have", count, "processes"),
            _ => Ok(()),
        }
    }

    fn spawn(&self) -> io::Result<Arc<Link>> {
        let link = Link::spawn(&self.name, &self.label, &self.config.reach, self.complain.clone())?;
        if let (Some(children), Some(process)) = (self.children.get(), link.process()) {
            let (children, process) = (Arc::clone(children), process.clone());
            children.runs(process.body.id());
            tokio::spawn(async move {
                process.ended().await;
                children.ended(process.body.id());
            });
        }
        Ok(link)
    }

    fn main(&self) -> MutexGuard<'_, Option<Arc<Link>>> {
        self.main.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Upstream").field("config", &self.config).finish_non_exhaustive()
    }
}
