//! One suite for every backend. Each check is written once, against the port; the list at the end runs it on all of them.
//!
//! Redis and PostgreSQL are real servers that the first check to need one starts, shared by the rest: every check has a namespace of
//! its own. Their clocks are their own too, so what is about time waits for the store by asking it, never by sleeping blindly.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a check that meets what it does not expect has failed"
)]

mod admissions;
mod attempts;
mod backends;
mod hostile;
mod leases;
mod linearizability;
mod logs;
mod permits;
mod primitives;
mod rates;
mod records;
mod secure;
mod together;

use std::{future::Future, sync::Arc, time::Duration};

use interlock_sync::store::{Change, Content, Expect, Key, Mutation, OpId, Outcome, Record, Store};

/// A store to check, as several callers would share it.
type Shared = Arc<dyn Store>;

fn key(text: &str) -> Key {
    Key::new(text).expect("a good key")
}

fn bytes(text: &str) -> Content {
    Content::Bytes(text.as_bytes().to_vec())
}

/// Sends a change as a new operation.
async fn send(store: &Shared, change: Change) -> Outcome {
    store.mutate(&Mutation::new(OpId::fresh(), change)).await.expect("the store answers")
}

/// Writes whatever is there.
async fn put(store: &Shared, name: &str, content: Content) -> Record {
    let change = Change::Put { key: key(name), expect: Expect::Any, content: content.clone() };
    match send(store, change).await {
        Outcome::Applied(applied) => {
            let version =
                applied.changed.first().and_then(|changed| changed.to).expect("a put gives a version");
            Record { version, content }
        }
        Outcome::Refused(refusal) => panic!("a blind put is never refused: {refusal:?}"),
    }
}

/// Asks until the answer is there. Patient, because a loaded machine is no failure.
async fn eventually<T, F: Future<Output = Option<T>>>(mut ask: impl FnMut() -> F) -> T {
    for _ in 0..3_000 {
        if let Some(answer) = ask().await {
            return answer;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("it did not come to pass within half a minute")
}

/// Runs a check on every backend, as a test of its own.
macro_rules! conformance {
    ($($topic:ident::$check:ident),+ $(,)?) => {
        conformance!(@backend memory Memory $($topic::$check)+);
        conformance!(@backend sqlite Sqlite $($topic::$check)+);
        conformance!(@backend redis Redis $($topic::$check)+);
        conformance!(@backend valkey Valkey $($topic::$check)+);
        conformance!(@backend postgres Postgres $($topic::$check)+);
        conformance!(@backend pgbouncer PgBouncer $($topic::$check)+);
    };
    (@backend $module:ident $backend:ident $($topic:ident::$check:ident)+) => {
        mod $module {
            $(
                #[test]
                fn $check() {
                    crate::backends::run(crate::backends::Backend::$backend, stringify!($check), crate::$topic::$check);
                }
            )+
        }
    };
}

conformance! {
    records::what_was_put_is_read_back,
    records::a_version_is_never_used_twice,
    records::a_put_meets_its_expectation_or_is_refused_with_what_is_there,
    records::a_delete_meets_its_expectation_or_is_refused_with_what_is_there,
    records::a_debit_stops_at_its_floor,
    records::numbers_are_exact_at_both_ends,
    records::a_transfer_changes_both_or_neither,
    records::an_operation_sent_again_is_applied_once_and_answered_the_same,
    records::a_refused_operation_may_be_tried_again,
    records::an_id_that_was_used_for_something_else_is_a_mismatch,
    records::a_change_sent_again_under_another_lease_is_the_same,
    records::ways_to_do_one_thing_share_its_id,
    records::a_list_is_in_order_and_goes_on_where_it_stopped,
    records::any_content_comes_back_as_it_was,
    leases::a_lease_has_one_holder_until_it_is_released,
    leases::a_lease_that_ran_out_goes_to_the_next_with_a_greater_fence,
    leases::a_renewed_lease_outlives_its_first_time,
    leases::asking_again_gives_the_same_grant,
    leases::a_write_under_a_lost_lease_is_refused,
    rates::a_bucket_grants_its_burst_and_then_says_when,
    rates::a_log_grants_exactly_its_limit,
    rates::a_cost_is_taken_whole_or_not_at_all,
    rates::parallel_callers_do_not_overrun_a_quota,
    permits::no_more_than_the_limit_are_out,
    permits::a_permit_that_ran_out_comes_back,
    permits::asking_again_takes_no_second_permit,
    permits::parallel_callers_do_not_overrun_the_limit,
    attempts::a_duplicate_is_told_to_wait_and_then_given_the_answer,
    attempts::another_request_under_the_same_key_is_refused,
    attempts::a_reservation_that_ran_out_is_taken_over,
    attempts::what_was_dispatched_and_ran_out_is_in_doubt_until_it_is_finished,
    attempts::every_step_can_be_sent_again,
    attempts::of_many_who_begin_at_once_one_may_go_on,
    attempts::what_is_in_doubt_is_listed_in_order_until_it_is_settled,
    attempts::an_admitted_call_that_vanished_is_listed_too,
    admissions::shared_locks_are_shared_and_exclusive_ones_are_not,
    admissions::nobody_overtakes,
    admissions::a_place_in_line_is_lost_by_silence,
    admissions::places_are_left_to_those_who_came_before,
    admissions::rates_are_charged_together_and_once,
    admissions::a_grant_can_be_asked_for_again_and_is_given_back_once,
    admissions::a_dead_holder_is_replaced_with_a_greater_fence,
    admissions::an_effect_that_ended_is_told_again,
    admissions::an_effect_in_doubt_is_never_repeated,
    admissions::a_call_that_never_ran_leaves_everything_to_the_next,
    admissions::calls_that_ended_leave_nothing,
    admissions::a_change_is_noticed_by_those_who_read_before_it,
    admissions::only_who_was_fresh_knows_its_own_change,
    admissions::freshness_is_judged_when_the_locks_are_free,
    admissions::settling_again_changes_nothing,
    admissions::locks_exclude_each_other_and_nobody_waits_for_ever,
    admissions::places_are_never_exceeded,
    admissions::rates_are_never_exceeded,
    admissions::of_many_with_one_key_one_runs,
    logs::a_log_keeps_its_order_and_goes_on_where_it_was_left,
    logs::logs_do_not_meet,
    logs::an_entry_sent_again_stands_once_and_keeps_its_place,
    logs::an_id_of_another_operation_appends_nothing,
    logs::an_id_of_an_append_changes_nothing_else,
    primitives::a_lease_whose_caller_went_away_is_given_back,
    primitives::absurd_lengths_of_a_lease_are_made_possible,
    primitives::a_lease_goes_to_those_who_wait_in_turn,
    primitives::a_reservation_whose_caller_went_away_is_given_back,
    primitives::an_effect_that_did_not_end_is_in_doubt_at_once,
    primitives::a_step_of_an_effect_can_be_asked_for_after_a_crash,
    primitives::among_fifty_writers_everyone_gets_through,
    hostile::any_length_of_a_lease_or_permit_is_understood,
    hostile::any_length_of_an_attempt_is_understood,
    hostile::any_length_of_an_admission_is_understood,
    hostile::questions_that_no_key_answers_are_answered_with_nothing,
    hostile::eight_megabytes_come_back_whole_wherever_they_are_kept,
    together::many_transfers_conserve_the_sum,
    together::a_record_is_created_once,
    together::compare_and_swap_loses_no_update,
    together::duplicates_that_race_are_applied_once,
    together::a_sweep_forgets_what_is_over_and_nothing_else,
    linearizability::registers_are_linearizable,
    linearizability::counters_are_linearizable,
    linearizability::transfers_are_linearizable,
    linearizability::leases_are_linearizable,
    linearizability::attempts_are_linearizable,
    linearizability::admissions_are_linearizable,
}

/// Not behind PgBouncer: version 1.18 ends itself ("bad client state") when the client that asked it to cancel a statement leaves before
/// it has passed that on, and every other client goes with it.
mod abandoned {
    conformance!(@backend memory Memory hostile::an_operation_whose_caller_went_away_is_done_once_by_asking_again);
    conformance!(@backend sqlite Sqlite hostile::an_operation_whose_caller_went_away_is_done_once_by_asking_again);
    conformance!(@backend redis Redis hostile::an_operation_whose_caller_went_away_is_done_once_by_asking_again);
    conformance!(@backend valkey Valkey hostile::an_operation_whose_caller_went_away_is_done_once_by_asking_again);
    conformance!(@backend postgres Postgres hostile::an_operation_whose_caller_went_away_is_done_once_by_asking_again);
}
