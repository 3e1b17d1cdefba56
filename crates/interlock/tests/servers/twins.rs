//! A race and the same server without it, whose answers are not quiet: times, random ids, keys in another order, refusals.

use crate::{Listening, node, python};

const TWIN: &[&str] = &["--fixed"];

#[test]
fn a_lost_note_is_found_by_nobody_telling_and_a_lock_holds() {
    node("notes", &[], &[]).assert_broken();
    node("notes", TWIN, &["--trials", "6"]).assert_held(6);
}

#[test]
fn keys_that_come_in_any_order_are_no_race_and_do_not_hide_one() {
    let calls = [
        "--call",
        r#"set_setting {"name": "theme", "value": "dark"}"#,
        "--call",
        r#"set_setting {"name": "font", "value": "serif"}"#,
        "--read",
        "get_settings {}",
    ];
    node("settings", &[], &calls).assert_broken();
    node("settings", TWIN, &[&calls[..], &["--trials", "6"]].concat()).assert_held(6);
}

#[test]
fn who_is_told_to_try_again_was_not_served_and_nothing_is_wrong_with_that() {
    let calls = [
        "--call",
        r#"transfer {"source": "ada", "target": "grace", "amount": 60}"#,
        "--call",
        r#"transfer {"source": "ada", "target": "grace", "amount": 70}"#,
        "--read",
        "balances {}",
    ];
    python("mcp2", "wallet", &[], &calls).assert_broken();
    python("mcp2", "wallet", TWIN, &[&calls[..], &["--trials", "6"]].concat()).assert_held(6);
}

#[test]
fn two_tokens_where_one_is_made_are_seen_although_tokens_are_random() {
    let calls = ["--call", r#"get_token {"service": "mail"}"#, "--read", "list_tokens {}"];
    Listening::node("tokens", &[]).prove(&calls).assert_broken();
    Listening::node("tokens", TWIN).prove(&[&calls[..], &["--trials", "6"]].concat()).assert_held(6);
}
