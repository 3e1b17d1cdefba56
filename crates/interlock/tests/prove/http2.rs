//! Over HTTP/2: the last frames of all calls are in one write, and a server that serves its streams at once is seen to lose an update.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{Ipv4Addr, Shutdown, TcpListener, TcpStream},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
    sync::{Arc, Mutex},
    thread,
};

use serde_json::Value;

use crate::TWO_ADDS;

/// A server of Node's own `http2` module, which ends with this.
struct Server {
    child: Child,
    url: String,
    output: BufReader<ChildStdout>,
}

impl Server {
    fn start() -> Self {
        Self::with(&[])
    }

    fn with(arguments: &[&Path]) -> Self {
        let mut child = Command::new("node")
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/prove/h2c.mjs"))
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("node starts");
        let output = BufReader::new(child.stdout.take().expect("its output"));
        let mut server = Self { child, url: String::new(), output };
        server.url = server.says();
        server
    }

    /// The next line that it prints.
    fn says(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("it says where");
        line.trim().to_owned()
    }

    fn port(&self) -> u16 {
        let port = self.url.trim_end_matches("/mcp").rsplit(':').next().expect("a port");
        port.parse().expect("a number")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a client has written to one connection, one entry for each write as it arrived.
type Written = Arc<Mutex<Vec<Vec<u8>>>>;

/// Stands between the program and a server, and writes down what the program says to it.
fn relay(to: u16) -> (u16, Arc<Mutex<Vec<Written>>>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let connections = Arc::<Mutex<Vec<Written>>>::default();
    let known = Arc::clone(&connections);
    thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let Ok(server) = TcpStream::connect((Ipv4Addr::LOCALHOST, to)) else { return };
            let written = Written::default();
            known.lock().expect("no panic").push(Arc::clone(&written));
            let (from, into) = (client.try_clone().expect("a copy"), server.try_clone().expect("a copy"));
            thread::spawn(move || carry(from, into, Some(&written)));
            thread::spawn(move || carry(server, client, None));
        }
    });
    (port, connections)
}

fn carry(mut from: TcpStream, mut into: TcpStream, written: Option<&Written>) {
    let _ = into.set_nodelay(true);
    let mut buffer = vec![0; 256 * 1024];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        let said = buffer.get(..length).expect("no more than there is room for");
        if let Some(written) = written {
            written.lock().expect("no panic").push(said.to_vec());
        }
        if into.write_all(said).is_err() {
            break;
        }
    }
    let _ = into.shutdown(Shutdown::Write);
}

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// For each DATA frame that ends its stream, the writes in which it begins and ends.
fn last_frames(writes: &[Vec<u8>]) -> Vec<(usize, usize)> {
    let bytes = writes.concat();
    let ends: Vec<usize> = writes
        .iter()
        .scan(0, |end, write| {
            *end += write.len();
            Some(*end)
        })
        .collect();
    let write_of = |at: usize| ends.partition_point(|end| *end <= at);
    let mut found = Vec::new();
    let mut at = PREFACE.len();
    while let Some(&[one, two, three, kind, flags, ..]) = bytes.get(at..at + 9) {
        let end = at + 9 + usize::from(one) * 65536 + usize::from(two) * 256 + usize::from(three);
        let (is_data, ends_stream) = (kind == 0, flags & 1 == 1);
        if is_data && ends_stream {
            found.push((write_of(at), write_of(end - 1)));
        }
        at = end;
    }
    found
}

fn prove(url: &str, options: &[&str]) -> (Option<i32>, Value) {
    told(&mut proving(url, url, options))
}

/// The program on one address of a server, which is reset by another.
fn proving(url: &str, plain: &str, options: &[&str]) -> Command {
    let reset = concat!(env!("CARGO_MANIFEST_DIR"), "/../interlock-testkit/servers/reset.sh");
    let reset = format!("'{reset}' '{plain}'");
    let mut command = Command::new(env!("CARGO_BIN_EXE_interlock"));
    command
        .args(["prove", "--no-save", "--format", "json", "--budget", "1800s"])
        .args(["--url", url, "--reset", &reset])
        .args(options)
        .stdin(Stdio::null());
    command
}

fn told(command: &mut Command) -> (Option<i32>, Value) {
    let output = command.output().expect("the program starts");
    let report = serde_json::from_slice(&output.stdout);
    (output.status.code(), report.unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr))))
}

#[test]
fn what_only_http2_shows_is_shown_by_http2() {
    let server = Server::start();
    let (code, report) = prove(&server.url, TWO_ADDS);
    assert_eq!((code, report["verdict"].as_str()), (Some(1), Some("broken")), "{report:#}");
    let set = &report["sets"][0];
    assert_eq!(set["evidence"]["schedule"]["delivery"], "http2", "{report:#}");
    assert_eq!(set["hazard"], "lost-update", "{report:#}");
}

#[test]
fn a_server_behind_tls_is_proven_like_any_other_if_its_certificate_is_known() {
    let folder = tempfile::tempdir().expect("a folder");
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let (cert, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
    std::fs::write(&cert, made.cert.pem()).expect("it is written");
    std::fs::write(&key, made.signing_key.serialize_pem()).expect("it is written");
    let mut server = Server::with(&[&cert, &key]);
    let secure = server.says();
    let (code, report) = told(proving(&secure, &server.url, TWO_ADDS).env("SSL_CERT_FILE", &cert));
    assert_eq!((code, report["verdict"].as_str()), (Some(1), Some("broken")), "{report:#}");
    assert_eq!(report["sets"][0]["evidence"]["schedule"]["delivery"], "http2", "{report:#}");
    let unknown = proving(&secure, &server.url, TWO_ADDS).output().expect("the program starts");
    let said = String::from_utf8_lossy(&unknown.stderr);
    assert!(unknown.status.code() != Some(0) && said.contains("certificate"), "{said}");
}

#[test]
fn the_last_frames_of_all_calls_are_in_one_write() {
    let server = Server::start();
    let (port, connections) = relay(server.port());
    let (code, report) = prove(&format!("http://127.0.0.1:{port}/mcp"), TWO_ADDS);
    assert_eq!(code, Some(1), "{report:#}");
    let connections = connections.lock().expect("no panic");
    let mut meetings = 0;
    for written in connections.iter() {
        let writes = written.lock().expect("no panic");
        if !writes.concat().starts_with(PREFACE) {
            continue;
        }
        let frames = last_frames(&writes);
        let [(begin, end), (other_begin, other_end)] = frames.as_slice() else { panic!("{frames:?}") };
        assert!(
            begin == end && begin == other_begin && begin == other_end,
            "{frames:?} of {} writes",
            writes.len()
        );
        meetings += 1;
    }
    assert!(meetings > 1, "they met over HTTP/2, and again: {meetings}");
}
