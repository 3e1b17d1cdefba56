//! One line that says what is being done and how much is left, on a terminal only; and whether somebody has had enough.
#![expect(
    clippy::disallowed_methods,
    reason = "the binary is where streams are read and people are spoken to"
)]

use std::{
    io::{self, Read, Write},
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};
use interlock_scan::Phase;
use serde_json::json;

/// Set by the first interrupt.
#[derive(Clone, Default)]
pub(super) struct Stop(Arc<AtomicBool>);

impl Stop {
    pub(super) fn ask(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// To whom progress is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Audience {
    /// Nobody looks.
    Nobody,
    /// Somebody at a terminal.
    Person,
    /// The program that started this one: a line of JSON for each step.
    Program,
}

/// Lines for a program come at most this often.
const OFTEN: Duration = Duration::from_millis(100);

/// So long has an audit to end by itself once nobody waits for it any more.
const GRACE: Duration = Duration::from_secs(3);

/// Ends the audit when standard input does: whoever started it is gone.
pub(super) fn end_with_input(stop: Stop) {
    thread::spawn(move || {
        let mut piece = [0; 64];
        while matches!(io::stdin().read(&mut piece), Ok(1..)) {}
        stop.ask();
        thread::sleep(GRACE);
        #[expect(clippy::exit, reason = "what still runs is work that nobody will ask for")]
        std::process::exit(i32::from(crate::exit::Exit::Failed.code()));
    });
}

/// The line; nothing at all if nobody looks.
pub(super) struct Steps {
    audience: Audience,
    /// When a line was last written for a program.
    written: Mutex<Option<Instant>>,
    bar: OnceLock<ProgressBar>,
    stop: Stop,
    /// Each server has as many steps as it needs.
    done: AtomicUsize,
    all: AtomicUsize,
    files: AtomicUsize,
    read: AtomicUsize,
}

impl Steps {
    pub(super) fn new(audience: Audience, stop: Stop) -> Self {
        let count = AtomicUsize::default;
        Self {
            audience,
            written: Mutex::default(),
            bar: OnceLock::new(),
            stop,
            done: count(),
            all: count(),
            files: count(),
            read: count(),
        }
    }

    /// The line, from the first word on.
    fn bar(&self) -> Option<&ProgressBar> {
        (self.audience == Audience::Person).then(|| {
            self.bar.get_or_init(|| {
                let bar = ProgressBar::new_spinner();
                // The template is ours, so it is right; the default would do as well.
                if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {prefix} {wide_msg}") {
                    bar.set_style(style);
                }
                bar.enable_steady_tick(Duration::from_millis(200));
                bar
            })
        })
    }

    /// So many steps more.
    pub(super) fn expect(&self, steps: usize) {
        self.all.fetch_add(steps, Ordering::Relaxed);
    }

    /// The next step begins.
    pub(super) fn begin(&self, what: &str) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        if let Some(bar) = self.bar() {
            bar.set_prefix(format!("step {done} of {}", self.all.load(Ordering::Relaxed).max(done)));
        }
        // A step is always told, however soon it follows.
        *self.written.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.say(what);
    }

    /// Steps that will not be needed.
    pub(super) fn skip(&self, steps: usize) {
        let all = self.all.load(Ordering::Relaxed).saturating_sub(steps);
        self.all.store(all, Ordering::Relaxed);
    }

    fn say(&self, what: &str) {
        if let Some(bar) = self.bar() {
            bar.set_message(what.chars().filter(|c| !c.is_control()).collect::<String>());
        }
        if self.audience == Audience::Program {
            let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
            if written.is_none_or(|at| at.elapsed() >= OFTEN) {
                *written = Some(Instant::now());
                let (step, of) = (self.done.load(Ordering::Relaxed), self.all.load(Ordering::Relaxed));
                let line = json!({ "step": step, "of": of.max(step), "doing": what });
                let _ = writeln!(io::stderr(), "{line}");
            }
        }
    }
}

impl interlock_scan::Progress for Steps {
    fn reached(&self, phase: Phase) {
        match phase {
            Phase::Found(files) => {
                self.files.store(files, Ordering::Relaxed);
                self.read.store(0, Ordering::Relaxed);
            }
            Phase::Read => {
                let read = self.read.fetch_add(1, Ordering::Relaxed) + 1;
                self.say(&format!("reading {read} of {} files", self.files.load(Ordering::Relaxed)));
            }
            Phase::Linking => self.say("putting the files together"),
            Phase::Looking => self.say("looking for hazards"),
        }
    }
}

#[cfg(target_os = "linux")]
impl interlock_prove::Progress for Steps {
    fn doing(&self, what: &str) {
        self.say(what);
    }

    fn enough(&self) -> bool {
        self.stop.is_asked()
    }
}

impl interlock_fetch::Watcher for Steps {
    fn doing(&self, what: &str) {
        self.say(what);
    }

    fn enough(&self) -> bool {
        self.stop.is_asked()
    }
}

/// The line goes when the audit is over, however it ended.
impl Drop for Steps {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}
