//! Who may run, and when.

use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

use interlock_sync::store::Quota;
use tokio::task::JoinSet;

use super::*;

/// Who works on something: -1 is a writer, a positive number that many readers.
#[derive(Default)]
struct Bench(AtomicI64, AtomicI64);

impl Bench {
    async fn work(self: Arc<Self>, is_shared: bool) -> Answer {
        let step = if is_shared { 1 } else { -1 };
        let before = self.0.fetch_add(step, Ordering::SeqCst);
        assert!(before == 0 || (is_shared && before > 0), "two are at it who exclude each other");
        self.1.fetch_max(before + step, Ordering::SeqCst);
        for _ in 0..3 {
            tokio::task::yield_now().await;
        }
        self.0.fetch_sub(step, Ordering::SeqCst);
        done("ok")
    }
}

fn readers_and_writers(tool: &str) -> ToolRules {
    match tool {
        "read" => ToolRules { lock_shared: keys(&["graph"]), ..rules() },
        _ => ToolRules { in_flight: places(7), ..locking(&["graph"]) },
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn calls_on_one_key_exclude_each_other_unless_they_share_it() {
    let (world, bench) = (World::new(readers_and_writers), Arc::new(Bench::default()));
    let mut calls = JoinSet::new();
    for index in 0..600 {
        let (world, bench) = (world.clone(), Arc::clone(&bench));
        calls.spawn(async move {
            let tool = if index % 4 == 0 { "write" } else { "read" };
            let carried = world.desk.carry(plain(tool), move |_| bench.work(tool == "read")).await;
            assert_eq!(said(&carried), "ok");
        });
    }
    while let Some(joined) = calls.join_next().await {
        joined.unwrap();
    }
    assert!(bench.1.load(Ordering::SeqCst) > 1, "readers were never together");
    world.assert_idle().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_replicas_exclude_each_other_too() {
    let one = World::new(readers_and_writers);
    let (worlds, bench) = ([one.clone(), one.twin(readers_and_writers)], Arc::new(Bench::default()));
    let mut calls = JoinSet::new();
    for index in 0..60 {
        let (world, bench) = (worlds[index % 2].clone(), Arc::clone(&bench));
        calls.spawn(async move {
            assert_eq!(said(&world.desk.carry(plain("write"), move |_| bench.work(false)).await), "ok");
        });
    }
    while let Some(joined) = calls.join_next().await {
        joined.unwrap();
    }
    for world in &worlds {
        world.assert_idle().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn several_keys_are_taken_together_and_nobody_waits_for_ever() {
    let world = World::new(|_| locking(&["{args.from}", "{args.to}"]));
    let benches: Arc<[Arc<Bench>; 3]> = Arc::default();
    let mut calls = JoinSet::new();
    for index in 0..300 {
        let (world, benches) = (world.clone(), Arc::clone(&benches));
        calls.spawn(async move {
            // Every fourth names one key twice.
            let (from, to) = (index % 3, (index + index % 4) % 3);
            let forward = move |_| async move {
                let other = Arc::clone(&benches[to]);
                let first = Arc::clone(&benches[from]).work(false);
                if from == to { first.await } else { tokio::join!(first, other.work(false)).0 }
            };
            let call = call("move", json!({ "from": from, "to": to }));
            assert_eq!(said(&world.desk.carry(call, forward).await), "ok");
        });
    }
    while let Some(joined) = calls.join_next().await {
        joined.unwrap();
    }
    world.assert_idle().await;
}

#[tokio::test(start_paused = true)]
async fn who_comes_first_is_served_first() {
    let world = World::new(|tool| match tool {
        "charged" => ToolRules { rate: ruled(Quota::bucket(1_000, SECOND).unwrap()), ..locking(&["k"]) },
        _ => locking(&["k"]),
    });
    let mut holder = world.start(plain("plain"));
    assert!(holder.is_running().await);
    let order = Arc::new(Mutex::new(Vec::new()));
    let mut calls = JoinSet::new();
    for index in 0..50 {
        let (world, order) = (world.clone(), Arc::clone(&order));
        let tool = if index % 3 == 0 { "charged" } else { "plain" };
        calls.spawn(async move {
            let forward = move |_| async move {
                order.lock().unwrap().push(index);
                done("ok")
            };
            world.desk.carry(plain(tool), forward).await
        });
        rest().await;
    }
    assert_eq!(world.desk.waiting(), 50);
    holder.end(done("ok")).await;
    while calls.join_next().await.is_some() {}
    assert_eq!(*order.lock().unwrap(), (0..50).collect::<Vec<_>>());
    world.assert_idle().await;
}

#[tokio::test(start_paused = true)]
async fn of_ten_thousand_that_wait_one_asks_and_nothing_is_left_of_them() {
    let world = World::new(|_| ToolRules { wait: SECOND * 3600, ..locking(&["k"]) });
    let mut holder = world.start(plain("t"));
    assert!(holder.is_running().await);
    let ran = Arc::new(AtomicUsize::new(0));
    let mut calls = JoinSet::new();
    for _ in 0..10_000 {
        let (world, ran) = (world.clone(), Arc::clone(&ran));
        calls.spawn(async move {
            let forward = move |_| async move {
                ran.fetch_add(1, Ordering::SeqCst);
                done("ok")
            };
            world.desk.carry(plain("t"), forward).await
        });
    }
    while world.desk.waiting() < 10_000 {
        rest().await;
    }
    let before = world.store.count(Op::Admit);
    tokio::time::sleep(SECOND * 10).await;
    let asked = world.store.count(Op::Admit) - before;
    assert!((20..1_000).contains(&asked), "{asked} questions in ten seconds of waiting");

    let before = world.store.count(Op::Admit);
    holder.end(done("ok")).await;
    while calls.join_next().await.is_some() {}
    let asked = world.store.count(Op::Admit) - before;
    assert_eq!(ran.load(Ordering::SeqCst), 10_000);
    assert!(asked < 35_000, "{asked} questions for ten thousand calls");
    world.assert_idle().await;
}

#[tokio::test(start_paused = true)]
async fn calls_on_other_keys_do_not_wait() {
    let world = World::new(|_| locking(&["{args.id}"]));
    let mut holder = world.start(call("t", json!({ "id": 1 })));
    assert!(holder.is_running().await);
    let mut waiter = world.start(call("t", json!({ "id": 1.0 })));
    assert!(!waiter.is_running().await);
    assert_eq!(world.ask(call("t", json!({ "id": 2 }))).await, "ok");
    holder.end(done("ok")).await;
    assert!(waiter.is_running().await);
    waiter.end(done("ok")).await;
    world.assert_idle().await;
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_a_place_of_its_own_keeps_nobody_from_a_lock() {
    let world = World::new(|_| ToolRules { in_flight: places(1), ..locking(&["{args.id}"]) });
    let mut first = world.start(by("alice", call("t", json!({ "id": 1 }))));
    assert!(first.is_running().await);
    let mut others: Vec<_> =
        (0..5).map(|_| world.start(by("alice", call("t", json!({ "id": 2 }))))).collect();
    assert!(!others[0].is_running().await);
    // Everybody had time to come to stand wherever it would.
    tokio::time::sleep(SECOND).await;
    assert_eq!(world.ask(by("bob", call("t", json!({ "id": 2 })))).await, "ok");
    first.end(done("ok")).await;
    for mut other in others.drain(..) {
        assert!(other.is_running().await);
        other.end(done("ok")).await;
    }
    world.assert_idle().await;
}

#[tokio::test(start_paused = true)]
async fn waiting_has_an_end_and_a_line_has_a_bound() {
    let world = World::new(|_| ToolRules { queue: 2, ..locking(&["graph"]) });
    let mut holder = world.start(plain("t"));
    assert!(holder.is_running().await);
    let mut waiters = [world.start(plain("t")), world.start(plain("t"))];
    assert!(!waiters[1].is_running().await);
    let refused = world.ask(plain("t")).await;
    assert!(refused.contains("too many calls wait for `graph`"), "{refused}");
    tokio::time::sleep(SECOND * 31).await;
    for waiter in waiters {
        let refused = waiter.carried.await.unwrap();
        assert!(refused.contains("other calls kept working on `graph`"), "{refused}");
    }
    holder.end(done("ok")).await;
    assert_eq!(world.ask(plain("t")).await, "ok");
    world.assert_idle().await;
}

#[tokio::test(start_paused = true)]
async fn too_many_at_once_wait_and_too_often_is_refused() {
    let quota = Quota::bucket(3, SECOND * 60).unwrap();
    let world = World::new(move |_| ToolRules { in_flight: places(2), rate: ruled(quota), ..rules() });
    let mut running = [world.start(plain("t")), world.start(plain("t"))];
    assert!(running[0].is_running().await && running[1].is_running().await);
    let mut third = world.start(plain("t"));
    assert!(!third.is_running().await);
    let refused = world.ask(plain("t")).await;
    assert!(refused.contains("called too often. Try again in 20 seconds"), "{refused}");
    // Limits are by caller.
    assert_eq!(world.ask(by("bob", plain("t"))).await, "ok");
    let [first, second] = running;
    first.end(done("ok")).await;
    // It was charged when it came, and not again.
    assert!(third.is_running().await);
    third.end(done("ok")).await;
    second.end(done("ok")).await;
    world.assert_idle().await;
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_given_up_anywhere_leaves_nothing_behind() {
    let mut ran_to_its_end = 0;
    for polls in 0..60 {
        let world = World::new(|_| ToolRules { in_flight: places(3), ..locking(&["a", "b"]) });
        let mut holder = world.start(plain("t"));
        assert!(holder.is_running().await);
        let ended = poll_at_most(world.ask(plain("t")), polls).await;
        assert!(ended.is_none(), "the key is held");
        rest().await;
        assert!(world.desk.lines.is_empty());
        holder.end(done("ok")).await;
        ran_to_its_end += usize::from(poll_at_most(world.ask(plain("t")), polls).await.is_some());
        rest().await;
        world.assert_idle().await;
        assert_eq!(world.ask(plain("t")).await, "ok");
    }
    assert!((1..60).contains(&ran_to_its_end), "{ran_to_its_end}");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_look_for_its_answer_keeps_nobody_from_anything() {
    let world = World::new(|_| locking(&["k"]));
    let mut holder = world.start(plain("t"));
    assert!(holder.is_running().await);
    // It comes to stand in line, and nobody ever looks at it again.
    let mut forgotten = Box::pin(world.ask(plain("t")));
    assert!(forgotten.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    rest().await;
    holder.end(done("ok")).await;
    assert_eq!(world.ask(plain("t")).await, "ok");
    assert_eq!(forgotten.await, "ok");
    world.assert_idle().await;
}

#[tokio::test(start_paused = true)]
async fn a_call_that_does_not_say_what_it_works_on_is_refused() {
    let world = World::new(|_| locking(&["order:{args.orderId}"]));
    let refused = world.ask(plain("pay")).await;
    assert!(refused.contains("the argument `orderId` is missing"), "{refused}");
    assert_eq!(world.notes.take(), ["pay refused: argument"]);
    let denied = World::new(|_| ToolRules { deny: ruled(()), ..rules() });
    let refused = denied.ask(plain("pay")).await;
    assert!(refused.contains("does not allow it"), "{refused}");
    world.assert_idle().await;
}

/// Two servers that work on one file were kept apart by nothing, although their policy named one key.
#[tokio::test(start_paused = true)]
async fn a_key_of_the_same_text_is_one_lock_for_all_servers() {
    let world = World::new(|_| locking(&["file:{args.path}"]));
    let of = |upstream: &str| ToolCall { upstream: upstream.into(), ..call("edit", json!({ "path": "a" })) };
    let mut first = world.start(of("one"));
    assert!(first.is_running().await);
    let mut second = world.start(of("other"));
    assert!(!second.is_running().await, "the file has a writer");
    assert_eq!(first.end(done("ok")).await, "ok");
    assert!(second.is_running().await);
    assert_eq!(second.end(done("ok")).await, "ok");
    world.assert_idle().await;
}

/// A caller with a thousand calls in line kept all others waiting until they had run.
#[tokio::test(start_paused = true)]
async fn a_caller_with_a_thousand_calls_in_line_holds_another_up_by_one() {
    let world = World::new(|_| ToolRules { wait: SECOND * 3600, ..locking(&["k"]) });
    let mut holder = world.start(by("greedy", plain("t")));
    assert!(holder.is_running().await);
    let order = Arc::new(Mutex::new(Vec::new()));
    let mut calls = JoinSet::new();
    let mut start = |caller: &'static str| {
        let (world, order) = (world.clone(), Arc::clone(&order));
        calls.spawn(async move {
            let forward = move |_| async move {
                order.lock().unwrap().push(caller);
                tokio::time::sleep(Duration::from_millis(1)).await;
                done("ok")
            };
            world.desk.carry(by(caller, plain("t")), forward).await
        });
    };
    (0..1_000).for_each(|_| start("greedy"));
    rest().await;
    (0..3).for_each(|_| start("modest"));
    rest().await;
    assert_eq!(world.desk.waiting(), 1_003);
    holder.end(done("ok")).await;
    while calls.join_next().await.is_some() {}
    let order = order.lock().unwrap().clone();
    let of_modest: Vec<usize> =
        order.iter().enumerate().filter(|(_, caller)| **caller == "modest").map(|(at, _)| at).collect();
    assert_eq!(of_modest, [1, 3, 5], "they take turns");
    world.assert_idle().await;
}

#[tokio::test(start_paused = true)]
async fn a_line_that_one_caller_has_filled_has_room_for_another() {
    let world = World::new(|_| ToolRules { queue: 2, ..locking(&["graph"]) });
    let mut holder = world.start(by("greedy", plain("t")));
    assert!(holder.is_running().await);
    let mut waiters = [world.start(by("greedy", plain("t"))), world.start(by("greedy", plain("t")))];
    assert!(!waiters[1].is_running().await);
    let refused = world.ask(by("greedy", plain("t"))).await;
    assert!(refused.contains("too many calls wait for `graph`"), "{refused}");
    let mut modest = world.start(by("modest", plain("t")));
    assert!(!modest.is_running().await);
    holder.end(done("ok")).await;
    let [mut first, second] = waiters;
    assert!(first.is_running().await, "it stands there since before");
    first.end(done("ok")).await;
    assert!(modest.is_running().await, "and not behind the second of the greedy one");
    modest.end(done("ok")).await;
    second.end(done("ok")).await;
    world.assert_idle().await;
}
