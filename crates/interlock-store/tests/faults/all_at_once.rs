//! Every fault, in any order, at the same time. A few seconds per backend here; `cargo xtask soak` sets the variables for longer.

use std::{
    env,
    thread::sleep,
    time::{Duration, Instant},
};

use crate::{
    BACKENDS, Backend,
    dice::Dice,
    process::{FAILPOINTS, Worker},
    spoiled_network::spoil,
    stage::{Road, Stage},
    tally::{Tally, say},
};

/// How long in all, in seconds.
const SECONDS: &str = "INTERLOCK_SOAK_SECONDS";
/// On which backends, by name, with commas between.
const ON: &str = "INTERLOCK_SOAK_BACKENDS";
/// Which chances to take.
const SEED: &str = "INTERLOCK_SOAK_SEED";

/// After that long everything is judged, and begun anew.
const EPOCH: Duration = Duration::from_secs(12);

#[expect(clippy::disallowed_methods, reason = "`cargo xtask soak` tells the long run apart in this way")]
fn told(name: &str) -> Option<String> {
    env::var(name).ok()
}

#[test]
fn all_faults_at_once_lose_nothing_and_double_nothing() {
    let asked = told(ON);
    let names: Vec<&str> = asked.iter().flat_map(|names| names.split(',')).collect();
    for name in &names {
        assert!(BACKENDS.iter().any(|backend| backend.name() == *name), "there is no backend `{name}`");
    }
    let backends: Vec<Backend> = BACKENDS
        .iter()
        .copied()
        .filter(|backend| names.is_empty() || names.contains(&backend.name()))
        .collect();
    let count = u32::try_from(backends.len()).unwrap();
    let each = match told(SECONDS) {
        Some(seconds) => Duration::from_secs(seconds.parse().unwrap()) / count,
        None => Duration::from_secs(4),
    };
    let seed = told(SEED).map_or(3, |seed| seed.parse().unwrap());
    let (mut faults, mut held) = (Tally::default(), Tally::default());
    for backend in backends {
        let stage = storm(backend, each, seed);
        faults.merge(&stage.faults);
        held.merge(&stage.held);
    }
    say(&format!("all at once, seed {seed}: {} faults injected ({faults}); held: {held}", faults.total()));
}

fn storm(backend: Backend, time: Duration, seed: u64) -> Stage {
    let mut stage = Stage::new(backend, Road::Proxied);
    let mut dice = Dice::new(seed);
    let start = Instant::now();
    loop {
        let mut clients: Vec<Worker> = (0..3).map(|_| stage.client(None)).collect();
        let end = EPOCH.min(time.saturating_sub(start.elapsed()));
        let epoch = Instant::now();
        while epoch.elapsed() < end {
            sleep(Duration::from_millis(dice.below(150)));
            let place = usize::try_from(dice.below(3)).unwrap();
            strike(backend, &mut stage, &mut clients[place], &mut dice);
        }
        for client in clients {
            match client.orders.failpoint {
                // It may not have come by again.
                Some(_) => stage.kill(client),
                None => stage.dismiss(client),
            }
        }
        stage.judge_epoch();
        let (faults, seconds) = (stage.faults.total(), start.elapsed().as_secs());
        say(&format!("{}: {seconds} s, {faults} faults so far, everything held", backend.name()));
        if start.elapsed() >= time {
            return stage;
        }
        stage.begin_anew();
    }
}

/// One fault.
fn strike(backend: Backend, stage: &mut Stage, client: &mut Worker, dice: &mut Dice) {
    match dice.below(if backend.is_served() { 10 } else { 6 }) {
        0..2 => {
            let successor = stage.client(None);
            stage.kill(std::mem::replace(client, successor));
        }
        2..4 => {
            let (point, _) = FAILPOINTS[usize::try_from(dice.below(FAILPOINTS.len() as u64)).unwrap()];
            let successor = stage.client(Some((point, 1 + dice.below(20))));
            stage.kill(std::mem::replace(client, successor));
        }
        4..6 => {
            client.stop();
            sleep(Duration::from_millis(dice.below(1_500)));
            client.go_on();
            stage.faults.count("clients stopped for a while");
        }
        6 => {
            stage.kill_server();
            sleep(Duration::from_millis(dice.below(300)));
            stage.restart_server();
        }
        _ => spoil(stage.proxy(), dice),
    }
}
