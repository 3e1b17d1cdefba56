//! Markdown.

use expect_test::expect;
use interlock_model::Report;
use interlock_report::markdown::write;

use crate::sample::{nothing, retry_storm, rules, two_findings};

#[test]
fn a_report_has_a_table_and_a_section_for_each_finding() {
    expect![[r##"
        # Interlock

        **score 75 of 100, grade C: 2 findings (1 high, 1 medium), 1 of them proven**

        looked at 12 files and 240 functions; 1 of 2 tools followed to the end

        | # | severity | hazard | where | tools |
        |---|---|---|---|---|
        | 1 | high | `lost-update` | `src/graph.ts:5` | `create_entities`, `delete_entities` |
        | 2 | medium | `lock-not-released` | `src/lock.ts:10` |  |

        ## 1. `lost-update`: Read, changed and written back over someone else's change

        Two create\_entities calls read the same graph, and the later write discards the other's entities

        - `src/graph.ts:5` in `Graph.create`
        - severity high, confidence high, reach both
        - reached by `create_entities`, `delete_entities`

        | | call | step | where |
        |---|---|---|---|
        | 1 | A | reads the whole graph | `src/graph.ts:5` |
        | 2 | B | reads the whole graph | `src/graph.ts:5` |
        | 3 | A | writes the whole graph | `src/graph.ts:7` |
        | 4 | B | writes the whole graph: A's entities are gone | `src/graph.ts:7` |

        **In the code**: Hold one lock from the read to the write, as wide as the state itself, or write only over the version that was read.

        **In front of the server**, as a policy of the guard:

        ```toml
        [[tool]]
        match = ["create_entities", "delete_entities"]
        lock = "graph"
        changes = "graph"
        ```

        <sub>fingerprint `0123456789abcdef`</sub>

        ## 2. `lock-not-released`

        When the work fails the lock stays held, and every later call waits for good

        - `src/lock.ts:10` in `withLock`
        - severity medium, confidence medium, reach in-process
        - found and proven: broken on the live server; `interlock prove --replay replay.json`

        | | call | step | where |
        |---|---|---|---|
        | 1 | A | takes the lock | `src/lock.ts:10` |
        | 2 | X | the work fails | `src/work.ts:12` |
        | 3 | B | waits for the lock: for good | `src/lock.ts:10` |

        **In the code**: Release in finally.

        <sub>fingerprint `fedcba9876543210`</sub>

        ## Where the way was lost

        - delete\_entities: src/graph.ts:9: it is not known whose `flush` is called

        ## What was left out

        - src/broken.ts: 3 lines could not be read
        - tests were left out: 4 files
    "##]].assert_eq(&write(&two_findings(), &rules(), false));
}

#[test]
fn a_report_without_findings_is_short() {
    expect![[r#"
        # Interlock

        **no findings; not graded: no tool was found in 1 file; look again**

        looked at 1 file and 2 functions; no tool was found
    "#]]
    .assert_eq(&write(&nothing(), &rules(), false));
}

#[test]
fn what_would_harden_a_server_stands_in_a_list_of_its_own() {
    expect![[r#"
        # Interlock

        **no findings, 1 place to harden; not graded: no tool was found in 1 file; look again**

        looked at 1 file and 2 functions; no tool was found

        ## What would make the server bear more

        - `src/api.ts:12`: A caller who loses tries the request to `api` again at once (`retry-storm`). Bound the tries, and spread the delay. The same at src/api.ts:20, src/api.ts:40, src/api.ts:60 and 1 more.
    "#]]
    .assert_eq(&write(&Report { findings: vec![retry_storm()], ..nothing() }, &rules(), true));
}
