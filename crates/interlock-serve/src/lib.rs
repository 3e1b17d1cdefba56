//! `interlock serve`: audits for a team, as a page and an API, and workers that take them from a store.
//!
//! ```text
//! browser, script ──▶ web ──submit──▶ jobs (the store) ◀──claim, end── work ──▶ a process per audit ──▶ egress ──▶ the network
//! ```
//!
//! [`jobs`] keeps what was asked and what came of it, and sees to it that each audit ends once, whoever dies. [`work`] takes jobs and runs
//! `interlock audit` for each in a process of its own, which only reads what it fetched and never starts it. [`egress`] is the only way out
//! of that process: it says which hosts and addresses may be reached. [`target`] says what may be asked for at all, and [`web`] who may ask.
//!
//! Nothing here opens a store or reads the environment: the program hands over both.

pub mod egress;
pub mod jobs;
pub mod tally;
pub mod target;
pub mod web;
pub mod work;
