//! Every way that an audit could try to reach what it must not.

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::*;

/// A proxy for which names mean what the test says: `good.example` is a server on loopback that the operator vouches for.
async fn proxy() -> (Egress, TcpListener) {
    let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let there = server.local_addr().unwrap();
    let resolve: Resolve = Arc::new(move |host, port| {
        Box::pin(async move {
            let at = |address: &str| vec![SocketAddr::new(address.parse().unwrap(), port)];
            Ok(match host.as_str() {
                "good.example" | "sneaky.example" => vec![there],
                "metadata.example" => at("169.254.169.254"),
                "mapped.example" => at("::ffff:10.0.0.1"),
                _ => return Err(io::ErrorKind::NotFound.into()),
            })
        })
    });
    (Egress::start_with(vec!["good.example".into()], resolve).await.unwrap(), server)
}

fn ticket(egress: &Egress, bytes: u64) -> Ticket {
    let hosts = ["good.example", "sneaky.example", "metadata.example", "mapped.example", "none.example"];
    egress.ticket(hosts.map(String::from).to_vec(), bytes)
}

/// What the proxy says to a request with this ticket.
async fn ask(egress: &Egress, secret: &str, request: &str) -> (String, tokio::net::TcpStream) {
    use base64::{Engine, engine::general_purpose::STANDARD};
    let mut client = tokio::net::TcpStream::connect(egress.address).await.unwrap();
    let login = STANDARD.encode(format!("audit:{secret}"));
    client
        .write_all(format!("{request}\r\nProxy-Authorization: Basic {login}\r\n\r\n").as_bytes())
        .await
        .unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") {
        answer.push(client.read_u8().await.unwrap());
    }
    (String::from_utf8(answer).unwrap(), client)
}

#[tokio::test]
async fn a_host_on_the_list_is_connected_to_and_bytes_go_both_ways() {
    let (egress, server) = proxy().await;
    let ticket = ticket(&egress, 1000);
    let (answer, mut client) = ask(&egress, &ticket.secret, "CONNECT good.example:443 HTTP/1.1").await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let (mut there, _) = server.accept().await.unwrap();
    client.write_all(b"ping").await.unwrap();
    let mut four = [0; 4];
    there.read_exact(&mut four).await.unwrap();
    there.write_all(b"pong").await.unwrap();
    client.read_exact(&mut four).await.unwrap();
    assert_eq!(&four, b"pong");
}

#[tokio::test]
async fn whatever_name_leads_to_a_private_address_is_refused_also_when_only_a_redirect_names_it() {
    let (egress, _server) = proxy().await;
    let ticket = ticket(&egress, 1000);
    for (request, refusal) in [
        // On the list, and yet its name leads to this machine or its network.
        ("CONNECT sneaky.example:443 HTTP/1.1", "403"),
        ("CONNECT metadata.example:443 HTTP/1.1", "403"),
        ("CONNECT mapped.example:443 HTTP/1.1", "403"),
        // What a redirect could name.
        ("CONNECT evil.example:443 HTTP/1.1", "403"),
        ("CONNECT 127.0.0.1:443 HTTP/1.1", "403"),
        ("CONNECT [::1]:443 HTTP/1.1", "403"),
        ("CONNECT good.example.:443 HTTP/1.1", "403"),
        ("CONNECT good.example:22 HTTP/1.1", "403"),
        ("CONNECT good.example HTTP/1.1", "400"),
        ("CONNECT none.example:443 HTTP/1.1", "502"),
        // Without encryption nobody knows who answers.
        ("GET http://good.example/ HTTP/1.1", "405"),
        ("GET http://169.254.169.254/latest/meta-data HTTP/1.1", "405"),
    ] {
        let (answer, _) = ask(&egress, &ticket.secret, request).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {refusal}")), "{request}: {answer}");
    }
}

#[tokio::test]
async fn without_a_ticket_or_after_it_nothing_is_connected() {
    let (egress, _server) = proxy().await;
    let request = "CONNECT good.example:443 HTTP/1.1";
    assert!(ask(&egress, "guess", request).await.0.starts_with("HTTP/1.1 407"));
    let ticket = ticket(&egress, 1000);
    let secret = ticket.secret.clone();
    drop(ticket);
    assert!(ask(&egress, &secret, request).await.0.starts_with("HTTP/1.1 407"));
}

#[tokio::test]
async fn a_download_that_is_too_large_is_cut_off() {
    let (egress, server) = proxy().await;
    let ticket = ticket(&egress, 1000);
    let (_, mut client) = ask(&egress, &ticket.secret, "CONNECT good.example:443 HTTP/1.1").await;
    let (mut there, _) = server.accept().await.unwrap();
    let sending = tokio::spawn(async move { while there.write_all(&[7; 600]).await.is_ok() {} });
    let mut got = Vec::new();
    let _ = client.read_to_end(&mut got).await;
    assert!(got.len() <= 1000, "{}", got.len());
    drop(client);
    sending.await.unwrap();
}

/// Answers every request over TLS with this redirect, and tells which requests there were.
async fn redirecting(
    server: TcpListener,
    to: &'static str,
) -> (std::path::PathBuf, tempfile::TempDir, Arc<Mutex<Vec<String>>>) {
    use tokio_rustls::rustls::{ServerConfig, pki_types::PrivateKeyDer};
    let made = rcgen::generate_simple_self_signed(vec!["good.example".to_owned()]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("authority.pem");
    std::fs::write(&file, made.cert.pem()).unwrap();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_no_client_auth().with_single_cert(vec![made.cert.der().clone()], key).unwrap();
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
    let seen = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&seen);
    tokio::spawn(async move {
        while let Ok((stream, _)) = server.accept().await {
            let Ok(mut stream) = acceptor.accept(stream).await else { continue };
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                match stream.read_u8().await {
                    Ok(byte) => head.push(byte),
                    Err(_) => break,
                }
            }
            let first = String::from_utf8_lossy(&head).lines().next().unwrap_or_default().to_owned();
            kept.lock().unwrap().push(first);
            let answer = format!(
                "HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            );
            let _ = stream.write_all(answer.as_bytes()).await;
            let _ = stream.shutdown().await;
        }
    });
    (file, folder, seen)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_ordinary_client_that_is_redirected_inside_gets_no_further() {
    for to in [
        "https://metadata.example/a.git/info/refs?service=git-upload-pack",
        "https://169.254.169.254/a.git/info/refs?service=git-upload-pack",
        "https://127.0.0.1/a.git/info/refs?service=git-upload-pack",
        "https://[::1]/a.git/info/refs?service=git-upload-pack",
        "https://sneaky.example/a.git/info/refs?service=git-upload-pack",
        "http://10.0.0.1/a.git/info/refs?service=git-upload-pack",
    ] {
        let (egress, server) = proxy().await;
        let ticket = ticket(&egress, 1 << 20);
        let (authority, _folder, seen) = redirecting(server, to).await;
        let output = tokio::process::Command::new("git")
            .args(["-c", "http.followRedirects=true", "ls-remote", "https://good.example/a.git"])
            .env_clear()
            .envs(std::env::vars_os().filter(|(name, _)| name == "PATH"))
            .envs([("https_proxy", &ticket.url), ("http_proxy", &ticket.url)])
            .envs([
                ("GIT_TERMINAL_PROMPT", "0"),
                ("GIT_CONFIG_GLOBAL", "/dev/null"),
                ("HOME", "/nonexistent"),
            ])
            .env("GIT_SSL_CAINFO", &authority)
            .output()
            .await
            .expect("git is there");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "{to}: {said}");
        assert!(
            said.contains("403") || said.contains("405"),
            "it is the proxy that refuses it, {to}: {said}"
        );
        // The first address was reached, over TLS, and is where the client was sent on from.
        assert_eq!(seen.lock().unwrap().len(), 1, "{to}: {said}");
    }
}
