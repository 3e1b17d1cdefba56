//! A tree from its files to its findings: read, lowered, linked, analysed, or remembered from an earlier scan.

use std::collections::{HashMap, HashSet};

use interlock_hazards::find;
use interlock_model::{Coverage, Finding, Fingerprint, Loss, NotFollowed, ToolCoverage, ir::Name};
use serde::{Deserialize, Serialize};

use crate::{
    Cache, Engine, Phase, Progress,
    cache::Key,
    config::Config,
    engine::Linked,
    finish::finish,
    fix::Spot,
    score::Unseen,
    suppress::{Suppression, suppressions},
    unmade,
    walk::{
        self, LIMITS, Notes, Root, Unread, UnreadServer, Wanted, read_setting, read_source, unread_server,
        walk,
    },
};

/// What the tree holds, before anybody says what of it is to be reported.
pub(crate) struct Examined {
    pub(crate) findings: Vec<Finding>,
    /// By the fingerprint of their finding.
    pub(crate) spots: HashMap<Fingerprint, Vec<Spot>>,
    pub(crate) texts: Vec<(Name, String)>,
    pub(crate) suppressions: Vec<(String, Vec<Suppression>)>,
    pub(crate) coverage: Coverage,
    /// How many files their front end gave up on.
    pub(crate) failed: usize,
    /// Where tools may be that nobody sees.
    pub(crate) unseen: Unseen,
}

/// The files of a tree, path and text, sorted by path.
struct Files {
    sources: Vec<(Name, String)>,
    settings: Vec<(String, String)>,
    unread: Vec<UnreadServer>,
    notes: Notes,
}

/// What the analysis makes of the files of a tree. It depends on nothing else, so that it can be kept.
#[derive(Default, Serialize, Deserialize)]
struct Analysis {
    /// In the order of a report.
    findings: Vec<(Finding, Vec<Spot>)>,
    functions: usize,
    tools: Vec<ToolCoverage>,
    not_followed: NotFollowed,
    registrars: Vec<Loss>,
    /// Files that their front end gave up on.
    failed: Vec<String>,
    /// What was not understood.
    notes: Vec<String>,
}

/// Examines a tree, or remembers what an earlier scan made of the same files.
pub(crate) fn examine(
    root: &Root,
    config: &Config,
    engine: &Engine<'_>,
    cache: Option<&Cache>,
    progress: &dyn Progress,
) -> Examined {
    let Files { sources: texts, settings, unread, mut notes } = read_files(root, config, engine, progress);
    let kept = cache.map(|cache| (cache, key_of(cache.key(), config, engine, &texts, &settings)));
    let known = kept.as_ref().and_then(|(cache, key)| cache.get::<Analysis>(key));
    let analysis = known.and_then(|known| known.checked(&texts)).unwrap_or_else(|| {
        let lowered = engine.lower(&texts);
        progress.reached(Phase::Linking);
        let linked = engine.link(lowered, settings);
        progress.reached(Phase::Looking);
        let analysis = Analysis::of(engine, linked, &texts);
        if let Some((cache, key)) = &kept {
            cache.put(key, &analysis);
        }
        analysis
    });

    let Analysis { findings, functions, tools, not_followed, registrars, failed, notes: more } = analysis;
    for file in &failed {
        notes.trouble("its front end failed, which is a mistake of ours: please report it", file);
    }
    more.into_iter().for_each(|note| notes.say(note));
    let files = texts.len().saturating_sub(failed.len());
    let handlers = tools.len();
    let notes = notes.lines();
    let coverage = Coverage { files, functions, handlers, tools, not_followed, notes, listed: None };
    let (findings, spots): (Vec<Finding>, Vec<Vec<Spot>>) = findings.into_iter().unzip();
    let spots = findings.iter().map(|finding| finding.fingerprint.clone()).zip(spots).collect();
    let suppressions = texts.iter().map(|(path, text)| (path.to_string(), suppressions(text)));
    let suppressions = suppressions.filter(|(_, found)| !found.is_empty()).collect();
    let unseen = Unseen { registrars, unread };
    Examined { findings, spots, texts, suppressions, coverage, failed: failed.len(), unseen }
}

/// The programs of a tree, one for each language.
pub(crate) fn programs(
    root: &Root,
    config: &Config,
    engine: &Engine<'_>,
    progress: &dyn Progress,
) -> Vec<Linked> {
    let Files { sources, settings, .. } = read_files(root, config, engine, progress);
    progress.reached(Phase::Linking);
    engine.link(engine.lower(&sources), settings)
}

/// The files under a root that might be scanned.
pub(crate) fn walked(root: &Root, config: &Config, engine: &Engine<'_>) -> walk::Tree {
    let (extensions, names) = (engine.extensions(), engine.settings());
    let ignored = config.ignored(root);
    let wanted = Wanted { extensions: &extensions, settings: &names, ignored: &ignored, limits: LIMITS };
    walk(root, &wanted)
}

/// Reads the files of a tree; of those that cannot be read it is noted why.
fn read_files(root: &Root, config: &Config, engine: &Engine<'_>, progress: &dyn Progress) -> Files {
    let walk::Tree { sources, settings, manifests, mut notes } = walked(root, config, engine);
    progress.reached(Phase::Found(sources.len()));
    let read = engine.each(&sources, |found| {
        let text = read_source(found, &LIMITS);
        progress.reached(Phase::Read);
        text
    });
    let mut texts = Vec::with_capacity(read.len());
    for (found, text) in sources.into_iter().zip(read) {
        match text {
            Ok(text) => texts.push((Name::from(found.path), text)),
            Err(Unread::Left(left)) => notes.left_file(left),
            Err(Unread::Trouble(why)) => notes.trouble(why, &found.path),
        }
    }
    let settings = settings.into_iter().filter_map(|found| match read_setting(&found.place, &LIMITS) {
        Ok(text) => Some((found.path, text)),
        Err(why) => {
            notes.trouble(why, &found.path);
            None
        }
    });
    let settings = settings.collect();
    let manifests = manifests.into_iter().filter_map(|found| {
        let text = read_setting(&found.place, &LIMITS).ok()?;
        unread_server(&found.path, &text)
    });
    let unread = manifests.collect();
    Files { sources: texts, settings, unread, notes }
}

/// Everything that an analysis depends on.
fn key_of(
    mut key: Key,
    config: &Config,
    engine: &Engine<'_>,
    sources: &[(Name, String)],
    settings: &[(String, String)],
) -> Key {
    key.add_all(engine.knowledge().into_iter());
    key.add(config.models.as_deref().unwrap_or_default());
    let words: Vec<(&str, String)> =
        config.words.iter().map(|(topic, words)| (topic.as_str(), words.join("\n"))).collect();
    key.add_all(words.iter().map(|(topic, words)| (*topic, words.as_str())));
    key.add_all(sources.iter().map(|(path, text)| (&**path, &**text)));
    key.add_all(settings.iter().map(|(path, text)| (&**path, &**text)));
    key
}

impl Analysis {
    fn of(engine: &Engine<'_>, linked: Vec<Linked>, texts: &[(Name, String)]) -> Self {
        let mut all = Self::default();
        for Linked { mut program, failed } in linked {
            all.failed.extend(failed.iter().map(ToString::to_string));
            all.functions += program.functions.len();
            unmade::doubt(&mut program, texts);
            let mut looked = engine.look(&mut program);
            all.findings.append(&mut looked.findings);
            all.tools.append(&mut looked.tools);
            all.not_followed += looked.not_followed;
            all.registrars.append(&mut looked.registrars);
            let note = |note: &interlock_model::ir::Note| {
                let file = program.files.get(note.span.file.0 as usize).map_or("?", |file| file);
                format!("{file}:{}: {}", note.span.line, note.text)
            };
            all.notes.extend(program.notes.iter().map(note));
        }
        all.tools.sort_by(|one, other| one.name.cmp(&other.name));
        let lines = Lines::new(texts);
        finish(&mut all.findings, |file, line| lines.get(file, line));
        all
    }

    /// What was kept, if it speaks of nothing but these files and of hazards that there are. Whoever can write to the cache could have
    /// made it up.
    fn checked(mut self, texts: &[(Name, String)]) -> Option<Self> {
        let files: HashSet<&str> = texts.iter().map(|(path, _)| &**path).collect();
        for (finding, spots) in &mut self.findings {
            let steps = finding.witness.0.iter().map(|step| &step.location.file);
            let hardening = finding.hardening.iter();
            let servers =
                hardening.flat_map(|more| more.server.iter().chain(&more.further)).map(|place| &place.file);
            let named = steps.chain([&finding.location.file]).chain(servers);
            let named = named.chain(spots.iter().map(|spot| &spot.file));
            if !named.into_iter().all(|file| files.contains(&**file)) {
                return None;
            }
            finding.remedy.primitive = find(finding.hazard.as_str())?.example_remedy().primitive;
        }
        self.failed.iter().all(|file| files.contains(&**file)).then_some(self)
    }
}

/// The lines of files, found when somebody asks.
struct Lines<'t>(HashMap<&'t str, &'t str>);

impl<'t> Lines<'t> {
    fn new(texts: &'t [(Name, String)]) -> Self {
        Self(texts.iter().map(|(path, text)| (&**path, &**text)).collect())
    }

    fn get(&self, file: &str, line: u32) -> Option<&'t str> {
        self.0.get(file)?.lines().nth((line as usize).checked_sub(1)?)
    }
}
