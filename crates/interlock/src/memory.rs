//! Where memory comes from, and how it goes back.

use std::{hint::black_box, time::Duration};

use mimalloc::MiMalloc;

/// A scan makes and drops small things by the million, on every thread.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// As large as makes the allocator fetch it by itself. Nobody writes to it, so it costs nothing.
const LARGE: usize = 16 << 20;

/// Lets a program that has fallen silent shrink, for as long as this is waited for.
///
/// The allocator looks for memory to give back to the system when a large piece is freed, once what is free has been so for a second. After
/// a crowd has gone nobody frees anything any more, and all that the crowd needed would be kept for good.
pub(crate) async fn give_back() {
    let mut often = tokio::time::interval(Duration::from_secs(1));
    often.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        often.tick().await;
        drop(black_box(Vec::<u8>::with_capacity(LARGE)));
    }
}
