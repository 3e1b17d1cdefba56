//! The scan around the analysis, with a language of its own: in a `.toy` file a line `find HAZARD` is found.

mod bad_input;
mod baselines;
mod reporting;
mod walking;

use std::{
    fs,
    num::NonZeroUsize,
    path::{Path, PathBuf},
};

use interlock_hazards::{Issue, find};
use interlock_lang::{Frontend, Module, Package, Source};
use interlock_model::{
    Confidence, Reach, Span,
    ir::{FunctionBuilder, FunctionId, Note, Program},
};
use tempfile::TempDir;

use crate::{Engine, Found, Progress, Request, ScanError, Scanned, config, scan::scan_with, walk::Root};

struct Toy;

impl Frontend for Toy {
    fn name(&self) -> &'static str {
        "Toy"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["toy", "ts", "js"]
    }

    fn settings(&self) -> &'static [&'static str] {
        &["package.json"]
    }

    fn effects(&self) -> &'static str {
        ""
    }

    fn module(&self, source: &Source<'_>) -> Module {
        assert!(!source.text.contains("panic"), "as a front end of the toy language may");
        let found = source.text.lines().zip(1..).filter_map(|(line, number)| {
            let (_, name) = line.split_once("find ")?;
            Some((name.split_whitespace().next().unwrap_or_default().to_owned(), number))
        });
        Module::new(found.collect::<Vec<(String, u32)>>())
    }

    fn link(&self, package: Package<'_>) -> Program {
        let mut program = Program::default();
        for (path, module) in package.modules {
            let file = program.add_file(path);
            for (text, line) in module.take::<Vec<(String, u32)>>().unwrap() {
                program.notes.push(Note { span: Span::on_line(file, line), text });
            }
        }
        program.add_function(FunctionBuilder::new("only").handles("a").body([], |_, []| ()));
        program
    }
}

fn toy_rules(program: &mut Program) -> Vec<Found> {
    let issue = |note: &Note| Issue {
        severity: None,
        confidence: Confidence::High,
        reach: Reach::Both,
        span: note.span,
        function: FunctionId(0),
        tools: vec!["b".into(), "a".into()],
        message: "it is lost".to_owned(),
        witness: Vec::new(),
        keys: Vec::new(),
    };
    let found = |note: &Note| Some(Found::alone(find(&note.text)?, issue(note)));
    program.notes.iter().filter_map(found).collect()
}

/// A folder with these files in it.
fn tree(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        put(folder.path(), path, text.as_bytes());
    }
    folder
}

fn put(folder: &Path, path: &str, content: &[u8]) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

fn request(paths: &[PathBuf]) -> Request<'static> {
    Request { paths: paths.to_vec(), frontends: &[&Toy], threads: NonZeroUsize::new(2), ..Request::default() }
}

fn scan_toys(request: &Request<'_>, progress: &dyn Progress) -> Result<Scanned, ScanError> {
    let root = Root::find(&request.paths)?;
    let config = config::load(request.config.as_deref(), &root)?;
    let mut engine = Engine::new(request.frontends, config.models.as_deref(), request.threads)?;
    engine.analyse = toy_rules;
    scan_with(request, &root, &config, &engine, progress)
}

/// Scans a folder.
fn scanned(folder: &Path) -> Scanned {
    scan_toys(&request(&[folder.to_owned()]), &()).unwrap()
}

/// The places that are reported.
fn places(scanned: &Scanned) -> Vec<String> {
    let findings = scanned.report.findings.iter();
    findings.map(|finding| format!("{} {}", finding.location, finding.hazard)).collect()
}

/// The notes that do not come from the toy language.
fn notes(scanned: &Scanned) -> String {
    let notes = scanned.report.coverage.notes.iter();
    notes
        .filter(|note| note.contains(' ') && !note.contains(": lost-update"))
        .fold(String::new(), |all, note| all + note + "\n")
}
