//! One set on its way to a verdict.

use std::{collections::BTreeSet, time::Duration};

use interlock_model::{
    CallSet, Confidence, Evidence, Explored, Fingerprint, HazardId, Oracle, Outcome, PlannedCall, Schedule,
    SetReport, Verdict,
};

use super::{
    Ladder, Setting,
    choose::Chosen,
    confirm::Confirmed,
    shrink::{self, Shown},
};
use crate::{
    files,
    judge::{Judgement, Shows, judge},
    lab::Run,
    plan::from::Found,
    serial::{Invariants, Noise, Serial, Unstable, outcome_of},
};

/// A set, and what is known about it so far.
pub(crate) struct Case {
    pub(crate) set: CallSet,
    /// Whether somebody named the calls, and the hazard with them if there is one.
    by_hand: bool,
    /// What a scan found that it was made for. Once it is proven, what the proof shows of it.
    pub(crate) findings: Vec<Found>,
    pub(crate) serial: Serial,
    ladder: Ladder,
    pub(crate) explored: Explored,
    state: State,
    /// Runs in which a call was refused that is never refused alone, and all else was right.
    conflicts: u64,
    /// What was illegal once and did not happen again.
    suspicion: Option<String>,
    /// Techniques that did not work, and why.
    pub(super) gave_up: Vec<String>,
    /// Whether its calls change something that nothing shows.
    is_blind: bool,
    /// Whether its calls cannot be compared, not even one after another.
    is_undecided: bool,
    /// Which of the tools that it calls only read.
    pub(super) readers: BTreeSet<String>,
    /// What the survey asks before it calls anything.
    pub(super) questions: Vec<PlannedCall>,
    /// Of which of its calls it would show if nothing came of them, once that was looked at.
    pub(super) missed: Option<Vec<bool>>,
}

enum State {
    /// The serial phase is still to come.
    New,
    /// Calls meet.
    Open,
    /// None of its calls succeeds, not even one after another.
    Refused(String),
    /// Nothing can be said.
    Unknown(String),
    /// It broke.
    Proven(Verdict, String, Box<Evidence>),
    /// Everything there is was tried.
    Done,
}

/// What a finding is told of which every order was walked.
const NOT_WALKED: &str = "; not walked: requests that arrive while others are half way, other processes on the same files, synchronous work and native engines";

/// What a finding is told of whose lines no call came by.
const NOT_HELD: &str =
    "; the step that a scan names could not be held open: no call came by its lines, or nothing waits there";

/// So often noise is taken out of one set.
const MOST_NOISE: usize = 3;

/// So many parts of files are named in one sentence.
const MOST_PARTS: usize = 5;

/// Serial orders of more calls than this are too many to run; such sets count successes instead.
const MOST_ORDERED: usize = 4;

impl Case {
    pub(super) fn new(chosen: Chosen, ladder: Ladder) -> Self {
        let Chosen { set, by_hand, findings, is_blind, readers, questions } = chosen;
        Self {
            set,
            by_hand,
            findings,
            serial: Serial::default(),
            ladder,
            explored: Explored::default(),
            state: State::New,
            conflicts: 0,
            suspicion: None,
            gave_up: Vec::new(),
            is_blind,
            is_undecided: false,
            readers,
            questions,
            missed: None,
        }
    }

    /// The same with other calls, of which nothing is known yet.
    pub(super) fn of_calls(&self, set: CallSet) -> Self {
        let (by_hand, findings) = (self.by_hand, self.findings.clone());
        let (readers, questions) = (self.readers.clone(), self.questions.clone());
        let chosen = Chosen { set, by_hand, findings, is_blind: self.is_blind, readers, questions };
        Self { gave_up: self.gave_up.clone(), ..Self::new(chosen, self.ladder.clone()) }
    }

    /// Why its calls never succeed, if that is so and neither a person nor a finding asked for them.
    pub(crate) fn is_idle(&self) -> Option<&str> {
        match &self.state {
            State::Refused(why) if !self.by_hand && self.findings.is_empty() => Some(why),
            _ => None,
        }
    }

    /// The writers of which no call was accepted in it, and in which words they were refused.
    pub(super) fn refused(&self) -> impl Iterator<Item = (&str, &str)> {
        let words = match &self.state {
            State::Refused(why) => Some(why.as_str()),
            _ => None,
        };
        let writing = self.writing();
        let calls = self.set.calls.iter().enumerate().filter(move |(index, _)| writing.contains(index));
        calls.filter_map(move |(_, call)| Some((call.tool.as_str(), words?)))
    }

    /// Whether nothing can be said of its calls, nothing odd was seen of them either, and no finding of a scan nor a person asked for them.
    pub(crate) fn says_nothing(&self) -> bool {
        let is_asked_for = self.by_hand || !self.findings.is_empty();
        let is_mute = match self.state {
            State::Unknown(_) => self.is_undecided,
            State::Open | State::Done => self.is_blind && self.suspicion.is_none(),
            _ => false,
        };
        is_mute && !is_asked_for
    }

    pub(crate) fn was_tried(&self) -> bool {
        match self.state {
            State::New => false,
            // The orders alone say nothing: the budget ended before the calls met.
            State::Open => self.explored.trials > 0,
            _ => true,
        }
    }

    pub(crate) fn verdict(&self) -> Verdict {
        match &self.state {
            State::Proven(verdict, ..) => *verdict,
            State::Unknown(_) | State::Refused(_) | State::New => Verdict::Unknown,
            State::Open | State::Done if self.suspicion.is_some() || self.explored.trials == 0 => {
                Verdict::Unknown
            }
            State::Open | State::Done if self.is_blind => Verdict::Unknown,
            State::Open | State::Done => Verdict::Held,
        }
    }

    /// Goes on for so many concurrent runs.
    pub(crate) async fn advance(&mut self, setting: &Setting<'_>, runs: u32) {
        let before = setting.lab.calls();
        self.go_on(setting, runs).await;
        self.explored.calls += setting.lab.calls() - before;
    }

    async fn go_on(&mut self, setting: &Setting<'_>, runs: u32) {
        if let State::New = self.state {
            setting.progress.doing(&format!("{}: one after another", self.set.name));
            self.state = self.begin(setting).await;
        }
        let mut left = runs;
        while left > 0 && matches!(self.state, State::Open) && !setting.spent() {
            left -= 1;
            let Some(schedule) = self.next(setting.budget.trials) else {
                self.state = State::Done;
                return;
            };
            setting.progress.doing(&format!(
                "{}: together, run {} ({})",
                self.set.name,
                self.explored.trials + 1,
                schedule.technique()
            ));
            if let Some(state) = self.meet(setting, &schedule).await {
                self.state = state;
            }
        }
    }

    fn next(&mut self, trials: u32) -> Option<Schedule> {
        if self.explored.trials >= u64::from(trials) && !self.ladder.walking() {
            return None;
        }
        if self.set.oracle == Oracle::Once && self.explored.trials == 0 {
            return Some(self.sent_again());
        }
        self.ladder.next(&self.serial.latency)
    }

    /// Each copy when the one before has been answered, as whoever did not get the answer sends it again.
    fn sent_again(&self) -> Schedule {
        let latency = self.serial.latency.iter().max().copied().unwrap_or_default();
        let pause = (latency * 2 + Duration::from_millis(20)).min(Duration::from_secs(2));
        let offsets = (0_u32..).take(self.set.calls.len()).map(|copy| pause * copy).collect();
        Schedule { offsets, ..Schedule::default() }
    }

    async fn begin(&mut self, setting: &Setting<'_>) -> State {
        loop {
            let state = self.run_orders(setting).await;
            // Some tools work only once another was asked, which the survey does before each call and nobody else.
            let State::Refused(why) = &state else { return state };
            let first =
                setting.lab.restraint.reader_named_in(why).filter(|call| !self.set.setup.contains(call));
            let Some(first) = first.filter(|_| !self.by_hand) else { return state };
            self.set.setup.push(first);
            self.serial = Serial::default();
        }
    }

    async fn run_orders(&mut self, setting: &Setting<'_>) -> State {
        let many = self.set.calls.len() > MOST_ORDERED;
        if many && self.set.oracle == Oracle::Serial {
            return State::Unknown(format!(
                "more than {MOST_ORDERED} calls have too many orders to compare with"
            ));
        }
        // Copies of one request are held against one of them alone.
        let everything = self.set.oracle == Oracle::Once;
        // Where outcomes are not held against each other but counted, or an invariant says what is wrong, what varies has to be known before.
        let thorough = self.set.oracle != Oracle::Serial || !self.set.invariants.is_empty();
        let orders = async {
            self.serial.run(setting.lab, &self.set, everything, setting.side_by_side).await?;
            if thorough && self.serial.is_known_once(&self.set) {
                self.serial.again(setting.lab, &self.set, setting.side_by_side).await?;
            }
            Ok::<_, Unstable>(())
        };
        // Of many calls there are many orders: the budget may end among them, and then the set was not tried.
        let Ok(orders) = tokio::time::timeout(setting.left(), orders).await else { return State::New };
        let orders = match orders {
            Err(Unstable::Differs(why)) => self.without_noise(setting, why).await,
            orders => orders,
        };
        match orders {
            Ok(()) => match self.serial.oddities.first() {
                Some(oddity) if oddity.contains("twice") => State::Unknown(oddity.clone()),
                _ => match self.hopeless() {
                    Some(why) if !self.ask_readers_first(setting, &why).await => State::Refused(why),
                    _ => State::Open,
                },
            },
            Err(unstable) => {
                self.is_undecided = true;
                State::Unknown(unstable.to_string())
            }
        }
    }

    /// Notes that its calls cannot be compared after all.
    pub(super) fn give_up_comparing(&mut self, why: String) {
        self.is_undecided = true;
        self.state = State::Unknown(why);
    }

    /// Goes on without what says something else each time, if it is what is read that differs and not what is answered.
    pub(super) async fn without_noise(&mut self, setting: &Setting<'_>, why: String) -> Result<(), Unstable> {
        let mut why = why;
        for _ in 0..MOST_NOISE {
            // An invariant names reads by their number.
            let is_bound = !self.set.invariants.is_empty();
            let noise = if is_bound { Noise::default() } else { self.serial.drop_noise() };
            if noise == Noise::default() {
                break;
            }
            self.leave_out(noise, setting.lab.shows_files());
            match self.serial.run(setting.lab, &self.set, true, setting.side_by_side).await {
                // More repeats show more of it.
                Err(Unstable::Differs(again)) => why = again,
                done => {
                    // What is left may show nothing of what the calls do.
                    self.is_blind |= !self.serial.shows_calls(&self.set);
                    return done;
                }
            }
        }
        Err(Unstable::Differs(why))
    }

    /// Goes on without the server's files, if what tools show is left to be compared. `None` where there is nothing to leave out, or nothing left.
    pub(super) async fn without_late_files(&mut self, setting: &Setting<'_>) -> Option<Result<(), Unstable>> {
        let at = self.set.reads.iter().position(files::is_files)?;
        if self.set.reads.len() < 2 || !self.set.invariants.is_empty() {
            return None;
        }
        self.set.reads.remove(at);
        self.serial.drop_late(at);
        self.gave_up.push(format!(
            "{}: the server's files are written some time after the calls are answered, and are not compared",
            self.set.name
        ));
        let done = self.serial.run(setting.lab, &self.set, true, setting.side_by_side).await;
        self.is_blind |= done.is_ok() && !self.serial.shows_calls(&self.set);
        Some(done)
    }

    /// Takes noise out of the set and says so; where no read is left the server's files are read, if they can be.
    fn leave_out(&mut self, noise: Noise, shows_files: bool) {
        let name = &self.set.name;
        if !noise.parts.is_empty() {
            let parts = noise.parts.iter().take(MOST_PARTS).map(|part| format!("`{}`", part.join(" ")));
            let named = parts.collect::<Vec<_>>().join(", ");
            let others = if noise.parts.len() > MOST_PARTS { " and others" } else { "" };
            self.gave_up.push(format!(
                "{name}: {named}{others} in the server's files do not say the same twice after the same calls, and are not compared"
            ));
        }
        let mut had_files = false;
        for at in noise.reads.into_iter().rev() {
            let read = self.set.reads.remove(at);
            had_files |= files::is_files(&read);
            self.gave_up.push(format!(
                "{name}: `{}` does not say the same twice after the same calls, and is not compared",
                read.tool
            ));
        }
        if self.set.reads.is_empty() && !had_files && shows_files {
            self.set.reads.push(files::read_of_files());
            self.serial = Serial::default();
        }
    }

    /// Why it makes no sense to let the calls meet. That somebody may read while nobody can change anything says nothing.
    pub(super) fn hopeless(&self) -> Option<String> {
        let writers = self.writing();
        let said = self.serial.hopeless(|index| writers.is_empty() || writers.contains(&index))?;
        Some(format!("none of the calls succeeds, not even one after another: {said}"))
    }

    /// One concurrent run, judged; if it is illegal, looked into.
    async fn meet(&mut self, setting: &Setting<'_>, schedule: &Schedule) -> Option<State> {
        let run = match setting.lab.together(&self.set, schedule).await {
            Ok(run) => run,
            Err(trouble) if self.ladder.give_up_on(schedule) => {
                self.gave_up.push(format!("{} could not be done: {trouble}", schedule.technique()));
                return None;
            }
            Err(trouble) => {
                return Some(State::Unknown(format!(
                    "{trouble}, while the calls were under way ({}), which it does not do one after another",
                    schedule.technique()
                )));
            }
        };
        self.explored.trials += 1;
        self.explored.techniques.insert(schedule.technique());
        self.ladder.learn(schedule, &run, &mut self.explored);
        if let Some(why) = unanswered(&self.set, &run) {
            // What was done to the server may have kept it from answering.
            if self.ladder.give_up_on(schedule) {
                self.gave_up.push(format!("{} was not tried further: {why}", schedule.technique()));
                return None;
            }
            return Some(State::Unknown(format!(
                "{why}, together with the others ({}), which does not happen one after another",
                schedule.technique()
            )));
        }
        match self.compared_once_more(setting, &run).await {
            Ok(Some(())) => {}
            Ok(None) => return None,
            Err(unstable) => {
                self.is_undecided = true;
                return Some(State::Unknown(unstable.to_string()));
            }
        }
        match self.judged(setting, &run).await {
            Err(unstable) => Some(State::Unknown(unstable)),
            Ok(Judgement::Legal | Judgement::NeedsPartial) => None,
            Ok(Judgement::LegalWithout(refused)) => {
                self.conflicts += u64::from(!refused.is_empty());
                None
            }
            Ok(Judgement::Illegal(_)) => match self.confirm(setting, schedule, run).await {
                Confirmed::Again(verdict, reason, evidence) => {
                    let shown = Shown { verdict, reason, evidence: *evidence };
                    let Shown { verdict, reason, evidence } = shrink::shrink(self, setting, shown).await;
                    let evidence = self.looked_into(setting, evidence).await;
                    self.name(&evidence);
                    Some(State::Proven(verdict, reason, Box::new(evidence)))
                }
                Confirmed::NotAgain(why) => {
                    self.suspicion = Some(why);
                    None
                }
                Confirmed::LegalAfterAll => None,
                Confirmed::Unstable(why) => Some(State::Unknown(why)),
            },
        }
    }

    /// Runs the orders a second time if a run is not just like one of the first: something may vary whatever is done. `None` where what varied
    /// was taken out of the set, so that the run cannot be judged any more and the calls meet again.
    async fn compared_once_more(&mut self, setting: &Setting<'_>, run: &Run) -> Result<Option<()>, Unstable> {
        let is_legal = judge(&self.set, &self.serial, &run.history, &self.masked(run)) == Judgement::Legal;
        if is_legal || !self.serial.is_known_once(&self.set) {
            return Ok(Some(()));
        }
        match self.serial.again(setting.lab, &self.set, setting.side_by_side).await {
            Ok(()) => Ok(Some(())),
            Err(Unstable::Differs(why)) => self.without_noise(setting, why).await.map(|()| None),
            Err(unstable) => Err(unstable),
        }
    }

    /// Calls the proof after what it shows. A hazard that somebody named stays, if code that has it can do that; so does what a scan found,
    /// and what it found and cannot be this is not shown by it.
    pub(super) fn name(&mut self, evidence: &Evidence) {
        let asked = self.by_hand || !self.findings.is_empty();
        let Some(shows) = Shows::of(&self.set, evidence) else {
            if !asked {
                self.set.hazard = None;
            }
            return;
        };
        let (fit, others): (Vec<Found>, Vec<Found>) =
            std::mem::take(&mut self.findings).into_iter().partition(|found| shows.fits(&found.hazard));
        let named = self.set.hazard.as_ref().filter(|_| self.by_hand);
        let named = named.filter(|hazard| shows.fits(hazard)).or(fit.first().map(|found| &found.hazard));
        let called: Option<HazardId> = match named {
            Some(hazard) => Some(hazard.clone()),
            None => shows.called(self.set.hazard.as_ref(), on_files(&self.set, evidence)),
        };
        for found in others {
            let is = called.as_ref().map(ToString::to_string).unwrap_or_default();
            self.gave_up.push(format!(
                "finding {}: the calls made for it break, but that shows {is} and not {}",
                found.fingerprint.0, found.hazard
            ));
        }
        self.findings = fit;
        self.set.hazard = called;
    }

    /// The findings of a scan that the verdict is about.
    pub(crate) fn fingerprints(&self) -> Vec<Fingerprint> {
        self.findings.iter().map(|found| found.fingerprint.clone()).collect()
    }

    /// What a run is; orders that leave calls out are run when the first outcome asks for them.
    pub(super) async fn judged(&mut self, setting: &Setting<'_>, run: &Run) -> Result<Judgement, String> {
        let invariants = Invariants::of(&self.set).map_err(|error| error.to_string())?;
        let broken = invariants.first_broken(run, &outcome_of(run)).map_err(|error| error.to_string())?;
        if let Some(invariant) = broken {
            return Ok(Judgement::Illegal(format!("`{invariant}` is not true of it")));
        }
        let judgement = judge(&self.set, &self.serial, &run.history, &self.masked(run));
        if judgement != Judgement::NeedsPartial {
            return Ok(judgement);
        }
        match self.serial.compare_parts(setting.lab, &self.set, setting.side_by_side).await {
            Ok(()) => Ok(judge(&self.set, &self.serial, &run.history, &self.masked(run))),
            Err(unstable) => Err(unstable.to_string()),
        }
    }

    /// The hold through which operations can be seen, and whose they are.
    pub(super) fn onlooker(&self) -> Option<&'static str> {
        self.ladder.onlooker()
    }

    pub(super) fn masked(&self, run: &Run) -> Outcome {
        self.serial.mask.apply(&outcome_of(run))
    }

    /// What is told of findings of which nothing was shown although the step that they name was held open.
    fn doubt(&self) -> String {
        let mut sure = self.findings.iter().filter(|found| found.confidence == Confidence::High);
        match (self.ladder.held(), sure.next()) {
            (Some(0), _) => NOT_HELD.to_owned(),
            (Some(runs), Some(found)) => {
                let others = if sure.next().is_some() { " and others" } else { "" };
                let fingerprint = &found.fingerprint.0;
                format!(
                    "; the step that a scan names was held open in {runs} of these runs and nothing came of it: finding {fingerprint}{others}, told at \
                     high, is doubtful"
                )
            }
            (Some(runs), None) if !self.findings.is_empty() => {
                format!("; the step that a scan names was held open in {runs} of these runs")
            }
            _ => String::new(),
        }
    }

    /// What there is to say.
    pub(crate) fn report(self) -> SetReport {
        let verdict = self.verdict();
        let conflicts = match self.conflicts {
            0 => String::new(),
            n => format!(
                "; in {n} of {} runs a call was refused that is not refused alone, and the rest was right",
                self.explored.trials
            ),
        };
        let (reason, evidence) = match self.state {
            State::Proven(_, reason, evidence) if files::processes(&self.set) > 1 => (
                format!("between two processes on one folder, as two clients have them: {reason}"),
                Some(*evidence),
            ),
            State::Proven(_, reason, evidence) => (reason, Some(*evidence)),
            State::Unknown(why) | State::Refused(why) => (why, None),
            State::New => ("not tried".into(), None),
            State::Open | State::Done => match self.suspicion {
                Some(suspicion) => (suspicion, None),
                None if self.explored.trials == 0 => ("the budget ended before the calls met".into(), None),
                None if self.is_blind => (
                    format!(
                        "every answer is one that some order leads to, but nothing was read that shows what the calls change; --read names such a call{conflicts}"
                    ),
                    None,
                ),
                None => {
                    let not_walked =
                        if self.explored.exhausted && !self.findings.is_empty() { NOT_WALKED } else { "" };
                    let doubt = self.doubt();
                    (
                        format!(
                            "every outcome is one that some order leads to{conflicts}{not_walked}{doubt}"
                        ),
                        None,
                    )
                }
            },
        };
        SetReport { set: self.set, verdict, reason, explored: self.explored, evidence }
    }
}

/// Whether the state is in files: it was seen there, or the calls name some.
fn on_files(set: &CallSet, evidence: &Evidence) -> bool {
    evidence.stale.is_some()
        || set.calls.iter().any(|call| call.arguments.to_string().contains("\"{scratch}/"))
        || files::are_plain(&evidence.observed)
}

/// A call that got no answer although nothing was done to the server.
pub(super) fn unanswered(set: &CallSet, run: &Run) -> Option<String> {
    if set.fault != interlock_model::Fault::None {
        return None;
    }
    let missing = run.history.calls.iter().find_map(|call| match &call.answer {
        interlock_model::Answer::Missing { reason } => Some((call, reason)),
        _ => None,
    });
    missing.map(|(call, reason)| format!("`{}` got no answer ({reason})", call.tool))
}

#[cfg(test)]
mod tests;
