//! What the sources show.

use std::{collections::BTreeMap, path::Path};

use anyhow::Result;
use interlock_model::Finding;
use interlock_report::audit::Subject;
use interlock_scan::{Request, Scanned, scan};

use super::{super::scan::cache, steps::Steps};

/// Scans a folder, and holds what was found against what the running server lists.
pub(super) fn into(
    subject: &mut Subject,
    folder: &Path,
    listed: Option<Vec<String>>,
    steps: &Steps,
) -> Result<()> {
    let request = Request {
        paths: vec![folder.to_owned()],
        frontends: interlock_lang::ALL,
        cache: cache::cache(),
        listed,
        ..Request::default()
    };
    let Scanned { report, sources, prefix, suppressed, .. } = scan(&request, steps)?;
    let named = |finding: &Finding| {
        let steps = finding.witness.0.iter().map(|step| step.location.file.clone());
        steps.chain([finding.location.file.clone()]).collect::<Vec<_>>()
    };
    let texts = report.findings.iter().flat_map(named);
    let texts = texts.filter_map(|file| sources.get(&file).map(|text| (file.clone(), text.to_owned())));
    subject.sources = texts.collect::<BTreeMap<_, _>>();
    if suppressed > 0 {
        subject.notes.push(format!("{suppressed} more are silenced by comments in the sources"));
    }
    subject.prefix = prefix;
    subject.scan = Some(report);
    Ok(())
}
