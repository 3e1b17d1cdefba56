//! Closer looks at single conventions.

use expect_test::expect;

use super::check;

#[test]
fn sleeps_say_how_they_grow_and_whether_chance_spreads_them() {
    check(
        r#"
import { setTimeout as wait } from "node:timers/promises";
const sleep = (ms: number) => new Promise((r) => setTimeout(r, ms));
async function tries() {
  for (let attempt = 1; attempt <= 3; attempt++) {
    const base = 100 * 2 ** attempt;
    await sleep(base);
    await sleep(attempt * 10);
    await wait(base / 2 + Math.random() * base);
    await sleep(500);
  }
}
"#,
        expect![[r#"
            a.ts
            1     fn module() at start-up

            4     fn tries(), async
            5       attempt = "1"
            5       loop a limited number of times
            5         attempt.2 = derived from attempt, attempt.3
            5         check attempt.2
                      else
            5           break
            6         base = derived from attempt.2
            7         sleep growing
            7         suspend
            8         sleep growing
            8         suspend
            9         sleep growing with jitter
            9         suspend
            10        sleep fixed
            10        suspend
            5         attempt.3 = derived from attempt.2
            5       attempt.4 = derived from attempt, attempt.3

            3     fn sleep(ms)
            3       settled = new
            3       promise = call fn sleep.closure with ms(settled)
            3       promise.2 = derived from promise, settled
            3       return promise.2

            3     fn sleep.closure(r) with ms
            3       sleep growing with jitter
            3       return
        "#]],
    );
}

#[test]
fn sleeps_are_known_by_their_names_also_where_nobody_else_can_call_them() {
    check(
        r#"
class Client {
  #sleep(ms: number) {}
  async tries(attempt: number) {
    await this.#sleep(2 ** attempt * Math.random());
    await this._delay(10);
    await this.sleepMs(10);
    await this.waitForIdle(10);
  }
}
"#,
        expect![[r#"
            a.ts
            1     fn module() at start-up

            2     fn Client.constructor()

            3     fn Client.#sleep(ms)

            4     fn Client.tries(attempt), async
            5       sleep growing with jitter
            5       suspend
            6       sleep fixed
            6       suspend
            7       sleep fixed
            7       suspend
            8       waitForIdle = call 'this.waitForIdle'("10")
            8       suspend
        "#]],
    );
}

#[test]
fn destructuring_names_each_part_by_its_path() {
    check(
        r#"
const { parse } = JSON;
async function handler({ id, options: { force = false } = {} }: Args, [first, ...others], ...more) {
  const { a, b: [c] } = await load(id);
  const { cache, size } = this.state;
  let x, y;
  [x, y] = [a, c];
  ({ x, z: this.z } = b());
  return parse(x, y, force, first, others, more, cache, size);
}
"#,
        expect![[r#"
            a.ts
            1     fn module() at start-up

            3     fn handler(param, param.2, more), async
            3       id = param.id from param
            3       force = param.options.force from param
            3       first = param.2["0"] from param.2
            3       others = derived from param.2
            4       load = call '::load'(id)
            4       suspend
            4       a = load.a from load
            4       c = load.b["0"] from load
            5       state = read shared this.state
            5       cache = read shared this.state.cache
            5       size = read shared this.state
            6       x = derived
            6       y = derived
            6       x.2 = a from a
            6       y.2 = c from c
            8       b = call '::b'(), not awaited
            8       x.3 = b.x from b
            8       write blind shared this.z from b
            9       parse = call '::parse'(x.3, y.2, force, first, others, more, cache, size)
            9       return parse
        "#]],
    );
}

#[test]
fn text_with_holes_is_put_together() {
    check(
        r#"
const dir = "/srv";
async function file(user: string, n: number) {
  const name = `${dir}/users/${user}.json`;
  const other = dir + "/" + user + ".tmp" + (n + 1);
  await save(name, other, `plain`, "quoted", 12, -3, true, null, undefined, { deep: [1, { x: user }] });
}
"#,
        expect![[r#"
            a.ts
            1     fn module() at start-up

            3     fn file(user, n), async
            4       name = ::a.ts::dir + "/users/" + user + ".json" from user
            5       part = derived from n
            5       other = ::a.ts::dir + "/" + user + ".tmp" + part from user, n
            6       arg = derived from user
            6       save = call '::save'(name, other, "plain", "quoted", "12", "-3", ?, ?, ?, arg)
            6       suspend
        "#]],
    );
}

#[test]
fn static_members_and_private_fields() {
    check(
        r#"
class Pool {
  static instances = new Map<string, Pool>();
  #open = 0;
  static async get(name: string) {
    this.instances.set(name, new Pool());
    return Pool.instances.get(name);
  }
  close = async () => {
    this.#open--;
    await this.flush();
  };
  get size() { return this.#open; }
}
class Sub extends Pool {
  async close2() { await super.close(); }
}
"#,
        expect![[r#"
            a.ts
            1     fn module() at start-up
            3       Map = call 'new ::Map'(), not awaited

            2     fn Pool.constructor()

            5     fn Pool.get(name), async
            6       Pool = call 'new ::Pool'(), not awaited
            6       call '::Pool.instances.set'(name, Pool), not awaited
            7       get = call '::Pool.instances.get'(name)
            7       return get

            9     fn Pool.close(), async
            10      #open = read shared this.#open
            10      write blind shared this.#open from #open
            11      flush = call 'this.flush'()
            11      suspend

            13    fn Pool.size()
            13      #open = read shared this.#open
            13      return #open

            15    fn Sub.constructor()
            15      call '::super'(), not awaited

            16    fn Sub.close2(), async
            16      close = call '::super.close'()
            16      suspend
        "#]],
    );
}

#[test]
fn optional_chaining_and_non_null_assertions_are_seen_through() {
    check(
        r#"
async function peek(map, key) {
  const entry = map?.get(key)!;
  if (entry?.expires! > Date.now()) return (entry as Entry).value?.trim();
  await map?.refresh?.(key);
}
"#,
        expect![[r#"
            a.ts
            1     fn module() at start-up

            2     fn peek(map, key), async
            3       entry = call 'map.get'(key), not awaited
            4       expires = read shared entry.expires
            4       now = call '::Date.now'(), not awaited
            4       check expires, now
                    then
            4         trim = call 'entry.value.trim'()
            4         return trim
            5       refresh = call 'map.refresh'(key)
            5       suspend
        "#]],
    );
}

#[test]
fn await_order_inside_an_expression_counts() {
    check(
        r#"
async function order() {
  return combine(this.a, await first(), this.b, [await second()], { x: await third() });
}
"#,
        expect![[r#"
            a.ts
            1     fn module() at start-up

            2     fn order(), async
            3       a = read shared this.a
            3       first = call '::first'()
            3       suspend
            3       b = read shared this.b
            3       second = call '::second'()
            3       suspend
            3       third = call '::third'()
            3       suspend
            3       arg = derived from second
            3       arg.2 = derived from third
            3       combine = call '::combine'(this.a, first, this.b, arg, arg.2)
            3       return combine
        "#]],
    );
}

#[test]
fn try_catch_join() {
    check(
        r#"
async function joined() {
  let data;
  try {
    data = await read();
  } catch {
    data = { items: [] };
  }
  data.items.push(1);
  await write(data);
}
"#,
        expect![[r#"
            a.ts
            1     fn module() at start-up

            2     fn joined(), async
            3       data = derived
            4       try
            5         data.2 = call '::read'()
            5         suspend
                    catch error
            4         data.3 = derived from data.2, data
            7         data.4 = new
            4       data.5 = derived from data.2, data.4
            9       call 'data.items.push'("1"), not awaited
            10      write = call '::write'(data.5)
            10      suspend
        "#]],
    );
}

#[test]
fn a_number_that_only_counts_is_what_it_is_in_its_turn_for_closures_too() {
    check(
        r#"
async function load(url) {
  for (let attempt = 0; attempt < 5; attempt++) {
    const text = await ask(url);
    if (text) return text;
    await new Promise((resolve) => setTimeout(resolve, 100 * attempt));
  }
}
"#,
        expect![[r#"
            a.ts
            1     fn module() at start-up

            2     fn load(url), async
            3       attempt = "0"
            3       loop a limited number of times
            3         attempt.2 = derived from attempt, attempt.3
            3         check attempt.2
                      else
            3           break
            4         text = call '::ask'(url)
            4         suspend
            5         check text
                      then
            5           return text
            6         settled = new
            6         promise = call fn load.closure with attempt.2(settled)
            6         promise.2 = derived from promise, settled
            6         suspend
            3         attempt.3 = derived from attempt.2
            3       attempt.4 = derived from attempt, attempt.3

            6     fn load.closure(resolve) with attempt
            6       sleep growing
            6       return
        "#]],
    );
}

#[test]
fn a_cell_is_shared_with_closures() {
    check(
        r#"
function limiter(max: number) {
  let active = 0;
  const queue = [];
  return async (job) => {
    if (active >= max) await new Promise((resolve) => queue.push(resolve));
    active++;
    try {
      return await job();
    } finally {
      active--;
      queue.shift()?.();
    }
  };
}
"#,
        expect![[r#"
            a.ts
            1     fn module() at start-up

            2     fn limiter(max)
            3       active = new
            4       queue = new
            5       function = fn limiter.closure with active, max, queue
            5       return function

            5     fn limiter.closure(job) with active, max, queue, async
            6       active.2 = read shared active
            6       check active.2, max
                    then
            6         settled = new
            6         promise = call fn limiter.closure.closure with queue(settled)
            6         promise.2 = derived from promise, settled
            6         suspend
            7       active.3 = read shared active
            7       write blind shared active from active.3
            8       try
            9         job.2 = call job()
            9         suspend
            9         return job.2
                    finally
            11        active.4 = read shared active
            11        write blind shared active from active.4
            12        shift = call 'queue.shift'(), not awaited
            12        call shift(), not awaited

            6     fn limiter.closure.closure(resolve) with queue
            6       push = call 'queue.push'(resolve)
            6       return push
        "#]],
    );
}

#[test]
fn registration_inside_a_function() {
    check(
        r#"
export function register(server, store) {
  const cache = new Map();
  server.tool("add", { n: z.number() }, async ({ n }) => {
    cache.set(n, await store.load(n));
    return { content: [{ type: "text", text: `${n}` }] };
  });
}
"#,
        expect![[r#"
            a.ts
            1     fn module() at start-up

            2     fn register(server, store)
            3       cache = call 'new ::Map'(), not awaited
            4       number = call '::z.number'(), not awaited
            4       arg = derived from number
            4       call 'server.tool'("add", arg, fn register.closure with cache, store), not awaited

            4     fn register.closure(param) with cache, store, async
            4       n = param.n from param
            5       load = call 'store.load'(n)
            5       suspend
            5       call 'cache.set'(n, load), not awaited
            6       return n
        "#]],
    );
}
