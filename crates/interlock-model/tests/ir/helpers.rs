//! `load()` and `save()` in two helpers, with and without a mutex around both: the shape of most real cases.

use expect_test::expect;
use interlock_model::ir::{
    AccessPath, Argument, Callee, FunctionId, Hold, Lease, Lock, Op, Program, Resource, Term, WriteMode,
};

use crate::{ask, check, function, program};

#[derive(Clone, Copy, PartialEq)]
enum Mutex {
    None,
    AroundTheWrite,
    AroundBoth,
    MadeByTheCall,
}

fn graph(mutex: Mutex) -> Program {
    let file = || Resource::File(Term::Path(AccessPath::this().field("path")));
    let load = function(10, "Graph.load").body([], |b, []| {
        let raw = b.line(11).read("raw", file());
        b.suspend();
        let graph = b.line(12).derive("graph", [raw]);
        b.ret([graph]);
    });
    let save = function(15, "Graph.save").body(["graph"], |b, [graph]| {
        b.line(16).write(file(), [graph], WriteMode::Blind);
        b.suspend();
    });
    let (load_id, save_id) = (Callee::Function(FunctionId(0)), Callee::Function(FunctionId(1)));
    let add = function(20, "Graph.addEntity").handles("add_entity").body(["entity"], |b, [entity]| {
        let lock = if mutex == Mutex::MadeByTheCall {
            let made = b.line(21).make("lock");
            Lock::in_process(made.into())
        } else {
            Lock::in_process(AccessPath::this().field("lock"))
        };
        if matches!(mutex, Mutex::AroundBoth | Mutex::MadeByTheCall) {
            b.line(21).acquire(&lock, Hold::Exclusive);
        }
        let loaded = b.line(22).call("loaded", load_id.clone(), []);
        b.suspend();
        let changed = b.line(23).derive("changed", [loaded, entity]);
        if mutex == Mutex::AroundTheWrite {
            b.line(21).acquire(&lock, Hold::Exclusive);
        }
        b.line(24).call("saved", save_id.clone(), [changed.into()]);
        b.suspend();
        if mutex != Mutex::None {
            b.line(25).release(&lock);
        }
    });
    program([load, save, add])
}

#[test]
fn the_helpers_read_and_write_what_the_caller_passes_between_them() {
    check(
        &graph(Mutex::AroundBoth),
        expect![[r#"
            server.ts
            10    fn Graph.load()
            11      raw = read file this.path
            11      suspend
            12      graph = derived from raw
            12      return graph

            15    fn Graph.save(graph)
            16      write blind file this.path from graph
            16      suspend

            20    fn Graph.addEntity(entity) handles add_entity
            21      acquire this.lock
            22      loaded = call Graph.load()
            22      suspend
            23      changed = derived from loaded, entity
            24      saved = call Graph.save(changed)
            24      suspend
            25      release this.lock
        "#]],
    );
}

#[test]
fn only_a_lock_around_both_helpers_keeps_another_call_out() {
    let file = |resource: &Resource| matches!(resource, Resource::File(_));
    let open = |mutex| ask::another_call_fits_between(&graph(mutex), "Graph.addEntity", file);
    assert!(open(Mutex::None));
    assert!(open(Mutex::AroundTheWrite), "the read is outside");
    assert!(!open(Mutex::AroundBoth));
}

#[test]
fn a_lock_that_each_call_makes_for_itself_is_told_from_one_that_lives_on() {
    let made_here = |mutex| {
        let program = graph(mutex);
        let steps = ask::steps(&program, "Graph.addEntity");
        let made: Vec<_> = steps
            .iter()
            .filter_map(|step| match step.op {
                Op::New { into, .. } => Some(AccessPath::from(*into)),
                _ => None,
            })
            .collect();
        steps.iter().flat_map(|step| &step.held).any(|lock| made.contains(&lock.object))
    };
    assert!(made_here(Mutex::MadeByTheCall));
    assert!(!made_here(Mutex::AroundBoth));
}

#[test]
fn the_same_lock_is_the_same_however_it_is_held() {
    let lock = |key: &str| Lock::cross_process(AccessPath::global("locks")).keyed(key);
    let lease = Lease { renewed: true, fenced: false };
    assert!(lock("a").is_the_same_as(&lock("a").leased(lease).semaphore()));
    assert!(!lock("a").is_the_same_as(&lock("b")));
    assert!(!lock("a").is_the_same_as(&Lock::in_process(AccessPath::global("locks")).keyed("a")));
    assert!(
        !Lock::in_process(AccessPath::this())
            .keyed(Term::Unknown)
            .is_the_same_as(&Lock::in_process(AccessPath::this()).keyed(Term::Unknown))
    );
}

#[test]
fn a_callback_is_followed_into_the_function_that_holds_the_lock() {
    let with_lock = function(1, "withLock").body(["key", "run"], |b, [key, run]| {
        let lock = Lock::in_process(AccessPath::global("locks")).keyed(key);
        b.line(2).acquire(&lock, Hold::Exclusive);
        b.line(3).try_finally(
            |b| {
                let result = b.line(3).call("result", Callee::Value(run), []);
                b.suspend();
                b.ret([result]);
            },
            |b| b.line(5).release(&lock),
        );
    });
    let caller = function(8, "rename").handles("rename").body(["id", "name"], |b, [id, name]| {
        let closure = Argument::Closure { function: FunctionId(2), captures: vec![id.into(), name.into()] };
        b.line(9).call("done", Callee::Function(FunctionId(0)), [id.into(), closure]);
        b.suspend();
    });
    let mut closure = function(9, "rename.closure");
    let (id, name) = (closure.capture("id"), closure.capture("name"));
    let closure = closure.body([], |b, []| {
        let file = || Resource::File(Term::Join(vec!["notes/".into(), id.into()]));
        let note = b.line(10).read("note", file());
        b.suspend();
        b.line(11).write(file(), [note, name], WriteMode::Blind);
        b.suspend();
    });
    check(
        &program([with_lock, caller, closure]),
        expect![[r#"
            server.ts
            1     fn withLock(key, run)
            2       acquire ::locks for key
            3       try
            3         result = call run()
            3         suspend
            3         return result
                    finally
            5         release ::locks for key

            8     fn rename(id, name) handles rename
            9       done = call withLock(id, fn rename.closure with id, name)
            9       suspend

            9     fn rename.closure() with id, name
            10      note = read file "notes/" + id
            10      suspend
            11      write blind file "notes/" + id from note, name
            11      suspend
        "#]],
    );
}
