//! The filter: four lists whose choice the style sheet asks for. What is chosen from comes from unknown hands, so that entries and choices
//! know each other by number only.

use std::{collections::BTreeSet, fmt::Write as _};

use super::super::{Audit, Entry};
use crate::{Rule, proof::markup};

/// One list.
struct List {
    /// For identifiers and attributes.
    word: &'static str,
    label: &'static str,
    values: Vec<String>,
}

/// All of them.
pub(super) struct Filter {
    lists: Vec<List>,
}

/// More choices than this nobody goes through, and every one is a rule of the style sheet.
const MOST: usize = 300;

impl Filter {
    pub(super) fn of(audit: &Audit, rules: &[Rule<'_>]) -> Self {
        let mut sets: [BTreeSet<String>; 5] = Default::default();
        for subject in &audit.subjects {
            for entry in subject.entries() {
                for (set, values) in sets.iter_mut().zip(values(&entry, rules)) {
                    set.extend(values);
                }
            }
        }
        let names = [
            ("standing", "Standing"),
            ("hazard", "Hazard"),
            ("severity", "Severity"),
            ("tool", "Tool"),
            ("file", "File"),
        ];
        let list = |((word, label), values): ((&'static str, &'static str), BTreeSet<String>)| List {
            word,
            label,
            values: values.into_iter().take(MOST).collect(),
        };
        Self { lists: names.into_iter().zip(sets).map(list).collect() }
    }

    /// Whether there is anything to choose.
    fn is_useful(&self) -> bool {
        self.lists.iter().any(|list| list.values.len() > 1)
    }

    /// The lists, as a form.
    pub(super) fn write(&self, out: &mut String) {
        if !self.is_useful() {
            return;
        }
        out.push_str("<form class=\"filter\" aria-label=\"Filter the findings\">");
        for list in self.lists.iter().filter(|list| list.values.len() > 1) {
            let List { word, label, values } = list;
            let _ = write!(out, r#"<label>{label} <select id="by-{word}"><option value="">all</option>"#);
            for (index, value) in values.iter().enumerate() {
                let _ =
                    write!(out, r#"<option value="{word}-{index}">{}</option>"#, markup::short(value, 80));
            }
            out.push_str("</select></label>");
        }
        out.push_str("<button type=\"reset\">Show all</button></form>\n");
    }

    /// The rules that hide what was not chosen.
    pub(super) fn style(&self) -> String {
        let mut style = String::new();
        for List { word, values, .. } in self.lists.iter().filter(|list| list.values.len() > 1) {
            for index in 0..values.len() {
                let _ = writeln!(
                    style,
                    r#"main:has(#by-{word} option[value="{word}-{index}"]:checked) .entry:not([data-{word}~="{word}-{index}"]){{display:none}}"#
                );
            }
        }
        style
    }

    /// What an entry is, by number.
    pub(super) fn attributes(&self, entry: &Entry<'_>, rules: &[Rule<'_>]) -> String {
        let mut out = String::new();
        for (List { word, values: known, .. }, values) in self.lists.iter().zip(values(entry, rules)) {
            let numbers = values.iter().filter_map(|value| known.binary_search(value).ok());
            let numbers: Vec<String> = numbers.map(|number| format!("{word}-{number}")).collect();
            let _ = write!(out, r#" data-{word}="{}""#, numbers.join(" "));
        }
        out
    }
}

/// What an entry can be filtered by, in the order of the lists.
fn values(entry: &Entry<'_>, rules: &[Rule<'_>]) -> [Vec<String>; 5] {
    let hazard = entry.hazard().map_or_else(|| "race".to_owned(), ToString::to_string);
    let mut files: BTreeSet<String> = BTreeSet::new();
    if let Some(finding) = entry.finding {
        files.insert(finding.location.file.clone());
        files.extend(finding.witness.0.iter().map(|step| step.location.file.clone()));
    }
    [
        vec![entry.standing.name().to_owned()],
        vec![hazard],
        vec![entry.severity(rules).to_string()],
        entry.tools.clone(),
        files.into_iter().collect(),
    ]
}
