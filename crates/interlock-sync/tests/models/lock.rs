//! The library's keyed lock, file by file.

#[path = "../../src/lock/acquire.rs"]
mod acquire;
#[path = "../../src/lock/entry.rs"]
mod entry;
#[path = "../../src/lock/guard.rs"]
mod guard;
#[path = "../../src/lock/keyed.rs"]
mod keyed;
#[path = "../../src/lock/many.rs"]
mod many;
#[path = "../../src/lock/queue.rs"]
mod queue;
#[path = "../../src/lock/table.rs"]
mod table;

pub(crate) use self::{entry::Mode, guard::Guard, keyed::KeyedLock};
