//! What is written on the command line, and what is wrong with it.

use crate::Counter;

#[test]
fn a_read_is_found_where_none_is_named() {
    let calls = ["--call", "add {\"amount\": 1}", "--call", "add {\"amount\": 2}"];
    let (code, report) = Counter::new("unsafe").json(&calls);
    assert_eq!(code, 1, "{report:#}");
    assert_eq!(report["sets"][0]["reads"][0]["tool"], "get", "{report:#}");
}

#[test]
fn one_call_meets_itself() {
    let (code, report) = Counter::new("unsafe").json(&["--call", "add {\"amount\": 5}", "--read", "get"]);
    assert_eq!(code, 1, "{report:#}");
}

#[test]
fn a_tool_that_is_not_there_is_named_with_the_one_that_is_meant() {
    let ended = Counter::new("safe").run(&["--call", "add {\"amount\": 5}", "--read", "gett"]);
    assert_eq!(ended.code, 3, "{} {}", ended.stdout, ended.stderr);
    assert!(ended.stderr.contains("no tool `gett`; is `get` meant?"), "{}", ended.stderr);
}

#[test]
fn what_cannot_be_meant_is_refused_before_anything_is_started() {
    let cases: &[(&[&str], &str)] = &[
        (&["--call", "add {amount"], "add {amount"),
        (&["--budget", "soon"], "soon"),
        (&["--env", "NAME"], "NAME"),
        (&["--plan", "no-such-file.toml"], "no-such-file.toml"),
        (&["--replay", "no-such-file.json"], "no-such-file.json"),
        (&["--from", "no-such-file.json"], "no-such-file.json"),
        (&["--setup", "add {\"amount\": 1}"], "--call"),
        (&["--replay", "no-such-file.json", "--call", "add"], "--call"),
        (&["--call", "add", "--invariant", "succeeded <="], "succeeded <="),
    ];
    for (options, named) in cases {
        let counter = Counter::new("unsafe");
        let ended = counter.run(options);
        assert_eq!(ended.code, 2, "{options:?}: {} {}", ended.stdout, ended.stderr);
        assert!(ended.stderr.contains(named), "{options:?}: {}", ended.stderr);
        counter.assert_nothing_is_left();
    }
}

#[test]
fn a_server_elsewhere_is_not_called_by_accident() {
    let refused = |arguments: &[&str]| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_interlock"))
            .arg("prove")
            .args(arguments)
            .output()
            .expect("the program starts");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, said) = refused(&["--url", "http://192.0.2.1/mcp", "--reset", "true"]);
    assert!(code == Some(2) && said.contains("--i-own-this-server"), "{said}");
    let (code, said) = refused(&["--url", "http://127.0.0.1:1/mcp"]);
    assert!(code == Some(2) && said.contains("--reset"), "{said}");
    let (code, said) = refused(&[]);
    assert!(code == Some(2) && said.contains("behind `--`"), "{said}");
}
