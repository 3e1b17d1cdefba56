//! The live page in a real browser: what it shows of a guard under way, in light and in dark, wide and narrow.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use serde_json::{Value, json};

use crate::{
    effects::Effects,
    kit::{Client, free_address, until},
};

const POLICY: &str = "\
[[tool]]\nmatch = \"do\"\nlock = \"page:{args.page}\"\nchanges = \"page:{args.page}\"\n\n\
[[tool]]\nmatch = \"look\"\nrate = \"3/h\"\n\n\
[[tool]]\nmatch = \"crash\"\ndeny = true\n";

/// Everything on the page that people read, and the colours that they read it in.
const READ: &str = "({
  text: Object.fromEntries(['ready', 'about', 'upstreams', 'keys-count', 'keys', 'calls', 'refusals'].map(
    (id) => [id, document.getElementById(id).innerText])),
  curves: [...document.querySelectorAll('.curve')].map((curve) => curve.getAttribute('d').length),
  labels: [...document.querySelectorAll('#plots svg')].map((svg) => svg.getAttribute('aria-label')),
  page: getComputedStyle(document.body).backgroundColor,
  ink: getComputedStyle(document.body).color,
  overflows: document.documentElement.scrollWidth > document.documentElement.clientWidth,
})";

/// The page has heard of everything that goes on, and has two seconds of it to draw.
const READY: &str = "document.querySelectorAll('#keys .card').length === 2 \
  && document.querySelectorAll('#refusals tbody tr').length === 3 \
  && document.querySelectorAll('#calls tbody tr').length === 3 \
  && (document.querySelector('.curve').getAttribute('d') || '').split('L').length > 2";

pub(crate) fn look(task: &Value) -> Value {
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

/// Two pages that are worked on, calls that wait for them, one without anybody behind it, and refusals of two kinds.
async fn busy(client: &Client, effects: &Effects) {
    let doing = |name: &'static str, page: &'static str| {
        let client = client.clone();
        let wish = json!({ "name": name, "page": page, "ms": 1_000_000 });
        tokio::spawn(async move { client.try_call("do", wish).await });
    };
    for (name, page) in [("a", "home"), ("b", "about"), ("c", "alone")] {
        doing(name, page);
    }
    until("three run", || effects.began() == 3).await;
    for page in ["home", "home", "home", "about"] {
        doing("late", page);
    }
    for _ in 0..5 {
        client.call("look", json!({})).await;
    }
    client.call("crash", json!({})).await;
}

/// The width and height that a picture says it has.
fn size(picture: &Path) -> (u32, u32) {
    let bytes = std::fs::read(picture).expect("there is a picture");
    assert!(bytes.starts_with(b"\x89PNG"), "it is a picture");
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    (number(16), number(20))
}

#[tokio::test(flavor = "multi_thread")]
async fn in_a_browser_the_page_shows_who_runs_who_waits_who_was_refused_and_how_the_servers_are() {
    let (effects, admin) = (Effects::new(), free_address());
    let guard = effects.configured(POLICY).with(&["--admin", &admin]).serve();
    let client = guard.client().await;
    busy(&client, &effects).await;
    // Kept, so that somebody can look at them.
    let pictures = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let shots: Vec<Value> = [("light", 1280, 1000), ("dark", 1280, 1000), ("light", 390, 1800)]
        .iter()
        .map(|(scheme, width, height)| {
            let file = pictures.join(format!("guard-page-{scheme}-{width}.png"));
            json!({ "scheme": scheme, "width": width, "height": height, "file": file })
        })
        .collect();
    let task = json!({ "url": format!("http://{admin}/"), "ready": READY, "read": READ, "shots": shots });
    let saw = tokio::task::spawn_blocking(move || look(&task)).await.expect("it looks");
    assert_eq!(saw["troubles"], json!([]), "nothing is refused by the page's own policy, and nothing breaks");
    for seen in saw["seen"].as_array().expect("one for each picture") {
        let text = |id: &str| seen["text"][id].as_str().expect("a text").replace('\u{a0}', " ");
        assert_eq!(text("ready"), "ready");
        assert!(text("about").contains("policy 1; 13 calls, 3 refused"), "{}", text("about"));
        assert!(text("upstreams").contains("effects up"), "{}", text("upstreams"));
        assert_eq!(text("keys-count"), "4 calls wait for 2 keys");
        let keys = text("keys");
        for words in ["page:home", "3 calls wait", "page:about", "1 call waits", "do by anonymous"] {
            assert!(keys.contains(words), "{words:?} is not in {keys:?}");
        }
        assert!(text("calls").contains("page:alone"), "{}", text("calls"));
        let refusals = text("refusals");
        assert!(refusals.contains("rate") && refusals.contains("denied"), "{refusals}");
        let curves = seen["curves"].as_array().expect("curves");
        assert!(curves.len() == 4 && curves.iter().all(|length| length.as_u64() > Some(10)), "{seen}");
        assert!(seen["labels"].to_string().contains("in flight: 3 now"), "{}", seen["labels"]);
        assert_eq!(seen["overflows"], false, "nobody has to scroll sideways");
    }
    let colours = |at: usize| (&saw["seen"][at]["page"], &saw["seen"][at]["ink"]);
    assert_ne!(colours(0), colours(1), "the dark page is another one");
    assert_eq!(size(&pictures.join("guard-page-dark-1280.png")).0, 1280);
    assert_eq!(size(&pictures.join("guard-page-light-390.png")).0, 390);
}
