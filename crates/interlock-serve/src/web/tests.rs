//! Requests that are made up; the program is tried in `crates/interlock/tests/serve`.

use std::num::NonZeroU32;

use interlock_sync::{memory::MemoryStore, store::Quota};
use tower::ServiceExt;

use super::*;

fn router() -> Router {
    let store: Arc<dyn interlock_sync::store::Store> = Arc::new(MemoryStore::default());
    let some = NonZeroU32::new(4).unwrap();
    let quota = Quota::bucket(10, std::time::Duration::from_secs(60)).unwrap();
    let web = Web {
        jobs: Jobs::new(store.clone(), std::time::Duration::from_secs(1), some),
        allowed: Allowed { packages: true, ..Allowed::default() },
        doors: Doors { is_loopback: true, ..Doors::default() },
        limits: Limits::new(store, quota, some, 1 << 20),
        tally: Arc::default(),
        wake: Arc::default(),
    };
    Arc::new(web).router().layer(axum::Extension(Peer(SocketAddr::from(([127, 0, 0, 1], 9)))))
}

async fn get(path: &str) -> (StatusCode, http::HeaderMap, String) {
    let request =
        http::Request::get(path).header("host", "localhost").body(axum::body::Body::empty()).unwrap();
    let response = router().oneshot(request).await.unwrap();
    let (parts, body) = response.into_parts();
    let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
    (parts.status, parts.headers, String::from_utf8(body.to_vec()).unwrap())
}

#[tokio::test]
async fn every_path_of_the_description_is_there() {
    let description: serde_json::Value = serde_json::from_str(include_str!("openapi.json")).unwrap();
    for path in description["paths"].as_object().unwrap().keys() {
        let path = path.replace("{id}", &"0".repeat(32)).replace("{form}", "html");
        let (_, _, said) = get(&path).await;
        assert!(!said.contains("there is nothing here"), "{path}: {said}");
    }
    assert!(get("/nowhere").await.2.contains("there is nothing here"));
}

#[tokio::test]
async fn no_answer_lets_a_browser_run_what_stands_in_it() {
    for path in ["/", "/audits/x", "/api/audits", "/nowhere", "/health", "/badges/x.svg", "/page.js"] {
        let (_, headers, body) = get(path).await;
        let policy = headers["content-security-policy"].to_str().unwrap();
        assert!(
            policy.contains("default-src 'none'") && !policy.contains("unsafe-inline"),
            "{path}: {policy}"
        );
        assert_eq!(headers["x-content-type-options"], "nosniff", "{path}");
        assert!(
            !body.contains(" style=") && !body.contains(" onclick") && !body.contains("<script>"),
            "{path}"
        );
    }
}
