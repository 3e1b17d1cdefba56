//! What came out directly beside what came out through the guard.

use super::checks::{Check, Scenario, Scenarios, Status, Verdict};
use crate::columns::{Side, columns};

/// The same scenarios on one server, directly and through guards.
pub(super) struct Comparison {
    pub(super) direct: Scenarios,
    pub(super) through: Vec<Through>,
}

/// What came out through one guard.
pub(super) struct Through {
    /// How the guard speaks to the server.
    pub(super) name: &'static str,
    pub(super) scenarios: Scenarios,
    /// The scenarios that cannot pass this way; what differs in them is told and not counted.
    pub(super) cannot: &'static [&'static str],
}

/// A check that came out otherwise than directly.
struct Difference {
    line: String,
    worse: bool,
}

impl Comparison {
    /// How many checks that pass directly do not pass through a guard, but for those that cannot.
    pub(super) fn worse(&self) -> usize {
        let all = self.through.iter().flat_map(|through| through.differences(&self.direct));
        all.filter(|(name, through, difference)| difference.worse && !through.cannot.contains(name)).count()
    }

    /// The scenarios, then what differs check by check.
    pub(super) fn table(&self) -> String {
        let names = self.through.iter().map(|through| format!("guard, {}", through.name));
        let head = ["scenario", "direct"].map(str::to_owned).into_iter().chain(names).chain([String::new()]);
        let mut rows = vec![head.collect::<Vec<_>>()];
        for (name, direct) in &self.direct.0 {
            let mut row = vec![name.clone(), shown(Some(direct))];
            let mut mark = "";
            for through in &self.through {
                let here = through.scenarios.0.get(name);
                row.push(shown(here));
                if differences(name, direct, here).iter().any(|difference| difference.worse) {
                    let can = !through.cannot.contains(&name.as_str());
                    mark = if can || mark == "WORSE" { "WORSE" } else { "cannot" };
                }
            }
            row.push(mark.to_owned());
            rows.push(row);
        }
        let mut text = columns(&vec![Side::Left; self.through.len() + 3], &rows);
        for through in &self.through {
            for (name, _, difference) in through.differences(&self.direct) {
                let word = match (difference.worse, through.cannot.contains(&name)) {
                    (true, true) => "cannot",
                    (true, false) => "worse",
                    (false, _) => "otherwise",
                };
                text.push_str(&format!("{word} over {}: {}\n", through.name, difference.line));
            }
        }
        text
    }
}

impl Through {
    /// What came out otherwise, with the scenario's name.
    fn differences<'a>(
        &'a self,
        direct: &'a Scenarios,
    ) -> impl Iterator<Item = (&'a str, &'a Self, Difference)> {
        direct.0.iter().flat_map(move |(name, direct)| {
            let found = differences(name, direct, self.scenarios.0.get(name));
            found.into_iter().map(move |difference| (name.as_str(), self, difference))
        })
    }
}

/// A check is worse when it passes directly and does not here. One that is not made here, or has nothing to say, is told but is no fault as
/// long as the scenario still passes: what a guard answers itself leaves nothing to check.
fn differences(name: &str, direct: &Scenario, through: Option<&Scenario>) -> Vec<Difference> {
    let Some(through) = through else {
        return vec![Difference { line: format!("{name}: was not run"), worse: true }];
    };
    let mut all = Vec::new();
    let told = |check: Option<&Check>| match check {
        Some(check) if check.message.is_empty() => format!("{:?}", check.status).to_lowercase(),
        Some(check) => {
            format!("{} ({})", format!("{:?}", check.status).to_lowercase(), check.message.replace('\n', " "))
        }
        None => "not made".to_owned(),
    };
    let fell = through.verdict() > direct.verdict();
    for (id, check) in &direct.0 {
        let here = through.0.get(id);
        let same = here.is_some_and(|here| here.status == check.status);
        if same || check.status != Status::Success {
            continue;
        }
        let bad = here.is_some_and(|here| here.status >= Status::Warning);
        let line = format!("{name}: {id}: {} directly, {} here", told(Some(check)), told(here));
        all.push(Difference { line, worse: bad || fell });
    }
    // What was not made at all directly can still be what fails here.
    if fell && all.is_empty() {
        let line = format!("{name}: {} directly, {} here", shown(Some(direct)), shown(Some(through)));
        all.push(Difference { line, worse: true });
    }
    all
}

fn shown(scenario: Option<&Scenario>) -> String {
    let Some(scenario) = scenario else { return "not run".to_owned() };
    let word = match scenario.verdict() {
        Verdict::Passes => "passes",
        Verdict::Nothing => return "nothing".to_owned(),
        Verdict::Warns => "warns",
        Verdict::Fails => "fails",
    };
    format!("{word} {}", scenario.successes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(checks: &[(&str, Status)]) -> Scenarios {
        let check = |status| Check { status, message: String::new() };
        let checks = checks.iter().map(|&(id, status)| (id.to_owned(), check(status))).collect();
        Scenarios([("ping".to_owned(), Scenario(checks))].into())
    }

    fn worse(direct: &[(&str, Status)], through: &[(&str, Status)]) -> usize {
        compared(run(direct), run(through), &[]).worse()
    }

    fn compared(direct: Scenarios, scenarios: Scenarios, cannot: &'static [&'static str]) -> Comparison {
        Comparison { direct, through: vec![Through { name: "HTTP", scenarios, cannot }] }
    }

    #[test]
    fn what_passes_directly_and_not_through_the_guard_is_worse() {
        use Status::{Failure, Info, Skipped, Success, Warning};
        let two = [("a", Success), ("b", Success)];
        assert_eq!(worse(&two, &two), 0);
        assert_eq!(worse(&two, &[("a", Success), ("b", Failure)]), 1);
        assert_eq!(worse(&two, &[("a", Warning), ("b", Success)]), 1);
        assert_eq!(worse(&two, &[("a", Success), ("b", Info)]), 0, "the scenario still passes");
        assert_eq!(worse(&two, &[("a", Skipped), ("b", Skipped)]), 2, "nothing was shown");
        assert_eq!(worse(&two, &[]), 2);
        assert_eq!(worse(&two, &[("a", Success), ("b", Success), ("c", Failure)]), 1);
    }

    #[test]
    fn what_fails_directly_is_held_against_nobody_but_what_passes_beside_it_is() {
        use Status::{Failure, Success};
        let direct = [("a", Success), ("b", Failure)];
        assert_eq!(worse(&direct, &[("a", Success), ("b", Success)]), 0);
        assert_eq!(worse(&direct, &[("a", Failure), ("b", Failure)]), 1);
    }

    #[test]
    fn a_scenario_that_was_not_run_is_worse() {
        let comparison = compared(run(&[("a", Status::Success)]), Scenarios::default(), &[]);
        assert_eq!(comparison.worse(), 1);
        assert_eq!(
            comparison.table().lines().collect::<Vec<_>>(),
            [
                "scenario  direct    guard, HTTP",
                "ping      passes 1  not run      WORSE",
                "worse over HTTP: ping: was not run",
            ]
        );
    }

    #[test]
    fn what_cannot_pass_is_told_and_not_counted() {
        let (direct, through) = (run(&[("a", Status::Success)]), run(&[("a", Status::Failure)]));
        let comparison = compared(direct, through, &["ping"]);
        assert_eq!(comparison.worse(), 0);
        assert_eq!(
            comparison.table().lines().collect::<Vec<_>>(),
            [
                "scenario  direct    guard, HTTP",
                "ping      passes 1  fails 0      cannot",
                "cannot over HTTP: ping: a: success directly, failure here",
            ]
        );
    }
}
