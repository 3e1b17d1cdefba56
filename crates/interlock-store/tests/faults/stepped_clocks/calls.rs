//! The same for admitted calls: what they hold, what their readers have seen, and what happens once.

use interlock_sync::store::{
    Admission, Admitted, Fence, Fingerprint, OnceKey, OpId, Places, Settlement, WaitsOn, Wish,
};

use super::{DAYS, HOUR, MINUTE, Scene};
use crate::key;

/// A call that asks for nothing.
fn bare() -> Admission {
    Admission { remember: DAYS, ..Admission::new(OpId::fresh(), MINUTE) }
}

/// A call that wants the door for itself, and one of two places.
fn opening() -> Admission {
    Admission {
        locks: vec![Wish { key: key("door"), is_shared: false }],
        places: vec![Places { key: key("hall"), limit: 2 }],
        ..bare()
    }
}

/// How such a call ends, having changed the thing or not.
fn ending(call: &Admission, fence: Fence, has_changed: bool) -> Settlement {
    Settlement {
        call: call.call,
        fence: Some(fence),
        places: call.places.iter().map(|places| places.key.clone()).collect(),
        locks: call.locks.iter().map(|wish| wish.key.clone()).collect(),
        once: None,
        reader: None,
        changes: if has_changed { vec![key("thing")] } else { vec![] },
        is_success: true,
        remember: DAYS,
    }
}

impl Scene {
    async fn let_in(&self, call: &Admission) -> Fence {
        match self.store.admit(call).await.unwrap() {
            Admitted::Granted { fence } => fence,
            refused => panic!("{refused:?}"),
        }
    }

    /// Who lost a lock by a clock that was ahead does not get it back by one that is behind, and fences rise.
    pub(super) async fn calls_held(&mut self) {
        let first = opening();
        let first_fence = self.let_in(&first).await;
        self.set(2 * HOUR);
        let late = ending(&first, first_fence, false);
        assert!(
            !self.store.prolong(&late, MINUTE).await.unwrap(),
            "its time is over by the clock that counts"
        );
        let second = opening();
        let second_fence = self.let_in(&second).await;
        assert!(second_fence > first_fence);
        for back in [0, -2 * HOUR, -30 * HOUR] {
            self.set(back);
            assert!(!self.store.prolong(&late, MINUTE).await.unwrap(), "the past does not bring a lock back");
            let third = self.store.admit(&opening()).await.unwrap();
            let is_kept =
                matches!(&third, Admitted::Waits { on: WaitsOn::Locks(keys), .. } if *keys == [key("door")]);
            assert!(is_kept, "two have the door: {third:?}");
        }
        self.set(2 * HOUR);
        assert!(self.store.prolong(&ending(&second, second_fence, false), MINUTE).await.unwrap());
        // What the first one still says takes nothing from the second.
        self.store.settle(&late).await.unwrap();
        assert!(matches!(self.store.admit(&opening()).await.unwrap(), Admitted::Waits { .. }));
        assert!(self.store.settle(&ending(&second, second_fence, false)).await.unwrap());
        let mut last = second_fence;
        for (granted, settled) in [(-30, -30), (2, 0), (3, -2), (0, -40), (-39, -41), (-1, -2), (-45, -46)] {
            self.set(granted * HOUR);
            let next = opening();
            let fence = self.let_in(&next).await;
            assert!(fence > last, "the fence went back from {last:?} to {fence:?}");
            self.set(settled * HOUR);
            assert!(self.store.settle(&ending(&next, fence, false)).await.unwrap());
            last = fence;
        }
        self.set(0);
    }

    /// A change is never taken for what a reader has seen before it, whatever the clock said at either.
    pub(super) async fn calls_seen(&mut self) {
        for (nth, (seen, changed, asked)) in
            [(0, 0, 0), (0, 2, 0), (2, 0, 0), (0, -2, 0), (-2, 0, -30), (3, -30, 1)].into_iter().enumerate()
        {
            let reader = Some(key(format!("reader-{nth}")));
            self.set(seen * HOUR);
            let reads = Admission { reader: reader.clone(), observes: vec![key("thing")], ..bare() };
            self.let_in(&reads).await;
            let acts = || Admission { reader: reader.clone(), requires_fresh: vec![key("thing")], ..bare() };
            self.let_in(&acts()).await;
            self.set(changed * HOUR);
            let changes = bare();
            let fence = self.let_in(&changes).await;
            self.store.settle(&ending(&changes, fence, true)).await.unwrap();
            self.set(asked * HOUR);
            let answer = self.store.admit(&acts()).await.unwrap();
            assert_eq!(answer, Admitted::Stale { keys: vec![(key("thing"), true)] });
        }
        self.set(0);
    }

    /// What was let in once is not let in again while nobody knows how it ended.
    pub(super) async fn calls_once(&mut self) {
        let pays = || {
            let once = OnceKey { key: key("payment"), fingerprint: Fingerprint([7; 32]), keep: DAYS };
            Admission { once: Some(once), ..bare() }
        };
        self.let_in(&pays()).await;
        for seconds in [2 * HOUR, -2 * HOUR, 30 * HOUR, -30 * HOUR, 0] {
            self.set(seconds);
            match self.store.admit(&pays()).await.unwrap() {
                Admitted::Waits { on: WaitsOn::Same(_), .. } | Admitted::InDoubt => {}
                other => panic!("what was let in is let in again: {other:?}"),
            }
        }
        self.set(0);
    }
}
