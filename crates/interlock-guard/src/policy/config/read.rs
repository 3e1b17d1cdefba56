//! From text to [`Config`].

use std::{
    collections::BTreeSet,
    fs,
    io::{self, Read as _},
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use interlock_model::{KeyTemplate, Mode};
use serde::Deserialize as _;
use toml::de::{DeTable, Deserializer};

use super::{
    super::{
        callers::Callers,
        pattern::Pattern,
        problem::{Broken, Problem, Source},
        rule::name_all,
        substitute::{Environment, fill_table},
    },
    AuditConfig, Config, Defaults, LONGEST_NAMESPACE, MAX_FILE, StoreAway,
    file::{
        AdminTable, AuditTable, DefaultsTable, DurabilityText, File, RequestsTable, StateTable, StoreAwayText,
    },
    syntax, upstream,
    value::{At, ModeText, Size, Time, Words},
    walk,
};

impl Config {
    /// Reads a file, and what it imports.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or something in it is wrong.
    pub fn load(path: &Path, environment: &Environment) -> Result<Self, Broken> {
        let file = path.display().to_string();
        let text = read_file(path).map_err(|error| Broken::whole(&file, error))?;
        Self::parse(&file, &text, path.parent(), environment)
    }

    /// Reads a text. `folder` is what its relative paths start from.
    ///
    /// # Errors
    ///
    /// Something in it is wrong, or in what it imports.
    pub fn parse(
        file: &str,
        text: &str,
        folder: Option<&Path>,
        environment: &Environment,
    ) -> Result<Self, Broken> {
        let source = Source { file, text };
        let mut problems = Vec::new();
        let (mut document, errors) = DeTable::parse_recoverable(text);
        if !errors.is_empty() {
            problems.extend(errors.iter().map(|error| {
                let span = error.span().unwrap_or_default();
                source.error(&span, syntax::told(source, &span, error.message()))
            }));
            // Of one line the parser may have said several things, and one of them is enough.
            problems.dedup();
            return Err(Broken { problems });
        }
        walk::unknown_keys(document.get_ref(), source, &mut problems);
        fill_table(document.get_mut(), environment, source, &mut problems);
        if !problems.is_empty() {
            problems.sort_by_key(|problem| problem.line);
            return Err(Broken { problems });
        }
        let known = document.clone();
        let written = File::deserialize(Deserializer::from(document)).map_err(|error| {
            let span = error.span().unwrap_or_default();
            let what = match walk::key_at(known.get_ref(), &span) {
                Some((key, said)) => format!("`{key}`: {}. {said}", error.message()),
                None => error.message().to_owned(),
            };
            Broken { problems: vec![source.error(&span, what)] }
        })?;
        let mut reader = Reader { source, folder, environment, problems };
        let config = reader.config(&written);
        Broken::unless_fine(reader.problems)?;
        Ok(config)
    }
}

/// Reads a file of people's making: small, and UTF-8.
pub(crate) fn read_file(path: &Path) -> Result<String, String> {
    let cannot = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        _ => format!("it cannot be read: {error}"),
    };
    let file = fs::File::open(path).map_err(cannot)?;
    if !file.metadata().map_err(cannot)?.is_file() {
        return Err("it is no file".to_owned());
    }
    let mut text = Vec::new();
    file.take(MAX_FILE + 1).read_to_end(&mut text).map_err(cannot)?;
    if text.len() as u64 > MAX_FILE {
        return Err(format!("it is larger than {} KB", MAX_FILE >> 10));
    }
    String::from_utf8(text).map_err(|_| "it is not UTF-8".to_owned())
}

/// Turns what is written into what it means, and collects what is wrong.
pub(super) struct Reader<'t> {
    pub(super) source: Source<'t>,
    pub(super) folder: Option<&'t Path>,
    pub(super) environment: &'t Environment,
    pub(super) problems: Vec<Problem>,
}

impl Reader<'_> {
    fn config(&mut self, file: &File) -> Config {
        let mut rules: Vec<_> = file.tool.iter().filter_map(|table| self.rule(table)).collect();
        name_all(&mut rules);
        let mut drafts: Vec<_> = file.upstream.iter().filter_map(|table| self.upstream(table)).collect();
        if let Some(import) = &file.import {
            drafts.extend(self.imported(import));
        }
        let upstreams = upstream::settled(drafts, self.source, &mut self.problems);
        let listen = self.listen(&file.listen);
        let mut identity = self.identity(&file.identity, &listen);
        if let Some(resource) = identity.jwt.as_mut().and_then(|jwt| jwt.resource.as_mut()) {
            let scopes = rules.iter().flat_map(|rule| rule.allow.iter().flatten()).filter_map(Callers::scope);
            resource.scopes = scopes.map(str::to_owned).collect::<BTreeSet<_>>().into_iter().collect();
        }
        Config {
            file: self.source.file.to_owned(),
            mode: file.mode.as_ref().map_or(Mode::Enforce, |mode| mode_of(*mode.get())),
            state: self.state(&file.state),
            namespace: self.namespace(&file.state),
            may_forget: file.state.durability == Some(DurabilityText::None),
            listen,
            admin: self.admin(&file.admin),
            audit: self.audit(&file.audit),
            identity,
            defaults: self.defaults(&file.defaults),
            denied_requests: self.denied_requests(&file.requests),
            upstreams,
            rules,
        }
    }

    fn denied_requests(&mut self, table: &RequestsTable) -> Vec<Pattern> {
        let Some(at) = &table.deny else { return Vec::new() };
        let patterns = self.patterns(at);
        for pattern in patterns.iter().filter(|pattern| pattern.as_str().starts_with("tools/")) {
            self.wrong(
                at,
                format!("`{pattern}` is about tools: write `deny = true` in a `[[tool]]` that matches them"),
            );
        }
        patterns
    }

    fn state(&mut self, table: &StateTable) -> String {
        const SCHEMES: [&str; 6] =
            ["memory:", "sqlite:", "redis://", "rediss://", "postgres://", "postgresql://"];
        let Some(url) = &table.url else { return "memory:".to_owned() };
        let text = url.get();
        let is_whole = text.starts_with("memory:") || SCHEMES.iter().all(|scheme| text != scheme);
        if !is_whole || !SCHEMES.iter().any(|scheme| text.starts_with(scheme)) {
            // It may have a password in it, so it is not repeated.
            self.wrong(url, "this is no place for state: write `memory:`, `sqlite:PATH`, `redis://HOST` or `postgres://HOST/NAME`");
        }
        text.clone()
    }

    fn namespace(&mut self, table: &StateTable) -> Option<String> {
        let at = table.namespace.as_ref()?;
        let text = at.get();
        let is_plain = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
        if !is_plain || !(1..=LONGEST_NAMESPACE).contains(&text.len()) {
            self.wrong(
                at,
                format!("`{text}` is no namespace: 1 to {LONGEST_NAMESPACE} letters, digits, `_` and `-`"),
            );
        }
        Some(text.clone())
    }

    fn admin(&mut self, table: &AdminTable) -> Option<SocketAddr> {
        table.listen.as_ref().and_then(|address| self.address(address))
    }

    fn audit(&mut self, table: &AuditTable) -> AuditConfig {
        AuditConfig {
            path: table.path.as_ref().map(|path| self.path(path)),
            arguments: table.arguments.unwrap_or_default(),
        }
    }

    fn defaults(&mut self, table: &DefaultsTable) -> Defaults {
        let usual = Defaults::default();
        let queue = self.count(table.queue.as_ref(), 1_000_000);
        let waiting = self.count(table.waiting.as_ref(), 10_000_000);
        Defaults {
            wait: self.time(table.wait.as_ref()).unwrap_or(usual.wait),
            queue: queue.map_or(usual.queue, |queue| queue as usize),
            waiting: waiting.map_or(usual.waiting, |waiting| waiting as usize),
            timeout: self.positive(table.timeout.as_ref()).unwrap_or(usual.timeout),
            grace: self.time(table.grace.as_ref()).unwrap_or(usual.grace),
            longest: self.positive(table.longest.as_ref()).unwrap_or(usual.longest),
            longest_task: self.positive(table.longest_task.as_ref()).unwrap_or(usual.longest_task),
            keep: self.positive(table.keep.as_ref()).unwrap_or(usual.keep),
            close: self.time(table.close.as_ref()).unwrap_or(usual.close),
            store_away: match table.store_away {
                Some(StoreAwayText::Pass) => StoreAway::Pass,
                Some(StoreAwayText::Refuse) | None => StoreAway::Refuse,
            },
        }
    }

    pub(super) fn wrong<T>(&mut self, at: &At<T>, what: impl Into<String>) {
        self.problems.push(self.source.error(&at.span(), what));
    }

    /// A path; a relative one starts from the folder of the file.
    pub(super) fn path(&mut self, at: &At<String>) -> PathBuf {
        if at.get().is_empty() {
            self.wrong(at, "a path must not be empty");
        }
        self.folder.unwrap_or(Path::new("")).join(at.get())
    }

    pub(super) fn address(&mut self, at: &At<String>) -> Option<SocketAddr> {
        let text = at.get().as_str();
        let address = match text.strip_prefix("localhost:") {
            Some(port) => format!("127.0.0.1:{port}").parse(),
            None => text.parse(),
        };
        if address.is_err() {
            self.wrong(
                at,
                format!("`{text}` is no address: write an IP address and a port, such as `127.0.0.1:8080`"),
            );
        }
        address.ok()
    }

    pub(super) fn count(&mut self, at: Option<&At<u32>>, most: u32) -> Option<u32> {
        let at = at?;
        let number = *at.get();
        if number == 0 || number > most {
            self.wrong(at, format!("a number from 1 to {most} is wanted here, not {number}"));
        }
        Some(number)
    }

    pub(super) fn time(&mut self, at: Option<&At<Time>>) -> Option<Duration> {
        let at = at?;
        let time = time(&at.get().0);
        if time.is_none() {
            self.wrong(
                at,
                format!(
                    "`{}` is no time: write a number with ms, s, min, h or d, such as `30s`; at most a year",
                    at.get().0
                ),
            );
        }
        time
    }

    /// A time that is not zero.
    pub(super) fn positive(&mut self, at: Option<&At<Time>>) -> Option<Duration> {
        let time = self.time(at)?;
        if let Some(at) = at.filter(|_| time.is_zero()) {
            self.wrong(at, "a time longer than zero is wanted here");
        }
        Some(time)
    }

    pub(super) fn size(&mut self, at: Option<&At<Size>>) -> Option<usize> {
        const UNITS: [(&str, usize); 4] = [("KB", 1 << 10), ("MB", 1 << 20), ("GB", 1 << 30), ("B", 1)];
        let at = at?;
        let text = at.get().0.as_str();
        let parsed = UNITS.iter().find_map(|(unit, factor)| {
            text.strip_suffix(unit)?.trim_end().parse::<usize>().ok()?.checked_mul(*factor)
        });
        if parsed.is_none_or(|size| size == 0) {
            self.wrong(
                at,
                format!("`{text}` is no size: write a number with B, KB, MB or GB, such as `4MB`"),
            );
        }
        parsed
    }

    pub(super) fn keys(&mut self, at: Option<&At<Words>>) -> Option<Vec<KeyTemplate>> {
        let at = at?;
        let mut keys = Vec::new();
        for word in &at.get().0 {
            match word.text.parse::<KeyTemplate>() {
                Ok(key) if keys.contains(&key) => {
                    let span = word.span.clone().unwrap_or_else(|| at.span());
                    self.problems.push(self.source.error(&span, format!("`{key}` stands here twice")));
                }
                Ok(key) => keys.push(key),
                Err(error) => {
                    let span = word.span.clone().unwrap_or_else(|| at.span());
                    self.problems.push(self.source.error(&span, error.to_string()));
                }
            }
        }
        Some(keys)
    }
}

pub(super) fn mode_of(text: ModeText) -> Mode {
    match text {
        ModeText::Enforce => Mode::Enforce,
        ModeText::Observe => Mode::Observe,
    }
}

/// At most a year: beyond that a number was mistyped.
fn time(text: &str) -> Option<Duration> {
    const UNITS: [(&str, u64); 5] =
        [("ms", 1), ("min", 60_000), ("s", 1_000), ("h", 3_600_000), ("d", 86_400_000)];
    const YEAR: Duration = Duration::from_secs(366 * 24 * 60 * 60);
    let (number, factor) = UNITS.iter().find_map(|(unit, factor)| {
        Some((text.strip_suffix(unit)?.trim_end().parse::<u64>().ok()?, factor))
    })?;
    number.checked_mul(*factor).map(Duration::from_millis).filter(|time| *time <= YEAR)
}
