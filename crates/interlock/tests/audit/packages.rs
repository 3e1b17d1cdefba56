//! Packages from a registry of this test's own: fetched by the ordinary clients, and none of their scripts is run.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
};

use serde_json::json;

use crate::Desk;

/// Ended when it is dropped.
struct Registry {
    child: Child,
    address: String,
}

impl Registry {
    fn start(desk: &Desk) -> Self {
        let mut child = Command::new("python3")
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/audit/registry.py"))
            .arg(desk.path("registry"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3 starts");
        let mut port = String::new();
        BufReader::new(child.stdout.take().expect("its output")).read_line(&mut port).expect("a port");
        Self { child, address: format!("http://127.0.0.1:{}", port.trim()) }
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Every script that a client might run leaves this behind.
fn scripts(desk: &Desk) -> serde_json::Value {
    let run = format!("touch {}", desk.path("ran").display());
    let names = ["preinstall", "install", "postinstall", "prepare", "prepack", "postpack", "dependencies"];
    names.iter().map(|name| ((*name).to_owned(), json!(run))).collect::<serde_json::Map<_, _>>().into()
}

#[test]
fn a_package_of_npm_is_proven_and_held_and_no_script_of_it_or_of_what_it_needs_is_run() {
    let desk = Desk::new();
    let about = |name: &str, more: serde_json::Value| {
        let mut about = json!({ "name": name, "version": "1.0.0", "scripts": scripts(&desk) });
        if let (Some(about), Some(more)) = (about.as_object_mut(), more.as_object()) {
            about.extend(more.clone());
        }
        desk.write(&format!("registry/npm/{name}/package.json"), &about.to_string());
    };
    about("notes", json!({ "bin": "index.js", "dependencies": { "helper": "1.0.0" } }));
    desk.write("registry/npm/notes/index.js", include_str!("notes.js"));
    about("helper", json!({ "main": "index.js" }));
    desk.write("registry/npm/helper/index.js", "");
    // With this npm would build something, had nobody forbidden it.
    desk.write("registry/npm/helper/binding.gyp", "{}");
    let registry = Registry::start(&desk);
    let environment = [("NPM_CONFIG_REGISTRY", registry.address.as_str())];

    let read = desk.audit_in(&environment, &["npm:notes@1.0.0"]);
    assert_eq!(read.at("/subjects/0/live/state"), "not-run", "{} {}", read.report, read.stderr);
    assert!(read.at("/subjects/0/live/why").to_string().contains("--run-untrusted"), "{}", read.report);

    let ended = desk.audit_in(&environment, &["npm:notes@1.0.0", "--run-untrusted"]);
    assert_eq!(ended.code, 1, "{} {}", ended.stdout, ended.stderr);
    let entries = ended.entries(0);
    assert!(
        entries.iter().any(|entry| entry.contains("lost-update add_note") && entry.ends_with(" held")),
        "{entries:#?}"
    );
    assert!(!desk.path("ran").exists(), "a script was run");
    assert_eq!(desk.left_behind(), [] as [&str; 0]);
}

#[test]
fn of_pypi_only_what_is_built_is_taken_because_a_source_package_runs_code_to_be_built() {
    let desk = Desk::new();
    let marker = desk.path("ran");
    let make = r#"
import io, os, sys, tarfile, zipfile
root, marker = sys.argv[1:]
os.makedirs(root + "/sourced"); os.makedirs(root + "/built")
with tarfile.open(root + "/sourced/sourced-1.0.tar.gz", "w:gz") as archive:
    for name, text in {"setup.py": f"open({marker!r}, 'w')\nfrom setuptools import setup\nsetup(name='sourced', version='1.0')\n",
                       "PKG-INFO": "Metadata-Version: 2.1\nName: sourced\nVersion: 1.0\n"}.items():
        about = tarfile.TarInfo("sourced-1.0/" + name); about.size = len(text)
        archive.addfile(about, io.BytesIO(text.encode()))
server = """import json
from pathlib import Path
from mcp.server.fastmcp import FastMCP

mcp = FastMCP("notes")
NOTES = Path("notes.json")


@mcp.tool()
async def add_note(text: str) -> str:
    notes = json.loads(NOTES.read_text())
    await settle()
    notes.append(text)
    NOTES.write_text(json.dumps(notes))
    return "added"
"""
with zipfile.ZipFile(root + "/built/built-1.0-py3-none-any.whl", "w") as wheel:
    wheel.writestr("built/__init__.py", server)
    wheel.writestr("built-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: built\nVersion: 1.0\n")
    wheel.writestr("built-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    wheel.writestr("built-1.0.dist-info/RECORD", "")
"#;
    let made =
        Command::new("python3").args(["-c", make]).arg(desk.path("registry/pypi")).arg(&marker).status();
    assert!(made.expect("python3 starts").success());
    let registry = Registry::start(&desk);
    let index = format!("{}/simple", registry.address);
    let environment = [("PIP_INDEX_URL", index.as_str())];

    let ended = desk.audit_in(&environment, &["pypi:built@1.0"]);
    assert_eq!(ended.code, 1, "{} {}", ended.stdout, ended.stderr);
    assert!(
        ended.entries(0).iter().any(|entry| entry.starts_with("found-only lost-update")),
        "{:#?}",
        ended.entries(0)
    );

    for run in [[].as_slice(), &["--run-untrusted"]] {
        let ended = desk.audit_in(&environment, &[&["pypi:sourced@1.0"], run].concat());
        assert_eq!(ended.code, 2, "{} {}", ended.stdout, ended.stderr);
        assert!(ended.stderr.contains("could not be fetched"), "{}", ended.stderr);
    }
    assert!(!marker.exists(), "the source package was built");
    assert_eq!(desk.left_behind(), [] as [&str; 0]);
}
