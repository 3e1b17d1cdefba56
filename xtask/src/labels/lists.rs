//! The lists: one JSON object per line, a tool, a race (`hazard`), a safe place that looks like one (`trap`), or one that the reader was
//! not sure of, which is not counted.

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

/// A server with what was written down about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Server {
    pub(super) repo: String,
    pub(super) commit: String,
    pub(super) tools: Vec<String>,
    pub(super) races: Vec<Label>,
    pub(super) traps: Vec<Label>,
}

/// A place that must, or must not, be told.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Label {
    pub(super) hazard: String,
    /// Other hazards under which it would be told rightly.
    #[serde(default, rename = "or", alias = "alt_hazards")]
    pub(super) others: Vec<String>,
    pub(super) file: String,
    /// The check or the read.
    pub(super) line: u32,
    #[serde(default)]
    pub(super) act_file: Option<String>,
    #[serde(default)]
    pub(super) act_line: Option<u32>,
    /// Further lines of the same race, as `file:line`.
    #[serde(default)]
    pub(super) also: Vec<String>,
    #[serde(default)]
    pub(super) why: String,
}

#[derive(Deserialize)]
struct Line {
    repo: String,
    commit: String,
    #[serde(flatten)]
    fact: Fact,
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum Fact {
    Tool {
        tool: String,
        /// A tool that the server only lists where it is set up so is not asked for.
        #[serde(default = "yes")]
        listed: bool,
    },
    Hazard(Label),
    Trap(Label),
    Unsure {},
}

fn yes() -> bool {
    true
}

/// The servers of a list, in the order in which they come first.
pub(super) fn read(text: &str) -> Result<Vec<Server>> {
    let mut servers: Vec<Server> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let Line { repo, commit, fact } =
            serde_json::from_str(line).with_context(|| format!("line {} is no label", number + 1))?;
        let at = servers.iter().position(|server| server.repo == repo);
        let at = at.unwrap_or_else(|| {
            let (tools, races, traps) = (Vec::new(), Vec::new(), Vec::new());
            servers.push(Server { repo, commit: commit.clone(), tools, races, traps });
            servers.len() - 1
        });
        let server = servers.get_mut(at).context("the server that was just added is gone")?;
        ensure!(server.commit == commit, "line {} is about another commit than those before", number + 1);
        match fact {
            Fact::Tool { tool, listed: true } if !server.tools.contains(&tool) => server.tools.push(tool),
            Fact::Tool { .. } | Fact::Unsure {} => {}
            Fact::Hazard(label) => server.races.push(label),
            Fact::Trap(label) => server.traps.push(label),
        }
    }
    Ok(servers)
}

impl Label {
    /// Every line that it names.
    pub(super) fn places(&self) -> Vec<(&str, u32)> {
        let act_file = self.act_file.as_ref().unwrap_or(&self.file);
        let act = self.act_line.map(|line| (&**act_file, line));
        let also = self.also.iter().filter_map(|place| {
            let (file, line) = place.rsplit_once(':')?;
            Some((file, line.parse().ok()?))
        });
        std::iter::once((&*self.file, self.line)).chain(act).chain(also).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_per_server() {
        let text = concat!(
            r#"{"kind":"tool","repo":"a/b","commit":"1","tool":"add","file":"a.ts","line":1}"#,
            "\n",
            r#"{"kind":"tool","repo":"a/b","commit":"1","tool":"more","listed":false,"file":"a.ts","line":2}"#,
            "\n",
            r#"{"kind":"hazard","repo":"a/b","commit":"1","hazard":"lost-update","alt_hazards":["x"],"file":"a.ts","line":3,"act_line":5,"also":["b.ts:7"]}"#,
            "\n",
            r#"{"kind":"unsure","repo":"c/d","commit":"2","hazard":"lost-update","file":"a.ts","line":3}"#,
        );
        let servers = read(text).unwrap();
        let [first, second] = servers.as_slice() else { panic!("{servers:?}") };
        assert_eq!(first.tools, ["add"]);
        let [race] = first.races.as_slice() else { panic!("{first:?}") };
        assert_eq!(race.places(), [("a.ts", 3), ("a.ts", 5), ("b.ts", 7)]);
        assert_eq!(race.others, ["x"]);
        assert_eq!((&*second.repo, second.races.len(), second.traps.len()), ("c/d", 0, 0));
        assert!(read(r#"{"kind":"tool","repo":"a/b"}"#).is_err());
    }

    #[test]
    fn one_server_is_one_commit() {
        let line = |commit: &str| {
            format!(r#"{{"kind":"tool","repo":"a/b","commit":"{commit}","tool":"t","file":"a.ts","line":1}}"#)
        };
        assert!(read(&format!("{}\n{}", line("1"), line("2"))).is_err());
    }
}
