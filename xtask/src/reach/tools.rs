//! One server: its tools probed in one copy, by one scan.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::Result;
use serde::{Deserialize, Serialize};

use super::{
    lists::{Server, Tool},
    outcome::{Outcome, Verdict, judge},
    probe, text,
};
use crate::{
    copies::{self, Sources},
    report,
};

/// What came out for one tool.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Probed {
    pub(super) tool: String,
    pub(super) file: String,
    pub(super) function: String,
    pub(super) line: u32,
    pub(super) outcome: Outcome,
    /// Why it is not the best outcome, as far as the report shows it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) why: String,
}

/// Probes every tool of a server in a copy at `work`, which is gone afterwards.
pub(super) fn probe_tools(
    program: &Path,
    sources: &Sources,
    server: &Server,
    work: &Path,
) -> Result<Vec<Probed>> {
    copies::copy(sources, &server.origin.commit, work)?;
    let placed = inject(server, work);
    let report = report::scan(program, work)?;
    fs::remove_dir_all(work)?;
    let probed = server.tools.iter().zip(placed).map(|(tool, placed)| {
        let Verdict { outcome, why } = match placed {
            Ok(line) => judge(&report, &tool.tool, &tool.file, line),
            Err(error) => {
                Verdict { outcome: Outcome::Missed, why: format!("no place for the probe: {error:#}") }
            }
        };
        let Tool { tool, file, function, at: (line, _), .. } = tool.clone();
        Probed { tool, file, function, line, outcome, why }
    });
    Ok(probed.collect())
}

/// Puts the probes into the copy. For each tool, in the order of the list, the line where its probe now stands.
fn inject(server: &Server, copy: &Path) -> Vec<Result<u32>> {
    let mut by_file: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (number, tool) in server.tools.iter().enumerate() {
        by_file.entry(&tool.file).or_default().push(number);
    }
    let mut lines: BTreeMap<usize, Result<u32>> = BTreeMap::new();
    for (file, numbers) in by_file {
        let probes: Vec<(usize, &Tool, String)> = numbers
            .iter()
            .filter_map(|&number| {
                let tool = server.tools.get(number)?;
                Some((number, tool, probe::file_of(&tool.tool, number)))
            })
            .collect();
        match inject_file(copy, file, &probes) {
            Ok(found) => lines.extend(found),
            Err(error) => {
                let why = format!("{error:#}");
                lines.extend(numbers.into_iter().map(|number| (number, Err(anyhow::anyhow!("{why}")))));
            }
        }
    }
    lines.into_values().collect()
}

fn inject_file(
    copy: &Path,
    file: &str,
    probes: &[(usize, &Tool, String)],
) -> Result<Vec<(usize, Result<u32>)>> {
    let path = copies::file(copy, file)?;
    let text =
        fs::read_to_string(&path).map_err(|error| anyhow::anyhow!("{file} cannot be read: {error}"))?;
    let wanted: Vec<(&Tool, String)> = probes.iter().map(|(_, tool, name)| (*tool, name.clone())).collect();
    let (changed, placed) = probe::inject(file, &text, &wanted);
    fs::write(&path, &changed)?;
    let line = |name: &str| {
        text::line_of(&changed, name).ok_or_else(|| anyhow::anyhow!("the probe is not in the changed file"))
    };
    let lines = probes
        .iter()
        .zip(placed)
        .map(|((number, _, name), placed)| (*number, placed.and_then(|()| line(name))));
    Ok(lines.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{reach::lists::Origin, root::Root};

    #[test]
    fn each_tool_has_the_line_of_its_probe_or_the_reason_why_it_has_none() {
        let folder = tempfile::tempdir().unwrap();
        Root::of_test(folder.path()).write("a.ts", "function f() {\n}\nfunction g() {\n}\n").unwrap();
        let tool = |name: &str, file: &str, at| Tool {
            tool: name.to_owned(),
            file: file.to_owned(),
            function: String::new(),
            at,
            to: None,
            awaits: false,
        };
        let origin = Origin { repo: "a/b".to_owned(), commit: "c".to_owned(), how: "h".to_owned() };
        let tools = vec![
            tool("late", "a.ts", (3, 14)),
            tool("gone", "b.ts", (1, 1)),
            tool("early", "a.ts", (1, 14)),
            tool("none", "a.ts", (2, 1)),
        ];
        let placed = inject(&Server { origin, tools }, folder.path());
        let shown: Vec<Result<u32, String>> =
            placed.into_iter().map(|line| line.map_err(|error| error.to_string())).collect();
        let [Ok(late), Err(gone), Ok(early), Err(none)] = shown.as_slice() else { panic!("{shown:?}") };
        assert_eq!((*early, *late), (2, 6));
        assert!(gone.contains("b.ts cannot be read") && none.contains("line 2, column 1"), "{gone} {none}");
    }
}
