//! Stale writes: who writes without having seen the last change is told to read again.

use serde_json::json;

use crate::{effects::Effects, kit::Said};

const POLICY: &str = "\
[[tool]]\nmatch = \"look\"\nobserves = \"page\"\n\n\
[[tool]]\nmatch = \"do\"\nlock = \"page\"\nchanges = \"page\"\nrequires_fresh = \"page\"\n";

#[tokio::test(flavor = "multi_thread")]
async fn a_write_behind_somebody_elses_is_refused_until_its_author_has_read_again() {
    let effects = Effects::new();
    let guard = effects.configured(POLICY).serve();
    let (a, b) = (guard.client().await, guard.client().await);
    let write = |name: &str| json!({ "name": name });
    assert!(!a.call("look", json!({})).await.is_error);
    assert!(!b.call("look", json!({})).await.is_error);
    assert!(!b.call("do", write("b")).await.is_error);
    let refused: Said = a.call("do", write("a, stale")).await;
    assert!(refused.is_error, "{refused:?}");
    assert!(refused.text().contains("page") && refused.text().to_lowercase().contains("read"), "{refused:?}");
    assert!(!a.call("look", json!({})).await.is_error);
    assert!(!a.call("do", write("a, fresh")).await.is_error);
    let happened: Vec<String> = effects.happened().into_keys().collect();
    assert_eq!(happened, ["a, fresh", "b"]);
}
