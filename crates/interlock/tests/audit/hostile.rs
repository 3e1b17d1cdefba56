//! What nobody vouched for: repositories and archives that try something, and servers that answer with nonsense.

use std::{fs, os::unix::fs::symlink, process::Command};

use crate::{
    Desk, copy, example,
    git::{git, repository},
};

#[test]
fn a_repository_of_links_pointers_deep_folders_and_a_large_file_is_read_as_far_as_it_is_source() {
    let desk = Desk::new();
    let folder = repository(&desk);
    git(&folder, &["checkout", "--quiet", "server"]);
    let package = folder.join("packages/credits");
    symlink("/etc/passwd", package.join("src/passwd.ts")).expect("a link");
    symlink("..", package.join("src/loop")).expect("a link");
    symlink(".git", folder.join("packages/inside")).expect("a link");
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12345\n";
    fs::write(package.join("src/pointer.ts"), pointer).expect("a file");
    fs::write(folder.join(".gitattributes"), "*.ts filter=lfs diff=lfs merge=lfs\n").expect("a file");
    let deep = package.join("d/".repeat(60));
    fs::create_dir_all(&deep).expect("folders");
    fs::write(deep.join("deep.ts"), "export const deep = 1;\n").expect("a file");
    // Far longer than a source is: it is left out, and said so.
    fs::write(package.join("src/long.ts"), "x".repeat(40 << 20)).expect("a file");
    fs::write(package.join("src/\u{202e}st.sj \u{1b}[2J<script>.ts"), "export {}\n").expect("a file");
    git(&folder, &["add", "."]);
    git(&folder, &["-c", "filter.lfs.clean=cat", "commit", "--quiet", "-m", "three"]);
    let ended = desk.audit(&[&format!("file://{}#server:packages/credits", folder.display())]);
    assert_eq!(ended.code, 1, "{} {}", ended.stdout, ended.stderr);
    assert!(
        ended.entries(0).iter().any(|entry| entry.starts_with("found-only lost-update")),
        "{:#?}",
        ended.entries(0)
    );
    let text = ended.report.to_string();
    assert!(!text.contains("root:x:0"), "what a link leads to was read");
    assert!(!ended.stdout.contains('\u{1b}') && !ended.stdout.contains('\u{202e}'), "{:?}", ended.stdout);
    assert_eq!(desk.left_behind(), [] as [&str; 0]);

    fs::create_dir_all(package.join("e/".repeat(80))).expect("folders");
    fs::write(package.join("e/".repeat(80)).join("x.ts"), "").expect("a file");
    git(&folder, &["add", "."]);
    git(&folder, &["commit", "--quiet", "-m", "four"]);
    let ended = desk.audit(&[&format!("file://{}#server", folder.display())]);
    assert_eq!(ended.code, 2, "{}", ended.stdout);
    assert!(ended.stderr.contains("folders are deeper than"), "{}", ended.stderr);
    assert_eq!(desk.left_behind(), [] as [&str; 0]);
}

#[test]
fn archives_that_lead_out_or_link_out_write_nothing_elsewhere() {
    let desk = Desk::new();
    copy(&example(), &desk.path("source/credits"));
    symlink(desk.path("home"), desk.path("source/credits/out")).expect("a link");
    desk.write("outside.ts", "");
    let make = r#"
import io, sys, tarfile
with tarfile.open(sys.argv[1], "w:gz") as archive:
    archive.add(sys.argv[2] + "/credits", arcname="credits")
    for name, kind, link in [("credits/evil", tarfile.SYMTYPE, sys.argv[3]), ("credits/pipe", tarfile.FIFOTYPE, ""), ("credits/null", tarfile.CHRTYPE, "")]:
        about = tarfile.TarInfo(name); about.type = kind; about.linkname = link
        archive.addfile(about)
    about = tarfile.TarInfo("credits/evil/planted"); about.size = 4
    archive.addfile(about, io.BytesIO(b"evil"))
with tarfile.open(sys.argv[1] + ".up.tar", "w") as archive:
    about = tarfile.TarInfo("../../../../" + sys.argv[3] + "/planted"); about.size = 4
    archive.addfile(about, io.BytesIO(b"evil"))
"#;
    let home = desk.path("home");
    let archive = desk.path("a.tgz");
    let made =
        Command::new("python3").args(["-c", make]).arg(&archive).arg(desk.path("source")).arg(&home).status();
    assert!(made.expect("python3 starts").success());
    let ended = desk.audit(&[archive.to_str().expect("a name")]);
    assert!(ended.code == 1 || ended.code == 2, "{} {}", ended.stdout, ended.stderr);
    let ended = desk.audit(&[&format!("{}.up.tar", archive.display())]);
    assert_eq!(ended.code, 2, "{} {}", ended.stdout, ended.stderr);
    assert!(ended.stderr.contains("leads out"), "{}", ended.stderr);
    assert!(!home.join("planted").exists());
    assert_eq!(desk.left_behind(), [] as [&str; 0]);
}

/// A server whose tools and answers are what the test says, in Python.
fn server(tools: &str, answer: &str) -> String {
    format!(
        r#"import json, sys
tools = {tools}
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    method, params = message["method"], message.get("params") or {{}}
    if method == "initialize":
        result = {{"protocolVersion": params["protocolVersion"], "capabilities": {{"tools": {{}}}}, "serverInfo": {{"name": "x", "version": "1"}}}}
    elif method == "tools/list":
        result = {{"tools": tools}}
    else:
        result = {answer}
    print(json.dumps({{"jsonrpc": "2.0", "id": message["id"], "result": result}}), flush=True)
"#
    )
}

#[test]
fn whatever_a_server_lists_and_answers_there_is_a_report_and_nothing_of_it_is_markup() {
    let evil =
        r#"</script><script>document.title='owned'</script>\u001b]0;owned\u0007<img src=x onerror=alert(1)>"#;
    let tool = |name: &str| {
        format!(
            r#"{{"name": "{name}", "description": "{evil}", "inputSchema": {{"type": "object", "properties": {{"text": {{"type": "string"}}}}}}}}"#
        )
    };
    let plain = r#"{"content": [{"type": "text", "text": "ok"}]}"#;
    for (what, tools, answer) in [
        ("names of markup", format!("[{}]", tool(&format!("add_{evil}"))), plain.to_owned()),
        ("two tools of one name", format!("[{0}, {0}]", tool("add_note")), plain.to_owned()),
        ("a list that is none", "{\"a\": 1}".to_owned(), plain.to_owned()),
        ("a schema that is none", r#"[{"name": "add", "inputSchema": [[[]]]}]"#.to_owned(), plain.to_owned()),
        (
            "a schema that contains itself",
            r##"[{"name": "add", "inputSchema": {"$ref": "#"}}]"##.to_owned(),
            plain.to_owned(),
        ),
        (
            "a long answer",
            format!("[{}]", tool("add_note")),
            r#"{"content": [{"type": "text", "text": "x" * (8 << 20)}]}"#.to_owned(),
        ),
        (
            "a deep answer",
            format!("[{}]", tool("add_note")),
            r#"{"content": [], "structuredContent": json.loads("[" * 500 + "]" * 500)}"#.to_owned(),
        ),
        ("an answer that is none", format!("[{}]", tool("add_note")), "7".to_owned()),
    ] {
        let desk = Desk::new();
        desk.write("work/server.py", &server(&tools, &answer));
        let page = desk.path("report.html");
        let words = [
            "--output",
            page.to_str().expect("a name"),
            ".",
            "--run",
            "--budget",
            "20s",
            "--",
            "python3",
            "server.py",
        ];
        let report = desk.path("report.json");
        let mut command =
            desk.command(&[&["--output", report.to_str().expect("a name")], words.as_slice()].concat());
        let output = command.output().expect("the program starts");
        let (said, errors) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(matches!(output.status.code(), Some(0 | 1 | 3)), "{what}: {said} {errors}");
        assert!(!said.contains('\u{1b}') && !errors.contains('\u{1b}'), "{what}: {said:?} {errors:?}");
        let page = fs::read_to_string(page).unwrap_or_else(|error| panic!("{what}: {error} {said} {errors}"));
        assert!(!page.contains("<img src=x") && !page.contains("<script>document"), "{what}");
        assert_eq!(desk.left_behind(), [] as [&str; 0], "{what}");
    }
}
