//! `kill -9` of the server, and the same server started again on what it had saved.

use std::{thread::sleep, time::Duration};

use crate::{
    dice::Dice,
    served,
    stage::{Road, Stage},
};

#[test]
fn a_server_killed_and_started_again_has_everything_it_acknowledged() {
    for backend in served() {
        let mut stage = Stage::new(backend, Road::Straight);
        let mut dice = Dice::new(1);
        let clients = [stage.client(None), stage.client(None)];
        for round in 1..=5 {
            clients.iter().for_each(|client| stage.wait_for_notes(client, round * 25));
            sleep(Duration::from_millis(dice.below(30)));
            stage.kill_server();
            sleep(Duration::from_millis(dice.below(200)));
            stage.restart_server();
        }
        clients.iter().for_each(|client| stage.wait_for_notes(client, 150));
        clients.into_iter().for_each(|client| stage.dismiss(client));
        stage.judge("servers killed and started again");
    }
}
