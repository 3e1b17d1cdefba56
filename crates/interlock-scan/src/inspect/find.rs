//! What a name or a place of the command line stands for in a program, and what is near where it stands for nothing.

use std::fmt;

use interlock_model::{
    FileId,
    ir::{Effect, FunctionId, Program},
};

/// How many names are offered in place of one that is not there.
const OFFERED: usize = 3;

/// A line that has steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SourceLine {
    pub(super) file: FileId,
    pub(super) line: u32,
}

/// Nothing stands for what was asked, and what would be near.
#[derive(Debug, Clone, PartialEq, Eq, Default, thiserror::Error)]
pub struct NotFound {
    asked: String,
    what: &'static str,
    near: Vec<String>,
}

impl fmt::Display for NotFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} `{}`", self.what, self.asked)?;
        match self.near.as_slice() {
            [] => write!(f, "; `--show-files` lists the files that are read"),
            near => write!(f, "; try {}", near.join(", ")),
        }
    }
}

impl NotFound {
    /// Of two languages that both have nothing, the one that has something near.
    pub(super) fn or(self, other: Self) -> Self {
        if self.near.is_empty() { other } else { self }
    }

    pub(super) fn of_function(self, asked: &str) -> Self {
        let what = if self.what.is_empty() { "there is no function" } else { self.what };
        Self { asked: asked.to_owned(), what, ..self }
    }

    pub(super) fn of_place(self, asked: &str) -> Self {
        let what = if self.what.is_empty() { "there is no file for" } else { self.what };
        Self { asked: asked.to_owned(), what, ..self }
    }
}

/// The functions that a name stands for: all of them that are called so, by their whole name or by its last part; or the innermost one
/// at `FILE:LINE`.
pub(super) fn functions_named(program: &Program, name: &str) -> Result<Vec<FunctionId>, NotFound> {
    if let Some((path, line)) = split(name) {
        let file = file_of(program, path)?;
        return match innermost(program, file, line) {
            Some(id) => Ok(vec![id]),
            None => Err(NotFound {
                what: "no function stands at",
                near: nearest_starts(program, file, line),
                ..NotFound::default()
            }),
        };
    }
    let named = |wanted: &dyn Fn(&str) -> bool| -> Vec<FunctionId> {
        let functions = (0..).map(FunctionId).zip(&program.functions);
        functions.filter(|(_, function)| wanted(&function.name)).map(|(id, _)| id).collect()
    };
    let exact = named(&|known| known == name);
    if !exact.is_empty() {
        return Ok(exact);
    }
    let last = named(&|known| known.strip_suffix(name).is_some_and(|before| before.ends_with('.')));
    if !last.is_empty() {
        return Ok(last);
    }
    let names = program.functions.iter().map(|function| &*function.name);
    Err(NotFound { what: "there is no function", near: nearest(names, name, '.'), ..NotFound::default() })
}

/// The line of `FILE:LINE`, if a step stands on it.
pub(super) fn place(program: &Program, at: &str) -> Result<SourceLine, NotFound> {
    let Some((path, line)) = split(at) else {
        return Err(NotFound { what: "not of the form FILE:LINE:", ..NotFound::default() });
    };
    let file = file_of(program, path)?;
    let place = SourceLine { file, line };
    if steps_at(program, place).next().is_some() {
        return Ok(place);
    }
    let mut lines: Vec<u32> = program
        .functions
        .iter()
        .flat_map(|function| function.effects())
        .filter(|effect| effect.span.file == file)
        .map(|effect| effect.span.line)
        .collect();
    lines.sort_unstable();
    lines.dedup();
    let split = lines.partition_point(|known| *known < line);
    let (before, behind) = lines.split_at_checked(split).unwrap_or_default();
    let path = program.files.get(file.0 as usize).map_or("", |path| path);
    let near = before.last().into_iter().chain(behind.first()).map(|line| format!("{path}:{line}"));
    Err(NotFound { what: "no step stands at", near: near.collect(), ..NotFound::default() })
}

/// The steps on a line, each with its function.
pub(super) fn steps_at(program: &Program, place: SourceLine) -> impl Iterator<Item = (FunctionId, &Effect)> {
    (0..).map(FunctionId).zip(&program.functions).flat_map(move |(id, function)| {
        let is_there =
            move |effect: &&Effect| effect.span.file == place.file && effect.span.line == place.line;
        function.effects().filter(is_there).map(move |effect| (id, effect))
    })
}

/// `FILE:LINE`, if it has that form.
fn split(text: &str) -> Option<(&str, u32)> {
    let (path, line) = text.rsplit_once(':')?;
    Some((path, line.parse().ok()?))
}

/// A file by its path from the scanned root, or by the end of it.
fn file_of(program: &Program, path: &str) -> Result<FileId, NotFound> {
    let path = path.replace('\\', "/");
    let path = path.trim_start_matches("./");
    let files = || (0..).map(FileId).zip(&program.files);
    if let Some((id, _)) = files().find(|(_, known)| ***known == *path) {
        return Ok(id);
    }
    // `server/src/a.ts` from where the user stands, or only `a.ts`.
    let ends_alike = |known: &str| {
        let whole = |long: &str, end: &str| long.strip_suffix(end).is_some_and(|lead| lead.ends_with('/'));
        whole(known, path) || whole(path, known)
    };
    let alike: Vec<(FileId, &str)> =
        files().map(|(id, known)| (id, &**known)).filter(|(_, known)| ends_alike(known)).collect();
    match alike.as_slice() {
        [(id, _)] => Ok(*id),
        [] => Err(NotFound {
            what: "there is no file for",
            near: nearest(program.files.iter().map(|known| &**known), path, '/'),
            ..NotFound::default()
        }),
        several => Err(NotFound {
            what: "several files could be meant by",
            near: several.iter().take(OFFERED).map(|(_, known)| (*known).to_owned()).collect(),
            ..NotFound::default()
        }),
    }
}

/// The smallest function around a line.
fn innermost(program: &Program, file: FileId, line: u32) -> Option<FunctionId> {
    let around = (0..).map(FunctionId).zip(&program.functions).filter(|(_, function)| {
        let span = function.span;
        span.file == file && (span.line..=span.end_line.max(span.line)).contains(&line)
    });
    around.min_by_key(|(_, function)| function.span.end.saturating_sub(function.span.start)).map(|(id, _)| id)
}

/// The functions of a file that begin nearest to a line.
fn nearest_starts(program: &Program, file: FileId, line: u32) -> Vec<String> {
    let mut near: Vec<(u32, &str)> = program
        .functions
        .iter()
        .filter(|function| function.span.file == file)
        .map(|function| (function.span.line.abs_diff(line), &*function.name))
        .collect();
    near.sort_unstable();
    near.into_iter().take(OFFERED).map(|(_, name)| name.to_owned()).collect()
}

/// The names that are most like one, the most alike first: as a whole, or by their last parts.
fn nearest<'n>(names: impl Iterator<Item = &'n str>, wanted: &str, between: char) -> Vec<String> {
    let last = |name: &str| name.rsplit(between).next().unwrap_or_default().to_owned();
    let likeness = |name: &str| {
        let whole = strsim::jaro_winkler(name, wanted);
        whole.max(strsim::jaro_winkler(&last(name), &last(wanted)))
    };
    let mut near: Vec<(f64, &str)> = names.map(|name| (likeness(name), name)).collect();
    near.sort_by(|(one, name), (other, another)| other.total_cmp(one).then(name.cmp(another)));
    near.dedup_by(|one, other| one.1 == other.1);
    near.into_iter().take(OFFERED).map(|(_, name)| name.to_owned()).collect()
}
