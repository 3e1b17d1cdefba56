//! How the listener behaves.

use std::{fmt, sync::Arc};

use crate::{
    identity::{Anybody, Identify, Tls},
    lane::Lanes,
    policy::{ListenConfig, ListenLimits, SessionKey},
};

/// How the listener behaves.
#[derive(Clone)]
pub struct Options {
    /// The endpoint's path.
    pub path: String,
    /// Who calls.
    pub identify: Arc<dyn Identify>,
    /// TLS, if it is spoken.
    pub tls: Option<Arc<Tls>>,
    /// Origins of web pages that may call; `None` for those of this machine.
    pub origins: Option<Vec<String>>,
    /// What is too much, or too slow.
    pub limits: ListenLimits,
    /// What ids of sessions are signed with, so that other replicas can read them.
    pub session_key: Option<SessionKey>,
    /// On which threads connections are served; by default on those of the caller.
    pub lanes: Lanes,
}

impl Options {
    /// As a configuration has it.
    #[must_use]
    pub fn new(config: &ListenConfig, identify: Arc<dyn Identify>, tls: Option<Arc<Tls>>) -> Self {
        Self {
            path: config.path.clone(),
            identify,
            tls,
            origins: config.origins.clone(),
            limits: config.limits,
            session_key: config.session_key.clone(),
            lanes: Lanes::default(),
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self::new(&ListenConfig::default(), Arc::new(Anybody), None)
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options").field("path", &self.path).finish_non_exhaustive()
    }
}
