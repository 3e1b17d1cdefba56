//! Asking the store, and telling it.

use std::{io::Write, time::Duration};

use anyhow::{Context, Result, bail};
use interlock_store::{Options, open};
use interlock_sync::{
    idempotency::{Doubts as InStore, Resolution},
    store::{Doubt, Fence, Key, Timestamp},
};
use serde_json::json;
use tokio::runtime::Runtime;

use super::{Doubts, Format, How};
use crate::{console::Console, exit::Exit};

pub(super) fn run(doubts: &Doubts, console: &mut Console) -> Result<Exit> {
    if doubts.state.starts_with("memory:") {
        bail!("state in memory is known to its own process only: look at the guard's admin page");
    }
    let runtime = Runtime::new().context("failed to start")?;
    runtime.block_on(async {
        let options = Options::default().namespace(&doubts.namespace);
        let store = open(&doubts.state, &options).await?;
        let in_store = InStore::new(store.clone());
        let exit = match (&doubts.settle, doubts.fence, doubts.resolution) {
            (Some(key), Some(fence), Some(how)) => settle(&in_store, key, Fence(fence), how, console).await,
            _ => {
                let now = store.now().await.context("failed to reach the state")?;
                let listed = in_store.list(&doubts.under, None, doubts.limit).await;
                list(&listed.context("failed to list what is in doubt")?, now, doubts.format, console)
            }
        };
        store.close().await.context("failed to close the state")?;
        exit
    })
}

async fn settle(doubts: &InStore, key: &str, fence: Fence, how: How, console: &mut Console) -> Result<Exit> {
    let key = Key::new(key).context("failed to settle")?;
    let found = doubts.list(key.as_str(), None, 1).await.context("failed to settle")?;
    let found = found.into_iter().find(|doubt| doubt.key == key && doubt.fence == fence);
    let Some(doubt) = found else {
        bail!(
            "`{key}` is not in doubt with the fence {}: it was settled, or is forgotten; list again",
            fence.0
        )
    };
    let resolution = match how {
        How::Happened => Resolution::HappenedUntold,
        How::NeverHappened => Resolution::NeverHappened,
    };
    if !doubts.settle(&doubt, &resolution).await.context("failed to settle")? {
        bail!("`{key}` was settled otherwise in the meantime");
    }
    let now = match how {
        How::Happened => "is not run again",
        How::NeverHappened => "runs when it comes again",
    };
    writeln!(console, "settled: {key} {now}")?;
    Ok(Exit::Clean)
}

fn list(doubts: &[Doubt], now: Timestamp, format: Format, console: &mut Console) -> Result<Exit> {
    match format {
        Format::Json => {
            let entry = |doubt: &Doubt| {
                json!({
                    "key": doubt.key.as_str(),
                    "fence": doubt.fence.0.to_string(),
                    "for_ms": u64::try_from(now.since(doubt.since).as_millis()).unwrap_or(u64::MAX),
                })
            };
            let doubts: Vec<_> = doubts.iter().map(entry).collect();
            writeln!(
                console,
                "{}",
                serde_json::to_string_pretty(&json!({ "version": 1, "doubts": doubts }))?
            )?;
        }
        Format::Text if doubts.is_empty() => writeln!(console, "Nothing is in doubt.")?,
        Format::Text => {
            let width =
                doubts.iter().map(|doubt| doubt.key.as_str().chars().count()).max().unwrap_or_default();
            writeln!(console, "{:width$}  {:>20}  for", "key", "fence")?;
            for doubt in doubts {
                let since = now.since(doubt.since);
                writeln!(console, "{:width$}  {:>20}  {}", doubt.key.as_str(), doubt.fence.0, length(since))?;
            }
        }
    }
    Ok(if doubts.is_empty() { Exit::Clean } else { Exit::Found })
}

fn length(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7_200 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3_600),
    }
}
