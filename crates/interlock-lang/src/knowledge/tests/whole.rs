//! The effects file as a whole, texts that are no knowledge, and input that wants to hurt.

use std::collections::{BTreeMap, BTreeSet};

use expect_test::expect;
use interlock_model::ir::{AccessPath, FunctionBuilder, Op, Origin};

use super::{
    EFFECTS, knowledge,
    script::{check_with, list, text},
};
use crate::{
    Arg, Call, Kind, NoSurroundings, Target,
    knowledge::{Knowledge, table::Table, tables_of},
};

/// Applies a call with nothing known of its arguments.
fn apply(knowledge: &Knowledge, target: &Target<'_>, arguments: &[Arg]) -> Option<crate::Outcome> {
    let mut outcome = None;
    let _ = FunctionBuilder::new("f").body([], |body, []| {
        let into = body.declare("result", Origin::Step);
        let call = Call {
            span: interlock_model::Span::default(),
            target: target.clone(),
            construct: false,
            arguments,
            into: Some(into),
            awaited: true,
            surroundings: &NoSurroundings,
        };
        outcome = knowledge.apply(&call, body);
    });
    outcome
}

#[test]
fn every_entry_can_be_called() {
    let knowledge = knowledge();
    let file: toml::Table = toml::from_str(EFFECTS).unwrap();
    let receiver = AccessPath::global("x");
    let section = |name: &str| file[name].as_table().unwrap().iter();
    let table_of =
        |of: &toml::Value, name: &str| of.get(name).and_then(|it| it.as_table()).cloned().unwrap_or_default();
    let mut calls = 0;
    for (library, it) in section("library") {
        assert!(knowledge.knows(library), "{library}");
        for path in table_of(it, "exports").keys() {
            let target = Target::Export { library, path };
            assert!(apply(knowledge, &target, &[]).is_some(), "{library} {path}");
            calls += 1;
        }
        for path in table_of(it, "types").keys() {
            assert!(knowledge.kind(library, path).is_some(), "{library} {path}");
        }
    }
    for (name, it) in section("kind") {
        let kind = Kind::named(name);
        for method in table_of(it, "methods").keys().chain(table_of(it, "clauses").keys()) {
            let method = method.replace('*', "any");
            let target = Target::Method { kind: &kind, receiver: &receiver, name: &method };
            assert!(apply(knowledge, &target, &[]).is_some() || method == "new", "{name} {method}");
            calls += 1;
        }
    }
    assert!(calls > 800, "{calls}");
}

#[test]
fn every_kind_is_reached_from_a_library() {
    let knowledge = knowledge();
    let mut reached: BTreeSet<&str> = knowledge.names.values().map(String::as_str).collect();
    for library in knowledge.libraries.values() {
        reached.extend(library.types.values().map(String::as_str));
        let entries = library.exports.all().values().flatten();
        reached.extend(entries.filter_map(|entry| entry.result.as_deref()));
    }
    let mut waiting: Vec<&str> = reached.iter().copied().collect();
    while let Some(name) = waiting.pop() {
        let Some(kind) = knowledge.kinds.get(name) else { continue };
        let entries =
            kind.methods.all().values().flatten().flat_map(|entry| std::iter::once(entry).chain(&entry.also));
        let named = entries.flat_map(|entry| entry.result.iter().chain(&entry.gives));
        let others = kind
            .like
            .iter()
            .chain(&kind.rows)
            .chain(&kind.found_by)
            .chain(kind.members.values().map(|member| &member.kind));
        for next in named.chain(others).map(String::as_str) {
            if reached.insert(next) {
                waiting.push(next);
            }
        }
    }
    let lost: Vec<&String> = knowledge.kinds.keys().filter(|name| !reached.contains(name.as_str())).collect();
    assert!(lost.is_empty(), "{lost:?}");
}

#[test]
fn what_is_wrong_is_named() {
    let check = |toml: &str, expected: expect_test::Expect| {
        expected.assert_eq(&Knowledge::parse(toml).unwrap_err().to_string());
    };
    check(
        "[library.a.exports]\nf = { do = \"red-file\" }",
        expect![[r#"
            library."a".exports.f: unknown variant `red-file`, expected one of `nothing`, `read-file`, `write-file`, `delete-file`, `rename-file`, `copy-file`, `replace-file`, `rewrite-file`, `fresh-file`, `read-key`, `write-key`, `delete-key`, `read-memory`, `write-memory`, `delete-memory`, `write-stream`, `write-writer`, `sql`, `find`, `find-id`, `update`, `update-id`, `replace`, `insert`, `remove`, `remove-id`, `save`, `destroy`, `acquire`, `release`, `guard`, `begin`, `commit`, `rollback`, `transaction`, `batch`, `call`, `external`, `request`, `hand-over`, `open`, `close`, `count-in`, `count-out`, `drain`, `sleep`
            in `do`"#]],
    );
    check(
        "[library.a.exports]\nf = { do = \"read-file\", path = 0 }",
        expect![[
            r#"library."a".exports.f: unknown field `path`, expected one of `when`, `do`, `at`, `to`, `from`, `mode`, `aspect`, `parameters`, `keeps`, `table`, `filter`, `set`, `columns`, `upsert`, `locking`, `object`, `key`, `processes`, `lease`, `shared`, `holders`, `tried`, `retried`, `run`, `gives`, `isolation`, `service`, `change`, `method`, `unchanged`, `unique`, `fails`, `result`, `subject`, `under`, `call`, `also`"#
        ]],
    );
    check(
        "[library.a.exports]\nf = { do = \"read-file\", at = \"first\" }",
        expect![[r#"
        library."a".exports.f: `first` is no place in a call
        in `at`"#]],
    );
    check(
        "[library.a.exports]\nf = { result = \"a.Thing\" }",
        expect![[r#"library."a".exports.f: there is no kind "a.Thing""#]],
    );
    check(
        "[library.a.exports]\nf = \"g\"",
        expect![[r#"library."a".exports.f: there is no "g" to be the same as"#]],
    );
    check(
        "[library.a.exports]\nf = { when = { 0 = \"x\" } }",
        expect![[r#"
        library."a".exports.f: `x` is no test of an argument
        in `when.0`"#]],
    );
    check("[library.a]\nlike = \"b\"", expect![[r#"library."a": there is no library "b""#]]);
    check(
        "[kind.a]\nvia = \"wire\"",
        expect![[r#"
        TOML parse error at line 2, column 7
          |
        2 | via = "wire"
          |       ^^^^^^
        unknown variant `wire`, expected one of `client`, `pool`, `handed`
    "#]],
    );
    check(
        "[libary.a]",
        expect![[r#"
        TOML parse error at line 1, column 2
          |
        1 | [libary.a]
          |  ^^^^^^
        unknown field `libary`, expected one of `library`, `kind`, `unknown`, `tools`, `builtin`, `lexicon`
    "#]],
    );
    check(
        "[",
        expect![[r#"
        TOML parse error at line 1, column 2
          |
        1 | [
          |  ^
        unquoted keys cannot be empty, expected letters, numbers, `-`, `_`
    "#]],
    );
}

#[test]
fn a_user_s_own_models_win_over_what_was_there() {
    let mut knowledge = Knowledge::parse(EFFECTS).unwrap();
    let own = r#"
        [library."@shop/vault".exports]
        openVault = { result = "shop.Vault", subject = 0 }

        [kind."shop.Vault".methods]
        load = { do = "read-key", at = "subject" }
        store = { do = "write-key", at = "subject", from = 0 }
        locked = { do = "guard", run = 0 }

        [library."fs/promises".exports]
        readFile = {}
    "#;
    knowledge.extend(own).unwrap();
    check_with(
        &knowledge,
        |s, [id, _, data]| {
            let vault = s.plain("@shop/vault", "openVault", [id.clone()]);
            s.method(&vault, "load", []);
            s.method(&vault, "store", [data]);
            s.export("fs/promises", "readFile", [id.clone()]);
            s.export("fs/promises", "stat", [id]);
        },
        expect![[r#"
            1       openVault = derived from id
            2       load = read key id
            3       store = write blind key id from data
            4       readFile = derived from id
            5       stat = read metadata of file id
        "#]],
    );
}

#[test]
fn tables_are_found_in_what_creates_them() {
    let sql = "CREATE TABLE IF NOT EXISTS users (id INTEGER PRIMARY KEY AUTOINCREMENT, email TEXT UNIQUE);
        CREATE TABLE public.orders (id uuid DEFAULT gen_random_uuid(), version int NOT NULL, CHECK (version > 0));
        CREATE INDEX a ON users (email);";
    let found: Vec<String> =
        tables_of(sql).iter().map(|table| format!("{}: {}", table.name, table.columns.join(", "))).collect();
    assert_eq!(found, ["users: id, email", "orders: id, version"]);
    assert!(tables_of("not sql at all").is_empty());
}

#[test]
fn of_a_script_with_something_unknown_in_it_the_rest_is_read() {
    let names = |sql: &str| tables_of(sql).iter().map(|table| table.name.to_string()).collect::<Vec<_>>();
    let (before, behind) = ("CREATE TABLE a (id int);", "CREATE TABLE b (id int);");
    for (what, between) in [
        ("a virtual table", "CREATE VIRTUAL TABLE t USING fts5(x, tokenize = 'a;b');"),
        ("a trigger", "CREATE TRIGGER t AFTER INSERT ON a BEGIN DELETE FROM b; DELETE FROM a; END;"),
        (
            "a case in a trigger",
            "CREATE TRIGGER t AFTER INSERT ON a BEGIN UPDATE a SET id = CASE WHEN 1 THEN 2 END; END;",
        ),
        ("nothing but a word", "nonsense;"),
    ] {
        assert_eq!(names(&format!("{before} {between} {behind}")), ["a", "b"], "{what}");
    }
    // What stands in a body is done when the trigger fires, not by the script.
    for (what, body) in [
        ("if", "IF 1 THEN SET @x = 1; END IF;"),
        ("loops", "WHILE 1 DO SET @x = 1; END WHILE; l: LOOP LEAVE l; END LOOP;"),
        ("case", "CASE WHEN 1 THEN SET @x = 1; END CASE;"),
    ] {
        for maker in ["CREATE TRIGGER t BEFORE INSERT ON a FOR EACH ROW", "CREATE PROCEDURE p()"] {
            let script = format!("{before} {maker} BEGIN {body} CREATE TABLE inside (id int); END; {behind}");
            assert_eq!(names(&script), ["a", "b"], "{what}");
        }
    }
    // A body that never ends takes the rest with it; what begins none does not.
    assert_eq!(names(&format!("{before} CREATE TRIGGER t AFTER INSERT ON a BEGIN {behind}")), ["a"]);
    assert_eq!(names(&format!("BEGIN; nonsense; DROP TRIGGER t; {before} {behind} END;")), ["a", "b"]);
}

#[test]
fn hostile_statements_are_let_go_without_harm() {
    let knowledge = knowledge();
    let kind = Kind::named("pg.Pool");
    let receiver = AccessPath::global("pool");
    // Of each shape one that is too much, one that is just let through, and one that is too long to look at.
    let sizes = [18, 390, 3_000, 200_000];
    let shapes = sizes.into_iter().flat_map(|n| {
        [
            format!("SELECT {}1{} FROM t", "(".repeat(n), ")".repeat(n)),
            format!("SELECT {}1 FROM t", "NOT ".repeat(n)),
            format!("SELECT {}1 FROM t", "- ".repeat(n)),
            format!("SELECT 1{} FROM t", " + 1".repeat(n)),
            format!("SELECT 1 FROM t WHERE {}", vec!["a"; n].join(" AND ")),
            format!("SELECT 1 FROM t WHERE {}", vec!["a"; n].join(" OR ")),
            format!("SELECT 1 {}", "UNION SELECT 1 ".repeat(n)),
            format!("SELECT a{} FROM t", "::int".repeat(n)),
            format!("SELECT a{} FROM t", "[1]".repeat(n)),
            format!("SELECT a{} FROM t", ".a".repeat(n)),
            format!("SELECT {} 1 FROM t", "CASE WHEN 1 THEN ".repeat(n)),
            format!("SELECT * FROM {}t{}", "(SELECT * FROM ".repeat(n), ")".repeat(n)),
            format!(
                "SELECT 1 FROM t WHERE a IN {}(1){}",
                "(SELECT 1 FROM t WHERE a IN ".repeat(n),
                ")".repeat(n)
            ),
            format!("WITH {}a AS (SELECT 1) SELECT 1", "a AS (SELECT 1), ".repeat(n)),
            format!("INSERT INTO t VALUES {}", vec!["(1, 2)"; n].join(", ")),
            format!("SELECT {}", "x".repeat(n)),
            "BEGIN ".repeat(n),
        ]
    });
    let odd = [
        "SELECT 'unclosed".to_owned(),
        "SELECT $99999999999999999999 FROM t WHERE id = ?0".to_owned(),
        "UPDATE t SET".to_owned(),
        String::new(),
        "\u{0}\u{1f600}".to_owned(),
    ];
    for sql in shapes.chain(odd) {
        let target = Target::Method { kind: &kind, receiver: &receiver, name: "query" };
        assert!(apply(knowledge, &target, &[text(&sql), list([])]).is_some());
    }
}

#[test]
fn a_statement_that_is_put_off_has_no_effect() {
    let knowledge = knowledge();
    let kind = Kind::named("prisma.Model");
    let receiver = AccessPath::global("prisma").field("user");
    let function = FunctionBuilder::new("f").body([], |body, []| {
        let call = Call {
            span: interlock_model::Span::default(),
            target: Target::Method { kind: &kind, receiver: &receiver, name: "findMany" },
            construct: false,
            arguments: &[],
            into: None,
            awaited: false,
            surroundings: &NoSurroundings,
        };
        assert!(knowledge.apply(&call, body).is_some_and(|outcome| outcome.kind.is_some()));
        let waited = Call { awaited: true, ..call };
        assert!(knowledge.apply(&waited, body).is_some());
    });
    assert!(matches!(function.body.as_slice(), [effect] if matches!(effect.op, Op::Read { .. })));
}

#[test]
fn what_is_read_when_it_is_asked_for_is_what_is_read_at_once() {
    fn tables(knowledge: &Knowledge) -> BTreeMap<String, BTreeMap<String, String>> {
        let libraries = knowledge.libraries.iter().map(|(name, it)| (format!("library {name}"), &it.exports));
        let kinds = knowledge.kinds.iter().map(|(name, it)| (format!("kind {name}"), &it.methods));
        let all = libraries.chain(kinds).chain([("unknown".to_owned(), &knowledge.unknown)]);
        let told =
            |table: &Table| table.all().iter().map(|(name, it)| (name.clone(), format!("{it:?}"))).collect();
        all.map(|(name, table)| (name, told(table))).collect()
    }
    let (now, later) = (Knowledge::parse(EFFECTS).unwrap(), Knowledge::read_later(EFFECTS).unwrap());
    assert_eq!(tables(&later), tables(&now));
}
