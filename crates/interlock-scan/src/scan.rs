//! A scan from its request to its report.

use std::{
    collections::{BTreeMap, HashSet},
    num::NonZeroUsize,
    path::PathBuf,
};

use interlock_lang::Frontend;
use interlock_model::{Confidence, Finding, HazardId, Rating, Report, Severity, ir::Name};

use crate::{
    BaselineError, Cache, ConfigError, Engine, EngineError, NotFound, SinceError, WalkError,
    baseline::Baseline,
    causes,
    config::{self, Config},
    examine::{Examined, examine, walked},
    fix::Spot,
    hardening,
    score::{Seen, rating},
    since, suppress,
    walk::{self, LIMITS, Root, read_source},
};

/// What is asked for.
#[derive(Clone, Default)]
pub struct Request<'r> {
    /// The files and folders.
    pub paths: Vec<PathBuf>,
    /// The languages.
    pub frontends: &'r [&'r dyn Frontend],
    /// How many threads; as many as the machine has, unless given.
    pub threads: Option<NonZeroUsize>,
    /// The configuration; the nearest `interlock.toml` from the scanned root up to that of its repository, unless given.
    pub config: Option<PathBuf>,
    /// What is known already and not reported again.
    pub baseline: Option<PathBuf>,
    /// Where to write down what is found now, as known.
    pub write_baseline: Option<PathBuf>,
    /// A baseline to use, and to relieve of what is no longer found.
    pub prune_baseline: Option<PathBuf>,
    /// Only what touches lines that have changed since this commit.
    pub since: Option<String>,
    /// Where results are kept; nowhere, unless given.
    pub cache: Option<Cache>,
    /// The names of the tools that the running server lists, to hold what was found against.
    pub listed: Option<Vec<String>>,
    /// The only hazards that are reported, also where the configuration turns them off; all that it leaves on, unless given.
    pub hazards: Option<Vec<HazardId>>,
    /// What is milder is not reported; the configuration's word, unless given.
    pub min_severity: Option<Severity>,
    /// What is less sure is not reported; the configuration's word, unless given.
    pub min_confidence: Option<Confidence>,
}

/// What a scan came to.
#[derive(Debug)]
pub struct Scanned {
    /// What is to be printed.
    pub report: Report,
    /// The texts of the files that the report names.
    pub sources: Sources,
    /// The folder that the report's paths are relative to.
    pub root: PathBuf,
    /// What leads from the root of the repository to that folder, with a slash at its end; empty if there is no repository.
    pub prefix: String,
    /// Where the reported findings might be fixed.
    pub spots: Vec<Spot>,
    /// How many findings a comment silences.
    pub suppressed: usize,
    /// How many findings a baseline knows, one that was just written included.
    pub baselined: usize,
    /// How many findings are too mild, too unsure, on unchanged lines or of hazards that nobody asked for. The score knows them.
    pub hidden: usize,
    /// How many findings were written to a baseline.
    pub written: Option<usize>,
    /// How many entries were removed from a baseline.
    pub pruned: Option<usize>,
}

/// Texts by path.
#[derive(Debug, Default)]
pub struct Sources(BTreeMap<String, String>);

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
pub enum ScanError {
    /// The paths are not right.
    #[error(transparent)]
    Walk(#[from] WalkError),
    /// The configuration is not right.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The front ends cannot be set up.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The baseline is not right.
    #[error(transparent)]
    Baseline(#[from] BaselineError),
    /// It is not known what has changed.
    #[error(transparent)]
    Since(#[from] SinceError),
    /// What was asked about is not there.
    #[error(transparent)]
    NotFound(#[from] NotFound),
}

/// Where a scan is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// The tree has been walked, and this many files will be read.
    Found(usize),
    /// One more file has been read and lowered.
    Read,
    /// All have been read; now they are put together.
    Linking,
    /// Now the rules look at them.
    Looking,
}

/// Who wants to know how far a scan is. It is told from any thread.
pub trait Progress: Sync {
    /// The scan has come to a new phase.
    fn reached(&self, phase: Phase);
}

/// Nobody.
impl Progress for () {
    fn reached(&self, _: Phase) {}
}

/// Scans.
///
/// # Errors
/// If what is asked for is not there or not right. Whatever is wrong with a scanned file is a note of the coverage instead.
pub fn scan(request: &Request<'_>, progress: &dyn Progress) -> Result<Scanned, ScanError> {
    let root = Root::find(&request.paths)?;
    let config = config::load(request.config.as_deref(), &root)?;
    let engine =
        Engine::new(request.frontends, config.models.as_deref(), request.threads)?.with_words(&config.words);
    scan_with(request, &root, &config, &engine, progress)
}

/// The files that a scan of the same request reads, in the order in which it does.
///
/// # Errors
/// If the paths or the configuration are not right.
pub fn files(request: &Request<'_>) -> Result<Vec<PathBuf>, ScanError> {
    let root = Root::find(&request.paths)?;
    let config = config::load(request.config.as_deref(), &root)?;
    let engine =
        Engine::new(request.frontends, config.models.as_deref(), request.threads)?.with_words(&config.words);
    let walk::Tree { sources, .. } = walked(&root, &config, &engine);
    let read = sources.into_iter().filter(|found| read_source(found, &LIMITS).is_ok());
    Ok(read.map(|found| found.place).collect())
}

/// Scans with an engine that is set up.
pub(crate) fn scan_with(
    request: &Request<'_>,
    root: &Root,
    config: &Config,
    engine: &Engine<'_>,
    progress: &dyn Progress,
) -> Result<Scanned, ScanError> {
    // What can be refused is refused before the work is done.
    let known = request.baseline.as_deref().map(Baseline::read).transpose()?;
    let pruned = request.prune_baseline.as_deref().map(Baseline::read).transpose()?;
    let changed = request.since.as_deref().map(|since| since::changed(&root.folder, since)).transpose()?;

    let cache = request.cache.as_ref().and_then(|cache| cache.outside(&root.folder));
    let Examined { mut findings, mut spots, texts, suppressions, coverage, failed, unseen } =
        engine.inside(|| examine(root, config, engine, cache, progress));
    let (suppressed, mut remarks) = suppress::apply(&mut findings, &suppressions);
    findings.retain_mut(|finding| {
        let left_on = config.weigh(finding);
        left_on || request.hazards.as_ref().is_some_and(|wanted| wanted.contains(&finding.hazard))
    });

    let mut scanned = Scanned {
        report: Report { rating: Rating::Score(100), coverage, findings: Vec::new() },
        sources: Sources::default(),
        root: root.folder.clone(),
        prefix: root.prefix(),
        spots: Vec::new(),
        suppressed,
        baselined: 0,
        hidden: 0,
        written: None,
        pruned: None,
    };
    scanned.baselines(request, known, pruned, &mut findings)?;
    let before = findings.len();
    let severity = request.min_severity.or(config.min_severity).unwrap_or(Severity::Low);
    let confidence = request.min_confidence.or(config.min_confidence).unwrap_or(Confidence::Low);
    let is_wanted =
        |finding: &Finding| request.hazards.as_ref().is_none_or(|wanted| wanted.contains(&finding.hazard));
    // Who asks for less to be shown has no better server for it.
    let mut all = findings.clone();
    causes::fold(&mut all);
    hardening::fold(&mut all);
    findings.retain(|finding| {
        is_wanted(finding)
            && finding.severity >= severity
            && finding.confidence >= confidence
            && changed.as_ref().is_none_or(|changed| changed.touches(finding))
    });
    scanned.hidden = before - findings.len();
    // Each line may be mended, also where one finding stands for several.
    let fixed = findings.iter().filter(|finding| finding.hardening.is_none());
    scanned.spots = fixed.filter_map(|finding| spots.remove(&finding.fingerprint)).flatten().collect();
    causes::fold(&mut findings);
    hardening::fold(&mut findings);

    let report = &mut scanned.report;
    if let Some(listed) = &request.listed {
        report.coverage.compare_with(listed);
    }
    report.coverage.notes.append(&mut remarks);
    report.coverage.notes.sort();
    report.rating =
        rating(&all, &config.deductions, &Seen { coverage: &report.coverage, failed, unseen: &unseen });
    scanned.spots.extend(findings.iter().filter_map(|finding| spots.remove(&finding.fingerprint)).flatten());
    scanned.sources = Sources::named_by(&findings, texts);
    report.findings = findings;
    Ok(scanned)
}

impl Scanned {
    /// Leaves out what is known already, and writes what is to be known from now on.
    fn baselines(
        &mut self,
        request: &Request<'_>,
        known: Option<Baseline>,
        pruned: Option<Baseline>,
        findings: &mut Vec<Finding>,
    ) -> Result<(), ScanError> {
        let pruned = match (pruned, &request.prune_baseline) {
            (Some(mut baseline), Some(path)) => {
                let gone = baseline.prune(findings);
                if gone > 0 {
                    baseline.write(path)?;
                }
                self.pruned = Some(gone);
                Some(baseline)
            }
            _ => None,
        };
        let written = match &request.write_baseline {
            Some(path) => {
                let is_wanted = |finding: &&Finding| {
                    request.hazards.as_ref().is_none_or(|wanted| wanted.contains(&finding.hazard))
                };
                let wanted: Vec<Finding> = findings.iter().filter(is_wanted).cloned().collect();
                let baseline = Baseline::of(&wanted);
                baseline.write(path)?;
                self.written = Some(baseline.len());
                Some(baseline)
            }
            None => None,
        };
        let before = findings.len();
        let baselines: Vec<Baseline> = [known, pruned, written].into_iter().flatten().collect();
        findings.retain(|finding| !baselines.iter().any(|baseline| baseline.knows(finding)));
        self.baselined = before - findings.len();
        Ok(())
    }
}

impl Sources {
    /// The text of a file that the report names.
    #[must_use]
    pub fn get(&self, path: &str) -> Option<&str> {
        self.0.get(path).map(String::as_str)
    }

    /// Keeps the texts that somebody will want to see.
    fn named_by(findings: &[Finding], texts: Vec<(Name, String)>) -> Self {
        let mut named: HashSet<&str> = HashSet::new();
        for finding in findings {
            named.insert(&finding.location.file);
            named.extend(finding.witness.0.iter().map(|step| &*step.location.file));
        }
        let texts = texts.into_iter().filter(|(path, _)| named.contains(&**path));
        Self(texts.map(|(path, text)| (path.to_string(), text)).collect())
    }
}
