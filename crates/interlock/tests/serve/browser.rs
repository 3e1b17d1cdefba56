//! The whole way in a real browser: paste, watch, open the report, filter, read a witness. A hostile name runs nothing.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use serde_json::{Value, json};

use crate::kit::{Desk, RACY};

/// A name that would run if it became markup anywhere.
const EVIL: &str = "<img src=x onerror=\"document.title='owned'\">.ts";

fn look(task: &Value) -> Value {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/guard/browser.py");
    let mut child = Command::new("python3")
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("there is a python3");
    serde_json::to_writer(child.stdin.take().expect("its input"), task).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "the browser did not get to the end; is there a chromium?");
    serde_json::from_slice(&output.stdout).expect("it reports in JSON")
}

/// Where the entries of a report are, those that the filter leaves, and what is known of the page.
const READ: &str = "({
  title: document.title,
  text: document.body.innerText,
  entries: [...document.querySelectorAll('.entry')].filter((one) => one.checkVisibility()).length,
  images: document.images.length,
  overflows: document.documentElement.scrollWidth > document.documentElement.clientWidth,
})";

#[tokio::test(flavor = "multi_thread")]
async fn in_a_browser_a_repository_is_pasted_watched_and_its_report_read_and_a_hostile_name_runs_nothing() {
    let desk = Desk::new();
    let counter = RACY.replace("add_note", "add_count").replace("notes.json", "counts.json");
    let files = [
        ("src/index.ts", RACY),
        ("src/counts.ts", &counter),
        (EVIL, &RACY.replace("notes.json", "evil.json")),
    ];
    let target = desk.repository("<b>notes", &files);
    let served = desk.start(&[]);
    // Kept, so that somebody can look at them.
    let pictures = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let picture = |name: &str| pictures.join(format!("serve-{name}.png"));
    let choose = "(() => { const list = document.getElementById('by-file'); list.selectedIndex = 1; return list.options.length; })()";
    let toggle = "(() => { const one = [...document.querySelectorAll('.entry .interleaving')].find((one) => one.checkVisibility()); \
                  one.querySelector('summary').click(); return one.open; })()";
    let steps = json!([
        { "ready": "!!(document.getElementById('target') && document.getElementById('drop'))", "picture": picture("front"), "do": READ },
        { "ready": "true", "do": format!("(() => {{ document.getElementById('target').value = {}; document.querySelector('#ask button').click(); }})()", json!(target)) },
        { "ready": "!!(document.getElementById('watch') || document.getElementById('ended'))", "picture": picture("watch"), "do": "document.title" },
        { "ready": "!!document.getElementById('open')", "picture": picture("ended"), "do": READ },
        { "ready": "true", "do": "location.assign(document.getElementById('open').href)" },
        { "ready": "document.querySelectorAll('.entry').length > 2", "picture": picture("report"), "do": READ },
        { "ready": "true", "do": choose },
        { "ready": "true", "picture": picture("filtered"), "do": READ },
        { "ready": "true", "do": toggle },
        { "ready": "true", "do": READ },
        { "ready": "true", "do": toggle },
        { "ready": "true", "picture": picture("expanded"), "do": READ },
    ]);
    let shots = json!([
        { "scheme": "light", "width": 1280, "height": 900, "file": picture("light-1280") },
        { "scheme": "dark", "width": 390, "height": 900, "file": picture("dark-390") },
    ]);
    let task = json!({ "url": format!("{}/", served.url), "steps": steps, "ready": "true", "read": READ, "shots": shots });
    let saw = tokio::task::spawn_blocking(move || look(&task)).await.expect("it looks");
    assert_eq!(saw["troubles"], json!([]), "nothing is refused by the pages' own policy, and nothing breaks");
    for steps in saw["steps"].as_array().expect("one for each shot") {
        let at = |step: usize| &steps[step];
        let text = |step: usize| at(step)["text"].as_str().expect("text");
        assert!(text(0).contains("Audit an MCP server"), "{}", text(0));
        assert!(
            text(3).contains("of 100") && text(3).contains("Open the report") && text(3).contains("<b>notes"),
            "{}",
            text(3)
        );
        assert!(text(5).contains(EVIL), "the name is shown as it is: {}", text(5));
        assert!(at(6).as_u64() >= Some(3), "the filter knows the files: {}", at(6));
        let entries = |step: usize| at(step)["entries"].as_u64().expect("a number");
        assert!(
            (1..entries(5)).contains(&entries(7)),
            "the filter leaves some: {} of {}",
            entries(7),
            entries(5)
        );
        assert!(!text(7).contains("src/index.ts:"), "and those of the other files are gone: {}", text(7));
        let steps_shown = |step: usize| text(step).matches("call B").count();
        assert_eq!((at(8), at(10)), (&false.into(), &true.into()), "a witness is folded and unfolded");
        assert_eq!(steps_shown(9) + 1, steps_shown(11), "{} {}", text(9), text(11));
        for step in [0, 3, 5, 7, 9, 11] {
            assert!(!at(step)["title"].as_str().expect("a title").contains("owned"), "{step}");
            assert_eq!(at(step)["overflows"], false, "nobody has to scroll sideways, step {step}");
        }
        assert_eq!(at(5)["images"], 0, "no name became a picture");
    }
}
