//! What a file says besides its steps: imports, exports, classes, and what is assigned to what.

use std::fmt::Write;

use expect_test::{Expect, expect};

use super::{module, shown};
use crate::{
    Arg, Shape,
    module::{Export, Imported, Module},
};

fn facts(module: &Module) -> String {
    let mut text = String::new();
    for import in &module.imports {
        let what = imported(&import.what);
        writeln!(text, "import {} = {what} of {}", import.local, import.from).unwrap();
    }
    for export in &module.exports {
        match export {
            Export::Local { exported, local } => writeln!(text, "export {exported} = {local}"),
            Export::From { exported, from, what } => {
                writeln!(text, "export {exported} = {} of {from}", imported(what))
            }
            Export::All { from } => writeln!(text, "export * of {from}"),
        }
        .unwrap();
    }
    for class in &module.classes {
        let function = &module.functions[0].function;
        let methods: Vec<_> = class
            .methods
            .iter()
            .map(|(name, id)| format!("{name}={}", module.functions[*id as usize].function.name))
            .collect();
        let fields: Vec<_> =
            class.fields.iter().map(|(name, path)| format!("{name}: {}", shown(path, function))).collect();
        let extends = class.bases.first().map(|path| format!(" extends {}", shown(path, function)));
        let implements: String =
            class.implements.iter().map(|path| format!(" implements {}", shown(path, function))).collect();
        writeln!(
            text,
            "class {}{}{implements} [{}] {{{}}}",
            class.name,
            extends.unwrap_or_default(),
            methods.join(", "),
            fields.join(", ")
        )
        .unwrap();
    }
    for variable in &module.variables {
        let function = &module.functions[variable.within as usize].function;
        let owner = variable.owner.as_ref().map(|owner| format!("{owner} ")).unwrap_or_default();
        let declared = variable.declared.as_ref().map(|path| format!(": {}", shown(path, function)));
        let initial = variable.initial.as_ref().map(|arg| argument(arg, module));
        writeln!(
            text,
            "{owner}{}{} = {}",
            shown(&variable.path, function),
            declared.unwrap_or_default(),
            initial.unwrap_or_default()
        )
        .unwrap();
    }
    for lowered in &module.functions {
        if let Some(bound) = &lowered.bound {
            writeln!(text, "{} is bound to {}", lowered.function.name, shown(bound, &lowered.function))
                .unwrap();
        }
        for (value, path) in &lowered.types {
            let name = &lowered.function.values[value.0 as usize].name;
            let path = shown(path, &lowered.function);
            writeln!(text, "{}: {name} is a {path}", lowered.function.name).unwrap();
        }
        if let Some(path) = &lowered.returns {
            writeln!(text, "{} returns a {}", lowered.function.name, shown(path, &lowered.function)).unwrap();
        }
    }
    text
}

fn imported(what: &Imported) -> String {
    match what {
        Imported::Name(name) => name.to_string(),
        Imported::All => "*".to_owned(),
    }
}

fn argument(arg: &Arg, module: &Module) -> String {
    match &arg.shape {
        Shape::Function { function, .. } => {
            format!("fn {}", module.functions[function.0 as usize].function.name)
        }
        Shape::Object(members) => {
            let members: Vec<_> =
                members.iter().map(|(name, arg)| format!("{name}: {}", argument(arg, module))).collect();
            format!("{{{}}}", members.join(", "))
        }
        Shape::List(items) => {
            format!("[{}]", items.iter().map(|arg| argument(arg, module)).collect::<Vec<_>>().join(", "))
        }
        Shape::Call(site) => {
            let site = &module.sites[*site as usize];
            let function = &module.functions[site.within as usize].function;
            let callee = site.callee.as_ref().map_or("?".to_owned(), |path| shown(path, function));
            let new = if site.construct { "new " } else { "" };
            format!(
                "{new}{callee}({})",
                site.arguments.iter().map(|arg| argument(arg, module)).collect::<Vec<_>>().join(", ")
            )
        }
        Shape::Text(_) | Shape::Number(_) | Shape::Bool(_) | Shape::Null => format!("{:?}", arg.shape),
        Shape::Choice(ways) => ways.iter().map(|way| argument(way, module)).collect::<Vec<_>>().join(" or "),
        Shape::Opaque => format!("{:?}", arg.term),
    }
}

fn check(path: &str, source: &str, expect: Expect) {
    expect.assert_eq(&facts(&module(path, source)));
}

#[test]
fn imports_and_exports_of_modules() {
    check(
        "a.ts",
        r#"
import fs, { promises as fsp } from "node:fs";
import * as path from "path";
import type { Config } from "./config.js";
import legacy = require("legacy");
export { a as b, c } from "./other";
export * from "./all";
export * as ns from "./ns";
export const [one, two] = pair();
export async function run() {}
export class Store {}
export default async function () {}
const hidden = 1;
export { hidden as shown };
"#,
        expect![[r#"
            import fs = default of fs
            import fsp = promises of fs
            import path = * of path
            import Config = Config of ./config.js
            import legacy = * of legacy
            export b = a of ./other
            export c = c of ./other
            export * of ./all
            export ns = * of ./ns
            export one = one
            export two = two
            export run = run
            export Store = Store
            export default = default
            export shown = hidden
            class a.ts::Store [constructor=Store.constructor] {}
            ::one = Path(AccessPath { root: Value(Value(0)), fields: [At(Literal("0"))] })
            ::two = Path(AccessPath { root: Value(Value(0)), fields: [At(Literal("1"))] })
            ::hidden = Number(1)
            run is bound to ::run
            default is bound to ::default
        "#]],
    );
}

#[test]
fn a_default_export_that_is_an_expression() {
    check(
        "a.ts",
        r#"
export default { name: "tool", async execute(args) { return this.name; }, nested: { deep: () => 1 } };
"#,
        expect![[r#"
            export default = default
            ::default = {name: Text([Literal("tool")]), execute: fn execute, nested: {deep: fn deep}}
            execute is bound to ::default.execute
            deep is bound to ::default.nested.deep
        "#]],
    );
}

#[test]
fn common_js_as_people_write_it() {
    check(
        "a.js",
        r#"
const fs = require("fs");
const { readFile, writeFile: save } = require("fs/promises");
const join = require("path").join;
async function load() { const { x } = await import("./x.js"); return x(); }
function lazy() { const db = require("./db"); return db.open(); }
module.exports = { load, save, extra: async () => 1, ...require("./more") };
module.exports.late = load;
exports.other = function () {};
"#,
        expect![[r#"
            import fs = * of fs
            import readFile = readFile of fs/promises
            import save = writeFile of fs/promises
            import join = join of path
            import import(./x.js) = * of ./x.js
            import import(./db) = * of ./db
            export load = load
            export save = save
            export extra = exports.extra
            export * of ./more
            export late = load
            export other = exports.other
            ::exports.extra = fn extra
            ::exports.other = fn other
            load is bound to ::load
            lazy is bound to ::lazy
            extra is bound to ::exports.extra
            other is bound to ::exports.other
        "#]],
    );
}

#[test]
fn common_js_with_one_export() {
    check(
        "a.js",
        r#"
class Server {}
module.exports = Server;
"#,
        expect![[r#"
            export default = Server
            class a.js::Server [constructor=Server.constructor] {}
        "#]],
    );
}

#[test]
fn common_js_as_the_compiler_writes_it() {
    check(
        "a.js",
        r#"
"use strict";
var __importDefault = (this && this.__importDefault) || function (mod) { return mod; };
Object.defineProperty(exports, "__esModule", { value: true });
exports.helper = exports.run = void 0;
const promises_1 = __importDefault(require("fs/promises"));
const other_js_1 = require("./other.js");
Object.defineProperty(exports, "thing", { enumerable: true, get: function () { return other_js_1.thing; } });
__exportStar(require("./all.js"), exports);
async function run() { await promises_1.default.writeFile("x", (0, other_js_1.make)()); }
exports.run = run;
const helper = async () => (0, exports.run)();
exports.helper = helper;
exports.default = run;
"#,
        expect![[r#"
            import promises_1 = * of fs/promises
            import other_js_1 = * of ./other.js
            export thing = thing of ./other.js
            export * of ./all.js
            export run = run
            export helper = helper
            export default = run
            ::__importDefault = fn module.closure
            ::helper = fn helper
            run is bound to ::run
            helper is bound to ::helper
        "#]],
    );
}

#[test]
fn the_own_name_of_a_class_expression_means_the_class() {
    check(
        "a.js",
        r#"
var Store = class _Store {
  static shared = new _Store();
  static open() { return new _Store(); }
};
function make() {
  const Local = class _Local {
    static open() { return new _Local(); }
  };
  return class Given {
    static open() { return new Given(); }
  };
}
const count = function down(n) { return n > 0 ? down(n - 1) : new Store(); };
"#,
        expect![[r#"
            class a.js::Store [constructor=Store.constructor, open=Store.open] {}
            class a.js::Local [constructor=Local.constructor, open=Local.open] {}
            class a.js::Given [constructor=Given.constructor, open=Given.open] {}
            ::Store.shared = new ::Store()
            ::count = fn count
            make is bound to ::make
            Store.open is bound to ::Store.open
            Local.open is bound to ::Local.open
            Given.open is bound to ::Given.open
            count is bound to ::count
        "#]],
    );
}

#[test]
fn classes_and_what_they_hold() {
    check(
        "a.ts",
        r#"
import { Pool } from "pg";
import { Base, type Port } from "./base";
export class Repo extends Base implements Port {
  private cache = new Map<string, Entry>();
  private readonly pool: Pool;
  handler = async (x: Entry) => x;
  static shared: Repo | null = null;
  constructor(private readonly store: Store, pool: Pool, readonly name = "x") {
    super();
    this.pool = pool;
    this.client = new Client({ url: "u" });
  }
  async find(id: string): Promise<Entry | undefined> { return this.cache.get(id); }
  static create(pool: Pool) { return new Repo(new Store(), pool); }
}
const repo: Repo = Repo.create(new Pool());
interface Store {}
class Store {}
"#,
        expect![[r#"
            import Pool = Pool of pg
            import Base = Base of ./base
            import Port = Port of ./base
            export Repo = Repo
            class a.ts::Repo extends ::Base implements ::Port [constructor=Repo.constructor, find=Repo.find, create=Repo.create, handler=Repo.handler] {pool: ::Pool, shared: ::Repo, store: ::Store}
            class a.ts::Store [constructor=Store.constructor] {}
            a.ts::Repo this.cache = new ::Map()
            a.ts::Repo this.handler = fn Repo.handler
            a.ts::Repo this.store: ::Store = Path(AccessPath { root: Value(Value(0)), fields: [] })
            a.ts::Repo this.name = Path(AccessPath { root: Value(Value(2)), fields: [] })
            a.ts::Repo this.pool = Path(AccessPath { root: Value(Value(1)), fields: [] })
            a.ts::Repo this.client = new ::Client({url: Text([Literal("u")])})
            ::repo: ::Repo = ::Repo.create(new ::Pool())
            Repo.constructor: store is a ::Store
            Repo.constructor: pool is a ::Pool
            Repo.handler is bound to this.handler
            Repo.handler: x is a ::Entry
            Repo.find returns a ::Entry
            Repo.create is bound to ::Repo.create
            Repo.create: pool is a ::Pool
        "#]],
    );
}

#[test]
fn objects_with_methods_and_enums_and_namespaces() {
    check(
        "a.ts",
        r#"
const tools = {
  create: { name: "create", handler: async (args) => save(args) },
  list() { return tools; },
};
tools.extra = { handler: list };
enum Mode { Read = "r", Write = "w", Both }
namespace Files {
  export const root = "/srv";
  export function open(mode: Mode) { return mode === Mode.Read ? root : Mode.Both; }
}
let late;
late = Files.open(Mode.Write);
"#,
        expect![[r#"
            ::tools = {create: {name: Text([Literal("create")]), handler: fn handler}, list: fn list}
            ::tools.extra = {handler: Path(AccessPath { root: Global("list"), fields: [] })}
            ::Mode = {Read: Text([Literal("r")]), Write: Text([Literal("w")])}
            ::Files.root = Text([Literal("/srv")])
            ::late = ::Files.open(Text([Literal("w")]))
            handler is bound to ::tools.create.handler
            list is bound to ::tools.list
            open is bound to ::Files.open
            open: mode is a ::Mode
        "#]],
    );
}
