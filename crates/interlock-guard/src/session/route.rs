//! Which upstream a request is for.

use super::client::Session;
use crate::message::Message;

/// Where a request goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    /// The upstream's place in the list.
    pub(super) upstream: usize,
    /// The name without the upstream's prefix, if it had one.
    pub(super) name: Option<String>,
}

impl Session {
    /// Whether the guard answers for several servers.
    pub(super) fn is_merged(&self) -> bool {
        let upstreams = &self.engine.upstreams;
        upstreams.len() > 1 || upstreams.iter().any(|upstream| !upstream.config.prefix.is_empty())
    }

    /// Where a request with a name goes.
    pub(super) fn target(&self, message: &Message) -> Option<Target> {
        if !self.is_merged() {
            return Some(Target { upstream: 0, name: None });
        }
        let name = message.name()?;
        let (upstream, rest) = self.by_prefix(&name)?;
        Some(Target { upstream, name: Some(rest.to_owned()) })
    }

    /// The upstream with the longest prefix that fits, and the rest of the name.
    pub(super) fn by_prefix<'a>(&self, name: &'a str) -> Option<(usize, &'a str)> {
        let upstreams = self.engine.upstreams.iter().enumerate();
        let fitting = upstreams.filter_map(|(index, upstream)| {
            let prefix = upstream.config.prefix.as_str();
            Some((index, prefix.len(), name.strip_prefix(prefix)?))
        });
        let (index, _, rest) = fitting.max_by_key(|(_, length, _)| *length)?;
        Some((index, rest))
    }
}
