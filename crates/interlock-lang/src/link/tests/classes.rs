//! Methods are found by what their receiver is, wherever that is said.

use expect_test::expect;

use super::{check, check_function};

#[test]
fn an_object_is_made_and_its_constructor_runs_on_it() {
    check(
        r#"
        //- a.ts
        import { Store } from "./store";
        const store = new Store("x.json");
        export async function work() {
          const local = new Store("y.json");
          await local.save(1);
          return store.load();
        }
        //- store.ts
        export class Store {
          private items = new Map();
          constructor(private path: string) {}
          async load() { return this.read(this.path); }
          async save(item) { this.items.set(item.id, item); }
          private async read(path) { return path; }
        }
        "#,
        &expect![[r#"
            a.ts
            1     fn module() at start-up
            2       store = new
            2       call Store.constructor("x.json") on store
            2       write blind shared ::a.ts::store from store

            3     fn work(), async
            4       local = new
            4       call Store.constructor("y.json") on local
            5       save = call Store.save("1") on local
            5       suspend
            6       load = call Store.load() on ::a.ts::store
            6       return load
            store.ts
            1     fn module() at start-up

            3     fn Store.constructor(path)
            2       Map = new
            2       write blind shared this.items from Map
            3       write blind shared this.path from path

            4     fn Store.load(), async
            4       path = read shared this.path
            4       read = call Store.read(this.path) on this
            4       return read

            5     fn Store.save(item), async
            5       id = read shared item.id
            5       write blind shared this.items[item.id] from item

            6     fn Store.read(path), async
            6       return path
        "#]],
    );
}

#[test]
fn inherited_methods_and_super_are_found() {
    check_function(
        r#"
        //- a.ts
        import { Base } from "./base";
        class Child extends Base {
          constructor() { super("x"); }
          async run() { await super.run(); await this.helper(); }
        }
        //- base.ts
        export class Base {
          constructor(name) { this.name = name; }
          async run() {}
          async helper() {}
        }
        "#,
        "Child.run",
        &expect![[r#"
            4     fn Child.run(), async
            4       run = call Base.run() on this
            4       suspend
            4       helper = call Base.helper() on this
            4       suspend
        "#]],
    );
}

#[test]
fn the_receiver_is_known_from_declared_types_and_assignments() {
    check_function(
        r#"
        //- a.ts
        import { Store, Cache, Log } from "./store";
        class Service {
          private cache: Cache;
          private log;
          constructor(private readonly store: Store) { this.log = new Log(); }
          async typed(store: Store) {
            await store.read();
            await this.store.read();
            await this.cache.read();
            await this.log.read();
          }
        }
        //- store.ts
        export class Store { async read() {} }
        export class Cache { async read() {} }
        export class Log { async read() {} }
        "#,
        "Service.typed",
        &expect![[r#"
            6     fn Service.typed(store), async
            7       read = call Store.read() on store
            7       suspend
            8       read.2 = call Store.read() on this.store
            8       suspend
            9       read.3 = call Cache.read() on this.cache
            9       suspend
            10      read.4 = call Log.read() on this.log
            10      suspend
        "#]],
    );
}

#[test]
fn an_interface_with_one_implementation_is_that_class() {
    check_function(
        r#"
        //- port.ts
        export interface Storage { read(): Promise<string>; }
        export abstract class Queue { abstract put(x): void; }
        //- file.ts
        import { Storage, Queue } from "./port";
        export class FileStorage implements Storage { async read() { return ""; } }
        export class ListQueue extends Queue { put(x) {} }
        //- a.ts
        import type { Storage, Queue } from "./port";
        export async function work(storage: Storage, queue: Queue) {
          await storage.read();
          queue.put(1);
        }
        "#,
        "work",
        &expect![[r#"
            2     fn work(storage, queue), async
            3       read = call FileStorage.read() on storage
            3       suspend
            4       call ListQueue.put("1") on queue, not awaited
        "#]],
    );
}

#[test]
fn what_a_factory_makes_is_known() {
    check_function(
        r#"
        //- store.ts
        export class Store { async read() {} static open() { return new Store(); } }
        export function makeStore() { return new Store(); }
        let instance;
        export function getStore() { if (!instance) { instance = new Store(); } return instance; }
        //- a.ts
        import { Store, makeStore, getStore } from "./store";
        export async function work() {
          await makeStore().read();
          await Store.open().read();
          const store = getStore();
          await store.read();
        }
        "#,
        "work",
        &expect![[r#"
            2     fn work(), async
            3       makeStore = call makeStore(), not awaited
            3       read = call Store.read() on makeStore
            3       suspend
            4       open = call Store.open() on ::store.ts::Store, not awaited
            4       read.2 = call Store.read() on open
            4       suspend
            5       store = call getStore(), not awaited
            6       read.3 = call Store.read() on store
            6       suspend
        "#]],
    );
}

#[test]
fn what_plain_javascript_hands_over_is_known_from_the_callers() {
    check_function(
        r#"
        //- store.js
        export class Store { async read() {} }
        //- work.js
        export async function work(store) { await store.read(); }
        class Service {
          constructor(store) { this.store = store; }
          async serve() { await this.store.read(); }
        }
        export { Service };
        //- a.js
        import { Store } from "./store.js";
        import { work, Service } from "./work.js";
        const store = new Store();
        work(store);
        new Service(store).serve();
        "#,
        "Service.serve",
        &expect![[r#"
            4     fn Service.serve(), async
            4       read = call Store.read() on this.store
            4       suspend
        "#]],
    );
}

#[test]
fn a_method_that_only_one_class_has_is_that_one_unless_its_name_is_common() {
    check_function(
        r#"
        //- a.ts
        class Store { async persistGraph() {} async close() {} }
        export async function work(x) { await x.persistGraph(); await x.close(); }
        "#,
        "work",
        &expect![[r#"
            2     fn work(x), async
            2       persistGraph = call Store.persistGraph() on x
            2       suspend
            2       close = call 'close'() on x
            2       suspend
        "#]],
    );
}

#[test]
fn what_a_getter_returns_is_known() {
    check_function(
        r#"
        //- a.ts
        class Tasks { async generate() {} }
        class Core {
          private inner = new Tasks();
          get tasks() { return this.inner; }
        }
        export async function work(core: Core) { await core.tasks.generate(); }
        "#,
        "work",
        &expect![[r#"
            6     fn work(core), async
            6       generate = call Tasks.generate() on core.tasks
            6       suspend
        "#]],
    );
}

#[test]
fn a_name_that_means_one_class_everywhere_means_it_where_nothing_is_said() {
    check_function(
        r#"
        //- a.ts
        class Tasks { async list() {} }
        class Notes { async list() {} }
        class Core { constructor(private tasks: Tasks, private either: Tasks) {} }
        class Other { constructor(private either: Notes) {} }
        export async function work({ tasks, either }) { await tasks.list(); await either.list(); }
        "#,
        "work",
        &expect![[r#"
            5     fn work(param), async
            5       tasks = param.tasks from param
            5       either = param.either from param
            5       list = call Tasks.list() on param.tasks
            5       suspend
            5       list.2 = call 'list'() on param.either
            5       suspend
        "#]],
    );
}

#[test]
fn of_the_implementations_of_an_interface_those_that_do_nothing_are_left_out() {
    check_function(
        r#"
        //- a.ts
        interface Storage { read(): void; write(): void; }
        abstract class Base implements Storage { write() {} abstract read(): void; }
        class A extends Base { read() {} }
        class B extends Base { read() {} }
        class C implements Storage { read() {} write() {} }
        interface Tool { run(): void; }
        class D implements Tool { run() {} }
        class E implements Tool { run() {} }
        class F implements Tool { run() {} }
        class G implements Tool { run() {} }
        export function work(storage: Storage, tool: Tool) {
          const found = storage.read();
          storage.write();
          tool.run();
          return found;
        }
        "#,
        "work",
        &expect![[r#"
            11    fn work(storage, tool)
            12      found = call C.read() on storage, not awaited
            13      call Base.write() on storage, not awaited
            14      call D.run() on tool, not awaited
            15      return found
        "#]],
    );
}
