//! Holds the catalogue together: folders, ids, the list, the pages and the remedies say the same.

mod decisions;
mod pages;
mod rules;

use std::{collections::BTreeSet, fs, path::Path};

use interlock_hazards::{ALL, Face, find, nearest};
use interlock_model::{Severity, Site};

#[test]
fn every_folder_is_a_hazard_and_every_hazard_a_folder() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    // The view is what rules look through, no hazard.
    let folders = fs::read_dir(src).unwrap().map(Result::unwrap);
    let folders = folders.filter(|entry| entry.path().is_dir() && entry.file_name() != "view");
    let folders: BTreeSet<String> = folders.map(|entry| entry.file_name().into_string().unwrap()).collect();
    let listed: BTreeSet<String> = ALL.iter().map(|hazard| hazard.id.module()).collect();
    assert_eq!(folders, listed, "run `cargo xtask gen`");
    assert_eq!(listed.len(), ALL.len(), "an id stands twice in the list");
}

#[test]
fn no_rule_knows_another() {
    // Whose a check-act pair is stands in one table; a rule that asked another would be a second one.
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for hazard in ALL {
        for file in fs::read_dir(src.join(hazard.id.module())).unwrap().map(|file| file.unwrap().path()) {
            let text = fs::read_to_string(&file).unwrap();
            let code = file.extension().is_some_and(|ending| ending == "rs");
            let others = ALL.iter().filter(|other| other.id != hazard.id && code);
            for other in others.map(|other| other.id.module()) {
                assert!(!text.contains(&format!("{other}::")), "{} knows {other}", file.display());
            }
        }
    }
}

#[test]
fn a_hazard_is_found_by_its_name_and_only_by_that() {
    for hazard in ALL {
        assert!(std::ptr::eq(find(hazard.id.as_str()).unwrap(), hazard));
    }
    assert!(find("lost_update").is_none());
    assert!(find("").is_none());
}

#[test]
fn the_nearest_hazard_is_the_one_with_the_least_distance() {
    let distance = |name: &str| usize::from(name != "retry-storm");
    assert_eq!(nearest(distance).unwrap().id.as_str(), "retry-storm");
}

#[test]
fn a_worse_hazard_never_costs_less() {
    let costs = |severity: Severity| ALL.iter().filter(move |h| h.severity == severity).map(|h| h.deduction);
    for pair in Severity::ALL.windows(2) {
        let (milder, worse) = (costs(pair[0]).max().unwrap(), costs(pair[1]).min().unwrap());
        assert!(milder < worse, "{} costs up to {milder}, {} as little as {worse}", pair[0], pair[1]);
    }
}

#[test]
fn every_hazard_can_be_looked_up_elsewhere() {
    for hazard in ALL {
        assert!(!hazard.cwe.is_empty(), "{} names no CWE entry", hazard.id);
    }
}

#[test]
fn the_guard_is_a_face_of_a_hazard_exactly_if_a_policy_stops_it() {
    for hazard in ALL {
        let policy = hazard.example_remedy().policy;
        assert_eq!(hazard.faces.contains(&Face::Guard), !policy.is_empty(), "{}", hazard.id);
        assert!(hazard.faces.is_sorted(), "{}", hazard.id);
    }
}

#[test]
fn whoever_has_a_probe_says_that_it_can_be_proved() {
    for hazard in ALL.iter().filter(|hazard| hazard.probe.is_some()) {
        assert!(hazard.faces.contains(&Face::Prove), "{}", hazard.id);
    }
}

#[test]
fn every_remedy_is_one_sentence_on_the_code() {
    for hazard in ALL {
        let code = hazard.example_remedy().code;
        assert!(code.ends_with('.') && code.matches(". ").count() == 0, "{}: {code}", hazard.id);
    }
}

#[test]
fn a_remedy_for_an_unknown_site_never_matches_nothing_or_takes_a_lock_back() {
    for hazard in ALL {
        for rule in (hazard.remedy)(&Site::default()).policy {
            assert!(!rule.matches.is_empty(), "{}: {rule}", hazard.id);
            let lists = [
                rule.lock.as_ref(),
                rule.changes.as_ref(),
                rule.observes.as_ref(),
                rule.requires_fresh.as_ref(),
            ];
            assert!(lists.into_iter().flatten().all(|keys| !keys.is_empty()), "{}: {rule}", hazard.id);
        }
    }
}
