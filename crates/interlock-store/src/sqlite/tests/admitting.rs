//! Calls are admitted as in memory, and leave nothing behind.

use std::{sync::Arc, time::Duration};

use interlock_sync::{memory::MemoryStore, store::Store};

use super::Scene;
use crate::twins;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

#[tokio::test]
async fn calls_are_admitted_as_in_memory_and_leave_nothing_behind() {
    let scene = Scene::new();
    let store = scene.open();
    let twin = MemoryStore::new(Arc::clone(&scene.clock) as _, DAY);
    twins::calls_are_admitted_alike(&*store, &twin, 3000, |step| scene.clock.advance(step)).await;
    scene.clock.advance(DAY * 3000);
    assert!(store.sweep().await.unwrap() > 10);
    for table in ["call", "hold", "wait", "version", "view", "rate", "attempt"] {
        let rows: u64 =
            scene.bare().query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap();
        assert_eq!(rows, 0, "{table}");
    }
}
