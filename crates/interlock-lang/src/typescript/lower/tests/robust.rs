//! Bad input: deep nesting, and sources that were changed at random places. Nothing may panic, and what is left is still lowered.

use interlock_model::ir::Function;
use interlock_testkit::stack::with_stack;

use super::module;

const SOURCES: &[&str] = &[
    include_str!("asynchrony.rs"),
    include_str!("basics.rs"),
    include_str!("conventions.rs"),
    include_str!("details.rs"),
    include_str!("facts.rs"),
    include_str!("locks.rs"),
    include_str!("waiting.rs"),
];

/// The sources inside the test files: what stands between `r#"` and `"#,`.
fn sources() -> Vec<&'static str> {
    let inside = |file: &'static str| {
        file.split("r#\"\n").skip(1).filter_map(|rest| rest.split("\n\"#,").next()).step_by(2)
    };
    SOURCES.iter().copied().flat_map(inside).filter(|source| source.len() < 4_000).collect()
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
        assert!(sources.len() > 40, "{} sources", sources.len());
        let mut numbers = Numbers(4);
        let (mut changed, mut lowered) = (0, 0);
        for round in 0..60 {
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
                            let token = other[numbers.next(other.len())];
                            parts[at] = token;
                        }
                    }
                }
                let text = parts.concat();
                let path = ["a.ts", "a.js", "a.tsx", "a.cjs"][numbers.next(4)];
                let module = module(path, &text);
                assert!(module.functions.iter().all(|lowered| is_whole(&lowered.function)), "{text}");
                changed += 1;
                lowered += usize::from(module.functions.len() > 1);
            }
        }
        (changed, lowered)
    });
    assert!(changed > 2_500, "{changed}");
    assert!(lowered * 2 > changed, "of {changed} changed sources only {lowered} left a function");
}

#[test]
fn deep_nesting_of_every_kind_is_cut_and_noted() {
    with_stack(|| {
        let n = 8_000;
        let wrapped = [
            ("(", "1", ")"),
            ("[", "", "]"),
            ("{ a: ", "1", " }"),
            ("f(", "", ")"),
            ("`${", "1", "}`"),
            ("() => {", "", "}"),
            ("!", "1", ""),
            ("- ", "1", ""),
            ("typeof ", "a", ""),
            ("await ", "a", ""),
            ("new ", "A", ""),
            ("a => ", "1", ""),
            ("a ? b : ", "c", ""),
            ("a ? ", "b", " : c"),
            ("b = ", "1", ""),
            ("a ** ", "1", ""),
            ("a && ", "1", ""),
            ("a + ", "1", ""),
            ("a ?? ", "1", ""),
            ("a, ", "1", ""),
            ("class extends ", "A", " {}"),
            ("async () => ", "1", ""),
            ("<T,>(x: T) => ", "1", ""),
            ("<T,\nU = () => void,>(x: T) => ", "1", ""),
            ("", "a", ".b"),
            ("", "a", "()"),
            ("", "a", "[0]"),
            ("", "a", "!"),
            ("", "a", " as A"),
            ("", "a", "`x`"),
            ("", "a", "?.b"),
            ("", "a", ".then(f)"),
        ];
        for (before, inner, after) in wrapped {
            let deep = format!("{}{inner}{}", before.repeat(n), after.repeat(n));
            let text = format!("function first() {{ a(); }}\nx = {deep};\nfunction last() {{ b(); }}\n");
            let module = module("a.ts", &text);
            let names: Vec<_> = module.functions.iter().map(|lowered| &*lowered.function.name).collect();
            assert!(names.contains(&"first") && names.contains(&"last"), "{before}{after}: {names:?}");
            let flat = before == "a, ";
            assert_eq!(module.notes.is_empty(), flat, "{before}{after}: {:?}", module.notes);
        }
        let statements = [
            ("if (a) {} else ", "{}", ""),
            ("if (a) { b(); } else ", "c();", ""),
            ("if (a) ", "b();", ""),
            ("if (a)\n", "b();", ""),
            ("for await (a of b)\n", "c();", ""),
            ("for (;;) ", "b();", ""),
            ("while (a) ", "b();", ""),
            ("do ", "b();", " while (a)"),
            ("l: ", "b();", ""),
            ("{", "", "}"),
            ("try { ", "b();", " } finally {}"),
            ("function f() { ", "", "}"),
            ("class A { m() { ", "", "} }"),
            ("switch (a) { case 1: ", "", "}"),
            ("namespace A { ", "", "}"),
            ("type A = [", "1", "];"),
            ("type A = B<", "1", ">;"),
            ("type A = keyof ", "B", ";"),
            ("type A = B extends C ? D : ", "E", ";"),
            ("type A = () => ", "B", ";"),
            ("type A = B", "", "[];"),
        ];
        for (before, inner, after) in statements {
            // Types repeat what comes behind the name.
            let (head, before) =
                before.split_once("A = ").map_or(("", before), |(_, rest)| ("type A = ", rest));
            let (after, tail) = match after.strip_suffix(';') {
                Some(after) if !head.is_empty() => (after, ";"),
                _ => (after, ""),
            };
            let deep = format!("{head}{}{inner}{}{tail}", before.repeat(n), after.repeat(n));
            let text = format!("function first() {{ a(); }}\n{deep}\nfunction last() {{ b(); }}\n");
            let module = module("a.ts", &text);
            let names: Vec<_> = module.functions.iter().map(|lowered| &*lowered.function.name).collect();
            assert!(names.contains(&"first"), "{before}: {names:?}");
            assert!(!module.notes.is_empty(), "{before}");
        }
        let text = format!("const a = {};", "<a>".repeat(n));
        assert!(!module("a.tsx", &text).notes.is_empty());
    });
}

#[test]
fn sources_at_the_edge_of_the_limit_fit_on_the_stack() {
    with_stack(|| {
        for (before, inner, after) in [
            ("(", "1", ")"),
            ("[", "", "]"),
            ("{ a: ", "1", " }"),
            ("f(", "", ")"),
            ("() => {", "", "}"),
            ("async () => { await f(", "", ") }"),
            ("!", "1", ""),
            ("a => ", "1", ""),
            ("a ? b : ", "c", ""),
            ("a && ", "1", ""),
            ("a + ", "1", ""),
            ("", "a", ".b"),
            ("", "a", ".then(f)"),
        ] {
            for n in [150, 240, 450, 900, 1_900] {
                let deep = format!("{}{inner}{}", before.repeat(n), after.repeat(n));
                let module = module("a.ts", &format!("x = {deep};"));
                assert!(!module.functions.is_empty());
            }
        }
        let chain = "if (a()) { b(); } else ".repeat(300) + "{ c(); }";
        assert!(module("a.ts", &chain).notes.is_empty());
    });
}

#[test]
fn variables_that_hold_each_other_do_not_explode() {
    let mut text = "function f(a0, k) {\n".to_owned();
    for n in 0..200 {
        text += &format!(
            "const a{} = a{n}[a{n}]; const o{n} = [o{}, o{}]; const t{n} = `${{t{}}}${{t{}}}`;\n",
            n + 1,
            n.max(1) - 1,
            n.max(1) - 1,
            n.max(1) - 1,
            n.max(1) - 1
        );
    }
    text += "}";
    let module = module("a.ts", &text);
    assert!(super::text("a.ts", &text).len() < 400_000);
    assert_eq!(module.functions.len(), 2);
    let mut nested = "switch (a) { case 1: case 2: case 3: case 4: ".repeat(12);
    nested += "b();";
    nested += &"}".repeat(12);
    assert!(super::text("a.ts", &nested).len() < 10_000_000);
}
