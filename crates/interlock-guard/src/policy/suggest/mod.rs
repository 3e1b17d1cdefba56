//! `guard --suggest`: a policy to start from, with a reason on each line.
//!
//! For each tool wishes are collected: from what its server says of it (`guess`), and from what a scan found (`found`). Tools with the same
//! wishes make one rule, behind two for all tools, also those that a server will list some day. What is not known is locked too widely rather than
//! too narrowly: slow can be seen and changed, lost updates cannot.

mod found;
mod guess;
mod text;
mod wish;

#[cfg(test)]
mod tests;

use interlock_model::Finding;

use self::{
    text::Text,
    wish::{Wish, settle},
};
use super::{UpstreamConfig, tool::ListedTool};

/// A `guard.toml` for the tools that servers list, and for what a scan of their sources found. It parses, and `check` finds nothing in it.
#[must_use]
pub fn suggest(upstreams: &[UpstreamConfig], tools: &[ListedTool], findings: &[Finding]) -> String {
    let mut wishes = guess::of(tools);
    let rest = found::add(&mut wishes, tools, upstreams, findings);
    settle(&mut wishes);
    let all = take_common(&mut wishes);
    let mut text = Text::new();
    text.head(tools.len(), findings.len());
    text.upstreams(upstreams);
    text.everything(&all);
    for (names, wish) in grouped(tools, wishes) {
        text.rule(&names, &wish);
    }
    text.readers_perhaps(&guess::perhaps_readers(tools));
    text.strangers(&rest.strangers);
    text.elsewhere(&rest.elsewhere);
    text.finish()
}

/// Takes the limits that all tools share out of their wishes. Limits are counted per rule, so that one rule for all is one limit for all.
fn take_common(wishes: &mut [Wish]) -> Wish {
    let mut all = guess::limits();
    let Some(first) = wishes.first().cloned() else { return all };
    if wishes.iter().all(|wish| wish.in_flight == first.in_flight) {
        all.in_flight = first.in_flight;
        wishes.iter_mut().for_each(|wish| wish.in_flight = None);
    }
    if wishes.iter().all(|wish| wish.rate == first.rate) {
        all.rate = first.rate;
        wishes.iter_mut().for_each(|wish| wish.rate = None);
    }
    if wishes.iter().all(|wish| wish.timeout == first.timeout) {
        all.timeout = first.timeout;
        wishes.iter_mut().for_each(|wish| wish.timeout = None);
    }
    all
}

/// Tools with the same wishes together, in the order of their first.
fn grouped(tools: &[ListedTool], wishes: Vec<Wish>) -> Vec<(Vec<&str>, Wish)> {
    let mut groups: Vec<(Vec<&str>, Wish)> = Vec::new();
    for (tool, wish) in tools.iter().zip(wishes) {
        match groups.iter_mut().find(|(_, other)| *other == wish) {
            Some((names, _)) if names.contains(&tool.name.as_str()) => {}
            Some((names, _)) => names.push(&tool.name),
            None => groups.push((vec![&tool.name], wish)),
        }
    }
    groups
}
