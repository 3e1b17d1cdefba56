//! A network between the store and the server that a test can spoil, and that counts what is asked.

use std::{
    io::{Read, Write},
    net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

/// What the network does with what comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weather {
    /// Everything passes.
    Fair,
    /// The next answer is lost and its connection with it; then fair again.
    CutNextAnswer,
    /// The next question is lost and its connection with it; then fair again.
    CutNextQuestion,
    /// Answers are swallowed, and connections stay.
    SwallowAnswers,
    /// No connection comes about.
    Closed,
}

#[derive(Debug)]
struct State {
    weather: Weather,
    target: SocketAddr,
    questions: usize,
    connections: usize,
    streams: Vec<TcpStream>,
}

/// A proxy, until the test ends.
#[derive(Debug, Clone)]
pub(super) struct Proxy {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
}

impl Proxy {
    pub(super) fn to(target: SocketAddr) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let state = State { weather: Weather::Fair, target, questions: 0, connections: 0, streams: vec![] };
        let proxy = Self { address, state: Arc::new(Mutex::new(state)) };
        let accepting = proxy.clone();
        thread::spawn(move || {
            for client in listener.incoming() {
                accepting.accept(client.unwrap());
            }
        });
        proxy
    }

    pub(super) fn url(&self) -> String {
        format!("redis://{}", self.address)
    }

    pub(super) fn set(&self, weather: Weather) {
        self.state.lock().unwrap().weather = weather;
    }

    /// Ends all connections, and leads the next ones to another server.
    pub(super) fn lead_to(&self, target: SocketAddr) {
        let mut state = self.state.lock().unwrap();
        state.target = target;
        state.streams.drain(..).for_each(|stream| drop(stream.shutdown(Shutdown::Both)));
    }

    /// How many commands were sent so far.
    pub(super) fn questions(&self) -> usize {
        self.state.lock().unwrap().questions
    }

    /// How many connections were made so far.
    pub(super) fn connections(&self) -> usize {
        self.state.lock().unwrap().connections
    }

    fn accept(&self, client: TcpStream) {
        let mut state = self.state.lock().unwrap();
        if state.weather == Weather::Closed {
            return;
        }
        let Ok(server) = TcpStream::connect(state.target) else { return };
        [&client, &server].into_iter().for_each(|stream| stream.set_nodelay(true).unwrap());
        state.connections += 1;
        state.streams.extend([client.try_clone().unwrap(), server.try_clone().unwrap()]);
        let (asking, answering) = (self.clone(), self.clone());
        let (client_too, server_too) = (client.try_clone().unwrap(), server.try_clone().unwrap());
        thread::spawn(move || asking.carry(client, server, Weather::CutNextQuestion));
        thread::spawn(move || answering.carry(server_too, client_too, Weather::CutNextAnswer));
    }

    /// Carries bytes until either end is gone, or the weather in which this direction is cut comes.
    fn carry(&self, mut from: TcpStream, mut to: TcpStream, cut: Weather) {
        let (mut bytes, mut unread) = (vec![0; 1 << 16], vec![]);
        while let Ok(length @ 1..) = from.read(&mut bytes) {
            let mut state = self.state.lock().unwrap();
            if cut == Weather::CutNextQuestion {
                unread.extend_from_slice(&bytes[..length]);
                state.questions += take_commands(&mut unread);
            }
            match state.weather {
                weather if weather == cut => {
                    state.weather = Weather::Fair;
                    break;
                }
                Weather::SwallowAnswers if cut == Weather::CutNextAnswer => continue,
                _ => drop(state),
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
}

/// Takes the whole commands off the front of what a client has written, and says how many they were.
fn take_commands(unread: &mut Vec<u8>) -> usize {
    let mut commands = 0;
    while let Some(rest) = command_length(unread) {
        unread.drain(..rest);
        commands += 1;
    }
    commands
}

/// How long the first command is, if all of it is there: `*N`, then N times `$LENGTH` and so many bytes.
fn command_length(bytes: &[u8]) -> Option<usize> {
    let number_at = |start: usize| {
        let line = bytes.get(start + 1..)?.split(|byte| *byte == b'\r').next()?;
        let end = start + 1 + line.len() + 2;
        (end <= bytes.len()).then_some((std::str::from_utf8(line).unwrap().parse::<usize>().unwrap(), end))
    };
    let (arguments, mut end) = number_at(0)?;
    for _ in 0..arguments {
        let (length, start) = number_at(end)?;
        end = start + length + 2;
    }
    (end <= bytes.len()).then_some(end)
}

#[test]
fn commands_are_counted_also_when_they_come_in_pieces() {
    let mut unread = b"*1\r\n$4\r\nTIME\r\n*2\r\n$3\r\nGET\r\n$2\r\n\r\n\r\n*1\r\n$4\r\nTI".to_vec();
    assert_eq!(take_commands(&mut unread), 2);
    unread.extend_from_slice(b"ME\r\n");
    assert_eq!((take_commands(&mut unread), unread.len()), (1, 0));
}
