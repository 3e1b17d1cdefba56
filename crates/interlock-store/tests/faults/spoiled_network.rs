//! Answers that are lost or late, questions that do not arrive, connections that break.

use std::{thread::sleep, time::Duration};

use crate::{
    dice::Dice,
    proxy::{Proxy, Weather},
    served,
    stage::{Road, Stage},
};

/// Some bad weather, and fair again.
pub(crate) fn spoil(proxy: &Proxy, dice: &mut Dice) {
    let some = |dice: &mut Dice| u32::try_from(1 + dice.below(4)).unwrap();
    let weather = match dice.below(5) {
        0 => Weather::CutAnswers(some(dice)),
        1 => Weather::CutQuestions(some(dice)),
        2 => Weather::Delay(Duration::from_millis(20 + dice.below(80))),
        3 => Weather::SwallowAnswers,
        _ => return proxy.cut(),
    };
    proxy.set(weather);
    sleep(Duration::from_millis(50 + dice.below(150)));
    proxy.set(Weather::Fair);
    if weather == Weather::SwallowAnswers {
        // Otherwise each client waits for its time to be up before it asks again.
        proxy.cut();
    }
}

#[test]
fn a_network_that_loses_answers_loses_no_operation_and_doubles_none() {
    for backend in served() {
        let mut stage = Stage::new(backend, Road::Proxied);
        let mut dice = Dice::new(2);
        let clients = [stage.client(None), stage.client(None)];
        for round in 1..=30 {
            spoil(stage.proxy(), &mut dice);
            clients.iter().for_each(|client| stage.wait_for_notes(client, round * 4));
        }
        clients.into_iter().for_each(|client| stage.dismiss(client));
        stage.judge("a spoiled network");
    }
}
