//! From texts to findings, whatever the texts come from: lower each by itself, link those of a language, ask the rules.
//!
//! Threads take files as they come, but results stand in the order of the files, so that one thread and many give the same.

use std::{
    collections::BTreeMap,
    num::NonZeroUsize,
    panic::{AssertUnwindSafe, catch_unwind},
    thread,
};

use interlock_lang::{
    Frontend, Module, Package, Source,
    knowledge::{InvalidKnowledge, Knowledge},
};
use interlock_model::{
    Finding, Loss, NotFollowed, ToolCoverage,
    ir::{Name, Program},
};
use rayon::{
    ThreadPool, ThreadPoolBuilder,
    iter::{IntoParallelRefIterator, ParallelIterator},
};

use crate::{
    analyse::{Analysed, AttributedIssue, analyse},
    finish,
    fix::Spot,
    walk::names::{extension, is_setting},
};

/// How much stack a thread has. Parsers and lowering recurse with the nesting of the source, which is bounded so that this is enough.
const STACK: usize = 128 << 20;

/// The front ends with what they know of libraries, and the threads that run them.
pub struct Engine<'e> {
    languages: Vec<Language<'e>>,
    pool: ThreadPool,
    pub(crate) analyse: fn(&mut Program) -> Analysed,
    /// Words that the project adds to what rules read names by, under the names of the lists.
    words: BTreeMap<Name, Vec<Name>>,
}

struct Language<'e> {
    frontend: &'e dyn Frontend,
    knowledge: Knowledge,
}

/// Why there is no engine.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// What a language knows of libraries cannot be read: a mistake of ours.
    #[error("failed to read what is known of the libraries of {language}")]
    Knowledge {
        /// The language.
        language: &'static str,
        /// Why.
        source: InvalidKnowledge,
    },
    /// The user's own models cannot be read.
    #[error("the models of the configuration are not right")]
    Models(#[source] InvalidKnowledge),
    /// The machine gives us no threads.
    #[error("failed to start the threads of the scan; try fewer with --threads")]
    Threads(#[source] rayon::ThreadPoolBuildError),
}

/// A file that was lowered by itself.
pub(crate) struct LoweredFile {
    /// Its path.
    pub(crate) path: Name,
    /// Which language it is in.
    language: usize,
    /// `None` if the front end gave up on it.
    module: Option<Module>,
}

/// The files of one language.
#[derive(Default)]
struct Part {
    modules: Vec<(Name, Module)>,
    /// Those that its front end gave up on.
    failed: Vec<Name>,
}

/// What a language's files came to.
pub(crate) struct Linked {
    /// The program.
    pub(crate) program: Program,
    /// The files that its front end gave up on.
    pub(crate) failed: Vec<Name>,
}

/// What the rules say to a program.
pub(crate) struct Looked {
    /// What they found, each with what a fix would be about.
    pub(crate) findings: Vec<(Finding, Vec<Spot>)>,
    /// How far calls were followed, tool by tool.
    pub(crate) tools: Vec<ToolCoverage>,
    /// What was not followed.
    pub(crate) not_followed: NotFollowed,
    /// Where a server is handed to something unknown, which may announce tools.
    pub(crate) registrars: Vec<Loss>,
}

impl<'e> Engine<'e> {
    /// An engine of some languages, with the user's own models of libraries, on as many threads as given or as the machine has.
    ///
    /// # Errors
    /// If a model is not right or the threads cannot be started.
    pub fn new(
        frontends: &[&'e dyn Frontend],
        models: Option<&str>,
        threads: Option<NonZeroUsize>,
    ) -> Result<Self, EngineError> {
        let language = |frontend: &&'e dyn Frontend| {
            let language = frontend.name();
            let mut knowledge =
                Knowledge::of(*frontend).map_err(|source| EngineError::Knowledge { language, source })?;
            if let Some(models) = models {
                knowledge.extend(models).map_err(EngineError::Models)?;
            }
            Ok(Language { frontend: *frontend, knowledge })
        };
        let languages = frontends.iter().map(language).collect::<Result<_, _>>()?;
        let threads = threads.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get);
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads)
            .stack_size(STACK)
            .thread_name(|number| format!("scan-{number}"))
            .build()
            .map_err(EngineError::Threads)?;
        Ok(Self { languages, pool, analyse, words: BTreeMap::new() })
    }

    /// The same, with words that the project adds to what rules read names by.
    #[must_use]
    pub(crate) fn with_words(self, words: &BTreeMap<String, Vec<String>>) -> Self {
        let name = |word: &String| Name::from(word.as_str());
        let list = |(topic, words): (&String, &Vec<String>)| (name(topic), words.iter().map(name).collect());
        Self { words: words.iter().map(list).collect(), ..self }
    }

    /// The endings of the files that it can read.
    pub fn extensions(&self) -> Vec<&'static str> {
        self.languages.iter().flat_map(|language| language.frontend.extensions()).copied().collect()
    }

    /// The names of the files that say how sources belong together.
    pub fn settings(&self) -> Vec<&'static str> {
        self.languages.iter().flat_map(|language| language.frontend.settings()).copied().collect()
    }

    /// The programs of a tree that is given as paths and texts, settings files among them.
    #[must_use]
    pub fn programs(&self, mut files: Vec<(String, String)>) -> Vec<Program> {
        files.sort();
        let settings = self.settings();
        let (settings, sources): (Vec<_>, Vec<_>) =
            files.into_iter().partition(|(path, _)| is_setting(&settings, path));
        let known: Vec<_> =
            sources.into_iter().filter(|(path, _)| self.language_of(path).is_some()).collect();
        self.link(self.lower(&known), settings).into_iter().map(|linked| linked.program).collect()
    }

    /// What the rules find in a program.
    #[must_use]
    pub fn findings(&self, mut program: Program) -> Vec<Finding> {
        self.look(&mut program).findings.into_iter().map(|(finding, _)| finding).collect()
    }

    /// The same, each with what a fix would be about. The steps of the functions are gone afterwards.
    pub(crate) fn look(&self, program: &mut Program) -> Looked {
        let Analysed { found, tools, not_followed, registrars } =
            self.pool.install(|| (self.analyse)(program));
        let look = |AttributedIssue { hazard, issue, ways }| {
            let witness = issue.witness.iter().map(|(_, span, _)| *span);
            let spots = Spot::of(&hazard.id, witness.chain([issue.span]), &program.files);
            (finish::finding(program, hazard, issue, &ways), spots)
        };
        Looked { findings: found.into_iter().map(look).collect(), tools, not_followed, registrars }
    }

    /// Does something with each of some things, side by side; the results are in their order.
    pub(crate) fn each<F: Sync, T: Send>(&self, things: &[F], work: impl Fn(&F) -> T + Sync) -> Vec<T> {
        self.pool.install(|| things.par_iter().map(&work).collect())
    }

    /// Lowers files, path and text, side by side.
    pub(crate) fn lower<P: AsRef<str> + Sync>(&self, files: &[(P, String)]) -> Vec<LoweredFile> {
        self.each(files, |(path, text)| {
            let path = path.as_ref();
            let language = self.language_of(path).unwrap_or_default();
            let module = self.languages.get(language).and_then(|language| {
                let source = Source { path, text };
                // A front end never gives up on a file; should one do so all the same, it costs that file and not the scan.
                catch_unwind(AssertUnwindSafe(|| language.frontend.module(&source))).ok()
            });
            LoweredFile { path: path.into(), language, module }
        })
    }

    /// Puts the files of each language together; the modules are gone afterwards.
    pub(crate) fn link(&self, files: Vec<LoweredFile>, settings: Vec<(String, String)>) -> Vec<Linked> {
        let mut modules: Vec<Part> = self.languages.iter().map(|_| Part::default()).collect();
        for LoweredFile { path, language, module } in files {
            let Some(Part { modules, failed }) = modules.get_mut(language) else { continue };
            match module {
                Some(module) => modules.push((path, module)),
                None => failed.push(path),
            }
        }
        let of_language = |(language, Part { modules, failed }): (&Language<'_>, Part)| {
            let names = language.frontend.settings();
            let settings = settings.iter().filter(|(path, _)| is_setting(names, path));
            let package =
                Package { modules, settings: settings.cloned().collect(), knowledge: &language.knowledge };
            let mut program = interlock_lang::link(language.frontend, package);
            program.words.clone_from(&self.words);
            Linked { program, failed }
        };
        self.pool.install(|| {
            let work = self.languages.iter().zip(modules);
            work.filter(|(_, part)| !part.modules.is_empty() || !part.failed.is_empty())
                .map(of_language)
                .collect()
        })
    }

    /// The languages with what each knows of libraries, as a text.
    pub(crate) fn knowledge(&self) -> Vec<(&'static str, &'static str)> {
        self.languages
            .iter()
            .map(|language| (language.frontend.name(), language.frontend.effects()))
            .collect()
    }

    /// Does something on a thread of the scan: who drops what the threads have made should be one of them.
    pub(crate) fn inside<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.pool.install(work)
    }

    fn language_of(&self, path: &str) -> Option<usize> {
        let extension = extension(path);
        self.languages.iter().position(|language| language.frontend.extensions().contains(&extension))
    }
}
