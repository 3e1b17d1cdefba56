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
use interlock_lang::{Frontend, Layout, Module, Semantics, Source, Tables, module::Lowered, typescript};
use interlock_model::{
    Confidence, FileId, Reach, Span, ToolCoverage,
    ir::{Function, FunctionBuilder, FunctionId, Program},
};
use tempfile::TempDir;

use crate::{
    Analysed, AttributedIssue, Engine, Progress, Request, ScanError, Scanned, config, scan::scan_with,
    walk::Root,
};

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
        let found = |(line, number): (&str, u32)| {
            let (_, hazard) = line.split_once("find ")?;
            let hazard = hazard.split_whitespace().next().unwrap_or_default();
            let span = Span::on_line(FileId(0), number);
            Some(FunctionBuilder::new(hazard).span(span).body([], |_, []| ()))
        };
        let only = FunctionBuilder::new("only").handles("a").body([], |_, []| ());
        let functions = std::iter::once(only).chain(source.text.lines().zip(1..).filter_map(found));
        Module { functions: functions.map(Lowered::from).collect(), ..Module::default() }
    }

    fn tables(&self) -> &'static Tables {
        typescript::LANGUAGE.tables()
    }

    fn semantics(&self) -> &'static Semantics {
        typescript::LANGUAGE.semantics()
    }

    fn layout(&self, modules: &[Module], settings: &[(String, String)]) -> Layout {
        typescript::LANGUAGE.layout(modules, settings)
    }
}

fn toy_rules(program: &mut Program) -> Analysed {
    let issue = |function: &Function| Issue {
        severity: None,
        confidence: Confidence::High,
        reach: Reach::Both,
        span: function.span,
        function: FunctionId(0),
        tools: vec!["b".into(), "a".into()],
        message: "it is lost".to_owned(),
        witness: Vec::new(),
        keys: Vec::new(),
        advice: None,
    };
    let found = |function: &Function| Some(AttributedIssue::alone(find(&function.name)?, issue(function)));
    let tool = ToolCoverage { name: "a".into(), followed: true, lost: vec![] };
    let found = program.functions.iter().filter_map(found).collect();
    Analysed { found, tools: vec![tool], ..Analysed::default() }
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
    let mut engine =
        Engine::new(request.frontends, config.models.as_deref(), request.threads)?.with_words(&config.words);
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

/// The notes.
fn notes(scanned: &Scanned) -> String {
    scanned.report.coverage.notes.iter().fold(String::new(), |all, note| all + note + "\n")
}
