//! The tracer in a Python program with threads, with an event loop, and with neither.

use interlock_model::{Perturbation, TickKind};
use interlock_prove::perturb::{Perturb, python::PythonSwitches};

use crate::kit::{Led, Place, command, inherited};

const PROGRAM: &str = include_str!("programs/switches.py");

fn switches() -> PythonSwitches {
    PythonSwitches::new(inherited())
}

async fn start(place: &Place) -> Led {
    let program = place.source("switches.py", PROGRAM);
    let words = ["python3".to_owned(), program.display().to_string()];
    Led::start(&switches(), place, place.launch(words)).await
}

/// The first seed under which the threads lose an update.
async fn losing_seed(led: &mut Led, how: &str) -> Option<u64> {
    for seed in 0..6 {
        let (lost, seen) = led.ask(&Perturbation::PythonSwitches { seed }, how).await;
        assert_eq!(seen.diverged, None);
        assert!(!seen.unnatural);
        assert!(seen.ticks.iter().all(|tick| tick.kind == TickKind::Wait));
        if lost != "0" {
            assert!(seen.ticks.iter().any(|tick| tick.on == "pause switches.py:12"), "{:?}", seen.ticks);
            return Some(seed);
        }
    }
    None
}

#[tokio::test]
async fn threads_that_look_and_then_act_lose_updates() {
    let place = Place::new();
    let mut led = start(&place).await;
    assert!(losing_seed(&mut led, "threads").await.is_some());
}

#[tokio::test]
async fn threads_that_an_event_loop_kept_from_before_are_reached_too() {
    let place = Place::new();
    let mut led = start(&place).await;
    led.running.ask("executor").await;
    assert!(losing_seed(&mut led, "executor").await.is_some());
}

#[tokio::test]
async fn neither_the_main_thread_nor_that_of_an_event_loop_is_held_up() {
    let place = Place::new();
    let mut led = start(&place).await;
    for how in ["main", "loop"] {
        let (lost, seen) = led.ask(&Perturbation::PythonSwitches { seed: 0 }, how).await;
        assert_eq!(lost, "0");
        assert_eq!(seen.diverged, None);
        // What comes before the loop in its thread may wait; `add` and `work` are called from within.
        let inside = |on: &str| (11..=19).any(|line| on == format!("pause switches.py:{line}"));
        assert!(!seen.ticks.iter().any(|tick| inside(&tick.on)), "{how}: {:?}", seen.ticks);
    }
}

#[tokio::test]
async fn nothing_is_to_be_seen_of_it_before_and_after() {
    let place = Place::new();
    let program = place.source("switches.py", PROGRAM);
    place.write("sitecustomize.py", "WHOSE = 'the server'\n");
    let mut launch = place.launch(["python3".to_owned(), program.display().to_string()]);
    launch.environment.insert("PYTHONPATH".into(), place.scratch.path().into());
    let mut led = Led::start(&switches(), &place, launch).await;
    let before = led.running.ask("path").await;
    assert_eq!(before, "[] the server 0.005 1");
    led.ask(&Perturbation::PythonSwitches { seed: 0 }, "threads").await;
    assert_eq!(led.running.ask("path").await, before);
    assert!(led.leash.disarm().await.unwrap().ticks.is_empty());
}

#[tokio::test]
async fn a_python_that_starts_another_is_followed() {
    let place = Place::new();
    let program = place.source("switches.py", PROGRAM);
    let starter = "import subprocess, sys\nsys.exit(subprocess.call([sys.executable, sys.argv[1]]))\n";
    let words = ["python3".to_owned(), "-c".to_owned(), starter.to_owned(), program.display().to_string()];
    let mut led = Led::start(&switches(), &place, place.launch(words)).await;
    assert!(losing_seed(&mut led, "threads").await.is_some());
}

#[test]
fn it_applies_to_python_and_to_scripts_of_it_only() {
    let place = Place::new();
    let script = place.source("server", "#!/usr/bin/env python3\n");
    let script = script.to_str().unwrap();
    let applies = |words: &[&str]| switches().applies(&place.launch(words));
    assert_eq!(applies(&["python3", "x.py"]), Ok(()));
    assert_eq!(applies(&[script]), Ok(()));
    assert_eq!(
        applies(&["node", "x.mjs"]),
        Err("node is not Python: it has no threads of Python's to switch".to_owned())
    );
    assert_eq!(
        applies(&["python3", "-I", "x.py"]),
        Err("Python is told to ignore PYTHONPATH, so nothing can be put into it".to_owned())
    );
}

#[test]
fn python_ends_as_it_would_without_it() {
    let place = Place::new();
    for (code, status) in [("import sys; sys.exit(3)", 3), ("import os; os._exit(4)", 4), ("1/0", 1)] {
        let mut launch = place.launch(["python3", "-c", code]);
        let _leash = switches().attach(&mut launch, place.hidden.path()).unwrap();
        assert_eq!(command(&launch).output().unwrap().status.code(), Some(status), "{code}");
    }
    let fork = "import os\npid = os.fork()\nos._exit(5) if pid == 0 else None\nos.waitpid(pid, 0)";
    let mut launch = place.launch(["python3", "-c", fork]);
    let _leash = switches().attach(&mut launch, place.hidden.path()).unwrap();
    assert_eq!(command(&launch).output().unwrap().status.code(), Some(0));
}
