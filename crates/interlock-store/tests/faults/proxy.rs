//! A network between the clients and a server that can be spoiled, on loopback. It counts what it spoils.

use std::{
    io::{Read, Write},
    net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use crate::tally::Tally;

/// What the network does with what comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weather {
    /// Everything passes.
    Fair,
    /// The next so many answers are lost, each with its connection.
    CutAnswers(u32),
    /// The next so many questions are lost, each with its connection.
    CutQuestions(u32),
    /// Answers are swallowed, and connections stay.
    SwallowAnswers,
    /// Answers take so long.
    Delay(Duration),
}

#[derive(Debug)]
struct State {
    weather: Weather,
    streams: Vec<TcpStream>,
    spoiled: Tally,
}

/// A proxy. It ends with the process, like all that it carries.
#[derive(Debug, Clone)]
pub(crate) struct Proxy {
    address: SocketAddr,
    target: SocketAddr,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    Asking,
    Answering,
}

impl Proxy {
    pub(crate) fn to(target: SocketAddr) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let state = State { weather: Weather::Fair, streams: vec![], spoiled: Tally::default() };
        let proxy = Self { address, target, state: Arc::new(Mutex::new(state)) };
        let accepting = proxy.clone();
        thread::spawn(move || listener.incoming().flatten().for_each(|client| accepting.accept(client)));
        proxy
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn set(&self, weather: Weather) {
        self.state.lock().unwrap().weather = weather;
    }

    /// Ends all connections.
    pub(crate) fn cut(&self) {
        let mut state = self.state.lock().unwrap();
        for stream in std::mem::take(&mut state.streams) {
            // Each connection has two ends, and most have ended before.
            if stream.peer_addr().is_ok() {
                let _ = stream.shutdown(Shutdown::Both);
            }
        }
        state.spoiled.count("times all connections cut");
    }

    /// What was spoiled since it was last asked.
    pub(crate) fn spoiled(&self) -> Tally {
        std::mem::take(&mut self.state.lock().unwrap().spoiled)
    }

    /// How many answers and connections were lost since the count was taken.
    pub(crate) fn spoiled_so_far(&self) -> u64 {
        self.state.lock().unwrap().spoiled.total()
    }

    fn accept(&self, client: TcpStream) {
        let Ok(server) = TcpStream::connect(self.target) else { return };
        let clone = |stream: &TcpStream| stream.try_clone().ok();
        let (Some(client_too), Some(server_too)) = (clone(&client), clone(&server)) else { return };
        let mut state = self.state.lock().unwrap();
        state.streams.retain(|stream| stream.peer_addr().is_ok());
        state.streams.extend([clone(&client), clone(&server)].into_iter().flatten());
        drop(state);
        for stream in [&client, &server] {
            // Only speed depends on it.
            let _ = stream.set_nodelay(true);
        }
        let (asking, answering) = (self.clone(), self.clone());
        thread::spawn(move || asking.carry(client, server, Direction::Asking));
        thread::spawn(move || answering.carry(server_too, client_too, Direction::Answering));
    }

    /// Carries bytes until either end is gone, or the weather cuts them off.
    fn carry(&self, mut from: TcpStream, mut to: TcpStream, direction: Direction) {
        let mut bytes = vec![0; 1 << 16];
        while let Ok(length @ 1..) = from.read(&mut bytes) {
            match self.fate_of_the_next(direction) {
                Fate::Passes => {}
                Fate::Late(pause) => thread::sleep(pause),
                Fate::Swallowed => continue,
                Fate::Cut => break,
            }
            if to.write_all(&bytes[..length]).is_err() {
                break;
            }
        }
        for end in [from, to] {
            // Gone already, or going now.
            let _ = end.shutdown(Shutdown::Both);
        }
    }

    fn fate_of_the_next(&self, direction: Direction) -> Fate {
        let mut state = self.state.lock().unwrap();
        let less =
            |left: u32, weather: fn(u32) -> Weather| if left > 1 { weather(left - 1) } else { Weather::Fair };
        match (state.weather, direction) {
            (Weather::CutAnswers(left), Direction::Answering) => {
                state.weather = less(left, Weather::CutAnswers);
                state.spoiled.count("answers lost with their connection");
                Fate::Cut
            }
            (Weather::CutQuestions(left), Direction::Asking) => {
                state.weather = less(left, Weather::CutQuestions);
                state.spoiled.count("questions lost with their connection");
                Fate::Cut
            }
            (Weather::SwallowAnswers, Direction::Answering) => {
                state.spoiled.count("answers swallowed");
                Fate::Swallowed
            }
            (Weather::Delay(pause), Direction::Answering) => {
                state.spoiled.count("answers delayed");
                Fate::Late(pause)
            }
            _ => Fate::Passes,
        }
    }
}

enum Fate {
    Passes,
    Late(Duration),
    Swallowed,
    Cut,
}
