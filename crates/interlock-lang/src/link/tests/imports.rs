//! A name means what it was declared as, however many files lie in between.

use expect_test::expect;

use super::{check, check_function, linked};

#[test]
fn a_function_is_found_through_relative_imports_and_re_exports() {
    check(
        r#"
        //- src/a.ts
        import { load as fetchAll, save } from "./lib";
        import * as lib from "./lib/index.js";
        import main, { other } from "./lib";
        export async function work(id) {
          await fetchAll(id);
          await lib.save(id);
          main();
          other.deep(1);
        }
        //- src/lib/index.ts
        export * from "./store.js";
        export { write as save } from "./store.js";
        export { default } from "./main.js";
        export * as other from "./other";
        //- src/lib/store.ts
        export async function load(id) { return id; }
        export function write(id) {}
        //- src/lib/main.ts
        export default function () {}
        //- src/lib/other.ts
        export const deep = (n) => n;
        "#,
        &expect![[r#"
            src/a.ts
            1     fn module() at start-up

            4     fn work(id), async
            5       fetchAll = call load(id)
            5       suspend
            6       save = call write(id)
            6       suspend
            7       call default(), not awaited
            8       call deep("1"), not awaited
            src/lib/index.ts
            1     fn module() at start-up
            src/lib/main.ts
            1     fn module() at start-up

            1     fn default()
            src/lib/other.ts
            1     fn module() at start-up

            1     fn deep(n)
            1       return n
            src/lib/store.ts
            1     fn module() at start-up

            1     fn load(id), async
            1       return id

            2     fn write(id)
        "#]],
    );
}

#[test]
fn aliases_and_packages_of_a_workspace_lead_to_their_sources() {
    check_function(
        r##"
        //- tsconfig.json
        { "compilerOptions": { "paths": { "@/*": ["./app/*"], }, }, } // ours
        //- packages/core/package.json
        { "name": "@tm/core", "main": "./dist/index.js", "imports": { "#inner": "./src/inner.ts" } }
        //- packages/core/src/index.ts
        import { inner } from "#inner";
        export function core() { inner(); }
        //- packages/core/src/inner.ts
        export function inner() {}
        //- app/util.ts
        export function util() {}
        //- app/main.ts
        import { util } from "@/util";
        import { core } from "@tm/core";
        import { gone } from "@tm/gone";
        export function main() { util(); core(); gone(); }
        "##,
        "main",
        &expect![[r#"
            4     fn main()
            4       call util(), not awaited
            4       call core(), not awaited
            4       call '@tm/gone.gone'(), not awaited
        "#]],
    );
}

#[test]
fn common_js_modules_offer_what_they_assign() {
    check_function(
        r#"
        //- a.js
        const store = require("./store");
        const { save } = require("./store");
        const make = require("./make");
        function work() { store.load(); save(); make(); }
        //- store.js
        function load() {}
        function save() {}
        module.exports = { load, save };
        //- make.js
        module.exports = function make() {};
        "#,
        "work",
        &expect![[r#"
            4     fn work()
            4       call load(), not awaited
            4       call save(), not awaited
            4       call default(), not awaited
        "#]],
    );
}

#[test]
fn compiled_modules_are_read_like_their_sources() {
    check_function(
        r#"
        //- dist/a.js
        "use strict";
        var __importDefault = (this && this.__importDefault) || function (mod) { return mod; };
        Object.defineProperty(exports, "__esModule", { value: true });
        exports.work = work;
        const store_1 = require("./store");
        const promises_1 = __importDefault(require("fs/promises"));
        async function work() {
            await (0, store_1.load)();
            await promises_1.default.unlink("x");
        }
        //- dist/store.js
        "use strict";
        Object.defineProperty(exports, "__esModule", { value: true });
        exports.load = load;
        async function load() { }
        "#,
        "work",
        &expect![[r#"
            7     fn work(), async
            8       load = call load()
            8       suspend
            9       unlink = delete file "x"
            9       suspend
        "#]],
    );
}

#[test]
fn shared_state_has_one_name_in_all_files() {
    check(
        r#"
        //- a.ts
        import { state, count as total } from "./state";
        import * as all from "./state";
        export function work(key) {
          state.items = key;
          all.state.items = key;
          return total;
        }
        //- state.ts
        export const state = { items: null };
        export let count = 0;
        export function raise() { count = count + 1; }
        "#,
        &expect![[r#"
            a.ts
            1     fn module() at start-up

            3     fn work(key)
            4       write blind shared ::state.ts::state.items from key
            5       write blind shared ::state.ts::state.items from key
            6       returned = read shared ::state.ts::count
            6       return returned
            state.ts
            1     fn module() at start-up

            3     fn raise()
            3       count = read shared ::state.ts::count
            3       write blind shared ::state.ts::count from count
        "#]],
    );
}

#[test]
fn a_circle_of_re_exports_ends() {
    check_function(
        r#"
        //- a.ts
        export * from "./b";
        export { x } from "./b";
        import { x, y } from "./b";
        export function work() { x(); y(); }
        //- b.ts
        export * from "./a";
        export { x } from "./a";
        export function y() {}
        "#,
        "work",
        &expect![[r#"
            4     fn work()
            4       call 'b.ts::x'(), not awaited
            4       call y(), not awaited
        "#]],
    );
}

#[test]
fn a_broken_setting_is_noted() {
    let program = linked("//- tsconfig.json\n{ \"compilerOptions\": \n//- a.ts\nexport const a = 1;\n");
    let notes: Vec<_> = program.notes.iter().map(|note| note.text.as_str()).collect();
    assert_eq!(notes.len(), 1);
    assert!(notes[0].starts_with("tsconfig.json could not be read"), "{notes:?}");
}

#[test]
fn an_import_that_leads_nowhere_is_noted_unless_it_is_no_source() {
    let program = linked(
        "//- a.ts\nimport { x } from \"./gone\";\nimport y from \"./y.json\";\nimport z from \"zod\";\nx();\n",
    );
    let notes: Vec<_> = program.notes.iter().map(|note| note.text.as_str()).collect();
    assert_eq!(notes, ["the import of \"./gone\" leads to no file of the tree"]);
}

#[test]
fn what_is_asked_of_a_module_that_is_loaded_later_is_found_in_its_file() {
    check_function(
        r#"
        //- store.ts
        export async function add(it) {}
        export class Store { async put(it) {} }
        //- a.ts
        export async function work(it) {
          const store = await import("./store");
          await store.add(it);
          await new store.Store().put(it);
          await import("./store").then((store) => store.add(it));
          await Promise.all([it].map((one) => store.add(one)));
        }
        "#,
        "work",
        &expect![[r#"
            1     fn work(it), async
            2       suspend
            2       store = ::store.ts::*
            3       add = call add(it)
            3       suspend
            4       Store = new
            4       call Store.constructor() on Store
            4       put = call Store.put(it) on Store
            4       suspend
            5       suspend
            5       result = call fn work.closure with it(::store.ts::*)
            5       suspend
            6       together
                    branch
            6         loop over each item
            6           item = derived from it
            6           result.2 = call fn work.closure with store(item)
            6       suspend
        "#]],
    );
}

#[test]
fn what_a_file_passes_on_of_a_library_is_that_library_s() {
    check_function(
        r#"
        //- a.ts
        import { readFile, own, parse } from "./lib";
        import { missing } from "./lost";
        export async function work(id) {
          await readFile(id);
          own(id);
          parse(id);
          missing(id);
        }
        //- lib/index.ts
        export * from "fs/promises";
        export * from "./inner";
        export { parse } from "./inner";
        //- lib/inner.ts
        export * from "./own";
        export function parse() {}
        //- lib/own.ts
        export function own() {}
        //- lost.ts
        export * from "./gone";
        "#,
        "work",
        &expect![[r#"
            3     fn work(id), async
            4       readFile = read file id
            4       suspend
            5       call own(id), not awaited
            6       call parse(id), not awaited
            7       call 'lost.ts::missing'(id), not awaited
        "#]],
    );
}
