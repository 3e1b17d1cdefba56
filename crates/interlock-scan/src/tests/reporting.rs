//! What of the findings is reported, and how.

use interlock_model::{Grade, Severity};

use super::{notes, places, request, scan_toys, scanned, toy_rules, tree};
use crate::{Engine, analyse::Analysed, config, scan::scan_with, walk::Root};

#[test]
fn a_report_says_what_was_found_where_and_how_bad_it_is() {
    let folder = tree(&[("a.toy", "\nfind lost-update\n"), ("b.toy", "nothing\n")]);
    let scanned = scanned(folder.path());
    let report = &scanned.report;
    assert_eq!((report.rating.score(), report.rating.grade()), (Some(85), Some(Grade::B)));
    assert_eq!((report.coverage.files, report.coverage.functions, report.coverage.handlers), (2, 3, 1));
    let finding = &report.findings[0];
    assert_eq!(
        (finding.tools.as_slice(), finding.function.as_str()),
        (&["a".to_owned(), "b".to_owned()][..], "only")
    );
    assert_eq!(finding.message, "It is lost", "the rule says it in the middle of a sentence");
    assert_eq!(finding.remedy.policy[0].matches, ["a", "b"]);
    assert_eq!(scanned.sources.get("a.toy"), Some("\nfind lost-update\n"));
    assert_eq!(scanned.sources.get("b.toy"), None, "nobody will ask for it");
}

#[test]
fn a_comment_silences_and_is_told_when_it_does_not() {
    let folder = tree(&[(
        "a.toy",
        "find lost-update // interlock-ignore[lost-update]: one writer\n// interlock-ignore[retry-storm]: old\nfind lost-update\n",
    )]);
    let scanned = scanned(folder.path());
    assert_eq!(places(&scanned), ["a.toy:3 lost-update"]);
    assert_eq!(scanned.suppressed, 1);
    assert_eq!(scanned.report.rating.score(), Some(85));
    assert_eq!(notes(&scanned), "a.toy:2: the suppression of `retry-storm` silences nothing; remove it\n");
}

#[test]
fn the_configuration_weighs_hazards_and_the_command_line_wins() {
    let folder = tree(&[
        (
            "interlock.toml",
            "min_severity = \"high\"\n[severity]\nlost-update = \"medium\"\nduplicate-load = \"off\"\n",
        ),
        ("a.toy", "find lost-update\nfind duplicate-load\nfind db-check-then-act\n"),
    ]);
    let mut request = request(&[folder.path().to_owned()]);
    let scanned = scan_toys(&request, &()).unwrap();
    assert_eq!(places(&scanned), ["a.toy:3 db-check-then-act"]);
    assert_eq!((scanned.hidden, scanned.report.rating.score()), (1, Some(72)));
    request.min_severity = Some(Severity::Low);
    let scanned = scan_toys(&request, &()).unwrap();
    assert_eq!(places(&scanned), ["a.toy:1 lost-update", "a.toy:3 db-check-then-act"]);
    assert_eq!(scanned.report.findings[0].severity, Severity::Medium);
    assert_eq!((scanned.hidden, scanned.report.rating.score()), (0, Some(72)));
}

#[test]
fn the_configuration_of_the_repository_holds_for_the_folders_in_it() {
    let folder = tree(&[
        (".git/HEAD", ""),
        ("interlock.toml", "ignore = [\"packages/one/gen/\"]\n[severity]\nretry-storm = \"off\"\n"),
        ("packages/one/a.toy", "find retry-storm\nfind lost-update\n"),
        ("packages/one/gen/b.toy", "find lost-update\n"),
        ("packages/two/interlock.toml", "[severity]\nlost-update = \"off\"\n"),
        ("packages/two/a.toy", "find retry-storm\nfind lost-update\n"),
    ]);
    assert_eq!(places(&scanned(&folder.path().join("packages/one"))), ["a.toy:2 lost-update"]);
    // The nearest one counts.
    assert_eq!(places(&scanned(&folder.path().join("packages/two"))), ["a.toy:1 retry-storm"]);
}

#[test]
fn a_configuration_above_what_is_no_repository_is_somebody_elses() {
    let folder = tree(&[
        ("interlock.toml", "[severity]\nlost-update = \"off\"\n"),
        ("in/a.toy", "find lost-update\n"),
    ]);
    assert_eq!(places(&scanned(&folder.path().join("in"))), ["a.toy:1 lost-update"]);
}

#[test]
fn a_hazard_that_is_off_does_not_make_its_suppression_unused() {
    let folder = tree(&[
        ("interlock.toml", "[severity]\nlost-update = \"off\"\n"),
        ("a.toy", "find lost-update // interlock-ignore[lost-update]: one writer\n"),
    ]);
    let scanned = scanned(folder.path());
    assert_eq!((places(&scanned).len(), notes(&scanned)), (0, String::new()));
}

#[test]
fn a_configuration_that_is_not_right_is_an_error() {
    let folder = tree(&[("interlock.toml", "ignored = []\n"), ("a.toy", "")]);
    let error = scan_toys(&request(&[folder.path().to_owned()]), &()).unwrap_err().to_string();
    assert!(
        error.ends_with("interlock.toml`, line 1: there is no key `ignored`; the nearest is `ignore`"),
        "{error}"
    );
    let mut request = request(&[folder.path().to_owned()]);
    request.config = Some("/no/such.toml".into());
    let error = scan_toys(&request, &()).unwrap_err().to_string();
    assert_eq!(error, "failed to read `/no/such.toml`: it is not there");
}

#[test]
fn the_words_of_a_configuration_are_handed_to_the_rules() {
    let folder = tree(&[("a.toy", "find lost-update\n"), ("interlock.toml", "[words]\nonce = [\"chit\"]\n")]);
    let request = request(&[folder.path().to_owned()]);
    let root = Root::find(&request.paths).unwrap();
    let config = config::load(None, &root).unwrap();
    let mut engine = Engine::new(request.frontends, None, request.threads).unwrap().with_words(&config.words);
    engine.analyse = |program| {
        let knows = program.words.get("once").is_some_and(|words| words.iter().any(|word| &**word == "chit"));
        if knows { toy_rules(program) } else { Analysed::default() }
    };
    let scanned = scan_with(&request, &root, &config, &engine, &()).unwrap();
    assert_eq!(places(&scanned), ["a.toy:1 lost-update"]);
}
