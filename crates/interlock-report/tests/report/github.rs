//! Annotations of GitHub Actions.

use expect_test::expect;
use interlock_report::github::write;

use crate::sample::{nothing, rules, two_findings};

#[test]
fn each_finding_is_an_annotation_at_its_lines() {
    expect![[r#"
        ::error file=packages/server/src/graph.ts,line=5,endLine=5,title=lost-update%3A Read%2C changed and written back over someone else's change::Two create_entities calls read the same graph, and the later write discards the other's entities%0A1. A reads the whole graph (src/graph.ts:5)%0A2. B reads the whole graph (src/graph.ts:5)%0A3. A writes the whole graph (src/graph.ts:7)%0A4. B writes the whole graph: A's entities are gone (src/graph.ts:7)%0AReached by create_entities, delete_entities.%0AHold one lock from the read to the write, as wide as the state itself, or write only over the version that was read.
        ::warning file=packages/server/src/lock.ts,line=10,endLine=14,title=lock-not-released::When the work fails the lock stays held, and every later call waits for good%0A1. A takes the lock (src/lock.ts:10)%0A2. X the work fails (src/work.ts:12)%0A3. B waits for the lock: for good (src/lock.ts:10)%0Afound and proven: broken on the live server; interlock prove --replay replay.json%0ARelease in finally.
        ::notice title=Interlock::score 75 of 100, grade C: 2 findings (1 high, 1 medium), 1 of them proven%0Alooked at 12 files and 240 functions; 1 of 2 tools followed to the end
    "#]].assert_eq(&write(&two_findings(), &rules(), "packages/server/", false));
}

#[test]
fn the_worst_come_first() {
    let mut report = two_findings();
    report.findings.reverse();
    assert_eq!(write(&report, &rules(), "", false), write(&two_findings(), &rules(), "", false));
}

#[test]
fn without_findings_only_the_score_is_noticed() {
    expect![[r#"
        ::notice title=Interlock::no findings; not graded: no tool was found in 1 file; look again%0Alooked at 1 file and 2 functions; no tool was found
    "#]].assert_eq(&write(&nothing(), &rules(), "", false));
}
