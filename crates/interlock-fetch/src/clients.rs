//! The servers that the MCP clients of this machine know, from their configuration files. Nothing of them is started, and no value of an
//! environment or a header is ever printed: they are where people keep their secrets.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

/// A server that a client knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// Its name there.
    pub name: String,
    /// The client.
    pub client: &'static str,
    /// The file.
    pub file: PathBuf,
    /// How it is started; nothing for one that is only reached over the network.
    pub command: Option<Command>,
}

/// How a client starts a server.
#[derive(Clone, PartialEq, Eq)]
pub struct Command {
    /// The program and its words.
    pub command: Vec<String>,
    /// What is added to its environment.
    pub environment: BTreeMap<String, String>,
    /// Where it is started, if the file says so.
    pub directory: Option<PathBuf>,
}

/// The names of variables only.
impl std::fmt::Debug for Command {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Command")
            .field("command", &self.command)
            .field("environment", &self.environment.keys())
            .finish_non_exhaustive()
    }
}

/// Where a client keeps its file, below the home folder or, for those of a project, below the current one.
struct Place {
    client: &'static str,
    path: &'static str,
    of_project: bool,
}

const fn home(client: &'static str, path: &'static str) -> Place {
    Place { client, path, of_project: false }
}

const fn project(client: &'static str, path: &'static str) -> Place {
    Place { client, path, of_project: true }
}

const PLACES: &[Place] = &[
    project("this project", ".mcp.json"),
    project("Cursor, for this project", ".cursor/mcp.json"),
    project("VS Code, for this project", ".vscode/mcp.json"),
    project("Zed, for this project", ".zed/settings.json"),
    home("Claude Desktop", ".config/Claude/claude_desktop_config.json"),
    home("Claude Desktop", "Library/Application Support/Claude/claude_desktop_config.json"),
    home("Claude Desktop", "AppData/Roaming/Claude/claude_desktop_config.json"),
    home("Claude Code", ".claude.json"),
    home("Claude Code", ".claude/settings.json"),
    home("Cursor", ".cursor/mcp.json"),
    home("VS Code", ".config/Code/User/mcp.json"),
    home("VS Code", "Library/Application Support/Code/User/mcp.json"),
    home("VS Code", "AppData/Roaming/Code/User/mcp.json"),
    home("VS Code", ".config/Code/User/settings.json"),
    home("Windsurf", ".codeium/windsurf/mcp_config.json"),
    home("Zed", ".config/zed/settings.json"),
];

/// The tables of servers, by the client's own word.
const TABLES: &[&str] = &["/mcpServers", "/servers", "/context_servers", "/mcp/servers"];

/// Larger files are no configuration.
const LARGEST: u64 = 8 << 20;

/// All servers in the files that are there, and what is wrong with those that cannot be read.
#[must_use]
pub fn known(home: Option<&Path>, project: &Path) -> (Vec<Known>, Vec<String>) {
    let (mut found, mut wrong) = (Vec::new(), Vec::new());
    for place in PLACES {
        let Some(base) = (if place.of_project { Some(project) } else { home }) else { continue };
        let file = base.join(place.path);
        let Ok(about) = fs::metadata(&file) else { continue };
        if !about.is_file() || about.len() > LARGEST {
            continue;
        }
        let read = fs::read_to_string(&file).map_err(|error| error.to_string());
        match read
            .and_then(|text| serde_json::from_str::<Value>(&plain(&text)).map_err(|error| error.to_string()))
        {
            Ok(value) => servers(&value, place.client, &file, project, &mut found),
            Err(why) => wrong.push(format!("{} cannot be read: {why}", file.display())),
        }
    }
    (found, wrong)
}

fn servers(value: &Value, client: &'static str, file: &Path, project: &Path, out: &mut Vec<Known>) {
    let mut tables: Vec<&Value> = TABLES.iter().filter_map(|table| value.pointer(table)).collect();
    // Claude Code keeps those of each project below its path.
    let own = value.get("projects").and_then(|projects| projects.get(project.to_string_lossy().as_ref()));
    tables.extend(own.and_then(|own| own.get("mcpServers")));
    for (name, server) in tables.into_iter().filter_map(Value::as_object).flatten() {
        if server.get("disabled").and_then(Value::as_bool) == Some(true) {
            continue;
        }
        let known = Known { name: name.clone(), client, file: file.to_owned(), command: command(server) };
        if !out.iter().any(|other| other.name == known.name && other.command == known.command) {
            out.push(known);
        }
    }
}

fn command(server: &Value) -> Option<Command> {
    // Zed has had the command as a table, too.
    let nested = server.get("command").filter(|command| command.is_object());
    let (program, from) = match nested {
        Some(table) => (table.get("path"), table),
        None => (server.get("command"), server),
    };
    let words = from.get("args").and_then(Value::as_array).into_iter().flatten();
    let words = words.filter_map(Value::as_str).map(str::to_owned);
    let pairs = from.get("env").and_then(Value::as_object).into_iter().flatten();
    let pairs = pairs.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())));
    Some(Command {
        command: [program?.as_str()?.to_owned()].into_iter().chain(words).collect(),
        environment: pairs.collect(),
        directory: server.get("cwd").and_then(Value::as_str).map(PathBuf::from),
    })
}

/// JSON without comments and without commas before a closing bracket, which some clients allow in their files.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.trim_start_matches('\u{feff}').chars().peekable();
    let mut in_string = false;
    while let Some(c) = letters.next() {
        match (in_string, c, letters.peek()) {
            (true, '\\', _) => {
                out.push(c);
                out.extend(letters.next());
            }
            (_, '"', _) => {
                in_string = !in_string;
                out.push(c);
            }
            (false, '/', Some('/')) => {
                while letters.peek().is_some_and(|c| *c != '\n') {
                    letters.next();
                }
            }
            (false, '/', Some('*')) => {
                letters.next();
                let mut before = ' ';
                for c in letters.by_ref() {
                    if before == '*' && c == '/' {
                        break;
                    }
                    before = c;
                }
            }
            (false, '}' | ']', _) => {
                let kept = out.trim_end();
                if kept.ends_with(',') {
                    out.truncate(kept.len() - 1);
                }
                out.push(c);
            }
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_the_clients_are_found_and_read() {
        let machine = tempfile::tempdir().unwrap();
        let (home, project) = (machine.path().join("home"), machine.path().join("work"));
        let write = |path: PathBuf, text: &str| {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write(
            project.join(".mcp.json"),
            r#"{"mcpServers":{"mem":{"command":"node","args":["a.js"],"env":{"K":"secret"}},"off":{"command":"x","disabled":true}}}"#,
        );
        write(home.join(".cursor/mcp.json"), r#"{"mcpServers":{"far":{"url":"https://h.example/mcp"}}}"#);
        write(
            home.join(".config/zed/settings.json"),
            "{\n // servers\n \"context_servers\": {\"z\": {\"command\": {\"path\": \"uvx\", \"args\": [\"a//b\"]},},},\n}",
        );
        write(
            home.join(".config/Code/User/mcp.json"),
            r#"{"servers":{"code":{"type":"stdio","command":"npx","args":["-y","p"],"cwd":"/srv"}}}"#,
        );
        let at = project.display();
        write(
            home.join(".claude.json"),
            &format!(
                r#"{{"mcpServers":{{"c":{{"command":"c"}}}},"projects":{{"{at}":{{"mcpServers":{{"own":{{"command":"o"}}}}}}}}}}"#
            ),
        );
        write(home.join(".codeium/windsurf/mcp_config.json"), "no json");
        let (found, wrong) = known(Some(&home), &project);
        let lines: Vec<String> = found
            .iter()
            .map(|known| {
                format!(
                    "{}: {} {:?}",
                    known.client,
                    known.name,
                    known.command.as_ref().map(|c| c.command.join(" "))
                )
            })
            .collect();
        assert_eq!(
            lines,
            [
                "this project: mem Some(\"node a.js\")",
                "Claude Code: c Some(\"c\")",
                "Claude Code: own Some(\"o\")",
                "Cursor: far None",
                "VS Code: code Some(\"npx -y p\")",
                "Zed: z Some(\"uvx a//b\")",
            ]
        );
        assert_eq!(wrong.len(), 1, "{wrong:?}");
        assert!(wrong.iter().all(|line| line.contains("windsurf")), "{wrong:?}");
        assert!(!format!("{found:?}").contains("secret"));
    }
}
