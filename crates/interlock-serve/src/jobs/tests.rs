//! Ends, claims and limits on the store of one process; many processes are tried with the program.

use std::collections::BTreeMap;

use interlock_sync::memory::MemoryStore;

use super::*;

fn jobs(lease: Duration) -> Jobs {
    Jobs::new(Arc::new(MemoryStore::default()), lease, NonZeroU32::new(2).unwrap())
}

fn asked(target: &str) -> Asked {
    Asked { target: target.to_owned(), caller: "somebody".to_owned(), at: 1, uploaded: false }
}

fn done(asked: &Asked, score: u8) -> Done {
    Done {
        asked: asked.clone(),
        ended: 2,
        took: 1,
        tries: 1,
        score: Some(score),
        grade: None,
        findings: BTreeMap::new(),
        failure: None,
    }
}

async fn submit(jobs: &Jobs, target: &str) -> OpId {
    match jobs.submit(&asked(target), None).await.unwrap() {
        Submitted::Queued(id) => id,
        Submitted::Full { .. } => panic!("there is room"),
    }
}

#[tokio::test]
async fn an_audit_goes_from_the_queue_to_its_end_and_its_report_is_there() {
    let jobs = jobs(Duration::from_secs(10));
    let id = submit(&jobs, "npm:a").await;
    assert_eq!(jobs.state(id).await.unwrap(), Some(State::Queued(asked("npm:a"))));
    let claim = jobs.claim().await.unwrap().unwrap();
    assert_eq!((claim.id, claim.tries), (id, 1));
    assert!(jobs.claim().await.unwrap().is_none(), "it is taken");
    let progress = Progress { step: 1, of: 2, doing: "reading".into() };
    jobs.progress(&claim, &progress).await;
    assert_eq!(jobs.state(id).await.unwrap(), Some(State::Running(asked("npm:a"), progress)));
    let report = Report::from([(Form::Json, compress(b"{}"))]);
    let end = done(&claim.asked, 80);
    assert_eq!(jobs.end(claim, &end, report).await.unwrap(), Ended::Once);
    assert_eq!(jobs.state(id).await.unwrap(), Some(State::Done(end)));
    assert_eq!(jobs.report(id, Form::Json).await.unwrap().as_deref(), Some(&b"{}"[..]));
    assert_eq!(jobs.waiting(10).await.unwrap(), 0);
    assert_eq!(jobs.state(OpId(7)).await.unwrap(), None);
}

#[tokio::test(start_paused = true)]
async fn a_worker_that_was_taken_for_dead_cannot_end_what_another_has() {
    let jobs = jobs(Duration::from_secs(1));
    submit(&jobs, "npm:a").await;
    let first = jobs.claim().await.unwrap().unwrap();
    // What a killed process leaves: a lease that nobody renews.
    let (asked, id) = (first.asked.clone(), first.id);
    jobs.store.release_lease(&key("lease", id).unwrap(), first.lease.fence()).await.unwrap();
    let second = jobs.claim().await.unwrap().unwrap();
    assert_eq!((second.id, second.tries), (id, 2));
    assert_eq!(jobs.end(first, &done(&asked, 10), Report::new()).await.unwrap(), Ended::Lost);
    assert_eq!(jobs.end(second, &done(&asked, 20), Report::new()).await.unwrap(), Ended::Once);
    assert_eq!(jobs.done(id).await.unwrap().unwrap().score, Some(20));
}

#[tokio::test]
async fn an_end_whose_worker_died_before_it_tidied_up_stays_the_end() {
    let jobs = jobs(Duration::from_secs(10));
    let id = submit(&jobs, "npm:a").await;
    let claim = jobs.claim().await.unwrap().unwrap();
    let end = done(&claim.asked, 30);
    jobs.under(
        &claim,
        &newest_first("done", id).unwrap(),
        entry::encode(&end),
        interlock_sync::store::Expect::Absent,
    )
    .await
    .unwrap();
    claim.lease.release().await.unwrap();
    assert!(jobs.claim().await.unwrap().is_none(), "there is nothing left to do");
    assert_eq!(jobs.waiting(10).await.unwrap(), 0);
    assert_eq!(jobs.done(id).await.unwrap(), Some(end));
}

#[tokio::test]
async fn a_caller_has_only_so_many_under_way_and_others_are_not_kept_from_theirs() {
    let jobs = jobs(Duration::from_secs(10));
    submit(&jobs, "npm:a").await;
    submit(&jobs, "npm:b").await;
    assert_eq!(jobs.submit(&asked("npm:c"), None).await.unwrap(), Submitted::Full { in_use: 2 });
    let other = Asked { caller: "another".into(), ..asked("npm:c") };
    assert!(matches!(jobs.submit(&other, None).await.unwrap(), Submitted::Queued(_)));
    let mut claim = jobs.claim().await.unwrap().unwrap();
    if claim.asked.caller == other.caller {
        // Ids of the same millisecond have no order, so that the other caller's may come first.
        claim = jobs.claim().await.unwrap().unwrap();
    }
    let end = done(&claim.asked, 1);
    jobs.end(claim, &end, Report::new()).await.unwrap();
    submit(&jobs, "npm:d").await;
}

#[tokio::test]
async fn audits_are_listed_newest_first_and_forgotten_when_they_are_old() {
    let jobs = jobs(Duration::from_secs(10)).keeping(Duration::from_secs(60));
    let mut ids = Vec::new();
    for score in [10, 20, 30] {
        ids.push(submit(&jobs, "npm:a").await);
        // Ids of the same millisecond have no order.
        tokio::time::sleep(Duration::from_millis(2)).await;
        let claim = jobs.claim().await.unwrap().unwrap();
        let end = done(&claim.asked, score);
        jobs.end(claim, &end, Report::from([(Form::Html, compress(b"x"))])).await.unwrap();
    }
    let scores =
        |points: Vec<Point>| points.into_iter().map(|point| point.done.score.unwrap()).collect::<Vec<_>>();
    assert_eq!(scores(jobs.recent(None, 10).await.unwrap()), [30, 20, 10]);
    assert_eq!(scores(jobs.recent(Some(ids[2]), 1).await.unwrap()), [20]);
    assert_eq!(scores(jobs.history("npm:a", 10).await.unwrap()), [30, 20, 10]);
    assert_eq!(scores(jobs.history("npm:b", 10).await.unwrap()), [] as [u8; 0]);
    let made = u64::try_from(ids[2].0 >> 80).unwrap();
    assert_eq!(jobs.forget(made + 1_000).await.unwrap(), 0);
    assert_eq!(jobs.forget(made + 61_000).await.unwrap(), 3);
    assert_eq!(jobs.recent(None, 10).await.unwrap(), []);
    assert_eq!(jobs.report(ids[0], Form::Html).await.unwrap(), None);
}

#[tokio::test]
async fn an_audit_that_ends_its_workers_is_given_up() {
    let jobs = jobs(Duration::from_secs(10));
    submit(&jobs, "npm:a").await;
    for tries in 1..=4 {
        let claim = jobs.claim().await.unwrap().unwrap();
        assert_eq!((claim.tries, claim.is_hopeless()), (tries, tries == 4));
        claim.lease.release().await.unwrap();
    }
}
