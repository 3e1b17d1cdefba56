//! The page and the schema say what the types say.

use expect_test::expect_file;
use serde_json::Value;

use super::{super::check, *};
use crate::policy::{Environment, Weight};

const PAGE: &str = include_str!("../../../../../docs/guard-policy.md");

/// The examples of the page, with what stands behind `toml`.
fn examples() -> Vec<(&'static str, String)> {
    let mut examples: Vec<(&str, String)> = Vec::new();
    let mut is_open = false;
    for line in PAGE.lines() {
        match (is_open, line.strip_prefix("```")) {
            (false, Some(tag)) => {
                examples.push((tag, String::new()));
                is_open = true;
            }
            (true, Some(_)) => is_open = false,
            (true, None) => examples.last_mut().unwrap().1.push_str(&format!("{line}\n")),
            (false, None) => {}
        }
    }
    examples
}

#[test]
fn the_examples_of_the_page_are_right() {
    assert!(examples().len() >= 5);
    for (_, text) in examples() {
        let config = Config::parse("guard.toml", &text, None, &Environment::default())
            .unwrap_or_else(|broken| panic!("{broken}\n{text}"));
        let errors: Vec<_> =
            check(&config, None).into_iter().filter(|problem| problem.weight == Weight::Error).collect();
        assert!(errors.is_empty(), "{errors:?}");
    }
}

#[test]
fn the_defaults_on_the_page_are_the_defaults() {
    let (_, text) = examples().into_iter().find(|(tag, _)| *tag == "toml defaults").unwrap();
    let config = Config::parse("guard.toml", &text, None, &Environment::default()).unwrap();
    assert_eq!(config, Config::default());
}

#[test]
fn every_key_is_on_the_page() {
    fn keys(schema: &Value, into: &mut Vec<String>) {
        match schema {
            Value::Object(object) => {
                if let Some(Value::Object(properties)) = object.get("properties") {
                    into.extend(properties.keys().cloned());
                }
                object.values().for_each(|inner| keys(inner, into));
            }
            Value::Array(list) => list.iter().for_each(|inner| keys(inner, into)),
            _ => {}
        }
    }
    let mut all = Vec::new();
    keys(&serde_json::from_str(&schema()).unwrap(), &mut all);
    assert!(all.len() > 50, "{all:?}");
    let is_there = |key: &String| {
        PAGE.contains(&format!("`{key}`"))
            || PAGE.contains(&format!("\n{key} = "))
            || PAGE.contains(&format!("[{key}"))
            || PAGE.contains(&format!(".{key}]"))
            || PAGE.contains(&format!("`[audit] {key}`"))
            || PAGE.contains(&format!("`{key} = "))
    };
    let missing: Vec<_> = all.iter().filter(|key| !is_there(key)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn the_schema_beside_the_page_is_that_of_the_types() {
    expect_file!["../../../../../docs/guard.schema.json"].assert_eq(&schema());
}

#[test]
fn the_schema_takes_what_is_right_and_refuses_what_is_not() {
    let validator = jsonschema::validator_for(&serde_json::from_str(&schema()).unwrap()).unwrap();
    for (_, text) in examples() {
        let value: Value = toml::from_str(&text).unwrap();
        let errors: Vec<_> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}\n{text}");
    }
    for text in [
        "mod = 'observe'",
        "mode = 'obsrve'",
        "[[tool]]\nlock = 'x'",
        "[[tool]]\nmatch = '*'\nrate = 'often'",
        "[[tool]]\nmatch = '*'\nin_flight = 0",
        "[[tool]]\nmatch = '*'\nlock = [1]",
        "[[tool]]\nmatch = '*'\ntimeout = 5",
        "[tool]\nmatch = '*'",
        "[defaults]\nwait = '5 minutes'",
        "[[upstream]]\ncommand = ['x']",
        "[listen.tls]\ncert = 'x'",
    ] {
        assert!(!validator.is_valid(&toml::from_str(text).unwrap()), "{text}");
        assert!(Config::parse("guard.toml", text, None, &Environment::default()).is_err(), "{text}");
    }
}
