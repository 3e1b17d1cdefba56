//! Delays that an operating system could cause, on real programs: they change nothing until they are armed, and then a gap shows.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod kit;
mod python;
mod slow_files;
mod windows;
