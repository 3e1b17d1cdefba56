//! What `--fix` and `--diff` do.

use anyhow::Result;
use interlock_scan::{Scanned, fix};

use crate::console::Console;

/// What can be repaired.
pub(super) fn plan(scanned: &Scanned) -> Vec<fix::Fix> {
    let sources = |path: &str| scanned.sources.get(path).map(str::to_owned);
    fix::plan(&scanned.spots, &sources, interlock_lang::ALL)
}

/// Repairs; whether anything was changed. A file that cannot be changed is told, and the others are changed all the same.
pub(super) fn apply(fixes: &[fix::Fix], scanned: &Scanned, console: &mut Console) -> Result<bool> {
    let mut failed = None;
    let mut changed = false;
    for fix in fixes {
        match fix.apply(&scanned.root) {
            Ok(()) => {
                changed = true;
                let hazards: Vec<&str> = fix.hazards.iter().map(|hazard| hazard.as_str()).collect();
                console.remark(&format!("repaired {}: {}", fix.file, hazards.join(", ")));
            }
            Err(error) => {
                if let Some(earlier) = failed.replace(error) {
                    console.remark(&earlier.to_string());
                }
            }
        }
    }
    match failed {
        Some(error) => Err(error.into()),
        None => Ok(changed),
    }
}
