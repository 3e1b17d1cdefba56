//! Which technique comes next: the plainest first, and more of the same with other numbers when all have had their turn.

use std::{sync::Arc, time::Duration};

use interlock_model::{CallSet, Delivery, Explored, Fault, Perturbation, RaceWindow, Schedule};

use crate::{
    files::processes,
    lab::Run,
    perturb::{
        Perturb, Tick,
        node::Walk,
        windows::{HELD, STALLED},
    },
    target::{Target, launch_for_looks},
};

/// The ways up, for one set.
#[derive(Debug, Clone)]
pub(crate) struct Ladder {
    deliveries: Vec<Delivery>,
    /// Names of perturbations that have a hold on this server.
    holds: Vec<&'static str>,
    step: u32,
    pending: Vec<Schedule>,
    /// The orders of a Node server's operations, where there is a hold on it.
    walk: Option<Walk>,
    /// So many of them are walked.
    most: u64,
    /// Whether race windows of this server can be held open; and those that a scan names for the set.
    can_hold: bool,
    windows: Vec<RaceWindow>,
    /// The runs in which one was, so that the other calls could come in between.
    held: u64,
    /// Whether a standstill lets others in: only processes beside each other go on meanwhile.
    in_processes: bool,
}

/// More orders than this are not walked; two calls of five operations each have 252.
const MOST_SCHEDULES: u64 = 300;
/// So many orders are walked for each run that was asked for: an order says more than a run that is left to chance.
const ORDERS_PER_TRIAL: u64 = 10;

impl Ladder {
    /// What can be done to a target. What cannot is noted.
    pub(crate) fn new(
        target: &Target,
        kinds: &[Arc<dyn Perturb>],
        deliveries: &[Delivery],
        notes: &mut Vec<String>,
    ) -> Self {
        let (mut holds, mut can_hold) = (Vec::new(), false);
        for kind in kinds {
            let is_window = kind.name() == WINDOW;
            match launch_for_looks(target).map_or_else(
                || Err("the server was not started by us".to_owned()),
                |launch| kind.applies(&launch),
            ) {
                Ok(()) if is_window => can_hold = true,
                // Nobody asks for it where no scan names a window.
                Err(_) if is_window => {}
                Ok(()) => holds.push(kind.name()),
                Err(why) => notes.push(format!("{} was not tried: {why}", kind.name())),
            }
        }
        Self {
            deliveries: deliveries.to_vec(),
            walk: holds.contains(&NODE).then(Walk::new),
            holds,
            step: 0,
            pending: Vec::new(),
            most: MOST_SCHEDULES,
            can_hold,
            windows: Vec::new(),
            held: 0,
            in_processes: false,
        }
    }

    /// The same for one set, of which so many runs are made, with the race windows that a scan names for it. What is killed or left at a moment of the clock is not walked: the orders would be
    /// those up to a moment that is another each time.
    pub(crate) fn of(&self, set: &CallSet, trials: u32, windows: Vec<RaceWindow>) -> Self {
        let most = (u64::from(trials) * ORDERS_PER_TRIAL).min(MOST_SCHEDULES);
        let in_processes = processes(set) > 1;
        let windows = if self.can_hold && set.fault == Fault::None { windows } else { Vec::new() };
        let mut ladder = Self { most, windows, in_processes, ..self.clone() };
        // Several processes are met as they are, but for windows: other holds are on one of them.
        if in_processes {
            ladder.holds.clear();
            ladder.walk = None;
        }
        if set.fault != Fault::None {
            ladder.holds.retain(|hold| *hold != NODE);
            ladder.walk = None;
        }
        ladder
    }

    /// Nothing to climb: for sets whose schedule is given.
    pub(crate) fn none() -> Self {
        Self {
            deliveries: Vec::new(),
            holds: Vec::new(),
            step: 0,
            pending: Vec::new(),
            walk: None,
            most: 0,
            can_hold: false,
            windows: Vec::new(),
            held: 0,
            in_processes: false,
        }
    }

    /// The next schedule.
    pub(crate) fn next(&mut self, latency: &[Duration]) -> Option<Schedule> {
        while self.pending.is_empty() {
            if self.step > 0
                && self.walking()
                && let Some(choices) = self.walk.as_mut().and_then(Walk::next)
            {
                let delivery = self.deliveries.first().copied().unwrap_or_default();
                let perturbation = Perturbation::NodeOrder { choices };
                return Some(Schedule { delivery, offsets: Vec::new(), perturbation });
            }
            let step = self.step;
            self.step = step.checked_add(1)?;
            self.pending = self.turn(step, latency);
            self.pending.reverse();
            if self.deliveries.is_empty() {
                return None;
            }
        }
        self.pending.pop()
    }

    /// One turn through all techniques; each turn has other numbers.
    fn turn(&self, turn: u32, latency: &[Duration]) -> Vec<Schedule> {
        let plain = |delivery| Schedule { delivery, ..Schedule::default() };
        let first = self.deliveries.first().copied().unwrap_or_default();
        let mut schedules = Vec::new();
        if turn == 0 {
            schedules.push(plain(first));
        }
        if !self.windows.is_empty() && turn < HELD_TURNS {
            let perturbation = Perturbation::HeldWindow { windows: self.windows.clone() };
            schedules.push(Schedule { delivery: first, offsets: Vec::new(), perturbation });
        }
        schedules.extend(self.deliveries.iter().copied().map(plain));
        for name in &self.holds {
            let seeds = (0..2).map(|part| u64::from(turn * 2 + part));
            schedules.extend(seeds.filter_map(|seed| {
                let perturbation = match *name {
                    "slow-files" => Perturbation::SlowFiles { seed },
                    "python-switches" => Perturbation::PythonSwitches { seed },
                    _ => return None,
                };
                Some(Schedule { delivery: first, offsets: Vec::new(), perturbation })
            }));
        }
        // The others begin when the first is a part of its own latency under way.
        let base = latency.first().copied().unwrap_or_default();
        for part in 0..2 {
            let portion = f64::from((turn * 2 + part) % 7 + 1) / 8.0;
            let offset = base.mul_f64(portion).min(Duration::from_secs(1));
            if offset > Duration::from_micros(100) {
                let offsets =
                    (0..latency.len()).map(|index| if index == 0 { Duration::ZERO } else { offset });
                schedules.push(Schedule {
                    delivery: first,
                    offsets: offsets.collect(),
                    ..Schedule::default()
                });
            }
        }
        schedules
    }

    /// Whether orders are being walked, which the number of runs does not bound.
    pub(crate) fn walking(&self) -> bool {
        self.walk.as_ref().is_some_and(|walk| !walk.over() && walk.schedules() < self.most)
    }

    /// The hold that can look on and tell calls apart.
    pub(crate) fn onlooker(&self) -> Option<&'static str> {
        self.walk.as_ref().map(|_| NODE)
    }

    /// In how many runs a race window was held open while others could run; `None` where there is none to hold.
    pub(crate) fn held(&self) -> Option<u64> {
        (!self.windows.is_empty()).then_some(self.held)
    }

    /// Takes in what a run showed.
    pub(crate) fn learn(&mut self, schedule: &Schedule, run: &Run, explored: &mut Explored) {
        if let Perturbation::HeldWindow { .. } = &schedule.perturbation {
            let lets_in = |tick: &Tick| {
                tick.on.starts_with(HELD) || (self.in_processes && tick.on.starts_with(STALLED))
            };
            self.held += u64::from(run.observed.ticks.iter().any(lets_in));
        }
        let (Perturbation::NodeOrder { .. }, Some(walk)) = (&schedule.perturbation, &mut self.walk) else {
            return;
        };
        if run.observed.diverged.is_some() {
            walk.lost();
        } else {
            walk.ran(&run.observed.choices);
        }
        explored.schedules = walk.schedules();
        explored.walked += run.took;
        explored.exhausted = walk.exhausted();
    }

    /// What the server cannot do, or what has no hold on it after all, is not tried again. The plainest delivery has to work.
    pub(crate) fn give_up_on(&mut self, schedule: &Schedule) -> bool {
        let name = schedule.perturbation.name();
        if schedule.perturbation != Perturbation::None {
            self.holds.retain(|hold| *hold != name);
            self.pending.retain(|pending| pending.perturbation.name() != name);
            if name == NODE {
                self.walk = None;
            }
            if name == WINDOW {
                self.windows.clear();
            }
            return true;
        }
        if self.deliveries.first() == Some(&schedule.delivery) {
            return false;
        }
        self.deliveries.retain(|delivery| *delivery != schedule.delivery);
        self.pending.retain(|pending| pending.delivery != schedule.delivery);
        true
    }
}

/// The name of [`Perturbation::NodeOrder`].
const NODE: &str = "node-order";
/// The name of [`Perturbation::HeldWindow`].
const WINDOW: &str = "held-window";
/// In so many turns race windows are held open.
const HELD_TURNS: u32 = 3;
