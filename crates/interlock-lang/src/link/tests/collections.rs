//! Maps, sets and lists are state: their methods read and write entries.

use expect_test::expect;
use interlock_model::ir::{AccessPath, Limited};

use super::{check_function, linked};

#[test]
fn entries_of_a_map_are_read_written_and_removed_by_key() {
    check_function(
        r#"
        //- a.ts
        const sessions = new Map();
        export async function work(id, value) {
          if (sessions.has(id)) return;
          const session = sessions.get(id);
          session.count = session.count + 1;
          sessions.set(id, value);
          sessions.delete(id);
          sessions.clear();
        }
        "#,
        "work",
        &expect![[r#"
            2     fn work(id, value), async
            3       has = read existence of shared ::a.ts::sessions[id]
            3       check has
                    then
            3         return
            4       session = read shared ::a.ts::sessions[id]
            5       count = read shared session.count
            5       write blind shared session.count from count
            6       write blind shared ::a.ts::sessions[id] from value
            7       delete shared ::a.ts::sessions[id]
            8       delete shared ::a.ts::sessions
        "#]],
    );
}

#[test]
fn sets_and_lists_too() {
    check_function(
        r#"
        //- a.ts
        class Queue {
          seen = new Set();
          items = [];
          work(id) {
            if (!this.seen.has(id)) this.seen.add(id);
            this.items.push(id);
            const first = this.items.shift();
            this.items.splice(id, 1);
            if (this.items.includes(id)) return first;
            for (const [k, v] of this.seen.entries()) { this.seen.delete(k); }
          }
        }
        "#,
        "Queue.work",
        &expect![[r#"
            4     fn Queue.work(id)
            5       has = read existence of shared this.seen[id]
            5       check has
                    else
            5         write ensure shared this.seen[id] from id
            6       write append shared this.items from id
            7       first = write atomic shared this.items
            8       write blind shared this.items from id
            9       includes = read existence of shared this.items[id]
            9       check includes
                    then
            9         return first
            10      entries = read shared this.seen
            10      loop over each item
            10        item = entries[?] from entries
            10        k = item["0"] from item
            10        v = item["1"] from item
            10        delete shared this.seen[k]
        "#]],
    );
}

#[test]
fn a_function_that_is_handed_each_entry_runs_in_a_loop() {
    check_function(
        r#"
        //- a.ts
        const tasks = [];
        export function work(id) {
          const task = tasks.find(t => t.id === id);
          task.done = true;
          const open = tasks.filter(t => !t.done).map(t => t.id);
          tasks.forEach(touch);
          return open;
        }
        function touch(t) { t.touched = true; }
        "#,
        "work",
        &expect![[r#"
            2     fn work(id)
            3       tasks = read shared ::a.ts::tasks
            3       loop over each item
            3         item = derived from tasks
            3         entry = ::a.ts::tasks[item] from tasks
            3         result = call fn work.closure with id(entry), not awaited
            3       task = ::a.ts::tasks[item] from tasks, result
            4       write blind shared task.done
            5       tasks.2 = read shared ::a.ts::tasks
            5       loop over each item.2
            5         item.2 = derived from tasks.2
            5         entry.2 = ::a.ts::tasks[item.2] from tasks.2
            5         result.2 = call fn work.closure(entry.2), not awaited
            5       filter = derived from tasks.2, result.2
            5       loop over each item.3
            5         item.3 = derived from filter
            5         result.3 = call fn work.closure(item.3), not awaited
            5       open = derived from filter, result.3
            6       tasks.3 = read shared ::a.ts::tasks
            6       loop over each item.4
            6         item.4 = derived from tasks.3
            6         entry.3 = ::a.ts::tasks[item.4] from tasks.3
            6         result.4 = call fn touch(entry.3), not awaited
            7       return open
        "#]],
    );
}

#[test]
fn what_is_made_in_the_function_is_no_state() {
    check_function(
        r#"
        //- a.ts
        export function work(text) {
          const data = JSON.parse(text);
          const seen = new Set();
          const names = data.items.map(i => i.name);
          if (seen.has(text)) return names.includes(text);
          const copy = structuredClone(data);
          return Object.keys(copy).join(",");
        }
        "#,
        "work",
        &expect![[r#"
            1     fn work(text)
            2       data = derived from text
            3       seen = new
            4       loop over each item
            4         item = derived from data
            4         result = call fn work.closure(item), not awaited
            4       names = derived from data, result
            5       has = derived from seen, text
            5       check has
                    then
            5         includes = derived from names, text
            5         return includes
            6       copy = derived from data
            7       keys = derived from copy
            7       join = derived from keys
            7       return join
        "#]],
    );
}

#[test]
fn all_of_an_object_is_read_or_written() {
    check_function(
        r#"
        //- a.ts
        const config = {};
        export function work(more) {
          for (const key of Object.keys(config)) { delete config[key]; }
          Object.assign(config, more);
        }
        "#,
        "work",
        &expect![[r#"
            2     fn work(more)
            3       keys = read shared ::a.ts::config
            3       loop over each key
            3         key = derived from keys
            3         delete shared ::a.ts::config[key]
            4       write blind shared ::a.ts::config from more
        "#]],
    );
}

#[test]
fn a_route_of_a_web_server_is_no_entry_of_a_map() {
    check_function(
        r#"
        //- a.ts
        import express from "express";
        const app = express();
        export function work(router) {
          app.get("/x", (req, res) => {});
          app.set("trust proxy", 1);
          router.get("/x", (req, res) => {});
        }
        "#,
        "work",
        &expect![[r#"
            3     fn work(router)
            4       call 'get'("/x", fn work.closure) on ::a.ts::app, not awaited
            5       call 'set'("trust proxy", "1") on ::a.ts::app, not awaited
            6       call 'get'("/x", fn work.closure) on router, not awaited
        "#]],
    );
}

#[test]
fn maps_that_do_not_grow_are_listed() {
    let program = linked(
        r#"
        //- a.ts
        import { LRUCache } from "lru-cache";
        import QuickLRU from "quick-lru";
        const cache = new LRUCache({ max: 5 });
        const quick = new QuickLRU({ maxSize: 5 });
        const weak = new WeakMap();
        const grows = new Map();
        class Held { kept = new LRUCache({ max: 1 }); }
        const held = new Held();
        "#,
    );
    let line = |limited: &Limited| {
        let AccessPath { root, fields } = &limited.path;
        format!("{:?} {root:?} {fields:?}\n", limited.by)
    };
    let found: String = program.limited.iter().map(line).collect();
    expect![[r#"
        Capacity Global("a.ts::cache") []
        Capacity Global("a.ts::quick") []
        Weakness Global("a.ts::weak") []
        Capacity This [Name("kept")]
        Capacity Global("a.ts::held") [Name("kept")]
    "#]]
    .assert_eq(&found);
}

#[test]
fn the_lock_of_a_key_is_the_map_entry_however_it_came_there() {
    check_function(
        r#"
        //- a.ts
        import { Mutex } from "async-mutex";
        const locks = new Map();
        export async function work(id) {
          let lock = locks.get(id);
          if (!lock) {
            lock = new Mutex();
            locks.set(id, lock);
          }
          await lock.runExclusive(async () => { await act(id); });
        }
        async function act(id) {}
        "#,
        "work",
        &expect![[r#"
            3     fn work(id), async
            4       lock = read shared ::a.ts::locks[id]
            5       check lock
                    else
            6         lock.2 = new mutex
            7         write blind shared ::a.ts::locks[id] from lock.2
            5       lock.3 = derived from lock.2, lock
            9       acquire ::a.ts::locks[id]
            9       try
            9         runExclusive = call fn work.closure with id()
                    finally
            9         release ::a.ts::locks[id]
            9       suspend
        "#]],
    );
}
