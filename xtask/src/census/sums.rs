//! The sums over all servers: what may be told before the authors know.

use anyhow::Result;
use serde::{Deserialize, Serialize};

use super::{list::Server, outcome::Outcome};

/// All counted.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sums {
    /// With what, and on what machine.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) how: String,
    /// In the list, audited, and of those started.
    pub(super) listed: usize,
    pub(super) audited: usize,
    pub(super) started: usize,
    /// Of those that started and keep state: how many there are, and what was said of them.
    pub(super) keep_state: usize,
    pub(super) broken: usize,
    pub(super) latent: usize,
    pub(super) held: usize,
    pub(super) unknown: usize,
    pub(super) tools_listed: usize,
    pub(super) tools_found: usize,
    pub(super) tools_called: usize,
    pub(super) races_found: usize,
    pub(super) races_proven: usize,
    pub(super) races_both: usize,
    pub(super) found_high_and_refuted: usize,
    pub(super) tried_behind_guard: usize,
    pub(super) held_behind_guard: usize,
    pub(super) changed_outside: usize,
    pub(super) median_seconds: u64,
}

impl Sums {
    pub(super) fn of(listed: usize, outcomes: &[(&Server, Outcome)]) -> Self {
        let started: Vec<&(&Server, Outcome)> =
            outcomes.iter().filter(|(_, outcome)| outcome.verdict != "not started").collect();
        let keep: Vec<&Outcome> =
            started.iter().filter(|(server, _)| server.keeps_state).map(|(_, outcome)| outcome).collect();
        let said = |verdict: &str| keep.iter().filter(|outcome| outcome.verdict == verdict).count();
        let sum = |of: fn(&Outcome) -> usize| started.iter().map(|(_, outcome)| of(outcome)).sum();
        let mut seconds: Vec<u64> = started.iter().map(|(_, outcome)| outcome.seconds).collect();
        seconds.sort_unstable();
        Self {
            how: String::new(),
            listed,
            audited: outcomes.len(),
            started: started.len(),
            keep_state: keep.len(),
            broken: said("broken"),
            latent: said("latent"),
            held: said("held"),
            unknown: said("unknown"),
            tools_listed: sum(|outcome| outcome.listed),
            tools_found: sum(|outcome| outcome.found),
            tools_called: sum(|outcome| outcome.called),
            races_found: sum(|outcome| outcome.races_found),
            races_proven: sum(|outcome| outcome.proven),
            races_both: sum(|outcome| outcome.both),
            found_high_and_refuted: sum(|outcome| outcome.refuted),
            tried_behind_guard: sum(|outcome| outcome.tried_behind),
            held_behind_guard: sum(|outcome| outcome.held_behind),
            changed_outside: sum(|outcome| usize::from(outcome.outside)),
            median_seconds: seconds.get(seconds.len() / 2).copied().unwrap_or_default(),
        }
    }

    /// Broken, latent or held, of those that keep state.
    pub(super) fn judged(&self) -> usize {
        self.broken + self.latent + self.held
    }

    pub(super) fn to_json(&self) -> Result<String> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// For the terminal.
    pub(super) fn words(&self) -> String {
        format!(
            "\n{} of {} servers audited, {} started, {} of those keep state: {} judged ({} broken, {} latent, {} held), {} unknown; median {} s\n",
            self.audited,
            self.listed,
            self.started,
            self.keep_state,
            self.judged(),
            self.broken,
            self.latent,
            self.held,
            self.unknown,
            self.median_seconds,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_that_keep_no_state_are_not_judged() {
        let server = |keeps_state| Server {
            package: "npm:a".into(),
            version: "1".into(),
            program: None,
            with: Vec::new(),
            arguments: Vec::new(),
            env: Default::default(),
            keeps_state,
        };
        let (keeps, keeps_none) = (server(true), server(false));
        let outcome = |verdict: &str, seconds| Outcome {
            verdict: verdict.into(),
            seconds,
            listed: 3,
            ..Outcome::default()
        };
        let outcomes = [
            (&keeps, outcome("broken", 4)),
            (&keeps, outcome("unknown", 50)),
            (&keeps_none, outcome("unknown", 60)),
            (&keeps, Outcome::not_started("no".into())),
        ];
        let sums = Sums::of(9, &outcomes);
        assert_eq!((sums.listed, sums.audited, sums.started, sums.keep_state), (9, 4, 3, 2));
        assert_eq!((sums.judged(), sums.unknown, sums.tools_listed, sums.median_seconds), (1, 1, 9, 50));
        assert_eq!(serde_json::from_str::<Sums>(&sums.to_json().unwrap()).unwrap(), sums);
    }
}
