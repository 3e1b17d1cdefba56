//! `docs/census.md`: the sums of every census, the newest first.

use std::fs;

use anyhow::{Context, Result};

use super::{DATA, sums::Sums};
use crate::root::Root;

/// The page.
pub(super) const PATH: &str = "docs/census.md";

/// What stands above the sums.
const OPENING: &str = "\
# Census

`cargo xtask census` takes the servers of `xtask/data/census/servers.toml`, which are pinned by name and version, installs each in a folder of its own
without running scripts of packages, and audits it with nothing but its command and, where it has to be told, where its data is. Scan and prove check
each other: a race that is proven and not found is a miss of scan, one that is found at high and refuted is a false alarm.

It can be stopped and goes on where it was; `--only WORDS`, `--most N` and `--again` choose, `--sum DATE` writes the sums and this page. Which server
breaks how is not here: [SECURITY.md](../SECURITY.md) says how it is told to those who wrote it. *Judged* means broken, latent, or held with every writer
tried. These are sums over a choice of servers, and say nothing of servers in general.
";

/// The text of the page.
pub(crate) fn derive(root: &Root) -> Result<String> {
    let mut dates: Vec<String> = fs::read_dir(root.join(DATA))
        .with_context(|| format!("failed to read {DATA}"))?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter_map(|name| name.strip_suffix(".json").map(str::to_owned))
        .filter(|name| name.starts_with(|c: char| c.is_ascii_digit()))
        .collect();
    dates.sort();
    let mut text = OPENING.to_owned();
    if dates.is_empty() {
        text.push_str("\nNo sums are committed yet.\n");
    }
    for date in dates.iter().rev() {
        let path = format!("{DATA}/{date}.json");
        let sums: Sums =
            serde_json::from_str(&root.read(&path)?).with_context(|| format!("{path} cannot be read"))?;
        text.push_str(&section(date, &sums));
    }
    Ok(text)
}

fn section(date: &str, sums: &Sums) -> String {
    let rows = [
        (
            "servers in the list, audited, started",
            format!("{}, {}, {}", sums.listed, sums.audited, sums.started),
        ),
        ("of those that started, keep state", sums.keep_state.to_string()),
        ("of those, judged", format!("{} of {}", sums.judged(), sums.keep_state)),
        (
            "broken, latent, held, unknown",
            format!("{}, {}, {}, {}", sums.broken, sums.latent, sums.held, sums.unknown),
        ),
        (
            "tools listed, of those found by scan, called together",
            format!("{}, {}, {}", sums.tools_listed, sums.tools_found, sums.tools_called),
        ),
        (
            "races found at medium and high, proven, both",
            format!("{}, {}, {}", sums.races_found, sums.races_proven, sums.races_both),
        ),
        ("found at high, and held when its calls met", sums.found_high_and_refuted.to_string()),
        (
            "races that hold behind the suggested policy",
            format!("{} of {}", sums.held_behind_guard, sums.tried_behind_guard),
        ),
        (
            "servers that changed something outside of their folder, or could have",
            sums.changed_outside.to_string(),
        ),
        ("seconds for each, median", sums.median_seconds.to_string()),
    ];
    let how = if sums.how.is_empty() { String::new() } else { format!("{}\n\n", sums.how) };
    let mut text = format!("\n## {date}\n\n{how}| | |\n|---|---|\n");
    for (what, number) in rows {
        text.push_str(&format!("| {what} | {number} |\n"));
    }
    text
}
