//! `--why` and `--dump-ir`: what the analysis knows, for those who doubt its silence.

use anyhow::{Result, bail};
use interlock_report::inspect;
use interlock_scan::{dump_ir, why};

use super::{Format, Scan, progress::Bar};
use crate::console::Console;

/// The answer to a question about the tree, if one was asked.
pub(super) fn answer(options: &Scan, console: &Console) -> Result<Option<String>> {
    if options.why.is_none() && options.dump_ir.is_none() {
        return Ok(None);
    }
    let as_json = match options.format {
        Format::Text => false,
        Format::Json => true,
        _ => bail!("--why and --dump-ir answer as text or JSON; try `--format json`"),
    };
    let bar = Bar::new(console.errors_are_seen() && !options.no_progress);
    let request = options.request();
    let answer = if let Some(at) = &options.why {
        let why = why(&request, at, &bar)?;
        if as_json { inspect::why_json(&why) } else { inspect::why_text(&why) }
    } else {
        let function = options.dump_ir.as_deref().unwrap_or_default();
        let functions = dump_ir(&request, function, options.inlined, &bar)?;
        if as_json { inspect::dump_json(&functions) } else { inspect::dump_text(&functions) }
    };
    Ok(Some(answer))
}
