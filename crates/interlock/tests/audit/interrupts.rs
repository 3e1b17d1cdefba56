//! An interrupt in each phase: the report of what is done so far, and no process that stays.

use std::{
    fs,
    io::{BufRead, BufReader},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::{Desk, git::repository};

const COUNTER: &str = include_str!("../prove/counter.py");

/// Interrupts an audit when its progress says this; the report, and what it had said by then.
fn interrupted(desk: &Desk, environment: &[(&str, &str)], arguments: &[&str], at: &str) -> Value {
    let path = desk.path("report.json");
    let before = ["--for-worker", "--output", path.to_str().expect("a name")];
    let mut command = desk.command(&[&before, arguments].concat());
    // It tells how far it is line by line, and would end with its input.
    command
        .envs(environment.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let mut lines = BufReader::new(child.stderr.take().expect("its progress")).lines().map_while(Result::ok);
    let mut said = Vec::new();
    let found = lines.by_ref().any(|line| {
        said.push(line.clone());
        line.contains(at)
    });
    assert!(found, "it never came to `{at}`: {said:#?}");
    // The phase has begun; a moment later it is in the middle of it.
    std::thread::sleep(Duration::from_millis(300));
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(sent.expect("kill is there").success());
    said.extend(lines);
    let code = child.wait().expect("it ends").code();
    assert!(matches!(code, Some(1 | 3)), "{code:?}: {said:#?}");
    let report = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{error}: {said:#?}"));
    assert_eq!(desk.left_behind(), [] as [&str; 0], "{at}");
    let begin = Instant::now();
    while let Some(folder) = processes(desk) {
        assert!(begin.elapsed() < Duration::from_secs(60), "{at}: a process is left in {folder}");
        std::thread::sleep(Duration::from_millis(50));
    }
    let report: Value = serde_json::from_str(&report).expect("JSON");
    assert_eq!(report.get("stopped"), Some(&true.into()), "{at}: {report}");
    report
}

/// The folder of a process that is at work below this desk.
fn processes(desk: &Desk) -> Option<String> {
    let all = fs::read_dir("/proc").expect("the processes").flatten();
    let mut folders = all.filter_map(|process| fs::read_link(process.path().join("cwd")).ok());
    folders.find(|folder| folder.starts_with(desk.folder.path())).map(|folder| folder.display().to_string())
}

#[test]
fn while_a_repository_is_fetched() {
    let desk = Desk::new();
    let folder = repository(&desk);
    let git = desk.write("bin/git", "#!/bin/sh\nsleep 600 &\nexec sleep 600\n");
    assert!(Command::new("chmod").arg("+x").arg(&git).status().expect("chmod is there").success());
    #[expect(clippy::disallowed_methods, reason = "the other programs are where they are for this test")]
    let path = format!("{}:{}", desk.path("bin").display(), std::env::var("PATH").expect("a path"));
    let target = format!("file://{}", folder.display());
    let report = interrupted(&desk, &[("PATH", &path)], &[&target], "fetching");
    assert_eq!(report.pointer("/subjects/0/live/state"), Some(&"not-run".into()), "{report}");
}

#[test]
fn while_a_server_is_started_that_says_nothing() {
    let desk = Desk::new();
    let report = interrupted(&desk, &[], &[".", "--run", "--", "sleep", "600"], "starting the server");
    assert_eq!(report.pointer("/subjects/0/live/state"), Some(&"unknown".into()), "{report}");
}

#[test]
fn while_it_is_found_out_what_the_tools_do_and_while_calls_meet_and_behind_the_guard() {
    for (at, shows) in [("finding out what", false), ("together, run 2", false), ("behind the guard", true)] {
        let desk = Desk::new();
        desk.write("work/counter.py", COUNTER);
        let mode = if shows { "unsafe" } else { "safe" };
        let words = [".", "--run", "--", "python3", "counter.py", mode, "{scratch}/value"];
        // Where something is proven before, it is in the report.
        let budget = ["--budget", if shows { "60s" } else { "3600s" }];
        let report = interrupted(&desk, &[], &[budget.as_slice(), &words].concat(), at);
        let entries = report.pointer("/subjects/0/entries").and_then(Value::as_array).map_or(0, Vec::len);
        assert_eq!(entries > 0, shows, "{at}: {report}");
    }
}
