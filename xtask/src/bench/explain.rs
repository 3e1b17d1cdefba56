//! `interlock explain` beside `rustc --explain`: both start, print a page that is built in, and end. What is measured is the
//! start of the program, which every verb pays.

use std::{path::Path, process::Command};

use anyhow::{Context, Result};

use super::{
    program::release_program,
    sample::{Plan, interleave, milliseconds, wall_time},
    table::{Peer, Row, Table},
};
use crate::{
    root::Root,
    run::{Run, cargo},
};

const PLAN: Plan = Plan { warm_up: 5, rounds: 40 };

/// Builds ours, then measures both.
pub(super) fn run(root: &Root) -> Result<Table> {
    cargo(root, &["build", "--release", "--locked", "--package", "interlock"])?;
    let ours = release_program(root, "interlock")?;
    let rustc = rustc(root)?;
    let version = Run::new(root, &rustc).args(["--version"]).quiet().text()?;

    let medians = interleave(
        PLAN,
        || wall_time(Command::new(&ours).args(["explain", "lost-update"])),
        || wall_time(Command::new(&rustc).args(["--explain", "E0502"])),
    )?;
    let peer = Peer {
        name: "rustc --explain E0502".to_owned(),
        version: version.split_whitespace().nth(1).unwrap_or("of unknown version").to_owned(),
        value: milliseconds(medians.peer),
    };
    let what = format!("interlock explain lost-update, median of {}", PLAN.rounds);
    Ok(Table {
        rows: vec![Row { what, unit: "ms".to_owned(), ours: milliseconds(medians.ours), peer, aim: None }],
    })
}

/// The compiler itself. What stands on the path may be rustup's stand-in, which would be measured along with it.
fn rustc(root: &Root) -> Result<String> {
    let sysroot = Run::new(root, "rustc").args(["--print", "sysroot"]).quiet().text()?;
    let path = Path::new(sysroot.trim()).join("bin").join(format!("rustc{}", std::env::consts::EXE_SUFFIX));
    path.into_os_string().into_string().ok().context("the path of the compiler is no UTF-8")
}
