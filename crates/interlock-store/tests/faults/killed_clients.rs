//! `kill -9` of a client between any two of its steps, and anywhere.

use std::{
    thread::sleep,
    time::{Duration, Instant},
};

use crate::{
    BACKENDS,
    client::PATIENCE,
    process::FAILPOINTS,
    proxy::Weather,
    served,
    stage::{Road, Stage},
};

#[test]
fn a_client_killed_between_any_two_steps_loses_nothing_and_doubles_nothing() {
    for &backend in BACKENDS {
        let mut stage = Stage::new(backend, Road::Straight);
        let witness = stage.client(None);
        for round in 0..2 {
            for (point, _) in FAILPOINTS {
                let time = 1 + round * 4;
                let client = stage.client(Some((*point, time)));
                stage.bury(client);
            }
        }
        stage.dismiss(witness);
        stage.judge("clients killed between steps");
    }
}

#[test]
fn a_client_killed_anywhere_loses_nothing_and_doubles_nothing() {
    for &backend in BACKENDS {
        let mut stage = Stage::new(backend, Road::Straight);
        for round in 0..8 {
            let clients = [stage.client(None), stage.client(None)];
            for (place, client) in clients.into_iter().enumerate() {
                stage.wait_for_notes(&client, 1 + round * 5 + place * 3);
                stage.kill(client);
            }
        }
        stage.judge("clients killed anywhere");
    }
}

/// The operation has surely arrived, and its answer surely not.
#[test]
fn a_client_killed_while_its_answers_are_held_back_leaves_a_doubt_that_can_be_resolved() {
    for backend in served() {
        let mut stage = Stage::new(backend, Road::Proxied);
        for round in 0..6 {
            let client = stage.client(None);
            stage.wait_for_notes(&client, 5 + round);
            stage.proxy().set(Weather::SwallowAnswers);
            let (start, before) = (Instant::now(), stage.proxy().spoiled_so_far());
            while stage.proxy().spoiled_so_far() == before {
                assert!(start.elapsed() < PATIENCE, "the client asks nothing");
                sleep(Duration::from_millis(1));
            }
            stage.kill(client);
            stage.proxy().set(Weather::Fair);
        }
        stage.judge("clients killed without their answer");
    }
}
