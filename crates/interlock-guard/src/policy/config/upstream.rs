//! `[[upstream]]`.

use http::{HeaderName, HeaderValue, Uri};

use super::{
    super::{
        Choose, Processes, Reach, Sharing, UpstreamConfig,
        problem::{Problem, Source, Weight},
    },
    file::{ChooseText, SharingText, UpstreamTable},
    read::Reader,
    value::At,
};

/// An upstream whose prefix depends on whether there are others.
pub(super) struct Draft {
    pub(super) upstream: UpstreamConfig,
    /// The prefix that was written, if one was.
    pub(super) prefix: Option<String>,
    /// Where to complain.
    pub(super) line: Option<usize>,
}

impl Reader<'_> {
    pub(super) fn upstream(&mut self, at: &At<UpstreamTable>) -> Option<Draft> {
        let table = at.get();
        if !is_name(table.name.get()) {
            self.wrong(&table.name, bad_name(table.name.get()));
        }
        let env = table.env.as_ref().map(|env| env.get().clone()).unwrap_or_default();
        let headers = table.headers.as_ref().map(|headers| headers.get().clone()).unwrap_or_default();
        let reach = match (&table.command, &table.url) {
            (Some(command), None) => {
                if command.get().first().is_none_or(String::is_empty) {
                    self.wrong(command, "a command must name a program: write `[\"PROGRAM\", \"ARGUMENT\"]`");
                }
                if let Some(headers) = &table.headers {
                    self.wrong(headers, "`headers` are for an upstream with a `url`; a program has `env`");
                }
                if let Some(ca) = &table.ca {
                    self.wrong(ca, "`ca` is for an upstream with a `url` that begins with `https://`");
                }
                let folder = table.cwd.as_ref().map(|folder| self.path(folder));
                Reach::Command { command: command.get().clone(), env, folder }
            }
            (None, Some(url)) => {
                if let Err(why) = http_url(url.get()) {
                    self.wrong(url, why);
                }
                for (at, key) in [
                    (table.env.as_ref().map(At::span), "env"),
                    (table.cwd.as_ref().map(At::span), "cwd"),
                    (table.sharing.as_ref().map(At::span), "sharing"),
                    (table.processes.as_ref().map(At::span), "processes"),
                    (table.processes_per_caller.as_ref().map(At::span), "processes_per_caller"),
                    (table.instances.as_ref().map(At::span), "instances"),
                    (table.choose.as_ref().map(At::span), "choose"),
                ] {
                    if let Some(span) = at {
                        let what =
                            format!("`{key}` is for an upstream with a `command`; this one has a `url`");
                        self.problems.push(self.source.error(&span, what));
                    }
                }
                if let (Some(at), Err(why)) = (&table.headers, check_headers(&headers)) {
                    self.wrong(at, why);
                }
                if let Some(ca) = table.ca.as_ref().filter(|_| !url.get().starts_with("https://")) {
                    self.wrong(ca, "`ca` is for an upstream with a `url` that begins with `https://`");
                }
                let ca = table.ca.as_ref().map(|path| self.path(path));
                Reach::Url { url: url.get().clone(), headers, ca }
            }
            (Some(_), Some(url)) => {
                self.wrong(url, "an upstream has a `command` or a `url`, not both");
                return None;
            }
            (None, None) => {
                self.wrong(&table.name, "an upstream needs a `command` or a `url`");
                return None;
            }
        };
        let sharing = match table.sharing.as_ref().map(|sharing| *sharing.get()) {
            Some(SharingText::PerSession) => Sharing::PerSession,
            Some(SharingText::One) | None => Sharing::One,
        };
        let prefix = table.prefix.as_ref().map(|prefix| prefix.get().clone());
        if let (Some(at), Some(text)) = (&table.prefix, &prefix)
            && !text.is_empty()
            && !is_name(text)
        {
            self.wrong(at, "a prefix is made of letters, digits, `_`, `-` and `.`, as tool names are");
        }
        let upstream = UpstreamConfig {
            name: table.name.get().clone(),
            reach,
            is_required: table.required.unwrap_or(true),
            prefix: String::new(),
            sharing,
            processes: self.processes(table),
        };
        Some(Draft { upstream, prefix, line: Some(self.source.line(&table.name.span())) })
    }
}

/// The most processes that anybody has.
const MOST_PROCESSES: u32 = 100_000;
/// The most of one upstream that run side by side.
const MOST_INSTANCES: u32 = 256;

impl Reader<'_> {
    fn processes(&mut self, table: &UpstreamTable) -> Processes {
        let usual = Processes::default();
        let most = self.count(table.processes.as_ref(), MOST_PROCESSES);
        let per_caller = self.count(table.processes_per_caller.as_ref(), MOST_PROCESSES);
        let most = most.map_or(usual.most, |number| number as usize);
        Processes {
            most,
            per_caller: per_caller.map_or((most / 4).max(1), |number| number as usize),
            ..self.instances(table)
        }
    }

    fn instances(&mut self, table: &UpstreamTable) -> Processes {
        let count = self.count(table.instances.as_ref(), MOST_INSTANCES);
        if table.sharing.as_ref().is_some_and(|sharing| *sharing.get() == SharingText::PerSession) {
            let why = "with `sharing = \"per-session\"` each session has a process of its own";
            if let Some(at) = &table.instances {
                self.wrong(at, format!("`instances` is for a process that everybody shares; {why}"));
            }
            if let Some(at) = &table.choose {
                self.wrong(at, format!("`choose` is for a process that everybody shares; {why}"));
            }
        } else if let (Some(at), None | Some(1)) = (&table.choose, count) {
            self.wrong(at, "`choose` is for several `instances`: there is nothing to choose from");
        }
        let choose = match table.choose.as_ref().map(|choose| *choose.get()) {
            Some(ChooseText::LeastLoaded) => Choose::LeastLoaded,
            Some(ChooseText::Sticky) | None => Choose::Sticky,
        };
        Processes { instances: count.map_or(1, |count| count as usize), choose, ..Processes::default() }
    }
}

/// Gives each its prefix, and says whose tools could not be told apart.
pub(super) fn settled(drafts: Vec<Draft>, source: Source<'_>, out: &mut Vec<Problem>) -> Vec<UpstreamConfig> {
    let is_alone = drafts.len() == 1;
    let mut settled: Vec<UpstreamConfig> = Vec::new();
    for Draft { mut upstream, prefix, line } in drafts {
        let name = upstream.name.clone();
        upstream.prefix = prefix.unwrap_or_else(|| if is_alone { String::new() } else { format!("{name}_") });
        let mut wrong = |what: String| {
            out.push(Problem { file: source.file.to_owned(), line, weight: Weight::Error, what });
        };
        if settled.iter().any(|other| other.name == name) {
            wrong(format!("there is another upstream called `{name}`"));
        } else if let Some(other) = settled.iter().find(|other| overlap(&other.prefix, &upstream.prefix)) {
            wrong(format!(
                "tools of `{name}` (prefix `{}`) and of `{}` (prefix `{}`) could have the same name: give them prefixes of which none begins with the other",
                upstream.prefix, other.name, other.prefix
            ));
        }
        settled.push(upstream);
    }
    settled
}

fn overlap(one: &str, other: &str) -> bool {
    one.starts_with(other) || other.starts_with(one)
}

pub(super) fn bad_name(name: &str) -> String {
    format!("`{name}` is no name for an upstream: it is made of letters, digits, `_`, `-` and `.`")
}

pub(super) fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 64
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
}

/// Whether a text is the URL of a server. What it says may have a secret in it, so it is not repeated.
pub(super) fn http_url(text: &str) -> Result<Uri, &'static str> {
    let wanted = "this is no URL of a server: write `https://HOST/PATH` or `http://HOST:PORT/PATH`";
    let uri: Uri = text.parse().map_err(|_| wanted)?;
    let is_http = matches!(uri.scheme_str(), Some("http" | "https"));
    if is_http && uri.host().is_some_and(|host| !host.is_empty()) { Ok(uri) } else { Err(wanted) }
}

pub(super) fn check_headers<'h>(
    headers: impl IntoIterator<Item = (&'h String, &'h String)>,
) -> Result<(), String> {
    for (name, value) in headers {
        if HeaderName::from_bytes(name.as_bytes()).is_err() {
            return Err(format!("`{name}` is no name of a header"));
        }
        if HeaderValue::from_str(value).is_err() {
            return Err(format!(
                "what is set for the header `{name}` has characters that no header can carry"
            ));
        }
    }
    Ok(())
}
