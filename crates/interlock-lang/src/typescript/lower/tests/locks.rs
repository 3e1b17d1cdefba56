//! Locks that programs build themselves.

use expect_test::expect;

use super::check_locks as check;

#[test]
fn a_field_that_holds_the_tail_and_a_gate() {
    check(
        r#"
class Mutex {
  private tail: Promise<void> = Promise.resolve();
  async run<T>(fn: () => Promise<T>): Promise<T> {
    const prev = this.tail;
    let release!: () => void;
    this.tail = new Promise<void>((r) => { release = r; });
    await prev;
    try {
      return await fn();
    } finally {
      release();
    }
  }
}
"#,
        expect![[r#"
            a.ts
            1     fn module() at start-up

            2     fn Mutex.constructor()

            4     fn Mutex.run(fn), async
            6       release = new
            8       suspend
            8       acquire this.tail
            9       try
            10        fn.2 = call fn()
            10        suspend
            10        return fn.2
                    finally
            12        release this.tail

            7     fn Mutex.run.closure(r) with release
            7       write blind shared release from r
            7     lock tail: exclusive, outlives failure, removed by Last (line 7)
        "#]],
    );
}

#[test]
fn a_lock_that_hands_out_its_release() {
    check(
        r#"
class Lock {
  #tail = Promise.resolve();
  async acquire() {
    let release;
    const next = new Promise((resolve) => (release = resolve));
    const previous = this.#tail;
    this.#tail = previous.then(() => next);
    await previous;
    return release;
  }
}
class Other {
  tail = Promise.resolve();
  async acquire() {
    const { promise, resolve } = Promise.withResolvers();
    const before = this.tail;
    this.tail = promise;
    await before;
    return () => { resolve(); };
  }
}
"#,
        expect![[r#"
            a.ts
            1     fn module() at start-up

            2     fn Lock.constructor()

            4     fn Lock.acquire(), async
            5       release = new
            9       suspend
            9       acquire this.#tail
            10      function = fn Lock.acquire.release
            10      return function

            6     fn Lock.acquire.closure(resolve) with release
            6       write blind shared release from resolve
            6       return resolve

            8     fn Lock.acquire.closure() with next
            8       return next

            13    fn Other.constructor()

            15    fn Other.acquire(), async
            19      suspend
            19      acquire this.tail
            20      function = fn Other.acquire.closure with resolve
            20      return function

            20    fn Other.acquire.closure() with resolve
            20      release this.tail

            9     fn Lock.acquire.release()
            9       release this.#tail
            8     lock #tail: exclusive, outlives failure, removed by Last (line 8)
            18    lock tail: exclusive, outlives failure, removed by Last (line 18)
        "#]],
    );
}

#[test]
fn a_chain_in_a_variable_that_outlives_failures() {
    check(
        r#"
let queue: Promise<unknown> = Promise.resolve();
function enqueue<T>(job: () => Promise<T>): Promise<T> {
  const run = queue.then(() => job());
  queue = run.catch(() => {});
  return run;
}
function both(job) {
  const run = queue.then(job, job);
  queue = run;
  return run;
}
"#,
        expect![[r#"
            a.ts
            1     fn module() at start-up

            3     fn enqueue(job)
            4       suspend
            4       acquire ::a.ts::queue
            4       try
            4         result = call fn enqueue.closure with job(?)
            4         suspend
                    finally
            4         release ::a.ts::queue
            4       run = result from result
            6       return run

            8     fn both(job)
            9       suspend
            9       acquire ::a.ts::queue
            9       try
            9         job.2 = call job(?)
            9         suspend
                    finally
            9         release ::a.ts::queue
            9       run = job.2 from job.2
            11      return run

            4     fn enqueue.closure() with job
            4       job.2 = call job()
            4       return job.2

            5     fn enqueue.closure()
            5     lock Global("a.ts::queue"): exclusive, outlives failure, removed by Last (line 5)
            10    lock Global("a.ts::queue"): exclusive, outlives failure, removed by Last (line 10)
        "#]],
    );
}

#[test]
fn a_chain_that_a_failure_poisons() {
    check(
        r#"
class Writer {
  chain = Promise.resolve();
  save(data: string) {
    this.chain = this.chain.then(async () => {
      await write(this.path, data);
    });
    return this.chain;
  }
}
"#,
        expect![[r#"
            a.ts
            1     fn module() at start-up

            2     fn Writer.constructor()

            4     fn Writer.save(data)
            5       suspend
            5       acquire this.chain
            5       try
            5         result = call fn Writer.save.closure with data(?)
            5         suspend
                    finally
            5         release this.chain
            8       chain = read shared this.chain
            8       return chain

            5     fn Writer.save.closure() with data, async
            6       path = read shared this.path
            6       write = call '::write'(this.path, data)
            6       suspend
            5     lock chain: exclusive, not outlives failure, removed by Last (line 5)
        "#]],
    );
}

#[test]
fn a_map_of_chains_whose_clean_up_compares_what_was_never_stored() {
    check(
        r#"
const tails = new Map<string, Promise<unknown>>();
async function withLock<T>(key: string, work: () => Promise<T>): Promise<T> {
  const result = (tails.get(key) ?? Promise.resolve()).then(work);
  tails.set(key, result.catch(() => undefined));
  try {
    return await result;
  } finally {
    if (tails.get(key) === result) tails.delete(key);
  }
}
"#,
        expect![[r#"
            a.ts
            1     fn module() at start-up
            2       tails = call 'new ::Map'(), not awaited

            3     fn withLock(key, work), async
            4       suspend
            4       acquire ::a.ts::tails for key
            4       try
            4         work.2 = call work(?)
            4         suspend
                    finally
            4         release ::a.ts::tails for key
            4       result = work.2 from work.2
            6       try
            7         suspend
            7         return result

            5     fn withLock.closure()
            5       return
            5     lock Global("a.ts::tails")[]: exclusive, outlives failure, removed by Nobody (line 9)
        "#]],
    );
}

#[test]
fn a_map_of_chains_that_the_last_one_cleans_up() {
    check(
        r#"
const tails = new Map<string, Promise<unknown>>();
async function withLock<T>(key: string, work: () => Promise<T>): Promise<T> {
  const result = (tails.get(key) ?? Promise.resolve()).then(work);
  const tail = result.catch(() => undefined);
  tails.set(key, tail);
  try {
    return await result;
  } finally {
    if (tails.get(key) === tail) tails.delete(key);
  }
}
"#,
        expect![[r#"
            a.ts
            1     fn module() at start-up
            2       tails = call 'new ::Map'(), not awaited

            3     fn withLock(key, work), async
            4       suspend
            4       acquire ::a.ts::tails for key
            4       try
            4         work.2 = call work(?)
            4         suspend
                    finally
            4         release ::a.ts::tails for key
            4       result = work.2 from work.2
            7       try
            8         suspend
            8         return result

            5     fn withLock.closure()
            5       return
            6     lock Global("a.ts::tails")[]: exclusive, outlives failure, removed by Last (line 10)
        "#]],
    );
}

#[test]
fn a_map_of_gates_that_nobody_cleans_up() {
    check(
        r#"
class Keyed {
  private locks = new Map<string, Promise<void>>();
  async withLock(key: string, fn) {
    const prev = this.locks.get(key) || Promise.resolve();
    let release;
    const gate = new Promise<void>((r) => (release = r));
    this.locks.set(key, prev.then(() => gate));
    await prev;
    try {
      return await fn();
    } finally {
      release();
    }
  }
}
"#,
        expect![[r#"
            a.ts
            1     fn module() at start-up

            2     fn Keyed.constructor()
            3       Map = call 'new ::Map'(), not awaited
            3       write blind shared this.locks from Map

            4     fn Keyed.withLock(key, fn), async
            6       release = new
            9       suspend
            9       acquire this.locks for key
            10      try
            11        fn.2 = call fn()
            11        suspend
            11        return fn.2
                    finally
            13        release this.locks for key

            7     fn Keyed.withLock.closure(r) with release, key
            7       write blind shared release from r
            7       return r

            8     fn Keyed.withLock.closure() with gate
            8       return gate
            8     lock locks[]: exclusive, outlives failure, removed by Nobody (line 8)
        "#]],
    );
}

#[test]
fn a_map_of_gates_that_everybody_cleans_up() {
    check(
        r#"
const locks: Record<string, Promise<void>> = {};
const map = new Map();
async function withLock(id, fn) {
  const prev = map.get(id);
  let done;
  map.set(id, new Promise((r) => { done = r; }));
  await prev;
  try {
    return await fn();
  } finally {
    done();
    map.delete(id);
  }
}
"#,
        expect![[r#"
            a.ts
            1     fn module() at start-up
            3       map = call 'new ::Map'(), not awaited

            4     fn withLock(id, fn), async
            6       done = new
            8       suspend
            8       acquire ::a.ts::map for id
            9       try
            10        fn.2 = call fn()
            10        suspend
            10        return fn.2
                    finally
            12        release ::a.ts::map for id

            7     fn withLock.closure(r) with done, id
            7       write blind shared done from r
            7     lock Global("a.ts::map")[]: exclusive, outlives failure, removed by Anybody (line 13)
        "#]],
    );
}
