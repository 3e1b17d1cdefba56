//! Promises, timers, closures, and what waits for what.

use expect_test::expect;

use super::check;

#[test]
fn calls_in_a_list_of_promises_run_side_by_side() {
    check(
        r#"
async function both(ids: string[]) {
  const [a, b] = await Promise.all([first(), second()]);
  await Promise.all(ids.map(async (id) => { await remove(id, a.name); }));
  void background(b);
  later();
}
"#,
        expect![[r#"
            a.ts
            1     fn module() at start-up

            2     fn both(ids), async
            3       together
                    branch
            3         first = call '::first'()
                    branch
            3         second = call '::second'()
            3       suspend
            3       a = first from first
            3       b = second from second
            4       together
                    branch
            4         loop over each item
            4           item = derived from ids
            4           result = call fn both.closure with a(item)
            4       suspend
            5       call '::background'(b), not awaited
            6       call '::later'(), not awaited

            4     fn both.closure(id) with a, async
            4       name = read shared a.name
            4       remove = call '::remove'(id, a.name)
            4       suspend
        "#]],
    );
}

#[test]
fn chains_of_then_and_catch() {
    check(
        r#"
async function chain() {
  await get().then((x) => use(x)).catch((e) => report(e)).finally(() => close());
  get().then(use);
  return get().then(use, fail);
}
"#,
        expect![[r#"
            a.ts
            1     fn module() at start-up

            2     fn chain(), async
            3       try
            3         try
            3           get = call '::get'()
            3           suspend
            3           result = call fn chain.closure(get)
            3           suspend
                      catch error
            3           result.2 = call fn chain.closure(error)
            3         suspend
                    finally
            3         result.3 = call fn chain.closure()
            3       suspend
            4       spawn
            4         get.2 = call '::get'()
            4         suspend
            4         use = call '::use'(get.2)
            5       try
            5         get.3 = call '::get'()
            5         suspend
            5         use.2 = call '::use'(get.3)
                    catch error.2
            5         fail = call '::fail'(error.2)
            5       return use.2

            3     fn chain.closure(x)
            3       use = call '::use'(x)
            3       return use

            3     fn chain.closure(e)
            3       report = call '::report'(e)
            3       return report

            3     fn chain.closure()
            3       close = call '::close'()
            3       return close
        "#]],
    );
}

#[test]
fn timers_and_events_start_later() {
    check(
        r#"
class Watcher {
  start() {
    setTimeout(() => this.clean(), 600_000);
    process.on("SIGINT", async () => { await this.stop(); });
    this.emitter.on("data", this.handle);
    setInterval(this.tick, 10);
    queueMicrotask(() => done());
  }
}
"#,
        expect![[r#"
            a.ts
            1     fn module() at start-up

            2     fn Watcher.constructor()

            3     fn Watcher.start()
            4       spawn on timer
            4         result = call fn Watcher.start.closure()
            5       spawn on event
            5         result.2 = call fn Watcher.start.closure()
            6       spawn on event
            6         handle = call 'this.handle'()
            7       spawn on timer
            7         tick = call 'this.tick'()
            8       spawn
            8         result.3 = call fn Watcher.start.closure()

            4     fn Watcher.start.closure()
            4       clean = call 'this.clean'()
            4       return clean

            5     fn Watcher.start.closure(), async
            5       stop = call 'this.stop'()
            5       suspend

            8     fn Watcher.start.closure()
            8       done = call '::done'()
            8       return done
        "#]],
    );
}

#[test]
fn closures_take_along_what_they_use() {
    check(
        r#"
function outer(base: number) {
  let count = 0;
  const step = base * 2;
  const bump = () => { count += step; return count; };
  function twice() { bump(); bump(); }
  twice();
  return [1, 2].map((n) => n + count);
}
"#,
        expect![[r#"
            a.ts
            1     fn module() at start-up

            2     fn outer(base)
            3       count = new
            4       step = derived from base
            7       call fn twice with count, step(), not awaited
            7       object = derived
            8       map = call 'object.map'(fn outer.closure with count)
            8       return map

            6     fn twice() with count, step
            6       call fn bump with count, step(), not awaited
            6       call fn bump with count, step(), not awaited

            5     fn bump() with count, step
            5       count.2 = read shared count
            5       write blind shared count from count.2, step
            5       count.3 = read shared count
            5       return count.3

            8     fn outer.closure(n) with count
            8       count.2 = read shared count
            8       return n, count.2
        "#]],
    );
}

#[test]
fn a_function_that_returns_a_function() {
    check(
        r#"
function makeRelease(lock) {
  return () => { lock.held = false; };
}
"#,
        expect![[r#"
            a.ts
            1     fn module() at start-up

            2     fn makeRelease(lock)
            3       function = fn makeRelease.closure with lock
            3       return function

            3     fn makeRelease.closure() with lock
            3       write blind shared lock.held
        "#]],
    );
}

#[test]
fn a_switch_goes_one_way_by_name() {
    check(
        r#"
async function dispatch(name: string, args: any) {
  switch (name) {
    case "create":
    case "add": {
      await create(args);
      break;
    }
    case "remove":
      if (!args.id) break;
      await remove(args.id);
      break;
    default:
      throw new Error("unknown");
  }
}
"#,
        expect![[r#"
            a.ts
            1     fn module() at start-up

            2     fn dispatch(name, args), async
            4       check name is "create"
                    then
            6         create = call '::create'(args)
            6         suspend
                    else
            5         check name is "add"
                      then
            6           create.2 = call '::create'(args)
            6           suspend
                      else
            9           check name is "remove"
                        then
            10            id = read shared args.id
            10            check id
                          then
            11              id.2 = read shared args.id
            11              remove = call '::remove'(args.id)
            11              suspend
                        else
            14            throw
        "#]],
    );
}

#[test]
fn finally_does_not_wait_for_what_is_returned() {
    check(
        r#"
async function guarded() {
  try {
    return work();
  } finally {
    release();
  }
}
"#,
        expect![[r#"
            a.ts
            1     fn module() at start-up

            2     fn guarded(), async
            3       try
            4         work = call '::work'(), not awaited
            4         return work
                    finally
            6         call '::release'(), not awaited
        "#]],
    );
}

#[test]
fn using_is_a_try_with_a_finally() {
    check(
        r#"
async function used() {
  await using file = await open("x");
  using guard = lock();
  await file.write("y");
}
"#,
        expect![[r#"
            a.ts
            1     fn module() at start-up

            2     fn used(), async
            3       file = call '::open'("x")
            3       suspend
            3       try
            4         guard = call '::lock'(), not awaited
            4         try
            5           write = call 'file.write'("y")
            5           suspend
                      finally
            4           call 'guard.dispose'(), not awaited
                    finally
            3         asyncDispose = call 'file.asyncDispose'()
            3         suspend
        "#]],
    );
}

#[test]
fn for_await_suspends_on_every_turn() {
    check(
        r#"
async function drain(stream) {
  for await (const { id, ...rest } of stream) {
    await store(id, rest);
  }
  for (const key in stream.keys) touch(key);
}
"#,
        expect![[r#"
            a.ts
            1     fn module() at start-up

            2     fn drain(stream), async
            3       loop over each item
            3         suspend
            3         item = stream[?] from stream
            3         id = item.id from item
            3         rest = new
            3         rest.2 = rest from rest, item
            4         store = call '::store'(id, rest.2)
            4         suspend
            6       keys = read shared stream.keys
            6       loop over each key
            6         key = derived from keys
            6         call '::touch'(key), not awaited
        "#]],
    );
}
