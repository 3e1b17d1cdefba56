//! What has expired goes, by itself or when asked, and never too much at once.

use std::time::Duration;

use interlock_sync::store::{Change, Mutation, OpId, Store};

use super::{Scene, applies, key, put};

const HOUR: Duration = Duration::from_secs(60 * 60);

fn add(op: u128) -> Mutation {
    Mutation::new(OpId(op), Change::Add { key: key("a"), delta: 1, floor: None })
}

fn ops(scene: &Scene) -> u64 {
    scene.bare().query_row("SELECT count(*) FROM op", [], |row| row.get(0)).unwrap()
}

#[tokio::test]
async fn an_op_id_is_remembered_so_long_and_no_longer() {
    let mut scene = Scene::new();
    scene.options.remember_ops = HOUR;
    let store = scene.open();
    assert!(applies(&*store, &put("a", 0)).await);
    assert!(applies(&*store, &add(1)).await);
    scene.clock.advance(HOUR - Duration::from_micros(1));
    assert!(!applies(&*store, &add(1)).await, "it is given again");
    scene.clock.advance(Duration::from_micros(1));
    assert_eq!(store.applied(&OpId(1)).await.unwrap(), None, "forgotten before it is swept");
    assert!(applies(&*store, &add(1)).await);
    assert!(store.applied(&OpId(1)).await.unwrap().is_some());
}

#[tokio::test]
async fn a_sweep_removes_all_that_has_expired_however_much() {
    let mut scene = Scene::new();
    scene.options.remember_ops = HOUR;
    let store = scene.open();
    assert!(applies(&*store, &put("a", 0)).await);
    let many = store.writer.run(|tables| {
        for op in 1..2500 {
            tables.mutate(&add(op), HOUR)?;
        }
        Ok(())
    });
    many.await.unwrap();
    assert_eq!(store.sweep().await.unwrap(), 0);
    scene.clock.advance(HOUR);
    assert_eq!(store.sweep().await.unwrap(), 2500);
    assert_eq!(ops(&scene), 0);
    assert_eq!(store.sweep().await.unwrap(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_writer_sweeps_now_and_then_by_itself() {
    let mut scene = Scene::new();
    scene.options.remember_ops = HOUR;
    let store = scene.open();
    assert!(applies(&*store, &put("a", 0)).await);
    for op in 1..=300 {
        let add = add(op);
        store.mutate(&add).await.unwrap();
        scene.clock.advance(HOUR / 100);
    }
    let left = ops(&scene);
    assert!((100..300).contains(&left), "{left}");
}
