//! What the command line says when it is not used to guard, and when it is used wrongly.

use std::process::{Command, Stdio};

use crate::{
    effects::Effects,
    kit::{INTERLOCK, official, scratch},
};

struct Ended {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

fn guard(arguments: &[&str]) -> Ended {
    let output = Command::new(INTERLOCK)
        .arg("guard")
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .expect("the program starts");
    Ended {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("it writes UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("it writes UTF-8"),
    }
}

#[test]
fn without_a_server_it_says_how_to_name_one() {
    let ended = guard(&[]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("put its command behind `--`"), "{}", ended.stderr);
    for wrong in [&["--lock", "graph", "--", "true"][..], &["--rate", "many", "--", "true"], &["--", ""]] {
        let ended = guard(wrong);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{wrong:?}: {}", ended.stderr);
    }
}

#[test]
fn a_configuration_is_checked_without_starting_anything() {
    let folder = scratch();
    let path = folder.path().join("guard.toml");
    let check = |text: &str| {
        std::fs::write(&path, text).expect("it is written");
        guard(&["--check", "--config", &path.display().to_string()])
    };
    let upstream = "[[upstream]]\nname = \"one\"\ncommand = [\"/no/such/program\"]\n";
    let fine = check(&format!("{upstream}[[tool]]\nmatch = \"*\"\nlock = \"all\"\n"));
    assert_eq!(fine.code, Some(0), "{}{}", fine.stdout, fine.stderr);
    let broken = check(&format!("{upstream}[[tool]]\nmatch = \"*\"\nlokc = \"all\"\n"));
    assert_eq!(broken.code, Some(2), "{}", broken.stdout);
    assert!(broken.stdout.contains("line 6") && broken.stdout.contains("lokc"), "{}", broken.stdout);
}

#[test]
fn the_schema_is_one_and_an_imported_file_can_be_used() {
    let schema = guard(&["--schema"]);
    let schema: serde_json::Value = serde_json::from_str(&schema.stdout).expect("a schema is JSON");
    assert_eq!(schema["title"], "guard.toml");
    let folder = scratch();
    let (from, into) = (folder.path().join(".mcp.json"), folder.path().join("guard.toml"));
    let servers = serde_json::json!({ "mcpServers": {
        "memory": { "command": "node", "args": ["index.js"], "env": { "A": "b" } },
        "web": { "type": "http", "url": "http://127.0.0.1:9/mcp" },
    } });
    std::fs::write(&from, servers.to_string()).expect("it is written");
    let imported = guard(&["--import", &from.display().to_string()]);
    assert_eq!(imported.code, Some(0), "{}", imported.stderr);
    std::fs::write(&into, &imported.stdout).expect("it is written");
    let checked = guard(&["--check", "--config", &into.display().to_string()]);
    assert_ne!(checked.code, Some(2), "{}{}", imported.stdout, checked.stdout);
}

#[test]
fn a_server_that_does_not_start_is_named_with_its_last_words() {
    let ended = guard(&["--listen", "127.0.0.1:0", "--", "sh", "-c", "echo 'no licence' >&2; exit 4"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("exit code 4") && ended.stderr.contains("| no licence"),
        "{}",
        ended.stderr
    );
    let missing = guard(&["--", "/no/such/program"]);
    assert_eq!(missing.code, Some(2));
    assert!(missing.stderr.contains("cannot run `/no/such/program`"), "{}", missing.stderr);
}

#[test]
fn a_policy_is_suggested_that_can_be_used() {
    let folder = scratch();
    let into = folder.path().join("guard.toml");
    let suggested = guard(&["--suggest", "--", "node", &official("server-memory")]);
    assert_eq!(suggested.code, Some(0), "{}", suggested.stderr);
    assert!(suggested.stdout.contains("create_entities"), "{}", suggested.stdout);
    std::fs::write(&into, &suggested.stdout).expect("it is written");
    let checked = guard(&["--check", "--config", &into.display().to_string()]);
    assert_eq!(checked.code, Some(0), "{}{}", suggested.stdout, checked.stdout);
}

#[test]
fn a_policy_is_suggested_for_a_server_behind_a_url_in_either_era() {
    for era in ["handshake", "stateless"] {
        let effects = Effects::new();
        let server = effects.over_http(era);
        let suggested = guard(&["--suggest", "--url", &server.url]);
        assert_eq!(suggested.code, Some(0), "{era}: {}", suggested.stderr);
        assert!(
            suggested.stdout.contains("\"do\"") && suggested.stdout.contains(&server.url),
            "{era}: {}",
            suggested.stdout
        );
        let into = effects.file("guard.toml");
        std::fs::write(&into, &suggested.stdout).expect("it is written");
        let checked = guard(&["--check", "--config", &into.display().to_string()]);
        assert_eq!(checked.code, Some(0), "{era}: {}{}", suggested.stdout, checked.stdout);
        let is_left = effects.all() == ["left one"];
        assert_eq!(is_left, era == "handshake", "a session that was begun is ended");
    }
    let nobody = guard(&["--suggest", "--url", "http://127.0.0.1:9/mcp"]);
    assert_eq!(nobody.code, Some(2), "{}", nobody.stdout);
    assert!(nobody.stderr.contains("failed to ask `server` for its tools"), "{}", nobody.stderr);
}
