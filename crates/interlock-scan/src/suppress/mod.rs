//! `interlock-ignore[hazard]: reason` in a comment: somebody has looked, and says why it is right.
//!
//! A comment behind code speaks of its own line; one on a line of its own speaks of the statement below it, across further comments and
//! decorators. Without a reason it silences nothing. What is wrong with a suppression, and one that silences nothing, is a note.

mod comment;
mod target;

use std::collections::HashMap;

use interlock_hazards::find;
use interlock_model::Finding;

use self::target::target;
use crate::config::unknown_hazard;

/// A suppression as it stands in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Suppression {
    /// The line of the comment, counted from 1.
    line: u32,
    /// The lines that it speaks of, first and last.
    target: (u32, u32),
    /// Whether it stands behind code.
    trailing: bool,
    /// The hazards, as written.
    hazards: Vec<String>,
    /// Whether it says why.
    reasoned: bool,
}

/// The most suppressions that are read in one file.
const MOST: usize = 10_000;

/// The suppressions of a file.
pub(crate) fn suppressions(text: &str) -> Vec<Suppression> {
    if !text.contains(comment::MARK) {
        return Vec::new();
    }
    let lines: Vec<&str> = text.lines().collect();
    let of_line = |(index, line): (usize, &&str)| {
        let comment = comment::read(line)?;
        let number = u32::try_from(index + 1).ok()?;
        let target = if comment.trailing { (number, number) } else { target(&lines, index) };
        let hazards = comment.hazards.iter().map(ToString::to_string).collect();
        Some(Suppression {
            line: number,
            target,
            trailing: comment.trailing,
            hazards,
            reasoned: comment.reasoned,
        })
    };
    lines.iter().enumerate().filter_map(of_line).take(MOST).collect()
}

/// Drops the findings that are suppressed; how many, and what there is to say about the suppressions. `files` are the suppressions of
/// every file that has some.
pub(crate) fn apply(
    findings: &mut Vec<Finding>,
    files: &[(String, Vec<Suppression>)],
) -> (usize, Vec<String>) {
    let mut silenced = vec![false; findings.len()];
    let mut of_file: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, finding) in findings.iter().enumerate() {
        of_file.entry(&finding.location.file).or_default().push(index);
    }
    let mut notes = Vec::new();
    for (file, suppressions) in files {
        let here = of_file.get(&**file).map(Vec::as_slice).unwrap_or_default();
        for suppression in suppressions {
            let place = format!("{file}:{}", suppression.line);
            if !suppression.reasoned {
                notes.push(format!("{place}: the suppression gives no reason, so it silences nothing"));
                continue;
            }
            for name in &suppression.hazards {
                if find(name).is_none() {
                    notes.push(format!("{place}: {}", unknown_hazard(name)));
                    continue;
                }
                let mut used = false;
                for index in here {
                    let (Some(finding), Some(silenced)) = (findings.get(*index), silenced.get_mut(*index))
                    else {
                        continue;
                    };
                    let covered = finding.hazard.as_str() == name && suppression.covers(finding);
                    *silenced |= covered;
                    used |= covered;
                }
                if !used {
                    notes.push(format!("{place}: the suppression of `{name}` silences nothing; remove it"));
                }
            }
        }
    }
    let count = silenced.iter().filter(|silenced| **silenced).count();
    let mut silenced = silenced.into_iter();
    findings.retain(|_| !silenced.next().unwrap_or_default());
    (count, notes)
}

impl Suppression {
    fn covers(&self, finding: &Finding) -> bool {
        let (first, last) = self.target;
        let (line, end) = (finding.location.line, finding.location.end_line);
        // Behind a statement of several lines the comment may stand at its end.
        (first..=last).contains(&line) || self.trailing && (line..=end).contains(&self.line)
    }
}

#[cfg(test)]
mod tests;
