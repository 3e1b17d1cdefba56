//! Where the primitives of this crate get their mutexes, atomics and hashes from: one place, so that the model tests can compile the same files with
//! mutexes whose schedule they command (`tests/models/prim.rs`).

pub(crate) use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, atomic};

use foldhash::{SharedSeed, quality::SeedableRandomState};

/// How keys are hashed.
pub(crate) type Hashing = SeedableRandomState;

/// A hash that nobody outside can predict.
pub(crate) fn hashing() -> Hashing {
    let mut seed = [0; 8];
    // Without chance from the system there is still that of the shared seed.
    let _ = getrandom::fill(&mut seed);
    SeedableRandomState::with_seed(u64::from_le_bytes(seed), SharedSeed::global_random())
}

/// How many shards a map has unless told otherwise: a few for each core, so that two cores seldom want the same one.
pub(crate) fn default_shards() -> usize {
    std::thread::available_parallelism().map_or(4, usize::from).saturating_mul(4)
}
