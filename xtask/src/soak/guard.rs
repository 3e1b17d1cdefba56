//! The guard's own faults, more often than the tests have time for.

use anyhow::{Context, Result};

use crate::{root::Root, run::Run};

/// The tests that go on, below the guard's tests of the program.
const TESTS: &[&str] = &[
    "ending::told_to_end_under_load_it_answers_what_it_accepted_and_begins_nothing_more",
    "fuzz::over_stdio_nothing_runs_that_is_denied",
    "fuzz::over_http_nothing_runs_that_is_denied",
    "impatient::clients_that_time_out_at_random_lose_nothing_in_typescript",
    "impatient::clients_that_time_out_at_random_lose_nothing_in_python",
    "impatient::clients_that_time_out_at_random_lose_nothing_on_the_official_memory_server",
    "impatient::the_next_writer_gets_through_when_a_cancelled_handler_has_ended",
    "again::a_call_that_is_sent_again_with_its_key_takes_effect_once",
    "storms::over_postgresql_that_crashes_nothing_runs_twice_or_beside_another",
    "storms::over_redis_that_is_killed_nothing_runs_twice_or_beside_another",
    "storms::over_redis_that_keeps_nothing_no_call_runs_beside_another",
    "storms::over_redis_that_is_emptied_no_call_runs_beside_another",
    "storms::one_callers_thousand_calls_on_two_replicas_hold_another_caller_up_by_few",
];

/// Runs them, so many times; each says at its end what held.
pub(super) fn run(root: &Root, runs: u32, retries: u32) -> Result<()> {
    for test in TESTS {
        Run::new(root, "cargo")
            .args(["test", "--package", "interlock", "--test", "guard", "--locked", "--"])
            .args(["--exact", test, "--nocapture"])
            .env("INTERLOCK_GUARD_RUNS", &runs.to_string())
            .env("INTERLOCK_GUARD_RETRIES", &retries.to_string())
            .go()
            .context("something did not hold; the lines above say what")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tests_that_go_on_are_there() {
        let root = Root::find(None, None).unwrap();
        for name in TESTS {
            let (file, test) = name.split_once("::").unwrap();
            let text = root.read(&format!("crates/interlock/tests/guard/{file}.rs")).unwrap();
            assert!(text.contains(&format!("fn {test}(")), "an unknown name would run nothing and be green");
        }
    }
}
