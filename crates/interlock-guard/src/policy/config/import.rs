//! The servers of an existing `.mcp.json`: what clients were told to start, the guard starts instead.

use std::{collections::BTreeMap, path::PathBuf};

use serde::Deserialize;

use super::{
    super::{
        Processes, Reach, Sharing, UpstreamConfig,
        problem::{Broken, Problem, Source, Weight},
        substitute::{Environment, fill},
    },
    read::{Reader, read_file},
    upstream::{Draft, bad_name, check_headers, http_url, is_name, settled},
    value::At,
};

/// The file. It belongs to others: what they keep in it besides is none of our business.
#[derive(Deserialize)]
struct McpFile {
    #[serde(rename = "mcpServers", alias = "servers")]
    servers: BTreeMap<String, Server>,
}

#[derive(Deserialize)]
struct Server {
    #[serde(rename = "type", alias = "transport")]
    kind: Option<String>,
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    cwd: Option<PathBuf>,
    #[serde(alias = "serverUrl")]
    url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    disabled: bool,
}

/// The servers of a `.mcp.json`, sorted by name; disabled ones are left out.
///
/// # Errors
///
/// It is not such a file, or one of its servers cannot be reached by the guard.
pub fn import(file: &str, text: &str, environment: &Environment) -> Result<Vec<UpstreamConfig>, Broken> {
    let mut problems = Vec::new();
    let drafts = drafts(file, text, environment, &mut problems);
    let upstreams = settled(drafts, Source { file, text }, &mut problems);
    Broken::unless_fine(problems)?;
    Ok(upstreams)
}

impl Reader<'_> {
    pub(super) fn imported(&mut self, at: &At<String>) -> Vec<Draft> {
        let path = self.path(at);
        match read_file(&path) {
            Ok(text) => drafts(at.get(), &text, self.environment, &mut self.problems),
            Err(why) => {
                self.wrong(at, format!("`{}` cannot be imported: {why}", at.get()));
                Vec::new()
            }
        }
    }
}

fn drafts(file: &str, text: &str, environment: &Environment, out: &mut Vec<Problem>) -> Vec<Draft> {
    let mut wrong =
        |line, what| out.push(Problem { file: file.to_owned(), line, weight: Weight::Error, what });
    let parsed: McpFile = match serde_json::from_str(text) {
        Ok(parsed) => parsed,
        Err(error) => {
            wrong(Some(error.line()), format!("this is no list of servers, as in `.mcp.json`: {error}"));
            return Vec::new();
        }
    };
    let mut drafts = Vec::new();
    for (name, server) in parsed.servers.into_iter().filter(|(_, server)| !server.disabled) {
        if !is_name(&name) {
            wrong(None, bad_name(&name));
            continue;
        }
        match reach(server, environment) {
            Ok(reach) => {
                let upstream = UpstreamConfig {
                    name,
                    reach,
                    is_required: true,
                    prefix: String::new(),
                    sharing: Sharing::One,
                    processes: Processes::default(),
                };
                drafts.push(Draft { upstream, prefix: None, line: None });
            }
            Err(why) => wrong(None, format!("the server `{name}`: {why}")),
        }
    }
    drafts
}

fn reach(server: Server, environment: &Environment) -> Result<Reach, String> {
    let filled = |text: String| fill(&text, environment).map_err(|error| error.to_string());
    let filled_map = |map: BTreeMap<String, String>| {
        map.into_iter()
            .map(|(key, value)| Ok((key, filled(value)?)))
            .collect::<Result<BTreeMap<_, _>, String>>()
    };
    if server.kind.as_deref() == Some("sse") {
        return Err(
            "it speaks HTTP+SSE, which was replaced by Streamable HTTP in 2025 and is not spoken here"
                .to_owned(),
        );
    }
    match (server.command, server.url) {
        (Some(command), None) => {
            let mut whole = vec![filled(command)?];
            for argument in server.args {
                whole.push(filled(argument)?);
            }
            Ok(Reach::Command { command: whole, env: filled_map(server.env)?, folder: server.cwd })
        }
        (None, Some(url)) => {
            let url = filled(url)?;
            http_url(&url)?;
            let headers = filled_map(server.headers)?;
            check_headers(&headers)?;
            Ok(Reach::Url { url, headers, ca: None })
        }
        (Some(_), Some(_)) => Err("it has a `command` and a `url`; one of them counts".to_owned()),
        (None, None) => Err("it has neither a `command` nor a `url`".to_owned()),
    }
}
