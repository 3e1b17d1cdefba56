//! Once: made by one at a time, kept from the first success on.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use shuttle::future::yield_now;

use crate::{
    harness::{Fate, all, chance, explore, impatient},
    once::Once,
};

#[test]
fn the_first_success_is_kept_and_nobody_makes_it_twice() {
    explore(6_000, || {
        let cell: Arc<Once<usize>> = Arc::default();
        let making = Arc::new(AtomicUsize::new(0));
        let made = Arc::new(AtomicUsize::new(0));
        all((0..3).map(|index| {
            let (cell, making, made) = (Arc::clone(&cell), Arc::clone(&making), Arc::clone(&made));
            async move {
                let fails = chance(3) == 0;
                let wish = cell.get_or_try_init(|| async {
                    let _making = Making::start(&making);
                    yield_now().await;
                    if fails {
                        return Err(());
                    }
                    assert_eq!(made.fetch_add(1, Ordering::SeqCst), 0, "made twice");
                    Ok(index)
                });
                let got = match chance(3) {
                    0 => impatient(wish, chance(3)).await,
                    _ => Fate::Ready(wish.await),
                };
                if let Fate::Ready(Ok(value)) = got {
                    assert_eq!(Some(value), cell.get());
                }
            }
        }));
        assert_eq!(cell.get().is_some(), made.load(Ordering::SeqCst) == 1);
    });
}

struct Making<'a>(&'a AtomicUsize);

impl<'a> Making<'a> {
    fn start(count: &'a AtomicUsize) -> Self {
        assert_eq!(count.fetch_add(1, Ordering::SeqCst), 0, "two make it at once");
        Self(count)
    }
}

impl Drop for Making<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}
