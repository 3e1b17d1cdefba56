//! Damaged sources: every case of the hazards' pages with a token taken out, cut off, doubled or turned around, thousands of times. Nothing
//! may panic, and the same damage must always give the same report.

mod damage;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Mutex,
};

use interlock_model::Finding;
use interlock_scan::Engine;
use interlock_testkit::cases::Cases;

use self::damage::{Chance, damaged};

/// How many damaged sources are tried.
const TRIES: usize = 3_000;
/// How many of them are scanned twice.
const TWICE: usize = 100;

#[test]
fn no_damage_makes_it_panic_and_the_same_damage_gives_the_same() {
    let fixtures = by_language(fixtures());
    let engine =
        Engine::new(interlock_lang::ALL, None, None).expect("what is known of libraries is well-formed");
    let panics = watch_panics();
    let mut chance = Chance::new(0x1f0c);
    for number in 0..TRIES {
        // Each language gets as many as the others, however many sources it has.
        let (path, text) = chance.one_of(&fixtures[number % fixtures.len()]);
        let text = damaged(text, &mut chance);
        let files = vec![(path.clone(), text.clone())];
        let report = scan(&engine, files.clone());
        if number < TWICE {
            assert_eq!(report, scan(&engine, files), "{text}");
        }
        let panicked = panics.lock().expect("nobody panics with it").take();
        assert!(panicked.is_none(), "try {number}: {}\n\n{text}", panicked.unwrap_or_default());
    }
}

#[test]
fn a_large_tree_of_damaged_files_is_scanned_in_one_go() {
    let fixtures = fixtures();
    let engine =
        Engine::new(interlock_lang::ALL, None, None).expect("what is known of libraries is well-formed");
    let panics = watch_panics();
    let mut chance = Chance::new(7);
    let files: Vec<(String, String)> = (0..300)
        .map(|number| {
            let (path, text) = chance.one_of(&fixtures);
            (format!("p{number}/{path}"), damaged(text, &mut chance))
        })
        .collect();
    let one = scan(&engine, files.clone());
    assert_eq!(one, scan(&engine, files));
    assert_eq!(panics.lock().expect("nobody panics with it").take(), None);
}

fn scan(engine: &Engine<'_>, files: Vec<(String, String)>) -> Vec<Finding> {
    engine.programs(files).into_iter().flat_map(|program| engine.findings(program)).collect()
}

/// The sources of all cases.
fn fixtures() -> Vec<(String, String)> {
    let hazards: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../interlock-hazards/src");
    let mut folders: Vec<PathBuf> =
        fs::read_dir(hazards).expect("the catalogue").map(|entry| entry.expect("an entry").path()).collect();
    folders.sort();
    let pages = folders.iter().filter_map(|folder| fs::read_to_string(folder.join("cases.md")).ok());
    let cases: Vec<Cases> = pages.map(|page| Cases::parse(&page)).collect();
    let files = cases.into_iter().flat_map(|page| page.cases).flat_map(|case| case.files);
    files.filter(|file| !file.path.ends_with(".json")).map(|file| (file.path, file.text)).collect()
}

/// The sources of each front end.
fn by_language(fixtures: Vec<(String, String)>) -> Vec<Vec<(String, String)>> {
    let language = |path: &str| match path.rsplit('.').next() {
        Some("go") => 1,
        Some("py") => 2,
        _ => 0,
    };
    let mut found = vec![vec![], vec![], vec![]];
    for (path, text) in fixtures {
        if let Some(list) = found.get_mut(language(&path)) {
            list.push((path, text));
        }
    }
    let counts: Vec<usize> = found.iter().map(Vec::len).collect();
    assert!(counts.iter().all(|count| *count > 40), "there are {counts:?} sources to damage");
    found
}

static PANIC: Mutex<Option<String>> = Mutex::new(None);

/// Writes down the first panic of any thread, also one that the scan survives.
fn watch_panics() -> &'static Mutex<Option<String>> {
    std::panic::set_hook(Box::new(|panic| {
        if let Ok(mut first) = PANIC.lock() {
            first.get_or_insert_with(|| panic.to_string());
        }
    }));
    &PANIC
}
