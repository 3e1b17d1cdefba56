//! Race windows of a Python program: threads, coroutines, and callers between which nothing can come.

use interlock_model::{Perturbation, RaceWindow};
use interlock_prove::perturb::{Observed, Perturb, windows::HeldWindows};

use crate::kit::{Led, Place, inherited};

const PROGRAM: &str = include_str!("programs/windows.py");

async fn start(place: &Place) -> Led {
    let program = place.source("windows.py", PROGRAM);
    let words = ["python3".to_owned(), program.display().to_string()];
    Led::start(&HeldWindows::new(inherited()), place, place.launch(words)).await
}

fn window(first: u32, last: u32) -> Perturbation {
    Perturbation::HeldWindow { windows: vec![RaceWindow { file: "windows.py".into(), first, last }] }
}

fn told(seen: &Observed) -> Vec<&str> {
    assert_eq!(seen.diverged, None);
    assert!(!seen.unnatural);
    seen.ticks.iter().map(|tick| tick.on.as_str()).collect()
}

#[tokio::test]
async fn both_callers_have_looked_before_one_of_them_acts() {
    let place = Place::new();
    let mut led = start(&place).await;
    for (how, line) in [("threads", 11), ("behind a thread", 25)] {
        let (lost, seen) = led.ask(&window(line, line), how).await;
        let expected = format!("hold windows.py:{line}");
        assert!(told(&seen).contains(&expected.as_str()), "{how}: {:?}", seen.ticks);
        assert_eq!(lost, "1", "{how}: {:?}", seen.ticks);
    }
}

#[tokio::test]
async fn no_gap_is_made_where_the_interpreter_and_the_loop_have_none() {
    let place = Place::new();
    let mut led = start(&place).await;
    for (how, first, last) in [
        ("no gap", 20, 20),
        ("at once", 30, 35),
        ("without waiting", 40, 44),
        ("in turn", 49, 50),
        ("locked", 56, 56),
        ("cancelled", 62, 62),
        ("main", 11, 11),
    ] {
        let (lost, seen) = led.ask(&window(first, last), how).await;
        assert_eq!(lost, "0", "{how}: {:?}", told(&seen));
    }
    for (how, first, last) in [("without waiting", 40, 44), ("in turn", 49, 50), ("no gap", 20, 20)] {
        let (_, seen) = led.ask(&window(first, last), how).await;
        assert_eq!(told(&seen), Vec::<&str>::new(), "{how}: nothing waits there");
    }
}

#[tokio::test]
async fn the_main_thread_is_only_held_together_with_all_of_the_process() {
    let place = Place::new();
    let mut led = start(&place).await;
    let (_, seen) = led.ask(&window(11, 11), "main").await;
    assert_eq!(told(&seen), ["stall windows.py:11"; 2]);
}

#[tokio::test]
async fn files_of_another_name_are_left_alone_and_afterwards_nothing_is_held() {
    let place = Place::new();
    let mut led = start(&place).await;
    let elsewhere = RaceWindow { file: "other/windows.py".into(), first: 11, last: 11 };
    let (_, seen) = led.ask(&Perturbation::HeldWindow { windows: vec![elsewhere] }, "threads").await;
    assert_eq!(told(&seen), Vec::<&str>::new());
    led.ask(&window(11, 11), "main").await;
    let (_, seen) = led.ask(&Perturbation::HeldWindow { windows: Vec::new() }, "main").await;
    assert_eq!(told(&seen), Vec::<&str>::new());
}

#[test]
fn it_applies_to_node_and_python_only() {
    let place = Place::new();
    let applies = |words: &[&str]| HeldWindows::new(inherited()).applies(&place.launch(words));
    assert_eq!(applies(&["python3", "x.py"]), Ok(()));
    assert_eq!(applies(&["node", "x.mjs"]), Ok(()));
    assert!(applies(&["python3", "-I", "x.py"]).is_err());
    assert!(applies(&["/bin/cat"]).is_err());
}
