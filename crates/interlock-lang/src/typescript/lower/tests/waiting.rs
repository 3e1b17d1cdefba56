//! Locks that are waited for by asking, by queueing, or by a file.

use expect_test::expect;

use super::check_locks as check;

#[test]
fn waiting_in_a_loop_for_an_entry_to_go() {
    check(
        r#"
const locks = new Map<string, Promise<void>>();
async function update(id: string) {
  while (locks.has(id)) await locks.get(id);
  let release;
  locks.set(id, new Promise((r) => (release = r)));
  try {
    await work(id);
  } finally {
    locks.delete(id);
    release();
  }
}
"#,
        expect![[r#"
            a.ts
            1     fn module() at start-up
            2       locks = call 'new ::Map'(), not awaited

            3     fn update(id), async
            4       suspend
            4       acquire ::a.ts::locks for id
            5       release = new
            7       try
            8         work = call '::work'(id)
            8         suspend
                    finally
            10        release ::a.ts::locks for id

            6     fn update.closure(r) with release
            6       write blind shared release from r
            6       return r
            6     lock Global("a.ts::locks")[]: exclusive, outlives failure, removed by Last (line 10)
        "#]],
    );
}

#[test]
fn waiting_once_for_an_entry_to_go() {
    check(
        r#"
const locks = new Map<string, Promise<void>>();
async function update(id: string) {
  if (locks.has(id)) {
    await locks.get(id);
  }
  const job = work(id);
  locks.set(id, job);
  try {
    await job;
  } finally {
    locks.delete(id);
  }
}
"#,
        expect![[r#"
            a.ts
            1     fn module() at start-up
            2       locks = call 'new ::Map'(), not awaited

            3     fn update(id), async
            4       suspend
            4       acquire ::a.ts::locks for id
            7       job = call '::work'(id), not awaited
            9       try
            10        suspend
                    finally
            12        release ::a.ts::locks for id
            8     lock Global("a.ts::locks")[]: not exclusive, outlives failure, removed by Last (line 12)
        "#]],
    );
}

#[test]
fn a_flag_that_is_polled() {
    check(
        r#"
class Poll {
  busy = false;
  async go() {
    while (this.busy) await sleep(10);
    this.busy = true;
    try {
      await work();
    } finally {
      this.busy = false;
    }
  }
}
"#,
        expect![[r#"
            a.ts
            1     fn module() at start-up

            2     fn Poll.constructor()

            4     fn Poll.go(), async
            5       suspend
            5       acquire this.busy
            7       try
            8         work = call '::work'()
            8         suspend
                    finally
            10        release this.busy
            6     lock busy: exclusive, outlives failure, removed by Last (line 6)
        "#]],
    );
}

#[test]
fn a_flag_and_a_queue_of_those_who_wait() {
    check(
        r#"
class Mutex {
  private locked = false;
  private waiting: Array<() => void> = [];
  async acquire(): Promise<void> {
    if (!this.locked) {
      this.locked = true;
      return;
    }
    await new Promise<void>((resolve) => this.waiting.push(resolve));
  }
  release() {
    const next = this.waiting.shift();
    if (next) next();
    else this.locked = false;
  }
  async run(fn) {
    await this.acquire();
    try {
      return await fn();
    } finally {
      this.release();
    }
  }
}
"#,
        expect![[r#"
            a.ts
            1     fn module() at start-up

            2     fn Mutex.constructor()

            5     fn Mutex.acquire(), async
            5       suspend
            5       acquire this.waiting

            10    fn Mutex.acquire.closure(resolve)
            10      push = call 'this.waiting.push'(resolve)
            10      return push

            12    fn Mutex.release()
            12      release this.waiting

            17    fn Mutex.run(fn), async
            18      acquire = call 'this.acquire'()
            18      suspend
            19      try
            20        fn.2 = call fn()
            20        suspend
            20        return fn.2
                    finally
            22        call 'this.release'(), not awaited
            10    lock waiting: exclusive, outlives failure, removed by Last (line 10)
        "#]],
    );
}

#[test]
fn a_count_and_a_queue_of_those_who_wait() {
    check(
        r#"
const waiting = [];
let active = 0;
class Limit {
  active = 0;
  queue = [];
  async run(fn) {
    if (this.active >= this.max) await new Promise((r) => this.queue.push(r));
    this.active++;
    try {
      return await fn();
    } finally {
      this.active--;
      const next = this.queue.shift();
      if (next) next();
    }
  }
}
"#,
        expect![[r#"
            a.ts
            1     fn module() at start-up

            4     fn Limit.constructor()

            7     fn Limit.run(fn), async
            8       active = read shared this.active
            8       max = read shared this.max
            8       check active, max
                    then
            8         settled = new
            8         promise = call fn Limit.run.closure(settled)
            8         promise.2 = derived from promise, settled
            8         suspend
            9       suspend
            9       acquire permit of this.queue
            10      try
            11        fn.2 = call fn()
            11        suspend
            11        return fn.2
                    finally
            13        release permit of this.queue
            14        next = call 'this.queue.shift'(), not awaited
            15        check next
                      then
            15          call 'next'(), not awaited

            8     fn Limit.run.closure(r)
            8       push = call 'this.queue.push'(r)
            8       return push
            8     lock queue: exclusive, outlives failure, removed by Last (line 8)
        "#]],
    );
}

#[test]
fn a_lock_file_with_an_exclusive_flag() {
    check(
        r#"
import { open, unlink } from "node:fs/promises";
async function withFile(path: string, fn) {
  const lockPath = path + ".lock";
  const handle = await open(lockPath, "wx");
  try {
    await fn();
  } finally {
    await handle.close();
    await unlink(lockPath);
  }
}
"#,
        expect![[r#"
            a.ts
            1     fn module() at start-up

            3     fn withFile(path, fn), async
            4       lockPath = path + ".lock" from path
            5       handle = call '::open'(lockPath, "wx")
            5       acquire lockPath across processes
            5       suspend
            6       try
            7         fn.2 = call fn()
            7         suspend
                    finally
            9         close = call 'handle.close'()
            9         suspend
            10        release lockPath across processes
            10        unlink = call '::unlink'(lockPath)
            10        suspend
        "#]],
    );
}

#[test]
fn a_lock_folder_with_retries() {
    check(
        r#"
import fs from "node:fs/promises";
async function withDir(dir: string, fn) {
  for (let i = 0; i < 50; i++) {
    try {
      await fs.mkdir(dir);
      break;
    } catch (error) {
      await sleep(100);
    }
  }
  try {
    return await fn();
  } finally {
    await fs.rmdir(dir).catch(() => {});
  }
}
"#,
        expect![[r#"
            a.ts
            1     fn module() at start-up

            3     fn withDir(dir, fn), async
            4       i = "0"
            4       loop a limited number of times
            4         i.2 = derived from i, i.3
            4         check i.2
                      else
            4           break
            5         try
            6           mkdir = call '::fs.mkdir'(dir)
            6           acquire dir across processes
            6           suspend
            7           break
                      catch error
            9           sleep fixed
            9           suspend
            4         i.3 = derived from i.2
            4       i.4 = derived from i, i.3
            12      try
            13        fn.2 = call fn()
            13        suspend
            13        return fn.2
                    finally
            15        try
            15          release dir across processes
            15          rmdir = call '::fs.rmdir'(dir)
            15          suspend
                      catch error.2
            15          result = call fn withDir.closure(error.2)
            15        suspend

            15    fn withDir.closure()
        "#]],
    );
}

#[test]
fn what_only_looks_like_a_lock_stays_what_it_is() {
    check(
        r#"
class Cache {
  private loading: Promise<Data> | null = null;
  private list = [];
  async get() {
    if (!this.loading) this.loading = this.load();
    return this.loading;
  }
  async add(item) {
    this.list.push(item);
    this.dirty = true;
    await this.ready.then(() => this.save());
  }
}
"#,
        expect![[r#"
            a.ts
            1     fn module() at start-up

            2     fn Cache.constructor()

            5     fn Cache.get(), async
            6       loading = read shared this.loading
            6       check loading
                    else
            6         load = call 'this.load'(), not awaited
            6         write blind shared this.loading from load
            7       loading.2 = read shared this.loading
            7       return loading.2

            9     fn Cache.add(item), async
            10      call 'this.list.push'(item), not awaited
            11      write blind shared this.dirty
            12      ready = read shared this.ready
            12      suspend
            12      result = call fn Cache.add.closure(this.ready)
            12      suspend

            12    fn Cache.add.closure()
            12      save = call 'this.save'()
            12      return save
        "#]],
    );
}

#[test]
fn jobs_in_a_queue_run_one_after_another() {
    check(
        r#"
class Queue {
  private jobs: Array<() => Promise<void>> = [];
  private running = false;
  add<T>(task: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.jobs.push(async () => {
        try { resolve(await task()); } catch (error) { reject(error); }
      });
      void this.drain();
    });
  }
  private async drain() {
    if (this.running) return;
    this.running = true;
    while (this.jobs.length > 0) {
      const job = this.jobs.shift();
      await job();
    }
    this.running = false;
  }
}
"#,
        expect![[r#"
            a.ts
            1     fn module() at start-up

            2     fn Queue.constructor()

            5     fn Queue.add(task)
            6       settled = new
            6       promise = call fn Queue.add.closure with task(settled, ?)
            6       promise.2 = derived from promise, settled
            6       return promise.2

            6     fn Queue.add.closure(resolve, reject) with task
            7       suspend
            7       acquire this.jobs
            7       try
            7         result = call fn Queue.add.closure.closure with resolve, task, reject(?)
            7         suspend
                    finally
            7         release this.jobs
            10      call 'this.drain'(), not awaited

            7     fn Queue.add.closure.closure() with resolve, task, reject, async
            8       try
            8         task.2 = call task()
            8         suspend
            8         call resolve(task.2), not awaited
                    catch error
            8         call reject(error), not awaited

            13    fn Queue.drain(), async
            14      running = read shared this.running
            14      check running
                    then
            14        return
            15      write blind shared this.running
            16      loop without limit
            16        length = read shared this.jobs
            16        check length
                      else
            16          break
            17        job = call 'this.jobs.shift'(), not awaited
            18        job.2 = call 'job'()
            18        suspend
            20      write blind shared this.running
            7     lock jobs: exclusive, outlives failure, removed by Last (line 7)
        "#]],
    );
}
