//! Two misses load, refresh or initialise the same thing twice.

use interlock_model::ir::{Op, Resource, WriteMode};

use crate::{
    Issue,
    clash::{Clash, clashes, sentence},
    view::View,
};

pub(super) fn rule(view: &View<'_>) -> Vec<Issue> {
    clashes(view).iter().filter(|clash| claims(view, clash)).map(issue).collect()
}

/// Whether something is missed, loaded and then kept: the value that is written does not come from what was there.
pub(crate) fn claims(_view: &View<'_>, clash: &Clash<'_, '_>) -> bool {
    let shared = match clash.resource() {
        Some(Resource::Shared(path)) => clash.entry.is_shared(path),
        _ => false,
    };
    let keeps = matches!(clash.entry.op(clash.act), Some(Op::Write { mode: WriteMode::Blind, .. }));
    // What is there and then taken away was not loaded.
    let missed = |check| clash.entry.answer(check, clash.act) != Some(true);
    shared && keeps && clash.check.is_some_and(missed) && !clash.fed_at_all
}

fn issue(clash: &Clash<'_, '_>) -> Issue {
    let thing = clash.thing();
    let message = format!(
        "{} is looked for, loaded and only then kept, so calls that miss at the same time load it again each",
        sentence(&thing)
    );
    clash.told(
        message,
        &format!("does not find {thing}"),
        &format!("has loaded it, and keeps {thing}"),
        "it was loaded twice, and A's is dropped",
    )
}
