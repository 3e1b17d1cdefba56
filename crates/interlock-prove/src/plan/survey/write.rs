//! One tool, called between two looks at what may show its effect.

use std::{collections::BTreeMap, time::Duration};

use interlock_model::{Answer, Effectful, PlannedCall};
use serde_json::Value;

use super::{
    Meter, Seen, advice,
    change::{changed, said, same, shortened},
    look::{told, took},
    more::{everything, wishes},
    refused,
    setup::{self, referring},
};
use crate::{
    files::{is_files, read_of_files},
    plan::arguments::{Named, Pool, Sampler, Source, Want, noun_of_tool, things},
};

/// What is known of a tool that can be called.
pub(super) struct Known {
    pub(super) effect: Effectful,
    pub(super) samples: Vec<PlannedCall>,
    pub(super) others: Vec<PlannedCall>,
    pub(super) once: Option<PlannedCall>,
    pub(super) setup: Vec<PlannedCall>,
    pub(super) reads: Vec<PlannedCall>,
    pub(super) took: Duration,
    /// What its answer has in it that others may be asked about.
    pub(super) gives: Pool,
    /// Whether the argument that is named like an idempotency key is one: the same call again did nothing more.
    pub(super) is_keyed: bool,
}

/// A call, and how one gets there.
pub(super) struct Start {
    pub(super) setup: Vec<PlannedCall>,
    pub(super) call: PlannedCall,
    pub(super) want: Want,
    /// What the set-up was answered with.
    pub(super) pool: Pool,
}

/// What was seen of a call.
pub(super) struct Watched {
    /// Whether anybody could be asked about it.
    asked: bool,
    pub(super) own: Answer,
    again: Answer,
    reads: Vec<PlannedCall>,
    /// Calls that say something else, or speak of something else, and work behind it.
    works: Vec<PlannedCall>,
    /// What was there before.
    pool: Pool,
    took: Duration,
}

/// So many readers are asked about one writer.
const MOST_READERS: usize = 8;

/// Calls a tool and finds out what it does; or says why it cannot be called.
pub(super) async fn explore(sampler: &Sampler, seen: &Seen, meter: &Meter<'_>) -> Result<Known, String> {
    let (start, watched) = begin(sampler, seen, meter).await?;
    let refused_again = refused(&watched.again).is_some();
    let counts = watched.reads.is_empty() && !refused_again && start.counts(&watched, meter).await;
    let effect = if !watched.reads.is_empty() || refused_again || counts {
        Effectful::Writes
    } else if !watched.asked || sampler.tool().looks_like_writer() {
        // Whoever makes or changes something has not read only because nobody could be asked for it, or because what it was told was nothing
        // that there is.
        Effectful::Unknown
    } else {
        Effectful::Reads
    };
    let mut known = Known {
        effect,
        samples: vec![start.call.clone()],
        others: Vec::new(),
        once: refused_again.then(|| start.call.clone()),
        setup: start.setup.clone(),
        // What only its own answers show is read by one call more, after all others: `thoughts so far: 3`.
        reads: if counts { vec![start.call.clone()] } else { watched.reads },
        took: watched.took,
        gives: Pool::default(),
        is_keyed: false,
    };
    if sampler.idempotency_argument(Some(&start.call)).is_some() {
        known.is_keyed = refused_again || start.does_it_once(&known.reads, meter).await;
    }
    let answered = told(&watched.own).unwrap_or_default();
    known.gives.learn(&sampler.tool().name, &start.call.arguments, &answered, 0);
    if effect != Effectful::Reads {
        known.vary(sampler, &start, &watched.works, seen, meter).await;
    }
    if known.once.is_none() && effect == Effectful::Writes {
        known.once = everything(sampler, &start, &watched.pool, meter).await;
    }
    Ok(known)
}

/// So many calls of a writer are answered without a change until the next way is tried.
const MOST_UNSEEN: usize = 3;

/// A call that succeeds on a fresh instance, or after what another tool has made; and what was seen of it. Many servers answer `there is no such
/// task` like anything else, so of a tool that is named like a writer a call that changes something is looked for before one that only succeeds.
async fn begin(sampler: &Sampler, seen: &Seen, meter: &Meter<'_>) -> Result<(Start, Watched), String> {
    let mut why = None;
    let mut advised: Vec<Want> = Vec::new();
    let mut refusals: Vec<(Want, PlannedCall, String)> = Vec::new();
    let mut refuse = |start: &Start, words: String, why: &mut Option<String>| {
        refusals.push((start.want.clone(), start.call.clone(), words.clone()));
        advised.extend(advice::corrected(sampler, &start.want, &start.call, &words));
        *why = why.take().or(Some(words));
    };
    let insists = sampler.tool().looks_like_writer();
    let (mut unseen, mut count_unseen): (Option<(Start, Watched)>, usize) = (None, 0);
    // Whatever was refused before is refused again; only the others have become better known.
    let mut open =
        if seen.known.contains_key(&sampler.tool().name) { Vec::new() } else { starts(sampler, seen) };
    open.retain(|start| match meter.withholds(&start.call) {
        Some(withheld) => {
            why.get_or_insert(withheld);
            false
        }
        None => true,
    });
    // The first is likely to work and is watched at once; of the others it is seen first which does.
    let mut is_first = true;
    loop {
        if !is_first {
            let calls: Vec<PlannedCall> = open.iter().map(|start| start.call.clone()).collect();
            let Tried { refusals, works } = try_in_turn(&[], &calls, meter).await?;
            for (start, words) in open.drain(..refusals.len()).zip(refusals) {
                refuse(&start, words, &mut why);
            }
            if !works && !open.is_empty() {
                continue;
            }
        }
        is_first = false;
        if open.is_empty() {
            break;
        }
        let start = open.remove(0);
        let watched = start.watch(sampler, seen, meter).await?;
        match refused(&watched.own) {
            None if !insists || watched.shows() => return Ok((start, watched)),
            None => {
                refuse(&start, said_by(&watched.own), &mut why);
                unseen.get_or_insert((start, watched));
                count_unseen += 1;
                if count_unseen >= MOST_UNSEEN {
                    break;
                }
            }
            Some(words) => refuse(&start, words, &mut why),
        }
    }
    match as_advised(sampler, advised, seen, meter).await? {
        Some((start, watched)) if !insists || watched.shows() => return Ok((start, watched)),
        found => unseen = unseen.or(found),
    }
    match seeded(sampler, refusals, seen, meter).await? {
        Some((start, watched)) if !insists || watched.shows() => return Ok((start, watched)),
        found => unseen = unseen.or(found),
    }
    let said = why.clone().or_else(|| seen.known.get(&sampler.tool().name)?.as_ref().err().cloned());
    match setup::find(sampler, &said.unwrap_or_default(), seen, meter).await {
        Some((start, watched)) if !insists || watched.shows() => return Ok((start, watched)),
        found => unseen = unseen.or(found),
    }
    if let Some(unseen) = unseen {
        return Ok(unseen);
    }
    Err(match why {
        Some(why) => format!("every call that we know to make is refused or withheld: {}", shortened(&why)),
        None => NO_ARGUMENTS.into(),
    })
}

/// Why a tool is not called of which a schema asks too much.
pub(super) const NO_ARGUMENTS: &str = "no arguments that its schema allows could be made";

/// What came of calls that were tried in turn.
pub(super) struct Tried {
    /// Of the first ones, why they were refused.
    pub(super) refusals: Vec<String>,
    /// Whether the next one works.
    pub(super) works: bool,
}

/// Makes calls one after another on one instance, behind a set-up, up to the first that works: what is refused changes nothing, so it takes no
/// instance of its own. Behind one that is not answered at all nothing is known of the others.
pub(super) async fn try_in_turn(
    setup: &[PlannedCall],
    calls: &[PlannedCall],
    meter: &Meter<'_>,
) -> Result<Tried, String> {
    let mut tried = Tried { refusals: Vec::new(), works: false };
    if calls.is_empty() {
        return Ok(tried);
    }
    let run: Vec<PlannedCall> = setup.iter().chain(calls).cloned().collect();
    let answers = meter.run(&run).await?;
    for answer in answers.iter().skip(setup.len()) {
        let Some(words) = refused(answer) else {
            tried.works = tried.refusals.len() < calls.len();
            break;
        };
        tried.refusals.push(words);
        if matches!(answer, Answer::Missing { .. }) {
            break;
        }
    }
    // Whoever calls this goes on with what is left, so that it ends.
    if tried.refusals.is_empty() && !tried.works {
        tried.refusals.push("there was no answer".to_owned());
    }
    Ok(tried)
}

/// What an answer says, for people.
fn said_by(answer: &Answer) -> String {
    match answer {
        Answer::Result { value, .. } | Answer::Error { value, .. } => said(value),
        Answer::Missing { reason } => reason.clone(),
    }
}

/// A call that was refused because a file or a table is not there, after that was laid down or made.
async fn seeded(
    sampler: &Sampler,
    refusals: Vec<(Want, PlannedCall, String)>,
    seen: &Seen,
    meter: &Meter<'_>,
) -> Result<Option<(Start, Watched)>, String> {
    let insists = sampler.tool().looks_like_writer();
    let mut unseen = None;
    let mut tried: Vec<PlannedCall> = Vec::new();
    for (want, call, words) in refusals {
        let files = || meter.shows_files().then(|| advice::wanted_files(&call, &words)).flatten();
        let step = advice::wanted_table(&call, &words).or_else(files);
        let Some(step) = step.filter(|step| !tried.contains(step)) else { continue };
        if !is_files(&step) && meter.withholds(&step).is_some() {
            continue;
        }
        if tried.len() >= MOST_SEEDS {
            break;
        }
        tried.push(step.clone());
        let start = Start { setup: vec![step], call, want, pool: Pool::default() };
        let watched = start.watch(sampler, seen, meter).await?;
        if refused(&watched.own).is_some() {
            continue;
        }
        if !insists || watched.shows() {
            return Ok(Some((start, watched)));
        }
        unseen.get_or_insert((start, watched));
    }
    Ok(unseen)
}

/// So many files are laid down for one tool.
const MOST_SEEDS: usize = 2;

/// So many corrections of one tool's calls are tried.
const MOST_ADVISED: usize = 12;

/// A call that is as a refusal said that it should be, if it succeeds. What a corrected call is refused with corrects it further: many servers name
/// one argument at a time.
async fn as_advised(
    sampler: &Sampler,
    wants: Vec<Want>,
    seen: &Seen,
    meter: &Meter<'_>,
) -> Result<Option<(Start, Watched)>, String> {
    let mut tried: Vec<Value> = Vec::new();
    let mut open: Vec<(Want, PlannedCall)> = Vec::new();
    let mut wants = wants;
    loop {
        for want in std::mem::take(&mut wants) {
            let arguments = sampler.sample(&want, &seen.pool);
            let Some(arguments) = arguments.filter(|arguments| !tried.contains(arguments)) else { continue };
            if tried.len() >= MOST_ADVISED {
                break;
            }
            tried.push(arguments.clone());
            let call = PlannedCall::new(&sampler.tool().name, arguments);
            if meter.withholds(&call).is_none() {
                open.push((want, call));
            }
        }
        let calls: Vec<PlannedCall> = open.iter().map(|(_, call)| call.clone()).collect();
        let Tried { refusals, works } = try_in_turn(&[], &calls, meter).await?;
        for ((want, call), words) in open.drain(..refusals.len().min(calls.len())).zip(&refusals) {
            wants.extend(advice::corrected(sampler, &want, &call, words));
        }
        if open.is_empty() {
            if wants.is_empty() {
                return Ok(None);
            }
            continue;
        }
        if !works {
            continue;
        }
        let (want, call) = open.remove(0);
        let start = Start { setup: Vec::new(), call, want, pool: Pool::default() };
        let watched = start.watch(sampler, seen, meter).await?;
        if refused(&watched.own).is_none() {
            return Ok(Some((start, watched)));
        }
    }
}

/// Calls that may work, the likeliest first.
fn starts(sampler: &Sampler, seen: &Seen) -> Vec<Start> {
    let sources = if sampler.tool().looks_like_maker() {
        [Source::Made, Source::Examples, Source::Seen]
    } else {
        [Source::Examples, Source::Seen, Source::Made]
    };
    // What may be left out is given only when nothing else helps.
    let first = sources.first().copied().unwrap_or_default();
    let plain = sources.into_iter().map(|source| Want { source, ..Want::default() });
    let there = Want { source: first, there: true, ..Want::default() };
    let relative = Want { source: first, relative: true, ..Want::default() };
    // Where the schema says of what kind the files are, the first call names one of that kind.
    let of_kind = advice::kind_of_files(sampler.tool());
    let of_kind =
        of_kind.map(|extension| Want { source: first, extension: Some(extension), ..Want::default() });
    let wants = of_kind.into_iter().chain(plain).chain([
        there,
        relative,
        Want { source: first, optional: true, ..Want::default() },
    ]);
    let mut starts: Vec<Start> = Vec::new();
    for want in wants {
        let Some(arguments) = sampler.sample(&want, &seen.pool) else { continue };
        let call = PlannedCall::new(&sampler.tool().name, arguments);
        if starts.iter().all(|start| start.call != call) {
            starts.push(Start { setup: Vec::new(), call, want, pool: Pool::default() });
        }
    }
    starts
}

impl Watched {
    /// Whether the call did something: a read says so, or the call is answered otherwise the second time.
    pub(super) fn shows(&self) -> bool {
        !self.reads.is_empty() || !same(&self.own, &self.again)
    }
}

impl Start {
    /// Two looks before, to see what changes by itself; the call; one look after; the call again; and those that it shall meet, to see whether
    /// they work: that takes no instance of its own.
    pub(super) async fn watch(
        &self,
        sampler: &Sampler,
        seen: &Seen,
        meter: &Meter<'_>,
    ) -> Result<Watched, String> {
        let mut questions = questions(self, seen);
        if meter.shows_files() {
            questions.push(read_of_files());
        }
        let mut run = self.setup.clone();
        let first = run.len();
        run.extend(questions.iter().chain(&questions).cloned());
        run.push(self.call.clone());
        run.extend(questions.iter().cloned());
        run.push(self.call.clone());
        let last = run.len();
        let mut others: Vec<PlannedCall> =
            wishes(sampler, self, seen, meter).iter().filter_map(|group| group.first().cloned()).collect();
        others.truncate(seen.longest.saturating_sub(last));
        let all: Vec<PlannedCall> = run.iter().chain(&others).cloned().collect();
        // A server that ends under what comes last is asked without it.
        let answers = match meter.run(&all).await {
            Err(_) if !others.is_empty() => meter.run(&run).await?,
            answers => answers?,
        };
        let behind = others.into_iter().zip(answers.get(last..).unwrap_or_default());
        let works = behind.filter(|(_, answer)| refused(answer).is_none()).map(|(call, _)| call).collect();
        let count = questions.len();
        let answer = |at: usize| {
            let missing = || Answer::Missing { reason: "there was no answer".into() };
            answers.get(first + at).cloned().unwrap_or_else(missing)
        };
        // Others may need what the call makes: what it is answered is known then.
        let mut known = answers.get(..first).unwrap_or_default().to_vec();
        known.push(answer(2 * count));
        meter.keep_answers(self.setup.iter().chain([&self.call]).cloned().collect(), known);
        let mut reads = Vec::new();
        let mut pool = self.pool.clone();
        for (at, question) in questions.iter().enumerate() {
            let (earlier, before, after) = (answer(at), answer(count + at), answer(2 * count + 1 + at));
            if !is_files(question) {
                let told = told(&before).unwrap_or_default();
                pool.learn(&question.tool, &question.arguments, &told, usize::MAX);
            }
            let is_worse = refused(&after).is_some() && refused(&before).is_some();
            if changed(&earlier, &before, &after) && !is_worse {
                reads.push(question.clone());
            }
        }
        Ok(Watched {
            // That no file changed says nothing of a server that keeps its state in memory.
            asked: questions.iter().any(|question| !is_files(question)),
            own: answer(2 * count),
            again: answer(3 * count + 1),
            reads,
            works,
            pool,
            took: took(&answers, first + 2 * count),
        })
    }

    /// Whether the same call with the same key does nothing the second time, as it is answered and as its read-backs show.
    async fn does_it_once(&self, reads: &[PlannedCall], meter: &Meter<'_>) -> bool {
        let mut run = self.setup.clone();
        run.push(self.call.clone());
        run.extend(reads.iter().cloned());
        run.push(self.call.clone());
        run.extend(reads.iter().cloned());
        let Ok(answers) = meter.run(&run).await else { return false };
        let behind = answers.get(self.setup.len()..).unwrap_or_default();
        let (once, twice) = behind.split_at(behind.len() / 2);
        let mut pairs = once.iter().zip(twice);
        // A copy may be told that it is one.
        let is_quiet = pairs.next().is_some_and(|(one, two)| !reads.is_empty() || same(one, two));
        is_quiet && pairs.all(|(one, two)| same(one, two))
    }

    /// Where no reader shows it, the answers themselves may: the second is another than the first, which is the same on every instance.
    async fn counts(&self, watched: &Watched, meter: &Meter<'_>) -> bool {
        if same(&watched.own, &watched.again) {
            return false;
        }
        let mut run = self.setup.clone();
        run.push(self.call.clone());
        let elsewhere = meter.run(&run).await.ok().and_then(|mut answers| answers.pop());
        elsewhere.is_some_and(|elsewhere| same(&elsewhere, &watched.own))
    }
}

/// What to ask before and after: readers that can be asked about the thing or about the other one, then those about things of the kind, then
/// those that need to be told nothing, then the rest.
pub(super) fn questions(start: &Start, seen: &Seen) -> Vec<PlannedCall> {
    let mut spoken_of: Vec<(Named, Value)> = things(&start.call.arguments);
    spoken_of.extend(start.setup.iter().flat_map(|call| things(&call.arguments)));
    spoken_of.retain(|(_, value)| !value.as_str().is_some_and(|text| text.contains("{answer:")));
    let (others, own): (Vec<_>, Vec<_>) = spoken_of.into_iter().partition(|(named, _)| named.is_other);
    let noun = noun_of_tool(&start.call.tool);
    let mut ranked: Vec<(usize, PlannedCall)> = Vec::new();
    for (about, is_other) in [(&own, false), (&others, true)] {
        let mut given = BTreeMap::new();
        for (named, value) in about {
            given.entry(named.joined.clone()).or_insert_with(|| value.clone());
        }
        let want = Want { given, ..Want::default() };
        for reader in &seen.readers {
            let known = if start.setup.is_empty() { &seen.pool } else { &start.pool };
            let Some(arguments) = reader.sample(&want, known).or_else(|| reader.sample(&want, &seen.pool))
            else {
                continue;
            };
            let asked = things(&arguments);
            let about_thing = asked.iter().any(|(_, value)| about.iter().any(|(_, told)| told == value));
            let about_kind = reader.noun().is_some() && reader.noun() == noun.as_deref();
            let rank = match (about_thing, is_other, about_kind, reader.needs_nothing()) {
                (true, ..) => 0,
                (_, true, ..) => continue,
                (_, _, true, _) => 1,
                (_, _, _, true) => 2,
                _ => 3,
            };
            let call =
                referring(&PlannedCall::new(&reader.tool().name, arguments), &start.setup, &start.pool);
            if !ranked.iter().any(|(_, other)| *other == call) {
                ranked.push((rank, call));
            }
        }
    }
    ranked.sort_by_key(|(rank, _)| *rank);
    let most = MOST_READERS.min(seen.longest.saturating_sub(start.setup.len() + 2) / 3);
    ranked.into_iter().take(most).map(|(_, call)| call).collect()
}
