//! The file shim in C, Python, Node and Rust programs.

use interlock_model::{Perturbation, TickKind};
use interlock_prove::perturb::{Perturb, slow_files::SlowFiles};

use crate::kit::{Led, Place, Running, command, compile, inherited};

/// Every wrapped operation once, with what it returns and leaves in `errno`, on one line.
const ALL_CALLS: &str = include_str!("programs/all_calls.c");

/// Two callers, the second 10 ms after the first, read a number from `count`, add one and write it back.
const COUNT_C: &str = include_str!("programs/count.c");
const COUNT_RUST: &str = include_str!("programs/count.rs");
const COUNT_NODE: &str = include_str!("programs/count.mjs");
const COUNT_PYTHON: &str = include_str!("programs/count.py");

fn slow_files() -> SlowFiles {
    SlowFiles::new(inherited())
}

fn compiled_c(place: &Place, text: &str) -> String {
    let source = place.source("program.c", text);
    compile("cc", &["-std=gnu11", "-Wall", "-pthread"], &source).display().to_string()
}

/// Asks until an update is lost, with one seed after another; `None` if that never happens.
async fn lost_by_seed(place: &Place, led: &mut Led) -> Option<u64> {
    for seed in (0..6).cycle().take(18) {
        place.write("count", "0");
        let (answer, seen) = led.ask(&Perturbation::SlowFiles { seed }, "go").await;
        assert_eq!(answer, "done");
        assert_eq!(seen.diverged, None);
        let told: Vec<(TickKind, &str)> =
            seen.ticks.iter().map(|tick| (tick.kind, tick.on.as_str())).collect();
        assert!(told.contains(&(TickKind::Read, "read count")), "{told:?}");
        assert!(told.contains(&(TickKind::Write, "write count")), "{told:?}");
        assert!(seen.ticks.is_sorted_by_key(|tick| tick.at));
        assert!(!seen.unnatural);
        if place.read("count") == "1" {
            return Some(seed);
        }
    }
    None
}

async fn loses_an_update_only_when_armed(place: &Place, words: &[&str]) {
    let mut led = Led::start(&slow_files(), place, place.launch(words)).await;
    place.write("count", "0");
    assert_eq!(led.running.ask("go").await, "done");
    assert!(led.leash.disarm().await.unwrap().ticks.is_empty(), "nothing is noted before it is armed");
    assert!(lost_by_seed(place, &mut led).await.is_some());
    assert_eq!(led.running.ask("go").await, "done");
    assert!(led.leash.disarm().await.unwrap().ticks.is_empty(), "nor after it was disarmed");
}

#[tokio::test]
async fn a_c_program_with_threads_loses_an_update() {
    let place = Place::new();
    let program = compiled_c(&place, COUNT_C);
    loses_an_update_only_when_armed(&place, &[&program]).await;
}

#[tokio::test]
async fn a_rust_program_with_threads_loses_an_update() {
    let place = Place::new();
    let program = compile("rustc", &["--edition=2024"], &place.source("count.rs", COUNT_RUST));
    loses_an_update_only_when_armed(&place, &[program.to_str().unwrap()]).await;
}

#[tokio::test]
async fn a_python_program_with_threads_loses_an_update() {
    let place = Place::new();
    let program = place.source("count.py", COUNT_PYTHON);
    loses_an_update_only_when_armed(&place, &["python3", program.to_str().unwrap()]).await;
}

#[tokio::test]
async fn a_node_program_loses_an_update() {
    let place = Place::new();
    let program = place.source("count.mjs", COUNT_NODE);
    loses_an_update_only_when_armed(&place, &["node", program.to_str().unwrap()]).await;
}

#[tokio::test]
async fn every_call_returns_what_it_returns_without_the_shim() {
    let plain = Place::new();
    let program = compiled_c(&plain, ALL_CALLS);
    let expected = Running::start(&plain.launch([&program])).await.ask("go").await;
    assert!(expected.contains(" done"), "{expected}");

    let unarmed = Place::new();
    let mut led = Led::start(&slow_files(), &unarmed, unarmed.launch([&program])).await;
    assert_eq!(led.running.ask("go").await, expected);

    for seed in [0, 1, 6] {
        let place = Place::new();
        let mut led = Led::start(&slow_files(), &place, place.launch([&program])).await;
        let (answer, seen) = led.ask(&Perturbation::SlowFiles { seed }, "go").await;
        assert_eq!(answer, expected, "seed {seed}");
        let words: std::collections::BTreeSet<&str> =
            seen.ticks.iter().filter_map(|tick| tick.on.split(' ').next()).collect();
        let all = "access close flush link list lock mkdir open read readlink rename rmdir stat symlink sync truncate unlink write";
        assert_eq!(words.into_iter().collect::<Vec<_>>().join(" "), all);
        assert!(seen.ticks.iter().all(|tick| !tick.on.contains("/dev/") && !tick.on.contains("pipe")));
        assert!(seen.ticks.iter().any(|tick| tick.on == "rename b"));
    }
}

#[tokio::test]
async fn processes_that_a_server_starts_are_slowed_with_it() {
    let place = Place::new();
    let script = "echo ready; while read line; do head -c 9 note > copy; echo done; done";
    place.write("note", "x");
    let mut led = Led::start(&slow_files(), &place, place.launch(["sh", "-c", script])).await;
    let (answer, seen) = led.ask(&Perturbation::SlowFiles { seed: 0 }, "go").await;
    assert_eq!(answer, "done");
    assert!(seen.ticks.iter().any(|tick| tick.on == "read note"), "{:?}", seen.ticks);
    assert_eq!(place.read("copy"), "x");
}

#[test]
fn usual_programs_start_with_the_shim() {
    for words in [
        &["true"][..],
        &["sh", "-c", "printf %s x | cat"],
        &["python3", "-c", "print('x', end='')"],
        &["node", "-e", "process.stdout.write('x')"],
        &["git", "--version"],
    ] {
        let place = Place::new();
        let mut launch = place.launch(words);
        assert_eq!(slow_files().applies(&launch), Ok(()), "{words:?}");
        let _leash = slow_files().attach(&mut launch, place.hidden.path()).unwrap();
        let output = command(&launch).output().unwrap();
        assert!(output.status.success(), "{words:?}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!said.contains("preload") && !said.contains("symbol"), "{words:?} says {said}");
    }
}

#[test]
fn a_program_without_a_shared_c_library_is_told_apart() {
    let place = Place::new();
    let source = place.source("x.c", "int main(void) { return 0; }\n");
    let program = compile("cc", &["-static"], &source);
    assert_eq!(
        slow_files().applies(&place.launch([&program])),
        Err("x.out is statically linked: its file operations cannot be slowed".to_owned())
    );
}
