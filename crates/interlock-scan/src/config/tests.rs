//! Configurations that are right, and what is said of those that are not.

use expect_test::{Expect, expect};
use interlock_model::{Confidence, Severity};

use super::parse::parse;

#[test]
fn a_configuration_says_what_it_says() {
    let config = parse(
        "ignore = [\"vendor/\", \"*.gen.ts\"]\nmin_severity = \"medium\"\nmin_confidence = \"high\"\n\n\
         [severity]\nlost-update = \"medium\"\nretry-storm = \"off\"\n\n[deductions]\nlost-update = 20\n",
    )
    .unwrap();
    assert_eq!(config.ignore, ["vendor/", "*.gen.ts"]);
    assert_eq!(
        (config.min_severity, config.min_confidence),
        (Some(Severity::Medium), Some(Confidence::High))
    );
    let severity = |name: &str| config.severity[&name.parse().unwrap()];
    assert_eq!((severity("lost-update"), severity("retry-storm")), (Some(Severity::Medium), None));
    assert_eq!(config.deductions[&"lost-update".parse().unwrap()], 20);
    assert_eq!(config.models, None);
    assert_eq!(parse("").unwrap(), super::Config::default());
}

#[test]
fn words_are_added_to_lists_that_there_are() {
    let config = parse("[words]\nonce = [\"chit\", \"slip\"]\nclosing-flag = []\n").unwrap();
    assert_eq!(config.words["once"], ["chit", "slip"]);
    assert!(config.words["closing-flag"].is_empty());
    let wrong = |text: &str| parse(text).unwrap_err();
    assert_eq!(
        wrong("[words]\n\nonse = [\"chit\"]"),
        (3, "there is no list of words `onse`; the nearest is `once`".into())
    );
    assert_eq!(wrong("[words]\nonce = \"chit\""), (2, "a list of words is wanted here, not a text".into()));
    assert_eq!(wrong("[words]\nonce = [1]"), (2, "a word in quotes is wanted here, not this number".into()));
    assert_eq!(wrong("words = 1"), (1, "a table of lists of words is wanted here, not this number".into()));
}

#[test]
fn models_are_passed_on_as_they_stand_with_their_lines() {
    let config =
        parse("[severity]\nretry-storm = \"off\"\n[library.x]\nsync = \"S\"\n[deductions]\n").unwrap();
    assert_eq!(config.models.as_deref(), Some("\n\n[library.x]\nsync = \"S\"\n\n"));
    assert_eq!(config.severity.len(), 1);
}

fn refused(text: &str, expect: Expect) {
    let (line, what) = parse(text).unwrap_err();
    expect.assert_eq(&format!("line {line}: {what}"));
}

#[test]
fn an_unknown_key_is_told_the_nearest() {
    refused("\nignores = []", expect!["line 2: there is no key `ignores`; the nearest is `ignore`"]);
    refused("[severities]", expect!["line 1: there is no key `severities`; the nearest is `severity`"]);
    refused(
        "[severity]\nlost-updates = \"low\"",
        expect!["line 2: there is no hazard `lost-updates`; the nearest is `lost-update`"],
    );
}

#[test]
fn a_wrong_value_is_told_what_is_wanted() {
    refused("min_severity = \"bad\"", expect!["line 1: `bad` is none of low, medium, high, critical"]);
    refused(
        "[severity]\nlost-update = \"none\"",
        expect!["line 2: `none` is none of low, medium, high, critical, off"],
    );
    refused(
        "[deductions]\nlost-update = 200",
        expect!["line 2: a number from 0 to 100 is wanted here, not this number"],
    );
    refused(
        "ignore = \"x\"",
        expect!["line 1: a list of patterns, as in a .gitignore, is wanted here, not a text"],
    );
    refused("ignore = [1]", expect!["line 1: a pattern is wanted here, not this number"]);
    refused("severity = 3", expect!["line 1: a table of hazards is wanted here, not this number"]);
}

#[test]
fn what_is_no_toml_is_told_where() {
    refused("ignore = [\n\nmin", expect!["line 3: unclosed array, expected `]`"]);
}
