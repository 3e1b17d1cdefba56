//! What is one of several: all of them are followed.

use expect_test::expect;
use interlock_model::ir::UnresolvedReason;

use super::{check_function, linked};

/// Two classes with an interface, and something that is one of them.
fn stores(store: &str) -> String {
    format!(
        r#"
//- a.ts
import fs from "node:fs/promises";
interface Store {{ put(x: string): Promise<void>; }}
class Disk {{ async put(x) {{ await fs.writeFile("disk", x); }} }}
class Log {{ async put(x) {{ await fs.appendFile("log", x); }} }}
class Nowhere {{ async put(x) {{}} }}
{store}
"#
    )
}

#[test]
fn a_factory_gives_one_of_several_classes() {
    let tree = stores(
        "function make(kind) { if (kind === \"disk\") return new Disk(); if (kind === \"log\") return new Log(); return new Nowhere(); }\n\
         export async function save(kind, x) { const store = make(kind); await store.put(x); }",
    );
    check_function(
        &tree,
        "save",
        &expect![[r#"
        7     fn save(kind, x), async
        7       store = call make(kind), not awaited
        7       check
                then
        7         result.2 = call Disk.put(x) on store
                else
        7         result = call Log.put(x) on store
        7       put = derived from result.2, result
        7       suspend
    "#]],
    );
}

#[test]
fn a_condition_a_default_and_an_alternative_choose_one_of_several() {
    for chosen in ["kind ? new Disk() : new Log()", "given(kind) ?? new Log()", "given(kind) || new Log()"] {
        let tree = stores(&format!(
            "function given(kind) {{ if (kind) return new Disk(); }}\n\
             export async function save(kind, x) {{ const store = {chosen}; await store.put(x); }}"
        ));
        let program = linked(&tree).to_string();
        assert!(
            program.contains("call Disk.put(x)") && program.contains("call Log.put(x)"),
            "{chosen}\n{program}"
        );
    }
}

#[test]
fn a_variable_that_is_set_twice_is_one_of_both() {
    let tree = stores(
        "let store: Store;\n\
         export function open(kind) { if (kind) { store = new Disk(); } else { store = new Log(); } }\n\
         export async function save(x) { await store.put(x); }",
    );
    check_function(
        &tree,
        "save",
        &expect![[r#"
        8     fn save(x), async
        8       check
                then
        8         result.2 = call Disk.put(x) on ::a.ts::store
                else
        8         result = call Log.put(x) on ::a.ts::store
        8       put = derived from result.2, result
        8       suspend
    "#]],
    );
}

#[test]
fn an_element_of_a_list_is_one_of_its_elements() {
    let tree = stores(
        "const stores = [new Disk(), new Log()];\n\
         export async function save(x) { for (const store of stores) await store.put(x); }",
    );
    check_function(
        &tree,
        "save",
        &expect![[r#"
        7     fn save(x), async
        7       loop over each store
        7         store = ::a.ts::stores[?]
        7         check
                  then
        7           result.2 = call Disk.put(x) on ::a.ts::stores[?]
                  else
        7           result = call Log.put(x) on ::a.ts::stores[?]
        7         put = derived from result.2, result
        7         suspend
    "#]],
    );
}

#[test]
fn a_function_that_is_chosen_is_one_of_several() {
    let tree = stores(
        "async function one(x) { await fs.writeFile(\"one\", x); }\nasync function two(x) { await fs.writeFile(\"two\", x); }\n\
         export async function save(kind, x) { const put = kind ? one : two; await put(x); }",
    );
    check_function(
        &tree,
        "save",
        &expect![[r#"
            8     fn save(kind, x), async
            8       put = derived from kind
            8       check
                    then
            8         result.2 = call one(x)
                    else
            8         result = call two(x)
            8       put.2 = derived from result.2, result
            8       suspend
        "#]],
    );
}

#[test]
fn an_interface_has_as_many_implementations_as_there_are() {
    let classes: String = (0..6)
        .map(|n| {
            format!(
                "class Disk{n} implements Many {{ async put(x) {{ await fs.writeFile(\"disk{n}\", x); }} }}\n"
            )
        })
        .collect();
    let tree = stores(&format!(
        "interface Many {{ put(x: string): Promise<void>; }}\n{classes}\
         export async function save(store: Many, x) {{ await store.put(x); }}"
    ));
    let program = linked(&tree);
    let text = program.to_string();
    assert!((0..6).all(|n| text.contains(&format!("call Disk{n}.put(x)"))), "{text}");
    assert_eq!(program.unresolved, []);
}

#[test]
fn what_the_budget_is_not_enough_for_is_counted() {
    let body = "await fs.writeFile(\"disk\", x); ".repeat(150);
    let classes: String =
        (0..6).map(|n| format!("class Disk{n} implements Many {{ async put(x) {{ {body} }} }}\n")).collect();
    let tree = stores(&format!(
        "interface Many {{ put(x: string): Promise<void>; }}\n{classes}\
         export async function save(store: Many, x) {{ await store.put(x); }}"
    ));
    let program = linked(&tree);
    let left_out: Vec<_> =
        program.unresolved.iter().map(|unresolved| (&*unresolved.callee, unresolved.reason)).collect();
    assert_eq!(left_out, [("store.put", UnresolvedReason::Alternatives { left_out: 6 })]);
}
