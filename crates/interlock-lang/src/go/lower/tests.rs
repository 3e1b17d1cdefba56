//! What lowering makes of Go, and that nothing breaks it.

use crate::{Source, go::LANGUAGE, module::Module};

fn lowered(text: &str) -> Module {
    LANGUAGE.module(&Source { path: "store/a.go", text })
}

fn steps(text: &str, function: &str) -> String {
    let module = lowered(text);
    let found = module.functions.iter().find(|lowered| &*lowered.function.name == function);
    format!("{:?}", found.map(|lowered| &lowered.function.body))
}

#[test]
fn the_files_of_a_package_share_a_namespace_and_add_to_its_types() {
    let module = lowered(
        "package store\ntype S struct{ n int }\nfunc (s *S) Add() { s.n++ }\nfunc (o Other) Get() {}\n",
    );
    assert_eq!(module.namespace.as_deref(), Some("./store"));
    let classes: Vec<_> = module.classes.iter().map(|class| (&*class.name, class.methods.len())).collect();
    assert_eq!(classes, [("./store::S", 1), ("./store::Other", 1)]);
}

#[test]
fn a_deferred_call_ends_what_follows_it() {
    let text =
        "package p\nfunc (s *S) f() error {\n s.mu.Lock()\n defer s.mu.Unlock()\n s.n++\n return nil\n}\n";
    let steps = steps(text, "S.f");
    assert!(steps.contains("Try"), "{steps}");
    assert!(steps.find("Read").unwrap() < steps.find("finally").unwrap(), "{steps}");
}

#[test]
fn a_goroutine_runs_beside_its_caller() {
    let text = "package p\nfunc f() {\n go g(1)\n}\nfunc g(n int) {}\n";
    assert!(steps(text, "f").contains("Spawn"));
}

#[test]
fn an_inner_variable_of_the_same_name_is_another_one() {
    let text = "package p\nfunc f(a string) string {\n if b := a; b != \"\" {\n  a := \"x\"\n  use(a)\n }\n return a\n}\n";
    let module = lowered(text);
    let names = module.functions[1].function.values.iter().filter(|value| &*value.name == "a").count();
    assert_eq!(names, 2);
}

#[test]
fn what_nests_too_deep_is_left_out_and_noted() {
    for (open, close) in [("(", ")"), ("[]int{", "}"), ("f(", ")"), ("!", ""), ("func() { ", " }()")] {
        let text = format!(
            "package p\nfunc f() {{\n x := {}1{}\n use(x)\n}}\n",
            open.repeat(5_000),
            close.repeat(5_000)
        );
        let module = lowered(&text);
        assert!(!module.notes.is_empty(), "{open}");
    }
    let blocks = format!("package p\nfunc f() {}{}\n", "{ if x ".repeat(3_000), "}".repeat(3_000));
    lowered(&blocks);
    let chain = format!("package p\nfunc f() {{ x := 1{} }}\n", " + 1".repeat(20_000));
    assert!(lowered(&chain).notes.is_empty(), "a long chain is not deep");
}

#[test]
fn no_beginning_and_no_gap_of_a_file_breaks_lowering() {
    let text = "package p\n\nimport \"os\"\n\ntype S struct {\n\tmu sync.Mutex\n\tm map[string]*T\n}\n\nfunc (s *S) f(ctx context.Context, \
                a []string) (x int, err error) {\n\ts.mu.Lock()\n\tdefer s.mu.Unlock()\n\tfor i, v := range a {\n\t\tif t, ok := \
                s.m[v]; ok {\n\t\t\tt.n += i\n\t\t\tcontinue\n\t\t}\n\t\tswitch y := z.(type) {\n\t\tcase int:\n\t\t\tuse(y)\n\t\t}\n\t}\n\tselect \
                {\n\tcase m := <-ch:\n\t\tuse(m)\n\tdefault:\n\t}\n\tgo func() { _ = os.WriteFile(\"a\", nil, 0) }()\n\treturn\n}\n";
    assert!(lowered(text).notes.is_empty());
    for cut in 0..text.len() {
        let before = text.get(..cut).unwrap();
        lowered(before);
        let behind = text.get((cut + 7).min(text.len())..).unwrap();
        lowered(&format!("{before}{behind}"));
    }
}
