//! What programs and people get: reports in all forms, scores over time, the badge, events, numbers.

use crate::kit::{Desk, RACY, commit};

#[tokio::test(flavor = "multi_thread")]
async fn an_audit_has_reports_in_all_forms_a_badge_and_scores_over_time() {
    let desk = Desk::new();
    let target = desk.repository("notes", &[("src/index.ts", RACY)]);
    let served = desk.start(&[]);
    let first = served.audit(&target).await;
    assert_eq!(first["state"], "done", "{first}");
    let score = first["score"].as_u64().expect("a score");
    assert!(score < 100 && first["findings"]["high"].as_u64() >= Some(1), "{first}");
    for (form, kind, word) in [
        ("html", "text/html; charset=utf-8", "lost-update"),
        ("json", "application/json", "\"lost-update\""),
        ("sarif", "application/sarif+json", "\"2.1.0\""),
        ("md", "text/markdown; charset=utf-8", "lost-update"),
    ] {
        let path = first["reports"][form].as_str().expect("a report").to_owned();
        let answer = served.get(&path).send().await.expect("an answer");
        assert_eq!(answer.headers()["content-type"], kind, "{form}");
        let policy = answer.headers()["content-security-policy"].to_str().expect("text").to_owned();
        assert!(policy.contains("default-src 'none'") && policy.contains("sandbox"), "{policy}");
        assert!(answer.text().await.expect("text").contains(word), "{form}");
    }
    // The race is mended, and the score says so.
    let folder = desk.path("repositories/notes");
    std::fs::write(
        folder.join("src/index.ts"),
        RACY.replace("await readFile", "String").replace("await writeFile", "String"),
    )
    .expect("a file");
    commit(&folder);
    let second = served.audit(&target).await;
    assert_eq!(second["score"], 100, "{second}");
    let page = served.text(second["page"].as_str().expect("a page")).await;
    assert!(page.contains(&format!("2 scores, from {score} to 100")), "{page}");
    let badge = served.text(second["badge"].as_str().expect("a badge")).await;
    assert!(badge.contains("<svg") && badge.contains("A 100/100"), "{badge}");
    assert!(served.text("/api/badge.svg?target=npm:never-asked").await.contains("not audited"));
    let list = served.json("/api/audits").await;
    let ids: Vec<_> =
        list["ended"].as_array().into_iter().flatten().map(|audit| audit["id"].clone()).collect();
    assert_eq!(ids, [second["id"].clone(), first["id"].clone()], "newest first");
    assert!(served.text("/").await.contains("A 100"), "the front page has the last score");

    let numbers = served.text("/metrics").await;
    for line in [
        "interlock_serve_audits_queued_total 2",
        "interlock_serve_audits_reported_total 2",
        "interlock_serve_audits_waiting 0",
    ] {
        assert!(numbers.contains(line), "{line}: {numbers}");
    }
    assert_eq!(served.json("/health").await["alive"], true);
    assert_eq!(served.json("/ready").await["ready"], true);
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_comes_as_events_and_ends_with_the_end() {
    let desk = Desk::new();
    let target = desk.repository("notes", &[("src/index.ts", RACY)]);
    let served = desk.start(&[]);
    let (_, about) = served.ask(&target).await;
    // The stream ends by itself after the end.
    let events = served.text(about["events"].as_str().expect("an address")).await;
    let names: Vec<&str> = events.lines().filter_map(|line| line.strip_prefix("event: ")).collect();
    assert_eq!(names.last(), Some(&"end"), "{events}");
    assert!(names.iter().rev().skip(1).all(|name| *name == "progress"), "{events}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_form_works_without_a_script_and_says_what_is_refused() {
    let desk = Desk::new();
    let target = desk.repository("notes", &[("src/index.ts", RACY)]);
    let served = desk.start(&[]);
    let form = |target: &str| {
        let body = format!("target={}", target.replace(':', "%3A").replace('/', "%2F").replace('<', "%3C"));
        served.post("/audits").header("content-type", "application/x-www-form-urlencoded").body(body).send()
    };
    let answer = form(&target).await.expect("an answer");
    assert_eq!(answer.status(), 303);
    assert!(answer.headers()["location"].to_str().expect("text").starts_with("/audits/"));
    let answer = form("https://evil.example/<b>").await.expect("an answer");
    assert_eq!(answer.status(), 422);
    let page = answer.text().await.expect("text");
    assert!(
        page.contains("is not among the hosts") && page.contains("&lt;b&gt;") && !page.contains("<b>"),
        "{page}"
    );
}
