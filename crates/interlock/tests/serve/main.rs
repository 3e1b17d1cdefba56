//! `interlock serve` with real parts: repositories made with the ordinary `git`, workers that are killed, and a browser.
#![cfg(target_os = "linux")]
#![expect(clippy::indexing_slicing, reason = "a test that cannot go on fails")]

mod api;
mod archives;
mod browser;
mod kit;
mod ways_in;
mod workers;
