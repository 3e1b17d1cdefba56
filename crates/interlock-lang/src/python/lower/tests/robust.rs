//! Bad input: deep nesting, other languages, and sources that were changed at random places. Nothing may panic or overflow, and what is
//! left is still lowered.

use interlock_model::ir::Function;
use interlock_testkit::stack::with_stack;

use crate::{Module, Source, python::LANGUAGE};

const SOURCES: &[&str] = &[include_str!("basics.rs"), include_str!("constructs.rs")];

fn module(text: &str) -> Module {
    LANGUAGE.module(&Source { path: "a.py", text })
}

/// The sources inside the test files: what stands between `r#"` and `"#;`.
fn sources() -> Vec<&'static str> {
    let inside = |file: &'static str| {
        file.split("let text = r#\"\n").skip(1).filter_map(|rest| rest.split("\n\"#;").next())
    };
    SOURCES.iter().copied().flat_map(inside).collect()
}

/// A sequence without chance: the same on every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % below.max(1)
    }
}

/// Every value that a function mentions is one of its own.
fn is_whole(function: &Function) -> bool {
    let known = |value: &interlock_model::ir::Value| (value.0 as usize) < function.values.len();
    function.parameters.iter().all(known) && function.captures.iter().all(known)
}

/// The text as words and signs.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = vec![];
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let word = |c: char| c.is_alphanumeric() || c == '_';
        let end = if word(first) { rest.find(|c| !word(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        let (token, others) = rest.split_at(end);
        tokens.push(token);
        rest = others;
    }
    tokens
}

#[test]
fn sources_that_are_changed_at_random_are_lowered_without_a_panic() {
    let (changed, lowered) = with_stack(|| {
        let sources = sources();
        assert!(sources.len() >= 8, "{} sources", sources.len());
        let mut numbers = Numbers(7);
        let (mut changed, mut lowered) = (0, 0);
        for round in 0..150 {
            for source in &sources {
                let mut parts = tokens(source);
                for _ in 0..=numbers.next(3) {
                    let at = numbers.next(parts.len());
                    match round % 5 {
                        0 => {
                            parts.remove(at);
                        }
                        1 => parts.truncate(at.max(1)),
                        2 => {
                            let end = (at + numbers.next(40)).min(parts.len());
                            let block: Vec<_> = parts[at..end].to_vec();
                            parts.splice(end..end, block);
                        }
                        3 => {
                            let other = numbers.next(parts.len());
                            parts.swap(at, other);
                        }
                        _ => {
                            let other = tokens(sources[numbers.next(sources.len())]);
                            parts[at] = other[numbers.next(other.len())];
                        }
                    }
                }
                let text = parts.concat();
                let module = module(&text);
                assert!(module.functions.iter().all(|lowered| is_whole(&lowered.function)), "{text}");
                changed += 1;
                lowered += usize::from(module.functions.len() > 1);
            }
        }
        (changed, lowered)
    });
    assert!(changed > 1_000, "{changed}");
    assert!(lowered * 2 > changed, "of {changed} changed sources only {lowered} left a function");
}

#[test]
fn deep_nesting_of_every_kind_is_cut_and_noted() {
    with_stack(|| {
        let n = 8_000;
        let wrapped = [
            ("(", "1", ")"),
            ("[", "", "]"),
            ("{1: ", "1", "}"),
            ("f(", "", ")"),
            ("lambda: ", "1", ""),
            ("not ", "1", ""),
            ("- ", "1", ""),
            ("-", "1", ""),
            ("await ", "a", ""),
            ("a if b else ", "c", ""),
            ("a.b", "", ""),
            ("1 + ", "1", ""),
            ("1 + f(1, 1) + ", "1", ""),
            ("a and ", "b", ""),
            ("f\"{", "1", "}\""),
            ("f'{f\"{", "1", "}\"}'"),
            ("*", "a", ""),
            ("x == ", "1", ""),
        ];
        for (open, middle, close) in wrapped {
            let text = format!(
                "def f():\n    x = {}{middle}{}\n\ndef after():\n    pass\n",
                open.repeat(n),
                close.repeat(n)
            );
            let module = module(&text);
            assert!(!module.functions.is_empty(), "{open}");
        }
        let blocks: String = (0..2_000).map(|depth| format!("{}if a:\n", " ".repeat(depth))).collect();
        let module = module(&format!("{blocks}{}pass\n\ndef after():\n    pass\n", " ".repeat(2_000)));
        assert!(module.notes.iter().any(|note| note.text.contains("nested too deep")));
        let names: Vec<&str> = module.functions.iter().map(|lowered| &*lowered.function.name).collect();
        assert!(names.contains(&"after"), "{names:?}");
    });
}

#[test]
fn many_ways_of_one_decision_are_no_depth() {
    with_stack(|| {
        let ways: String =
            (0..20_000).map(|way| format!("    elif a == {way}:\n        b = {way}\n")).collect();
        let module = module(&format!("def f(a):\n    if a:\n        b = 1\n{ways}    return b\n"));
        assert_eq!(module.functions.len(), 2);
    });
}

#[test]
fn other_pythons_and_no_python_at_all_are_notes() {
    for text in [
        "print \"hello\"\nexec code in scope\n",
        "def f():\n\tx = 1\n        y = 2\n",
        "class {\n",
        "\u{feff}def f(:\n",
        "{\"cells\": [], \"nbformat\": 4,\n",
        "\"\"\"never closed",
        "\0\0\0",
        "def f(x):\n    return x +\n\ndef g():\n    pass\n",
    ] {
        let module = module(text);
        assert!(!module.notes.is_empty(), "{text}");
        assert!(!module.functions.is_empty());
    }
    let module = module("def f(x):\n    return x +\n\ndef g():\n    pass\n");
    assert_eq!(module.functions.len(), 3, "what can be read is lowered all the same");
}
