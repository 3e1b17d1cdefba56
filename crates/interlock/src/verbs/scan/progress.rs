//! A bar for those who wait: only on a terminal, and only when there is something to wait for.

use std::{
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};
use interlock_scan::{Phase, Progress};

/// Before this nobody is waiting yet.
const PATIENCE: Duration = Duration::from_millis(500);

/// The bar; nothing at all if nobody looks.
pub(super) struct Bar {
    wanted: bool,
    start: Instant,
    total: AtomicU64,
    done: AtomicU64,
    shown: OnceLock<ProgressBar>,
}

impl Bar {
    pub(super) fn new(wanted: bool) -> Self {
        Self {
            wanted,
            start: Instant::now(),
            total: AtomicU64::new(0),
            done: AtomicU64::new(0),
            shown: OnceLock::new(),
        }
    }

    /// The bar, from the moment on in which somebody has waited for long enough.
    fn shown(&self) -> Option<&ProgressBar> {
        if !self.wanted || self.start.elapsed() < PATIENCE {
            return None;
        }
        Some(self.shown.get_or_init(|| {
            let bar = ProgressBar::new(self.total.load(Ordering::Relaxed));
            // The template is ours, so it is right; the default bar would do as well.
            if let Ok(style) = ProgressStyle::with_template("{msg:10} {bar:40} {pos}/{len} files") {
                bar.set_style(style);
            }
            bar.set_message("reading");
            bar
        }))
    }
}

impl Progress for Bar {
    fn reached(&self, phase: Phase) {
        match phase {
            Phase::Found(files) => self.total.store(files as u64, Ordering::Relaxed),
            Phase::Read => {
                let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
                if let Some(bar) = self.shown() {
                    bar.set_position(done);
                }
            }
            Phase::Linking | Phase::Looking => {
                if let Some(bar) = self.shown() {
                    bar.set_position(self.done.load(Ordering::Relaxed));
                    bar.set_message(if phase == Phase::Linking { "linking" } else { "looking" });
                }
            }
        }
    }
}

/// The bar goes when the scan is over, however it ended.
impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = self.shown.get() {
            bar.finish_and_clear();
        }
    }
}
