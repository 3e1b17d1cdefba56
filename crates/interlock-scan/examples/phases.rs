//! Where the time of a scan goes. `cargo run --release -p interlock-scan --example phases -- FOLDER [THREADS]` prints the milliseconds of
//! reading and lowering, of linking, and of inlining and rules together. `cargo xtask bench scan` runs it.

#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "it is a program of its own")]

use std::{
    sync::{Mutex, PoisonError},
    time::Instant,
};

use interlock_scan::{Phase, Progress, Request, scan};

struct Clock(Mutex<Vec<Instant>>);

impl Progress for Clock {
    fn reached(&self, phase: Phase) {
        if !matches!(phase, Phase::Read) {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(Instant::now());
        }
    }
}

fn main() {
    let mut arguments = std::env::args_os().skip(1);
    let paths = arguments.next().into_iter().map(Into::into).collect();
    let threads = arguments.next().and_then(|threads| threads.to_str()?.parse().ok());
    let clock = Clock(Mutex::default());
    let request = Request { paths, frontends: interlock_lang::ALL, threads, ..Request::default() };
    match scan(&request, &clock) {
        Ok(_) => {
            let mut times = clock.0.into_inner().unwrap_or_else(PoisonError::into_inner);
            times.push(Instant::now());
            let between = times.windows(2).filter_map(|pair| match pair {
                [one, other] => Some(other.duration_since(*one).as_millis().to_string()),
                _ => None,
            });
            println!("{}", between.collect::<Vec<_>>().join(" "));
        }
        Err(error) => println!("{error}"),
    }
}
