//! One line that says what is being done, on a terminal only.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use interlock_prove::Progress;

/// The line; nothing at all if nobody looks.
pub(in crate::verbs) struct Line(Option<ProgressBar>);

impl Line {
    pub(in crate::verbs) fn new(wanted: bool) -> Self {
        let bar = wanted.then(|| {
            let bar = ProgressBar::new_spinner();
            // The template is ours, so it is right; the default would do as well.
            if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        Self(bar)
    }
}

impl Progress for Line {
    fn doing(&self, what: &str) {
        if let Some(bar) = &self.0 {
            bar.set_message(what.chars().filter(|c| !c.is_control()).collect::<String>());
        }
    }
}

/// The line goes when the proof is over, however it ended.
impl Drop for Line {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
