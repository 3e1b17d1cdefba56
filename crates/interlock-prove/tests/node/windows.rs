//! A race window that a scan names is held open, and nothing else.

use interlock_model::{Perturbation, RaceWindow};
use serde_json::{Value, json};

use crate::server::{Ran, Server, text};

fn window(file: &str, first: u32, last: u32) -> Perturbation {
    Perturbation::HeldWindow { windows: vec![RaceWindow { file: file.into(), first, last }] }
}

/// Two calls of one tool with a window held open; what happened, and what the server has afterwards.
async fn held(server: &mut Server, tool: &str, window: &Perturbation) -> (Ran, String) {
    let ran = server.disturbed(&[(tool, json!({})), (tool, json!({}))], window).await;
    let list = text(&server.call("list", Value::Null).await);
    (ran, list)
}

fn told(ran: &Ran, word: &str) -> Vec<String> {
    ran.told().into_iter().filter(|line| line.starts_with(&format!("wait {word}"))).collect()
}

#[tokio::test]
async fn an_operation_that_was_begun_in_the_window_is_told_late_and_both_calls_have_looked() {
    let mut server = Server::own("windows.mjs");
    let (ran, list) = held(&mut server, "behind_a_read", &window("servers/windows.mjs", 12, 13)).await;
    assert_eq!(list, "1", "{:?}", ran.told());
    assert_eq!(told(&ran, "hold"), ["wait hold servers/windows.mjs:13"; 2]);
    assert!(!ran.observed.unnatural);
    assert_eq!(ran.observed.diverged, None);
}

#[tokio::test]
async fn where_nothing_is_waited_for_nothing_is_held() {
    let mut server = Server::own("windows.mjs");
    let (ran, list) = held(&mut server, "without_waiting", &window("windows.mjs", 18, 19)).await;
    assert_eq!((list.as_str(), told(&ran, "")), ("2", Vec::new()));
}

#[tokio::test]
async fn calls_that_queue_up_keep_both_updates_however_long_the_window_is_held() {
    let mut server = Server::own("windows.mjs");
    let (ran, list) = held(&mut server, "locked", &window("windows.mjs", 8, 8)).await;
    assert_eq!((list.as_str(), told(&ran, "hold").len()), ("2", 2), "{:?}", ran.told());
}

#[tokio::test]
async fn behind_a_synchronous_look_all_of_the_process_stands_still() {
    let mut server = Server::own("windows.mjs");
    let (ran, list) = held(&mut server, "in_one_go", &window("windows.mjs", 33, 33)).await;
    assert_eq!(list, "2", "nothing comes in between in one process");
    assert!(!told(&ran, "stall").is_empty(), "{:?}", ran.told());
    assert!(told(&ran, "hold").is_empty());
}

#[tokio::test]
async fn lines_elsewhere_and_files_of_another_name_are_left_alone() {
    for other in
        [window("windows.mjs", 30, 31), window("other/windows.mjs", 12, 13), window("ows.mjs", 12, 13)]
    {
        let mut server = Server::own("windows.mjs");
        let (ran, _) = held(&mut server, "behind_a_read", &other).await;
        assert_eq!(told(&ran, ""), Vec::<String>::new(), "{other:?}");
    }
}

#[tokio::test]
async fn a_line_of_the_source_is_found_through_the_map() {
    let mut server = Server::own("mapped.mjs");
    let (ran, list) = held(&mut server, "add", &window("src/mapped.ts", 106, 106)).await;
    assert_eq!(list, "1", "{:?}", ran.told());
    assert_eq!(told(&ran, "hold"), ["wait hold src/mapped.ts:106"; 2]);
}
