//! Trees that nobody means well with.

use std::fmt::Write;

use super::linked;

#[test]
fn circles_of_classes_variables_and_functions_end() {
    let program = linked(
        r#"
        //- a.ts
        import { B, b, g } from "./b";
        export class A extends B { run() { return this.next.run(); } }
        export const a = b;
        export function f(x) { return g(x); }
        a.b.c();
        new A().run();
        f(f).x();
        //- b.ts
        import { A, a, f } from "./a";
        export class B extends A { next = new A(); }
        export const b = a;
        export function g(x) { return f(x); }
        "#,
    );
    assert!(program.functions.len() >= 5);
}

#[test]
fn a_long_chain_of_names_is_given_up_without_overflow() {
    let mut tree = String::from("//- a.ts\nclass C { go() {} }\nconst v0 = new C();\n");
    for n in 1..20_000 {
        writeln!(tree, "const v{n} = v{};", n - 1).unwrap();
    }
    writeln!(tree, "v19999.go(); v3.go();").unwrap();
    assert!(!linked(&tree).functions.is_empty());
}

#[test]
fn many_re_exports_of_each_other_do_not_multiply() {
    let mut tree = String::new();
    for n in 0..60 {
        writeln!(tree, "//- m{n}.ts").unwrap();
        for other in 0..60 {
            writeln!(tree, "export * from \"./m{other}\";").unwrap();
        }
    }
    writeln!(tree, "//- z.ts\nimport {{ nothing }} from \"./m0\";\nnothing();").unwrap();
    assert_eq!(linked(&tree).files.len(), 61);
}

#[test]
fn functions_that_hand_on_what_they_are_handed_do_not_multiply() {
    let mut tree = String::from("//- a.ts\nfunction done() {}\nfunction f0(work) { return work(); }\n");
    for n in 1..20 {
        let calls = format!("f{}(work); ", n - 1).repeat(8);
        writeln!(tree, "function f{n}(work) {{ {calls} }}").unwrap();
    }
    writeln!(tree, "f19(done);").unwrap();
    assert_eq!(linked(&tree).functions.len(), 22);
}

#[test]
fn a_crowd_of_functions_that_call_each_other_is_given_up_on() {
    let mut tree = String::from("//- a.ts\nclass C { go() {} }\n");
    for n in 0..300 {
        let calls = (1..9).map(|step| format!("f{}() || ", (n * 7 + step * 31) % 300)).collect::<String>();
        writeln!(tree, "function f{n}() {{ const found = {calls} new C(); found.go(); return found; }}")
            .unwrap();
    }
    assert_eq!(linked(&tree).functions.len(), 303);
}

#[test]
fn notes_are_bounded() {
    let mut tree = String::new();
    for n in 0..200 {
        writeln!(tree, "//- p{n}/package.json\n{{").unwrap();
    }
    let program = linked(&tree);
    assert_eq!(program.notes.len(), 51);
    assert_eq!(program.notes[50].text, "150 more things were not understood");
}

/// Sources that use most of what linking knows.
const SOURCES: &[&str] = &[
    include_str!("classes.rs"),
    include_str!("collections.rs"),
    include_str!("imports.rs"),
    include_str!("libraries.rs"),
    include_str!("objects.rs"),
    include_str!("terms.rs"),
];

#[test]
fn damaged_trees_are_linked_without_panic() {
    let mut state = 1_u64;
    let mut below = |limit: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % limit.max(1)
    };
    for source in SOURCES {
        for tree in source.split("r#\"").skip(1).filter_map(|rest| rest.split("\"#,").next()) {
            let tokens: Vec<&str> = tree.split_inclusive([' ', '(', ')', '.', ';', '{', '}', ',']).collect();
            for _ in 0..12 {
                let (from, to) = (below(tokens.len()), below(tokens.len()));
                let mut damaged = tokens.clone();
                match below(3) {
                    0 => drop(damaged.remove(from)),
                    1 => damaged.truncate(from),
                    _ => {
                        let again = tokens[from.min(to)..from.max(to)].to_vec();
                        damaged.splice(from..from, again);
                    }
                }
                linked(&damaged.concat()).to_string();
            }
        }
    }
}
