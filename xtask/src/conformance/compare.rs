//! What came out directly beside what came out through the guard.

use super::checks::{Check, Scenario, Scenarios, Status, Verdict};
use crate::columns::{Side, columns};

/// The same scenarios on one server, three times.
pub(super) struct Comparison {
    pub(super) direct: Scenarios,
    /// Through the guard, which speaks HTTP to the server.
    pub(super) http: Scenarios,
    /// Through the guard, which has started the server and speaks to it over stdio.
    pub(super) stdio: Scenarios,
}

/// A check that came out otherwise than directly.
struct Difference {
    line: String,
    worse: bool,
}

impl Comparison {
    /// How many checks that pass directly do not pass through the guard over HTTP. A server on stdio is another server: it has one connection
    /// for all clients, and no headers, so what differs there is told and not counted.
    pub(super) fn worse(&self) -> usize {
        self.differences(&self.http).iter().filter(|difference| difference.worse).count()
    }

    /// The scenarios, then what differs check by check.
    pub(super) fn table(&self) -> String {
        let head = ["scenario", "direct", "guard, HTTP", "guard, stdio", ""].map(str::to_owned).to_vec();
        let mut rows = vec![head];
        for (name, direct) in &self.direct.0 {
            let (http, stdio) = (self.http.0.get(name), self.stdio.0.get(name));
            let worse = differences(name, direct, http).iter().any(|difference| difference.worse);
            let mark = if worse { "WORSE" } else { "" };
            rows.push(vec![name.clone(), shown(Some(direct)), shown(http), shown(stdio), mark.to_owned()]);
        }
        let mut text = columns(&[Side::Left; 5], &rows);
        for difference in self.differences(&self.http) {
            let word = if difference.worse { "worse" } else { "otherwise" };
            text.push_str(&format!("{word}: {}\n", difference.line));
        }
        for difference in self.differences(&self.stdio) {
            text.push_str(&format!("over stdio: {}\n", difference.line));
        }
        text
    }

    fn differences(&self, through: &Scenarios) -> Vec<Difference> {
        let all = &self.direct.0;
        all.iter().flat_map(|(name, direct)| differences(name, direct, through.0.get(name))).collect()
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
        Comparison { direct: run(direct), http: run(through), stdio: run(direct) }.worse()
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
        let direct = || run(&[("a", Status::Success)]);
        let comparison = Comparison { direct: direct(), http: Scenarios::default(), stdio: direct() };
        assert_eq!(comparison.worse(), 1);
        assert_eq!(
            comparison.table().lines().collect::<Vec<_>>(),
            [
                "scenario  direct    guard, HTTP  guard, stdio",
                "ping      passes 1  not run      passes 1      WORSE",
                "worse: ping: was not run",
            ]
        );
    }
}
