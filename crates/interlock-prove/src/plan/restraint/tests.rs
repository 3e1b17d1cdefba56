//! Calls that are withheld and calls that are made, under every kind of isolation.

use interlock_model::Refusal;
use serde_json::json;

use super::*;

const SCRATCH: &str = "/tmp/interlock-prove-x/scratch";

fn moved(files: Refusal, network: Refusal) -> Confinement {
    Confinement { folders: Folders::Moved, files, network, ..Confinement::default() }
}

fn complete() -> Confinement {
    moved(Refusal::Refused, Refusal::Refused)
}

fn restraint(isolation: Confinement, allow_destructive: bool) -> Restraint {
    let restraint = Restraint::new(isolation, allow_destructive);
    restraint.know_tools(&[
        json!({"name": "list_files", "annotations": {"readOnlyHint": true}}),
        json!({"name": "write_file"}),
        json!({"name": "delete_file", "annotations": {"destructiveHint": true}}),
        json!({"name": "send_mail"}),
        json!({"name": "delete_quietly", "annotations": {"readOnlyHint": true}}),
        json!({"name": "sync_issue", "annotations": {"openWorldHint": true}}),
    ]);
    restraint.learn(&json!({"files": ["alpha.txt"], "link": "https://example.com/x", "count": 7}), true);
    restraint
}

#[track_caller]
fn check(restraint: &Restraint, tool: &str, arguments: Value, withheld: Option<&str>) {
    let call = PlannedCall::new(tool, arguments.clone());
    let said = restraint.withholds(&call, Path::new(SCRATCH)).map(|withheld| withheld.why);
    match (withheld, &said) {
        (None, None) => {}
        (Some(word), Some(said)) if said.contains(word) => {}
        _ => panic!("{tool} {arguments}: {said:?}, not {withheld:?}"),
    }
}

#[test]
fn what_was_there_before_is_never_handed_to_who_may_change_it_unless_the_kernel_refuses_all_else() {
    for allowed in [false, true] {
        for isolation in [
            moved(Refusal::Open, Refusal::Refused),
            moved(Refusal::Partly, Refusal::Refused),
            moved(Refusal::Refused, Refusal::Open),
        ] {
            let restraint = restraint(isolation, allowed);
            check(&restraint, "write_file", json!({"name": "alpha.txt"}), Some("there before"));
            check(&restraint, "write_file", json!({"edits": [{"name": "alpha.txt"}]}), Some("there before"));
            check(&restraint, "write_file", json!({"name": "file-a"}), None);
            check(&restraint, "list_files", json!({"name": "alpha.txt"}), None);
        }
    }
    let restraint = restraint(complete(), false);
    check(&restraint, "write_file", json!({"name": "alpha.txt"}), None);
    check(&restraint, "delete_file", json!({"name": "alpha.txt"}), None);
    check(&restraint, "write_file", json!({"link": "https://example.com/x"}), Some("there before"));
}

#[test]
fn a_path_that_leads_out_is_withheld_whatever_the_kernel_does() {
    for isolation in [complete(), moved(Refusal::Open, Refusal::Open)] {
        let restraint = restraint(isolation, true);
        for path in
            ["/etc/passwd", "/", "../x", "a/../../x", "{scratch}/../x", "~/../x", "file:///etc/passwd"]
        {
            check(&restraint, "write_file", json!({"path": path}), Some("outside"));
            check(&restraint, "write_file", json!({"text": path}), Some("outside"));
            check(&restraint, "list_files", json!({"path": path}), None);
        }
        let inside = format!("{SCRATCH}/a.txt");
        for path in ["{scratch}/a.txt", &inside, "a.txt", "~/a.txt", "/no-such-route/7", "text\n/etc"] {
            check(&restraint, "write_file", json!({"path": path}), None);
        }
    }
    let in_place = Confinement { folders: Folders::InPlace, ..moved(Refusal::Open, Refusal::Refused) };
    check(&restraint(in_place, true), "write_file", json!({"path": "~/a.txt"}), Some("outside"));
}

#[test]
fn what_destroys_or_reaches_out_needs_leave_unless_there_is_nothing_to_harm() {
    let open = || moved(Refusal::Refused, Refusal::Open);
    check(&restraint(open(), false), "send_mail", json!({}), Some("--allow-destructive"));
    check(&restraint(open(), false), "sync_issue", json!({}), Some("--allow-destructive"));
    check(&restraint(open(), false), "delete_file", json!({"name": "file-a"}), Some("--allow-destructive"));
    check(&restraint(open(), false), "delete_quietly", json!({"name": "a"}), Some("--allow-destructive"));
    check(&restraint(open(), false), "delete_file", json!({"path": "{scratch}/a.txt"}), None);
    check(
        &restraint(open(), false),
        "delete_file",
        json!({"path": "{scratch}/a.txt", "name": "b"}),
        Some("--allow"),
    );
    check(&restraint(open(), true), "delete_file", json!({"name": "file-a"}), None);
    check(&restraint(open(), true), "send_mail", json!({}), None);
    check(&restraint(complete(), false), "send_mail", json!({}), None);
    check(&restraint(complete(), false), "delete_file", json!({"name": "file-a"}), None);
    check(&restraint(moved(Refusal::Open, Refusal::Refused), false), "send_mail", json!({}), Some("--allow"));
}

#[test]
fn what_we_made_is_ours_and_what_a_person_named_is_theirs() {
    let restraint = restraint(moved(Refusal::Open, Refusal::Open), true);
    let made = PlannedCall::new("write_file", json!({"name": "file-a"}));
    assert_eq!(restraint.let_go(&made, &made, Path::new(SCRATCH)), Ok(()));
    restraint.learn(&json!({"files": ["file-a", "gamma.txt"], "id": 3}), false);
    check(&restraint, "write_file", json!({"name": "file-a"}), None);
    check(&restraint, "write_file", json!({"name": "gamma.txt"}), Some("there before"));
    check(&restraint, "write_file", json!({"id": 3}), None);
    let named = PlannedCall::new("delete_file", json!({"name": "alpha.txt"}));
    restraint.know_by_hand([&named]);
    check(&restraint, "delete_file", json!({"name": "alpha.txt"}), None);
    check(&restraint, "delete_file", json!({"name": "alpha.txt", "force": true}), Some("there before"));
}

#[test]
fn where_a_reference_leads_is_judged_when_it_is_filled_in() {
    let restraint = restraint(moved(Refusal::Open, Refusal::Refused), true);
    let planned = PlannedCall::new("write_file", json!({"name": "{answer:0/name}"}));
    let filled = |name: &str| PlannedCall::new("write_file", json!({"name": name}));
    assert!(restraint.let_go(&planned, &filled("alpha.txt"), Path::new(SCRATCH)).is_err());
    assert_eq!(restraint.let_go(&planned, &filled("new"), Path::new(SCRATCH)), Ok(()));
}

#[test]
fn a_server_that_is_put_back_by_a_command_may_be_told_its_own_names_with_leave() {
    let elsewhere = || Confinement::default();
    check(&restraint(elsewhere(), false), "write_file", json!({"name": "alpha.txt"}), Some("there before"));
    check(&restraint(elsewhere(), true), "write_file", json!({"name": "alpha.txt"}), None);
}
