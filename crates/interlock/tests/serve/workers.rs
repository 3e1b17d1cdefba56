//! Workers that die: every audit ends, and none ends twice.

use std::{collections::BTreeMap, time::Duration};

use interlock_testkit::service::Postgres;

use crate::kit::{Desk, RACY, Served, stand_in, until};

/// The audits that a worker has begun, and those that it has ended, as its log says.
fn told(worker: &Served, word: &str) -> Vec<String> {
    let id = |line: &String| {
        line.strip_prefix("interlock serve: ")?.split_once(word).map(|(id, _)| id.trim().to_owned())
    };
    worker.log().iter().filter_map(id).collect()
}

async fn half_way(state: &str, desk: &Desk, audits: usize) {
    let target =
        desk.repository("notes", &[("src/index.ts", RACY), ("package.json", "{\"name\":\"notes\"}")]);
    let web = desk.start_on(state, &["--workers", "0", "--rate", "1000", "--in-flight", "1000"], &[]);
    let mut asked = Vec::new();
    for _ in 0..audits {
        let (status, about) = web.ask(&target).await;
        assert_eq!(status, 201, "{about}");
        asked.push(about);
    }
    let worker = || desk.start_on(state, &["--worker", "--workers", "1", "--lease", "2s"], &[]);
    let (killed, other) = (worker(), worker());
    until("half of them have ended", async || {
        told(&killed, " ended").len() + told(&other, " ended").len() >= audits / 2
    })
    .await;
    // It is stopped in the middle of an audit, so that there is one to take over.
    let mut cut_off = String::new();
    until("the worker was in the middle of one", async || {
        killed.signal("-STOP");
        tokio::time::sleep(Duration::from_millis(100)).await;
        let (begun, ended) = (told(&killed, " begins"), told(&killed, " ended"));
        let open = begun.iter().find(|id| !ended.contains(id)).cloned();
        let is_open = match &open {
            Some(id) => web.json(&format!("/api/audits/{id}")).await["state"] == "running",
            None => false,
        };
        cut_off = open.unwrap_or_default();
        if !is_open {
            killed.signal("-CONT");
        }
        is_open
    })
    .await;
    killed.signal("-KILL");
    for about in &asked {
        let end = web.end_of(about).await;
        assert_eq!(end["state"], "done", "{end}");
        let tries = end["tries"].as_u64().expect("a number");
        let is_cut_off = end["id"] == cut_off.as_str();
        assert!(if is_cut_off { tries >= 2 } else { tries >= 1 }, "{end}");
        let report = web.json(end["reports"]["json"].as_str().expect("a report")).await;
        assert_eq!(report["subjects"][0]["entries"][0]["hazard"], "lost-update", "{report}");
    }
    let mut ends = BTreeMap::<String, usize>::new();
    for id in told(&killed, " ended").into_iter().chain(told(&other, " ended")) {
        *ends.entry(id).or_default() += 1;
    }
    assert!(ends.values().all(|count| *count == 1), "ended twice: {ends:#?}");
    // The killed one may have ended one audit that it had no time to tell of.
    assert!(ends.len() + 1 >= audits, "{} of {audits}", ends.len());
    until("the queue is empty", async || {
        web.text("/metrics").await.contains("interlock_serve_audits_waiting 0\n")
    })
    .await;
    // What the killed worker had started ends with it.
    let tmp = desk.path("tmp");
    until("no process is left in its folder", async || {
        let processes = std::fs::read_dir("/proc").expect("the processes").flatten();
        let mut folders = processes.filter_map(|process| std::fs::read_link(process.path().join("cwd")).ok());
        !folders.any(|folder| folder.starts_with(&tmp))
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_fifty_audits_on_two_workers_one_of_which_is_killed_half_way_each_ends_exactly_once() {
    let desk = Desk::new();
    half_way(&format!("sqlite:{}", desk.path("serve.db").display()), &desk, 50).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn workers_on_postgres_take_over_likewise() {
    let postgres = Postgres::start().expect("it starts");
    half_way(&postgres.url(), &Desk::new(), 12).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_told_to_end_gives_its_audit_back_and_the_next_one_ends_it() {
    let desk = Desk::new();
    let path = stand_in(&desk, "git", "#!/bin/sh\nexec sleep 600\n");
    let target = desk.repository("notes", &[("index.ts", RACY)]);
    let state = format!("sqlite:{}", desk.path("serve.db").display());
    let mut first = desk.start_on(&state, &["--workers", "1"], &[("PATH", &path)]);
    let (_, about) = first.ask(&target).await;
    let url = about["url"].as_str().expect("an address");
    until("it is under way", async || first.json(url).await["state"] == "running").await;
    first.signal("-TERM");
    assert!(first.child.wait().expect("it ends").success(), "{:#?}", first.log());
    assert_eq!(std::fs::read_dir(desk.path("tmp")).expect("a folder").count(), 0, "nothing is left behind");
    let second = desk.start_on(&state, &["--workers", "1"], &[]);
    let end = second.end_of(&about).await;
    assert_eq!((&end["state"], &end["tries"]), (&"done".into(), &2.into()), "{end}");
}
