//! The same by taking away: what protects a place today is removed in a copy, and the hazard must then be reported there, where it was not
//! before.

use std::{collections::HashMap, fs, path::Path};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use super::{lists::Removal, text};
use crate::{
    copies::{self, Sources},
    report::{self, Finding, Report},
};

/// What came of a removal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Answer {
    /// Silent before, reported after.
    Found,
    /// Reported after at low confidence only, where it may have been before.
    LowOnly,
    /// Reported with the protection in place: the removal shows nothing.
    Before,
    /// Not reported after.
    Missed,
    /// The edits do not fit the file.
    NotRemoved,
}

impl Answer {
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Found => "found",
            Self::LowOnly => "low only",
            Self::Before => "reported before",
            Self::Missed => "missed",
            Self::NotRemoved => "not removed",
        }
    }
}

/// One removal and its answer.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Removed {
    pub(super) repo: String,
    pub(super) removes: String,
    pub(super) hazards: Vec<String>,
    pub(super) file: String,
    pub(super) lines: (u32, u32),
    pub(super) answer: Answer,
    pub(super) why: String,
}

/// Reports of checkouts as they are, each made once.
#[derive(Default)]
pub(super) struct Before(HashMap<(String, String), Report>);

/// Takes one protection away in a copy at `work`, which is gone afterwards.
pub(super) fn remove(
    program: &Path,
    sources: &Sources,
    removal: &Removal,
    work: &Path,
    before: &mut Before,
) -> Result<Removed> {
    copies::copy(sources, &removal.commit, work)?;
    let key = (removal.repo.clone(), removal.commit.clone());
    if !before.0.contains_key(&key) {
        before.0.insert(key.clone(), report::scan(program, work)?);
    }
    let before = before.0.get(&key).context("the report that was just made is gone")?;
    let file = removal.found_in.as_ref().unwrap_or(&removal.file).clone();
    let (answer, why) = match edit(removal, work) {
        Err(error) => (Answer::NotRemoved, format!("{error:#}")),
        Ok(()) => judge(before, &report::scan(program, work)?, removal, &file),
    };
    fs::remove_dir_all(work)?;
    let Removal { repo, removes, hazards, lines, .. } = removal.clone();
    Ok(Removed { repo, removes, hazards, file, lines, answer, why })
}

fn edit(removal: &Removal, copy: &Path) -> Result<()> {
    let path = copies::file(copy, &removal.file)?;
    let mut text = fs::read_to_string(&path).with_context(|| format!("{} cannot be read", removal.file))?;
    // From the last on: an edit moves nothing that stands before it.
    let mut edits: Vec<_> = removal.edits.iter().collect();
    edits.sort_by_key(|edit| std::cmp::Reverse((edit.line, edit.columns)));
    for edit in edits {
        text = text::edit(&text, edit).with_context(|| format!("line {} has no such stretch", edit.line))?;
    }
    Ok(fs::write(&path, text)?)
}

fn judge(before: &Report, after: &Report, removal: &Removal, file: &str) -> (Answer, String) {
    let (first, last) = removal.lines;
    let here = |finding: &&Finding| {
        finding.places.iter().any(|(place, line)| place == file && (first..=last).contains(line))
    };
    let of_hazard = |report: &Report, low: bool| {
        let sure = |finding: &&Finding| (finding.confidence == "low") == low;
        report
            .findings
            .iter()
            .filter(here)
            .filter(sure)
            .filter(|finding| removal.hazards.contains(&finding.hazard))
            .count()
    };
    let more = |low| of_hazard(after, low) > of_hazard(before, low);
    if more(false) {
        return (Answer::Found, String::new());
    }
    if of_hazard(before, false) > 0 {
        return (Answer::Before, "the finding is there with the protection as well".to_owned());
    }
    let mut others: Vec<&str> = after.findings.iter().filter(here).map(|finding| &*finding.hazard).collect();
    others.sort_unstable();
    others.dedup();
    let others = if others.is_empty() { "nothing".to_owned() } else { others.join(", ") };
    (
        if of_hazard(after, true) > 0 { Answer::LowOnly } else { Answer::Missed },
        format!("reported there: {others}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{reach::lists::Edit, root::Root};

    fn removal() -> Removal {
        let edit = |line, columns, with: &str| Edit { line, columns, with: with.to_owned() };
        Removal {
            repo: "a/b".to_owned(),
            commit: "c".to_owned(),
            removes: "a lock".to_owned(),
            file: "a.ts".to_owned(),
            edits: vec![edit(1, Some((1, 5)), ""), edit(1, Some((7, 9)), "k"), edit(2, None, "")],
            hazards: vec!["lost-update".to_owned()],
            lines: (3, 5),
            found_in: None,
        }
    }

    fn report(confidences: &[&str]) -> Report {
        let finding = |confidence: &&str| Finding {
            hazard: "lost-update".to_owned(),
            confidence: (*confidence).to_owned(),
            tools: Vec::new(),
            places: vec![("a.ts".to_owned(), 9), ("a.ts".to_owned(), 4)],
        };
        Report { findings: confidences.iter().map(finding).collect(), ..Report::default() }
    }

    #[test]
    fn a_removal_is_found_only_if_the_finding_is_new() {
        let answer =
            |before: &[&str], after: &[&str]| judge(&report(before), &report(after), &removal(), "a.ts").0;
        assert_eq!(answer(&[], &["medium"]), Answer::Found);
        assert_eq!(answer(&["low"], &["high"]), Answer::Found);
        assert_eq!(answer(&[], &["low"]), Answer::LowOnly);
        assert_eq!(answer(&["low"], &["low"]), Answer::LowOnly);
        assert_eq!(answer(&["high"], &["high"]), Answer::Before);
        assert_eq!(answer(&[], &[]), Answer::Missed);
        assert_eq!(judge(&report(&[]), &report(&["high"]), &removal(), "b.ts").0, Answer::Missed);
    }

    #[test]
    fn edits_of_one_line_do_not_move_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::of_test(folder.path());
        root.write("a.ts", "lock(a, b)\ndone\nrest\n").unwrap();
        edit(&removal(), folder.path()).unwrap();
        assert_eq!(root.read("a.ts").unwrap(), "ak)\n\nrest\n");
    }
}
