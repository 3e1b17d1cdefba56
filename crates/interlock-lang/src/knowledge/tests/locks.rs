//! Locks, limiters, and what starts and ends.

use expect_test::expect;

use super::{
    knowledge,
    script::{check, closure, list, number, object, template, text},
};
use crate::Kind;

#[test]
fn one_at_a_time_is_a_mutex_and_more_is_a_semaphore() {
    check(
        |s, _| {
            for (library, arguments) in [
                ("p-limit", vec![number(1)]),
                ("p-limit", vec![number(5)]),
                ("p-queue", vec![object([("concurrency", number(1))])]),
                ("p-queue", vec![]),
                ("bottleneck", vec![object([("maxConcurrent", number(1))])]),
            ] {
                let lock = s.plain(library, "", arguments);
                let run = match library {
                    "p-queue" => "add",
                    "bottleneck" => "schedule",
                    _ => "",
                };
                s.method(&lock, run, [closure()]);
            }
        },
        expect![[r#"
            1       made = new mutex
            2       acquire made
            2       try
            2         called = call fn closure()
                    finally
            2         release made
            3       made.2 = new semaphore
            4       acquire permit of made.2
            4       try
            4         called.2 = call fn closure()
                    finally
            4         release permit of made.2
            5       made.3 = new mutex
            6       acquire made.3
            6       try
            6         add = call fn closure()
                    finally
            6         release made.3
            7       made.4 = new semaphore
            8       acquire permit of made.4
            8       try
            8         add.2 = call fn closure()
                    finally
            8         release permit of made.4
            9       made.5 = new mutex
            10      acquire made.5
            10      try
            10        schedule = call fn closure()
                    finally
            10        release made.5
        "#]],
    );
}

#[test]
fn locks_are_taken_and_given_back_in_each_library_s_words() {
    check(
        |s, [id, ..]| {
            let lock = s.create("async-lock", "", []);
            s.method(&lock, "acquire", [id.clone(), closure()]);
            let lock = s.create("semaphore-async-await", "Lock", []);
            s.method(&lock, "acquire", []);
            s.method(&lock, "release", []);
            let lock = s.create("await-lock", "", []);
            s.method(&lock, "acquireAsync", []);
            s.method(&lock, "tryAcquire", []);
            s.method(&lock, "release", []);
            let lock = s.create("await-semaphore", "Semaphore", [number(2)]);
            let release = s.method(&lock, "acquire", []);
            s.method(&release, "", []);
            let lock = s.plain("mutexify/promise", "", []);
            let release = s.method(&lock, "", []);
            s.method(&release, "", []);
            let lock = s.create("async-sema", "Sema", [number(1)]);
            s.method(&lock, "acquire", []);
            s.method(&lock, "release", []);
            let lock = s.create("p-mutex", "", []);
            s.method(&lock, "withLock", [closure()]);
            s.export("", "navigator.locks.request", [id, closure()]);
        },
        expect![[r#"
            1       made = new mutex
            2       acquire made for id
            2       try
            2         acquire = call fn closure()
                    finally
            2         release made for id
            3       Lock = new mutex
            4       acquire Lock
            4       acquire.2 = derived from Lock
            5       release Lock
            5       release = derived from Lock
            6       made.2 = new mutex
            7       acquire made.2
            7       acquireAsync = derived from made.2
            8       tryAcquire = acquire made.2
            9       release made.2
            9       release.2 = derived from made.2
            10      Semaphore = new semaphore
            11      acquire permit of Semaphore
            11      acquire.3 = derived from Semaphore
            12      release permit of Semaphore
            12      called = derived from acquire.3
            13      made.3 = new mutex
            14      acquire made.3
            14      called.2 = derived from made.3
            15      release made.3
            15      called.3 = derived from called.2
            16      Sema = new mutex
            17      acquire Sema
            17      acquire.4 = derived from Sema
            18      release Sema
            18      release.3 = derived from Sema
            19      made.4 = new mutex
            20      acquire made.4
            20      try
            20        withLock = call fn closure()
                    finally
            20        release made.4
            21      acquire ::navigator.locks for id
            21      try
            21        request = call fn closure()
                    finally
            21        release ::navigator.locks for id
        "#]],
    );
}

#[test]
fn a_lock_in_redis_is_a_lease() {
    check(
        |s, [id, ..]| {
            let redlock = s.create("redlock", "", [list([])]);
            let key = || list([template([text("order:"), id.clone()])]);
            let lock = s.method(&redlock, "acquire", [key(), number(10_000)]);
            s.method(&lock, "release", []);
            let lock = s.method(&redlock, "acquire", [key(), number(10_000)]);
            s.method(&redlock, "release", [lock.arg()]);
            s.method(&redlock, "using", [key(), number(10_000), closure()]);
            let mutex = s.create("redis-semaphore", "Mutex", [text("client"), id.clone()]);
            s.method(&mutex, "acquire", []);
            s.method(&mutex, "release", []);
        },
        expect![[r#"
            1       made = new mutex
            2       acquire made for "order:" + id across processes as lease
            2       acquire = derived from made, id
            3       release made for "order:" + id across processes as lease
            3       release = derived from acquire
            4       acquire made for "order:" + id across processes as lease
            4       acquire.2 = derived from made, id
            5       release made for "order:" + id across processes as lease
            5       release.2 = derived from made, acquire.2
            6       acquire made for "order:" + id across processes as renewed lease
            6       try
            6         using = call fn closure()
                    finally
            6         release made for "order:" + id across processes as renewed lease
            7       Mutex = new mutex
            8       acquire Mutex for id across processes as renewed lease
            8       acquire.3 = derived from Mutex
            9       release Mutex for id across processes as renewed lease
            9       release.3 = derived from Mutex
        "#]],
    );
}

#[test]
fn limiters_are_told_from_other_middleware() {
    let knowledge = knowledge();
    for (library, export) in [
        ("express-rate-limit", ""),
        ("express-rate-limit", "rateLimit"),
        ("rate-limiter-flexible", "RateLimiterRedis"),
        ("@upstash/ratelimit", "Ratelimit"),
        ("bottleneck", ""),
    ] {
        let kind = knowledge.kind(library, export);
        assert!(kind.is_some_and(|kind| knowledge.is_limiter(&kind)), "{library}");
    }
    assert!(knowledge.is_limiter(&Kind::named("bottleneck.Limiter")));
    assert!(!knowledge.is_limiter(&Kind::named("pg.Pool")));
}

#[test]
fn connections_browsers_and_servers_open_and_close() {
    check(
        |s, _| {
            let browser = s.export("playwright", "chromium.launch", []);
            let page = s.method(&browser, "newPage", []);
            s.method(&page, "goto", [text("https://a.example")]);
            s.method(&browser, "close", []);
            let browser = s.export("puppeteer", "launch", []);
            s.method(&browser, "close", []);
            let server = s.plain("http", "createServer", [closure()]);
            s.method(&server, "listen", [number(80)]);
            s.method(&server, "close", []);
            let mongo = s.export("mongodb", "MongoClient.connect", [text("mongodb://a")]);
            s.method(&mongo, "close", []);
            let child = s.export("child_process", "spawn", [text("ls")]);
            s.method(&child, "stdin.write", [text("x"), closure()]);
            s.method(&child, "kill", []);
            s.export("child_process", "execSync", [text("ls")]);
            s.export("timers/promises", "setTimeout", [number(100)]);
            s.export("", "process.stdout.write", [text("x")]);
            let client = s.create("@modelcontextprotocol/sdk/client/index.js", "Client", []);
            s.method(&client, "connect", []);
            s.method(&client, "callTool", []);
            s.method(&client, "close", []);
        },
        expect![[r#"
            1       launch = new
            1       open launch
            2       newPage = derived from launch
            3       goto = ask "https://a.example" over newPage
            4       close launch
            4       close = derived from launch
            5       launch.2 = new
            5       open launch.2
            6       close launch.2
            6       close.2 = derived from launch.2
            7       createServer = derived
            8       open createServer
            8       listen = derived from createServer
            9       close createServer
            9       close.3 = derived from createServer
            10      connect = new
            10      open connect
            11      close connect
            11      close.4 = derived from connect
            12      spawn = ask "ls"
            13      result = write append stream spawn.stdin
            13      error = derived from result
            13      suspend
            13      call fn closure(error, result)
            14      close spawn
            14      kill = derived from spawn
            15      execSync = ask "ls"
            16      sleep fixed
            16      setTimeout = derived
            17      write.2 = write append stream ::process.stdout
            18      Client = new
            19      open Client
            19      connect.2 = derived from Client
            20      callTool = send to Client over Client
            21      close Client
            21      close.5 = derived from Client
        "#]],
    );
}
