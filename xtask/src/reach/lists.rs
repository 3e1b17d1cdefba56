//! What somebody, or the language's own compiler, has written down about real servers: their tools and the functions that do the work
//! (`tools/*.jsonl`), and what protects them today (`removals.jsonl`). Our front ends have no part in it.

use std::{fs, path::Path};

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, de::DeserializeOwned};

/// A server and its tools. The first line of a file is the server, each further one a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Server {
    pub(super) origin: Origin,
    pub(super) tools: Vec<Tool>,
}

/// Which sources a list is about.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Origin {
    /// `owner/name`, or `npm:name` for what a package of that name holds.
    pub(super) repo: String,
    /// The commit; of a package, its version.
    pub(super) commit: String,
    /// How the list was made.
    pub(super) how: String,
}

/// A tool, and the function that does its work.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Tool {
    pub(super) tool: String,
    pub(super) file: String,
    /// What the function is called, for whoever reads the list; empty if it has no name.
    #[serde(default)]
    pub(super) function: String,
    /// Line and column, both from 1, of the brace that opens the function's body; of a body that is one expression, of its first
    /// character; in Python, of the first statement.
    pub(super) at: Position,
    /// Of a body that is one expression, line and column behind its last character.
    #[serde(default)]
    pub(super) to: Option<Position>,
    /// Whether the function may await.
    #[serde(default, rename = "async")]
    pub(super) awaits: bool,
}

/// Line and column, from 1; a column counts characters.
pub(super) type Position = (u32, u32);

/// A protection, the edits that take it away, and the hazard that is there without it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Removal {
    pub(super) repo: String,
    pub(super) commit: String,
    /// What protects there today, in words.
    pub(super) removes: String,
    pub(super) file: String,
    pub(super) edits: Vec<Edit>,
    /// The hazards by which the finding may go.
    pub(super) hazards: Vec<String>,
    /// First and last line, after the edits, on which the finding or a step of its witness must stand.
    pub(super) lines: (u32, u32),
    /// The file of those lines, if it is not the one that is edited.
    #[serde(default)]
    pub(super) found_in: Option<String>,
}

/// A stretch of text and what takes its place. It must not hold or bring a line break: lines keep their numbers.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Edit {
    pub(super) line: u32,
    /// First and last column; the whole line without them.
    #[serde(default)]
    pub(super) columns: Option<(u32, u32)>,
    #[serde(default)]
    pub(super) with: String,
}

/// Reads the lists of tools below a folder, by name.
pub(super) fn read_servers(folder: &Path) -> Result<Vec<Server>> {
    let folder = folder.join("tools");
    let entries = fs::read_dir(&folder).with_context(|| format!("failed to read {}", folder.display()))?;
    let mut files = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    files.retain(|file| file.extension().is_some_and(|end| end == "jsonl"));
    files.sort();
    let read = |file: &Path| {
        let text = fs::read_to_string(file)?;
        let (head, rest) = text.split_once('\n').context("it has no line for the server")?;
        let origin = serde_json::from_str(head).context("its first line describes no server")?;
        let tools: Vec<Tool> = each_line(rest)?;
        ensure!(!tools.is_empty(), "it names no tool");
        Ok(Server { origin, tools })
    };
    let named = |file: &Path| read(file).with_context(|| format!("failed to read {}", file.display()));
    files.iter().map(|file| named(file)).collect()
}

/// Reads the list of removals below a folder.
pub(super) fn read_removals(folder: &Path) -> Result<Vec<Removal>> {
    let file = folder.join("removals.jsonl");
    let read = || each_line(&fs::read_to_string(&file)?);
    read().with_context(|| format!("failed to read {}", file.display()))
}

fn each_line<T: DeserializeOwned>(text: &str) -> Result<Vec<T>> {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.map(|line| serde_json::from_str(line).with_context(|| format!("at `{line}`"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::Root;

    /// The lists of this repository.
    fn ours() -> std::path::PathBuf {
        Root::find(None, None).unwrap().join(super::super::LISTS)
    }

    #[test]
    fn our_lists_can_be_read_and_name_no_tool_of_a_server_twice() {
        for Server { origin, tools } in read_servers(&ours()).unwrap() {
            let mut names: Vec<&str> = tools.iter().map(|tool| &*tool.tool).collect();
            names.sort_unstable();
            let twice = names.iter().zip(names.iter().skip(1)).find(|(one, next)| one == next);
            assert_eq!(twice, None, "{}", origin.repo);
            assert!(!origin.how.is_empty(), "{} does not say how its list was made", origin.repo);
        }
        let removals = read_removals(&ours()).unwrap();
        assert!(
            removals.iter().all(|removal| !removal.edits.is_empty() && removal.lines.0 <= removal.lines.1)
        );
    }

    #[test]
    fn a_list_that_cannot_be_read_is_named_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::of_test(folder.path());
        root.write("tools/a.jsonl", "{\"repo\":\"a/b\",\"commit\":\"c\",\"how\":\"h\"}\n{\"tool\":1}\n")
            .unwrap();
        let error = format!("{:#}", read_servers(folder.path()).unwrap_err());
        assert!(error.contains("a.jsonl") && error.contains("{\"tool\":1}"), "{error}");
    }
}
