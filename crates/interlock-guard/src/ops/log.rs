//! The log for people: what changed, and what went wrong. A flood of refusals is told by its first few and then by their number.

use std::{
    io::{self, Write},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant, SystemTime},
};

use super::{
    lines::{Lines, Sink},
    options::{LogOptions, OpsError},
    text::{clip, clip_to, push_harmless, push_json, push_number, push_time},
};

/// How many lines of one kind are written within a [`SPAN`] before they are only counted.
const FIRST: u32 = 5;
/// How long is counted before it is told how many there were.
const SPAN: Duration = Duration::from_secs(10);
/// How much of a text is written. Sentences about a configuration are longer than what callers say.
const LONGEST: usize = 1_000;
/// How many kinds are counted apart.
const KINDS: usize = 64;

/// How the log is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LogFormat {
    /// Words and `name=value`.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// How bad something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    /// Good to know.
    Info,
    /// Somebody should look at it.
    Warn,
    /// Something does not work.
    Error,
}

/// The log.
#[derive(Debug)]
pub(super) struct Log {
    lines: Lines,
    format: LogFormat,
    floods: Mutex<Vec<Flood>>,
}

/// How often one kind of line came lately.
#[derive(Debug)]
struct Flood {
    event: &'static str,
    reason: Box<str>,
    since: Instant,
    written: u32,
    held_back: u64,
}

impl Log {
    /// Starts the thread that writes.
    pub(super) fn start(options: LogOptions) -> Result<Self, OpsError> {
        let sink = Terminal { writer: options.writer, format: options.format };
        let lines = Lines::start("log", sink).map_err(OpsError::Thread)?;
        Ok(Self { lines, format: options.format, floods: Mutex::default() })
    }

    /// Writes a line.
    pub(super) fn say(&self, level: Level, event: &str, fields: &[(&str, &str)]) {
        let mut out = Vec::with_capacity(256);
        write(&mut out, self.format, SystemTime::now(), level, event, fields);
        self.lines.push(&out);
    }

    /// Writes a line, unless there were many of its kind lately.
    pub(super) fn say_seldom(
        &self,
        level: Level,
        event: &'static str,
        reason: &str,
        now: Instant,
        fields: &[(&str, &str)],
    ) {
        if self.may_say(event, reason, now) {
            self.say(level, event, fields);
        }
    }

    /// Tells of what was held back. Called every second or so.
    pub(super) fn tell_held_back(&self, now: Instant) {
        let mut floods = self.floods.lock().unwrap_or_else(PoisonError::into_inner);
        let mut ended = Vec::new();
        floods.retain_mut(|flood| {
            let is_over = now.saturating_duration_since(flood.since) >= SPAN;
            if is_over && flood.held_back > 0 {
                ended.push((flood.event, flood.reason.clone(), flood.held_back));
            }
            !is_over
        });
        drop(floods);
        for (event, reason, held_back) in ended {
            let count = held_back.to_string();
            self.say(Level::Warn, event, &[("reason", &reason), ("more_like_it", &count)]);
        }
    }

    /// How many lines were never written.
    pub(super) fn dropped(&self) -> u64 {
        self.lines.dropped()
    }

    /// Writes what is left.
    pub(super) fn close(&self) {
        self.tell_held_back(Instant::now() + SPAN);
        self.lines.close();
    }

    fn may_say(&self, event: &'static str, reason: &str, now: Instant) -> bool {
        let mut floods = self.floods.lock().unwrap_or_else(PoisonError::into_inner);
        let has_room = floods.len() < KINDS;
        let known = floods.iter().position(|flood| flood.event == event && *flood.reason == *reason);
        match known.and_then(|at| floods.get_mut(at)) {
            Some(flood) if flood.written < FIRST => {
                flood.written += 1;
                true
            }
            Some(flood) => {
                flood.held_back += 1;
                false
            }
            None if has_room => {
                floods.push(Flood {
                    event,
                    reason: clip(reason).into(),
                    since: now,
                    written: 1,
                    held_back: 0,
                });
                true
            }
            None => false,
        }
    }
}

impl Level {
    fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }
}

fn write(
    out: &mut Vec<u8>,
    format: LogFormat,
    now: SystemTime,
    level: Level,
    event: &str,
    fields: &[(&str, &str)],
) {
    match format {
        LogFormat::Json => {
            out.extend_from_slice(b"{\"time\":\"");
            push_time(out, now);
            out.push(b'"');
            for (name, value) in [("level", level.name()), ("event", event)].iter().chain(fields) {
                out.extend_from_slice(b",\"");
                out.extend_from_slice(name.as_bytes());
                out.extend_from_slice(b"\":");
                push_json(out, &clip_to(value, LONGEST));
            }
            out.extend_from_slice(b"}\n");
        }
        LogFormat::Text => {
            push_time(out, now);
            let _ = write!(out, " {:5} {event}", level.name());
            for (name, value) in fields {
                let _ = write!(out, " {name}=");
                let is_word = !value.is_empty() && !value.contains([' ', '"', '=', '\\']);
                if is_word {
                    push_harmless(out, &clip_to(value, LONGEST));
                } else {
                    push_json(out, &clip_to(value, LONGEST));
                }
            }
            out.push(b'\n');
        }
    }
}

/// What the binary gave to write to.
struct Terminal {
    writer: Box<dyn Write + Send>,
    format: LogFormat,
}

impl Sink for Terminal {
    fn write(&mut self, lines: &[u8]) -> io::Result<()> {
        self.writer.write_all(lines)?;
        self.writer.flush()
    }

    fn tell_dropped(&self, out: &mut Vec<u8>, dropped: u64) {
        let mut count = Vec::new();
        push_number(&mut count, dropped);
        let count = String::from_utf8_lossy(&count);
        write(
            out,
            self.format,
            SystemTime::now(),
            Level::Warn,
            "log lines were dropped",
            &[("lines", &count)],
        );
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::Arc, time::UNIX_EPOCH};

    use expect_test::{Expect, expect};

    use super::*;

    fn check(format: LogFormat, expected: &Expect) {
        let mut out = Vec::new();
        let fields =
            [("upstream", "memory"), ("state", "down"), ("reason", "it \"said\"\n\u{1b}[31mred\u{202e}")];
        write(&mut out, format, UNIX_EPOCH, Level::Warn, "upstream", &fields);
        expected.assert_eq(&String::from_utf8(out).unwrap());
    }

    #[test]
    fn a_line_is_a_line_whatever_an_upstream_says() {
        check(
            LogFormat::Text,
            &expect![[r#"
            1970-01-01T00:00:00.000Z warn  upstream upstream=memory state=down reason="it \"said\"\n\u001b[31mred\u202e"
        "#]],
        );
        check(
            LogFormat::Json,
            &expect![[r#"
            {"time":"1970-01-01T00:00:00.000Z","level":"warn","event":"upstream","upstream":"memory","state":"down","reason":"it \"said\"\n\u001b[31mred\u202e"}
        "#]],
        );
    }

    #[derive(Clone, Default)]
    struct Paper(Arc<Mutex<Vec<u8>>>);

    impl Write for Paper {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_flood_is_told_by_its_first_few_and_then_by_their_number() {
        let paper = Paper::default();
        let log =
            Log::start(LogOptions { format: LogFormat::Text, writer: Box::new(paper.clone()) }).unwrap();
        let now = Instant::now();
        for n in 0..1000 {
            log.say_seldom(Level::Warn, "refused", "busy", now, &[("n", &n.to_string())]);
        }
        log.tell_held_back(now + Duration::from_secs(1));
        log.tell_held_back(now + SPAN);
        log.say_seldom(Level::Warn, "refused", "busy", now + SPAN, &[("n", "again")]);
        log.close();
        let text = String::from_utf8(paper.0.lock().unwrap().clone()).unwrap();
        let lines: Vec<_> = text.lines().filter_map(|line| Some(line.split_once("refused ")?.1)).collect();
        assert_eq!(lines, ["n=0", "n=1", "n=2", "n=3", "n=4", "reason=busy more_like_it=995", "n=again"]);
    }

    #[test]
    fn reasons_without_end_take_no_room_without_end() {
        let log = Log::start(LogOptions { format: LogFormat::Json, writer: Box::new(io::sink()) }).unwrap();
        for n in 0..10_000 {
            log.say_seldom(Level::Warn, "refused", &n.to_string(), Instant::now(), &[]);
        }
        assert_eq!(log.floods.lock().unwrap().len(), KINDS);
    }
}
