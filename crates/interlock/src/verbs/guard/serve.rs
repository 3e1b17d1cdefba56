//! Serving: from the start to the end, by whatever ends it.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use tokio::runtime::Builder;

use super::{
    Guard,
    plan::Plan,
    signals::{Signals, Wanted},
    wire::Wired,
};
use crate::{console::Console, exit::Exit};

/// How often it is looked whether the configuration says something else.
const LOOK: Duration = Duration::from_secs(2);
/// After everything was told to end, clients that do not take their answers are left behind.
const LAST: Duration = Duration::from_secs(5);

pub(super) fn run(plan: &Plan, options: &Guard, console: &mut Console) -> Result<Exit> {
    // Clients over HTTP are served by lanes; one thread is enough for everything else.
    let runtime = Builder::new_current_thread().enable_all().build().context("failed to start")?;
    let outcome = runtime.block_on(serve(plan, options, console));
    // A thread may still wait for input that never comes.
    runtime.shutdown_background();
    outcome.map(|()| Exit::Clean)
}

async fn serve(plan: &Plan, options: &Guard, console: &mut Console) -> Result<()> {
    let mut signals = Signals::new()?;
    tokio::spawn(crate::memory::give_back());
    let mut wired = tokio::select! {
        wired = Wired::start(plan, options, console) => wired?,
        () = signals.end() => bail!("ended by a signal before it had started"),
    };
    let mut listening = wired.listen();
    let mut given_up = None;
    let mut looks = tokio::time::interval(LOOK);
    looks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            // The one client on stdio has gone, or the listener broke.
            ended = &mut listening => {
                let closing = wired.close(&mut signals).await;
                ended.context("failed to serve")??;
                return closing;
            }
            lost = wired.manager.gave_up() => {
                given_up = Some(lost);
                break;
            }
            wanted = signals.next() => match wanted {
                Wanted::End => break,
                Wanted::Reload => wired.reload(plan),
            },
            _ = looks.tick() => wired.reload_if_changed(plan),
        }
    }
    let closing = wired.close(&mut signals).await;
    // What was answered while the upstreams ended has to reach its clients.
    let taken = tokio::time::timeout(LAST, listening).await;
    if let Some(lost) = given_up {
        bail!("{lost}");
    }
    closing?;
    match taken {
        Ok(ended) => Ok(ended.context("failed to serve")??),
        Err(_) => bail!("ended with clients that did not take their answers"),
    }
}
