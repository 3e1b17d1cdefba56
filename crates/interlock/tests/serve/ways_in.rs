//! Each way in, tried: what may be named, who may ask and how often, what clients know, and what a repository could make them do.

use std::{fs, os::unix::fs::symlink};

use crate::kit::{Desk, RACY, answered, commit, git, stand_in, until};

#[tokio::test(flavor = "multi_thread")]
async fn nothing_but_what_the_operator_allows_can_be_named() {
    let desk = Desk::new();
    desk.repository("notes", &[("index.ts", RACY)]);
    let outside = desk.path("outside");
    fs::create_dir(&outside).expect("a folder");
    symlink(&outside, desk.path("repositories/link")).expect("a link");
    let served = desk.start(&["--allow-host", "git.example"]);
    let outside = format!("file://{}", outside.display());
    let link = format!("file://{}", desk.path("repositories/link").display());
    let up = format!("file://{}/../outside", desk.path("repositories").display());
    for target in [
        "http://git.example/a",
        "git://git.example/a",
        "ssh://git@git.example/a",
        "git@git.example:a/b",
        "ext::sh -c touch% /tmp/owned",
        "https://evil.example/a",
        "https://git.example@evil.example/a",
        "https://me:secret@git.example/a",
        "https://git.example:8443/a",
        "https://127.0.0.1/a",
        "https://169.254.169.254/latest",
        "https://[::1]/a",
        "https://git.example/a#--upload-pack=touch",
        "https://git.example/a#main:../..",
        "npm:--script-shell=sh",
        "npm:../x",
        "pypi:-r /etc/passwd",
        "/etc",
        "file:///etc",
        outside.as_str(),
        link.as_str(),
        up.as_str(),
        "",
    ] {
        let (status, said) = served.ask(target).await;
        assert_eq!(status, 422, "{target}: {said}");
    }
    assert_eq!(served.json("/api/audits").await, serde_json::json!({ "waiting": [], "ended": [] }));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_on_the_list_that_leads_to_this_machine_is_not_connected_to() {
    let desk = Desk::new();
    let served = desk.start(&["--allow-host", "localhost"]);
    let end = served.audit("https://localhost/a/b.git").await;
    assert_eq!(end["state"], "failed", "{end}");
    // The ordinary client says what the only way out answered it.
    assert!(end["failure"].as_str().expect("a reason").contains("403"), "{end}");
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_other_sites_other_names_and_callers_without_a_token_are_refused() {
    let desk = Desk::new();
    let tokens = desk.path("tokens");
    fs::write(&tokens, "# who may\nalice=0123456789abcdef-alice\nbob=0123456789abcdef-bob\n")
        .expect("a file");
    let target = desk.repository("notes", &[("index.ts", RACY)]);
    let served =
        desk.start(&["--tokens", tokens.to_str().expect("a name"), "--in-flight", "1", "--workers", "0"]);
    let ask = || served.post("/api/audits").json(&serde_json::json!({ "target": target }));
    let alice = || ask().bearer_auth("0123456789abcdef-alice");
    for (what, request, expected) in [
        ("no token", ask(), 401),
        ("a wrong token", ask().bearer_auth("0123456789abcdef-ALICE"), 401),
        ("another name", alice().header("host", "evil.example"), 403),
        ("another site", alice().header("origin", "https://evil.example"), 403),
        ("a sandboxed page", alice().header("origin", "null"), 403),
        (
            "a page that fetches",
            alice().header("sec-fetch-site", "cross-site").header("sec-fetch-mode", "cors"),
            403,
        ),
        (
            "a form of another site",
            served
                .post("/api/audits")
                .bearer_auth("0123456789abcdef-alice")
                .header("content-type", "text/plain")
                .body("{}"),
            415,
        ),
        ("a token", alice(), 201),
        ("a second audit of the same caller", alice(), 429),
        ("another caller, by password", ask().basic_auth("any", Some("0123456789abcdef-bob")), 201),
    ] {
        let (status, said) = answered(request).await;
        assert_eq!(status, expected, "{what}: {said}");
    }
    assert_eq!(served.get("/").send().await.expect("an answer").status(), 401, "the page needs it too");
    assert_eq!(served.get("/metrics").send().await.expect("an answer").status(), 401);
    assert_eq!(
        served.get("/health").send().await.expect("an answer").status(),
        200,
        "only that it lives is for all"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_who_asks_too_often_is_told_when_to_come_back() {
    let desk = Desk::new();
    let target = desk.repository("notes", &[("index.ts", RACY)]);
    let served = desk.start(&["--rate", "2", "--workers", "0"]);
    for _ in 0..2 {
        assert_eq!(served.ask(&target).await.0, 201);
    }
    let answer = served
        .post("/api/audits")
        .json(&serde_json::json!({ "target": target }))
        .send()
        .await
        .expect("an answer");
    assert_eq!(answer.status(), 429);
    let seconds: u64 = answer.headers()["retry-after"].to_str().expect("text").parse().expect("seconds");
    assert!((1..=1800).contains(&seconds), "{seconds}");
    assert!(served.text("/metrics").await.contains("interlock_serve_audits_limited_total 1\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_a_repository_runs_and_nothing_leads_out_of_it() {
    let desk = Desk::new();
    let target = desk.repository("notes", &[("src/index.ts", RACY)]);
    let folder = desk.path("repositories/notes");
    let marker = desk.path("ran");
    desk.repository("other", &[("index.ts", RACY)]);
    symlink("/", folder.join("everything")).expect("a link");
    fs::write(folder.join(".gitattributes"), "*.ts filter=evil\n*.json filter=lfs diff=lfs\n")
        .expect("a file");
    fs::write(folder.join(".lfsconfig"), "[lfs]\n\turl = https://169.254.169.254/\n").expect("a file");
    let run = format!("touch {}", marker.display());
    fs::write(folder.join("package.json"), format!("{{\"name\":\"n\",\"bin\":\"run.sh\",\"scripts\":{{\"prepare\":\"{run}\",\"install\":\"{run}\"}}}}")).expect("a file");
    fs::write(folder.join("run.sh"), format!("#!/bin/sh\n{run}\n")).expect("a file");
    git(
        &folder,
        &["submodule", "--quiet", "add", desk.path("repositories/other").to_str().expect("a name"), "module"],
    );
    commit(&folder);
    // What the user of this machine has set up would run something, too.
    let hooks = desk.path("home/hooks");
    fs::create_dir(&hooks).expect("a folder");
    fs::write(hooks.join("post-checkout"), format!("#!/bin/sh\n{run}\n")).expect("a file");
    std::process::Command::new("chmod")
        .arg("+x")
        .arg(hooks.join("post-checkout"))
        .status()
        .expect("chmod is there");
    let settings = format!(
        "[core]\n\thooksPath = {}\n[filter \"evil\"]\n\tsmudge = {run} && cat\n[credential]\n\thelper = \"!{run}\"\n",
        hooks.display()
    );
    fs::write(desk.path("home/.gitconfig"), settings).expect("a file");
    let served = desk.start(&[]);
    let end = served.audit(&target).await;
    assert_eq!(end["state"], "done", "{end}");
    assert!(!marker.exists(), "something ran");
    let report = served.json(end["reports"]["json"].as_str().expect("a report")).await;
    assert_eq!(report["subjects"][0]["live"]["state"], "not-run");
    assert_eq!(
        report["subjects"][0]["scan"]["coverage"]["files"], 1,
        "neither the module nor what is behind the link was read"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_know_nothing_of_the_servers_environment_and_have_only_so_much_time() {
    let desk = Desk::new();
    let target = desk.repository("notes", &[("index.ts", RACY)]);
    let seen = desk.path("seen");
    // Stands in the place of the ordinary client, tells what it was given, and never comes back.
    let script = format!("#!/bin/sh\nenv > {}\nexec sleep 600\n", seen.display());
    let path = stand_in(&desk, "git", &script);
    let state = format!("sqlite:{}", desk.path("serve.db").display());
    let environment = [
        ("PATH", path.as_str()),
        ("AWS_SECRET_ACCESS_KEY", "s3cret"),
        ("GITHUB_TOKEN", "s3cret"),
        ("SSH_AUTH_SOCK", "/s3cret"),
    ];
    let served = desk.start_on(&state, &["--time", "3s", "--workers", "1"], &environment);
    let end = served.audit(&target).await;
    assert!(end["failure"].as_str().expect("a reason").contains("more than 3 s"), "{end}");
    let seen = fs::read_to_string(seen).expect("it ran");
    assert!(!seen.contains("s3cret"), "{seen}");
    for line in ["GIT_TERMINAL_PROMPT=0", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_LFS_SKIP_SMUDGE=1"] {
        assert!(seen.contains(line), "{line}: {seen}");
    }
    let tmp = desk.path("tmp");
    let home = seen.lines().find_map(|line| line.strip_prefix("HOME=")).expect("it has a home");
    assert!(std::path::Path::new(home).starts_with(&tmp), "{home}");
    until("what it started is gone", async || {
        let processes = fs::read_dir("/proc").expect("the processes").flatten();
        let mut folders = processes.filter_map(|process| fs::read_link(process.path().join("cwd")).ok());
        !folders.any(|folder| folder.starts_with(&tmp))
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn packages_are_fetched_by_the_ordinary_clients_read_and_never_run() {
    let desk = Desk::new();
    let marker = desk.path("ran");
    let package = desk.path("package");
    fs::create_dir_all(package.join("src")).expect("a folder");
    fs::write(package.join("src/index.ts"), RACY).expect("a file");
    let run = format!("touch {}", marker.display());
    let about = serde_json::json!({ "name": "notes", "version": "1.2.3", "bin": "src/index.ts", "scripts": { "install": run, "prepare": run } });
    fs::write(package.join("package.json"), about.to_string()).expect("a file");
    // Each stands in the place of the ordinary client and does what it would have done with the registry's answer.
    let seen = desk.path("seen");
    let npm = format!(
        "#!/bin/sh\necho \"npm $@\" >> {0}; env >> {0}\nwhile [ $# -gt 0 ]; do [ \"$1\" = --pack-destination ] && to=$2; shift; done\n\
         exec tar -czf \"$to/notes-1.2.3.tgz\" -C {1} package\n",
        seen.display(),
        desk.path("").display()
    );
    stand_in(&desk, "npm", &npm);
    let python = format!(
        "#!/bin/sh\necho \"python3 $@\" >> {0}; env >> {0}\nwhile [ $# -gt 0 ]; do [ \"$1\" = --target ] && to=$2; shift; done\n\
         mkdir -p \"$to/notes\" \"$to/notes-4.5.6.dist-info\" && cp {1} \"$to/notes/server.py\"\n",
        seen.display(),
        desk.path("server.py").display()
    );
    let path = stand_in(&desk, "python3", &python);
    let server = "import json\nfrom pathlib import Path\nfrom mcp.server.fastmcp import FastMCP\n\nmcp = FastMCP(\"notes\")\n\n\n@mcp.tool()\n\
                  async def add_note(text: str) -> str:\n    notes = json.loads(Path(\"notes.json\").read_text())\n    await settle()\n    \
                  notes.append(text)\n    Path(\"notes.json\").write_text(json.dumps(notes))\n    return \"added\"\n";
    fs::write(desk.path("server.py"), server).expect("a file");
    let state = format!("sqlite:{}", desk.path("serve.db").display());
    let environment = [
        ("PATH", path.as_str()),
        ("NPM_TOKEN", "s3cret"),
        ("PIP_EXTRA_INDEX_URL", "https://me:s3cret@h.example"),
    ];
    let served = desk.start_on(&state, &[], &environment);
    for (target, origin) in [
        ("npm:notes@1.2.3", "fetched notes 1.2.3 with npm"),
        ("pypi:notes@4.5.6", "installed notes 4.5.6 with pip"),
    ] {
        let end = served.audit(target).await;
        assert_eq!(end["state"], "done", "{end}");
        let report = served.json(end["reports"]["json"].as_str().expect("a report")).await;
        let subject = &report["subjects"][0];
        assert!(subject["origin"][0].as_str().expect("an origin").starts_with(origin), "{subject}");
        assert_eq!(subject["entries"][0]["hazard"], "lost-update", "{subject}");
        assert_eq!(subject["live"]["state"], "not-run", "{subject}");
    }
    let seen = fs::read_to_string(seen).expect("they ran");
    for word in [
        "npm pack --ignore-scripts",
        "NPM_CONFIG_IGNORE_SCRIPTS=true",
        "--only-binary=:all:",
        "--no-deps",
        "https_proxy=http://audit:",
    ] {
        assert!(seen.contains(word), "{word}: {seen}");
    }
    assert!(!seen.contains("npm install") && !seen.contains("s3cret"), "{seen}");
    assert!(!marker.exists(), "a script was run");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_takes_more_memory_than_an_audit_may_have_ends_and_the_next_audit_goes_on() {
    let desk = Desk::new();
    let target = desk.repository("notes", &[("index.ts", RACY)]);
    // In the place of the ordinary client one that a repository has driven to take a gigabyte; what it says then is its own.
    #[expect(clippy::disallowed_methods, reason = "the other programs are where they are for this test")]
    let rest = std::env::var("PATH").expect("a path");
    let flag = desk.path("greedy");
    fs::write(&flag, "").expect("a file");
    let script = format!(
        "#!/bin/sh\nPATH='{rest}'\n[ -e {} ] || exec git \"$@\"\nexec python3 -c 'held = bytearray(1 << 30); print(len(held))'\n",
        flag.display()
    );
    let path = stand_in(&desk, "git", &script);
    let state = format!("sqlite:{}", desk.path("serve.db").display());
    let served = desk.start_on(&state, &["--memory", "512", "--workers", "1"], &[("PATH", path.as_str())]);
    let end = served.audit(&target).await;
    assert_eq!(end["state"], "failed", "{end}");
    assert!(end["failure"].as_str().expect("a reason").contains("MemoryError"), "{end}");
    fs::remove_file(flag).expect("the file");
    let end = served.audit(&target).await;
    assert_eq!(end["state"], "done", "{end}");
}
