//! Archives that are sent: read like a repository, or refused for what they try.

use std::{fs, os::unix::fs::symlink, process::Command};

use crate::kit::{Desk, RACY};

/// Packs a folder with the ordinary `tar`.
fn tar(desk: &Desk, folder: &str, options: &[&str]) -> Vec<u8> {
    let file = desk.path("packed.tgz");
    let packed =
        Command::new("tar").arg("-czf").arg(&file).arg("-C").arg(desk.path(folder)).args(options).output();
    let packed = packed.expect("tar is there");
    assert!(packed.status.success(), "{}", String::from_utf8_lossy(&packed.stderr));
    fs::read(file).expect("the archive")
}

#[tokio::test(flavor = "multi_thread")]
async fn an_archive_is_read_and_called_what_the_caller_calls_it() {
    let desk = Desk::new();
    fs::create_dir_all(desk.path("source/notes/src")).expect("a folder");
    fs::write(desk.path("source/notes/src/index.ts"), RACY).expect("a file");
    let served = desk.start(&[]);
    let (status, about) = served.send("my%20notes.tgz", tar(&desk, "source", &["notes"])).await;
    assert_eq!(status, 201, "{about}");
    let end = served.end_of(&about).await;
    assert_eq!((&end["state"], &end["target"]), (&"done".into(), &"archive:my notes.tgz".into()), "{end}");
    let report = served.json(end["reports"]["json"].as_str().expect("a report")).await;
    assert_eq!(report["subjects"][0]["name"], "archive:my notes.tgz");
    let finding = &report["subjects"][0]["scan"]["findings"][0];
    assert_eq!((&finding["hazard"], &finding["file"]), (&"lost-update".into(), &"src/index.ts".into()));
    assert!(
        !report.to_string().contains(desk.path("tmp").to_str().expect("a name")),
        "no path of this machine is told"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_archive_that_leads_out_is_too_much_or_is_none_ends_without_a_report() {
    let desk = Desk::new();
    let served = desk.start(&["--upload", "1"]);
    fs::create_dir_all(desk.path("source/in")).expect("a folder");
    fs::write(desk.path("source/out.ts"), RACY).expect("a file");
    let up = tar(&desk, "source/in", &["--absolute-names", "../out.ts"]);
    let (_, about) = served.send("up.tgz", up).await;
    let end = served.end_of(&about).await;
    assert!(end["failure"].as_str().expect("a reason").contains("leads out"), "{end}");

    // Two GiB of nothing in two MiB would be refused for its size already.
    fs::write(desk.path("source/zeros"), vec![0; 1 << 20]).expect("a file");
    let many: Vec<String> = vec!["zeros".to_owned(); 1100];
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let bomb = tar(&desk, "source", &[&["--hard-dereference"], many.as_slice()].concat());
    let (status, about) = served.send("bomb.tgz", bomb).await;
    let failure =
        if status == 413 { "too large".into() } else { served.end_of(&about).await["failure"].to_string() };
    assert!(failure.contains("larger than 1024 MiB") || failure.contains("too large"), "{failure}");

    // A link to the folder of this very test is not followed.
    fs::create_dir(desk.path("linked")).expect("a folder");
    fs::write(desk.path("linked/README.md"), "nothing").expect("a file");
    symlink(desk.path("source"), desk.path("linked/everything")).expect("a link");
    let (_, about) = served.send("links.tgz", tar(&desk, "linked", &["."])).await;
    let end = served.end_of(&about).await;
    assert_eq!(end["findings"], serde_json::json!({}), "{end}");

    let (status, about) = served.send("text.tgz", b"hello".to_vec()).await;
    assert_eq!(
        (status.as_u16(), about["error"].as_str()),
        (400, Some("it is no tar, tar.gz or zip archive"))
    );
    let (status, _) = served.send("large.tgz", vec![0x1f; 2 << 20]).await;
    assert_eq!(status, 413);
    assert_eq!(fs::read_dir(desk.path("tmp")).expect("a folder").count(), 0, "nothing is left behind");
}
