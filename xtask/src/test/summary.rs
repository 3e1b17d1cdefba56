//! The table that ends a test run: which part, how it ended, how long it took.

use std::time::Duration;

use super::Outcome;
use crate::columns::{Side, columns};

/// The outcomes as a table with a total line.
pub(super) fn summary(outcomes: &[Outcome]) -> String {
    let row = |part: &str, result: &str, seconds: &str| {
        vec![part.to_owned(), result.to_owned(), seconds.to_owned()]
    };
    let seconds = |time: Duration| format!("{:.1}", time.as_secs_f64());
    let all_ok = outcomes.iter().all(|outcome| outcome.ok);

    let mut rows = vec![row("part", "result", "seconds")];
    rows.extend(outcomes.iter().map(|outcome| row(outcome.name, result(outcome.ok), &seconds(outcome.time))));
    rows.push(row("total", result(all_ok), &seconds(outcomes.iter().map(|outcome| outcome.time).sum())));
    columns(&[Side::Left, Side::Left, Side::Right], &rows)
}

fn result(ok: bool) -> &'static str {
    if ok { "ok" } else { "FAILED" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_names_each_part_and_the_total_fails_with_any_of_them() {
        let outcome = |name, ok, millis| Outcome { name, ok, time: Duration::from_millis(millis) };
        let text = summary(&[outcome("format", true, 1_260), outcome("lint", false, 12_000)]);
        let expected = [
            "part    result  seconds",
            "format  ok          1.3",
            "lint    FAILED     12.0",
            "total   FAILED     13.3",
            "",
        ];
        assert_eq!(text, expected.join("\n"));
    }
}
