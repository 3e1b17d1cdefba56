//! Text for a terminal.

use expect_test::{Expect, expect};
use interlock_model::{Finding, Lane, Report, Verdict, Witness};
use interlock_report::text::{Look, write};

use crate::sample::{at, lock_not_released, lost_update, nothing, retry_storm, sources, step, two_findings};

const PLAIN: Look = Look { colour: false, width: 100, all: true };

fn check(report: &Report, look: Look, expect: Expect) {
    expect.assert_eq(&write(report, &sources, look).replace('\u{1b}', "^"));
}

fn only(finding: Finding) -> Report {
    Report { findings: vec![finding], ..nothing() }
}

#[test]
fn a_finding_shows_the_code_the_interleaving_and_what_to_do() {
    check(
        &two_findings(),
        PLAIN,
        expect![[r#"
            high[lost-update]: Two create_entities calls read the same graph, and the later write discards the
                               other's entities
             --> src/graph.ts:5:5
              |
            5 |     const graph = await this.load();
              |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ 1, 2 reads the whole graph
            6 |     graph.entities.push(...entities);
            7 |     await this.save(graph);
              |     ----------------------- 3, 4 writes the whole graph

              call A  create_entities                call B  create_entities
              1 reads the whole graph   graph.ts:5
                                                     2 reads the whole graph   graph.ts:5
              3 writes the whole graph  graph.ts:7
                                                     4 writes the whole graph  graph.ts:7
                                                       A's entities are gone

            in     Graph.create, confidence high, reach both, tools create_entities, delete_entities
            fix    Hold one lock from the read to the write, as wide as the state itself, or write only over the
                   version that was read.
            guard  [[tool]]
                   match = ["create_entities", "delete_entities"]
                   lock = "graph"
                   changes = "graph"

            medium[lock-not-released]: When the work fails the lock stays held, and every later call waits for
                                       good
            --> src/lock.ts:10
            ::: src/work.ts:12

              call A                         call B
              1 takes the lock  lock.ts:10
                                             2 X: the work fails   work.ts:12
                                             3 waits for the lock  lock.ts:10   for good

            in     withLock, confidence medium, reach in-process
            proof  found and proven: broken on the live server; interlock prove --replay replay.json
            fix    Release in finally.

            note: src/broken.ts: 3 lines could not be read
            note: tests were left out: 4 files
            lost: delete_entities: src/graph.ts:9: it is not known whose `flush` is called
            score 75 of 100, grade C: 2 findings (1 high, 1 medium), 1 of them proven
            looked at 12 files and 240 functions; 1 of 2 tools followed to the end
        "#]],
    );
}

#[test]
fn colour_marks_the_same_text() {
    check(
        &only(lost_update()),
        Look { colour: true, ..PLAIN },
        expect![[r#"
            ^[1m^[91mhigh[lost-update]^[0m^[1m: Two create_entities calls read the same graph, and the later write discards the^[0m
                               ^[1mother's entities^[0m
             ^[1m^[94m--> ^[0msrc/graph.ts:5:5
              ^[1m^[94m|^[0m
            ^[1m^[94m5^[0m ^[1m^[94m|^[0m     const graph = await this.load();
              ^[1m^[94m|^[0m     ^[1m^[91m^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^[0m ^[1m^[91m1, 2 reads the whole graph^[0m
            ^[1m^[94m6^[0m ^[1m^[94m|^[0m     graph.entities.push(...entities);
            ^[1m^[94m7^[0m ^[1m^[94m|^[0m     await this.save(graph);
              ^[1m^[94m|^[0m     ^[1m^[94m-----------------------^[0m ^[1m^[94m3, 4 writes the whole graph^[0m

              ^[1mcall A  create_entities^[0m                ^[1mcall B  create_entities^[0m
              1 reads the whole graph   ^[2mgraph.ts:5^[0m
                                                     2 reads the whole graph   ^[2mgraph.ts:5^[0m
              3 writes the whole graph  ^[2mgraph.ts:7^[0m
                                                     4 writes the whole graph  ^[2mgraph.ts:7^[0m
                                                       ^[1m^[31mA's entities are gone^[0m

            ^[1min   ^[0m  Graph.create, confidence high, reach both, tools create_entities, delete_entities
            ^[1mfix  ^[0m  Hold one lock from the read to the write, as wide as the state itself, or write only over the
                   version that was read.
            ^[1mguard^[0m  [[tool]]
                   match = ["create_entities", "delete_entities"]
                   lock = "graph"
                   changes = "graph"

            ^[1m^[33m1 finding (1 high); not graded: no tool was found in 1 file; look again^[0m
            looked at 1 file and 2 functions; no tool was found
        "#]],
    );
    let coloured = write(&two_findings(), &sources, Look { colour: true, ..PLAIN });
    let mut bare = String::new();
    for (index, part) in coloured.split('\u{1b}').enumerate() {
        bare.push_str(if index == 0 { part } else { part.split_once('m').unwrap().1 });
    }
    assert_eq!(bare, write(&two_findings(), &sources, PLAIN));
}

#[test]
fn a_tree_without_a_server_says_so() {
    check(
        &nothing(),
        PLAIN,
        expect![[r#"
            no findings; not graded: no tool was found in 1 file; look again
            looked at 1 file and 2 functions; no tool was found
        "#]],
    );
}

#[test]
fn in_little_room_the_columns_wrap() {
    check(
        &only(lost_update()),
        Look { colour: false, width: 70, all: true },
        expect![[r#"
            high[lost-update]: Two create_entities calls read the same graph, and
                               the later write discards the other's entities
             --> src/graph.ts:5:5
              |
            5 |     const graph = await this.load();
              |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ 1, 2
            6 |     graph.entities.push(...entities);
            7 |     await this.save(graph);
              |     ----------------------- 3, 4 writes the whole graph

              call A  create_entities            call B  create_entities
              1 reads the whole graph
                graph.ts:5
                                                 2 reads the whole graph
                                                   graph.ts:5
              3 writes the whole graph
                graph.ts:7
                                                 4 writes the whole graph
                                                   graph.ts:7
                                                   A's entities are gone

            in     Graph.create, confidence high, reach both, tools
                   create_entities, delete_entities
            fix    Hold one lock from the read to the write, as wide as the state
                   itself, or write only over the version that was read.
            guard  [[tool]]
                   match = ["create_entities", "delete_entities"]
                   lock = "graph"
                   changes = "graph"

            1 finding (1 high); not graded: no tool was found in 1 file; look
            again
            looked at 1 file and 2 functions; no tool was found
        "#]],
    );
}

#[test]
fn in_no_room_the_steps_stand_below_each_other() {
    check(
        &only(lock_not_released()),
        Look { colour: false, width: 10, all: true },
        expect![[r#"
            medium[lock-not-released]: When the work fails the lock
                                       stays held, and every later
                                       call waits for good
            --> src/lock.ts:10
            ::: src/work.ts:12

              call A
              call B
              1 A takes the lock  lock.ts:10
              2 X the work fails  work.ts:12
              3 B waits for the lock  lock.ts:10
                  for good

            in     withLock, confidence medium,
                   reach in-process
            proof  found and proven: broken on the
                   live server; interlock prove
                   --replay replay.json
            fix    Release in finally.

            1 finding (1 medium), 1 of them proven;
            not graded: no tool was found in 1 file;
            look again
            looked at 1 file and 2 functions; no
            tool was found
        "#]],
    );
}

#[test]
fn an_event_stands_in_the_column_of_the_other_call() {
    let mut finding = lock_not_released();
    finding.witness.0.pop();
    check(
        &only(finding),
        PLAIN,
        expect![[r#"
            medium[lock-not-released]: When the work fails the lock stays held, and every later call waits for
                                       good
            --> src/lock.ts:10
            ::: src/work.ts:12

              call A                         in between
              1 takes the lock  lock.ts:10
                                             2 the work fails  work.ts:12

            in     withLock, confidence medium, reach in-process
            proof  found and proven: broken on the live server; interlock prove --replay replay.json
            fix    Release in finally.

            1 finding (1 medium), 1 of them proven; not graded: no tool was found in 1 file; look again
            looked at 1 file and 2 functions; no tool was found
        "#]],
    );
}

#[test]
fn files_of_the_same_name_are_told_apart() {
    let mut finding = lost_update();
    finding.witness = Witness(vec![
        step(Lane::A, "src/a/index.ts", 1, "reads"),
        step(Lane::B, "src/b/index.ts", 2, "writes: A has old news"),
    ]);
    check(
        &only(finding),
        PLAIN,
        expect![[r#"
            high[lost-update]: Two create_entities calls read the same graph, and the later write discards the
                               other's entities
             --> src/graph.ts:5:5
              |
            5 |     const graph = await this.load();
              |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
             ::: src/a/index.ts:1
             ::: src/b/index.ts:2

              call A  create_entities     call B  create_entities
              1 reads  src/a/index.ts:1
                                          2 writes  src/b/index.ts:2   A has old news

            in     Graph.create, confidence high, reach both, tools create_entities, delete_entities
            fix    Hold one lock from the read to the write, as wide as the state itself, or write only over the
                   version that was read.
            guard  [[tool]]
                   match = ["create_entities", "delete_entities"]
                   lock = "graph"
                   changes = "graph"

            1 finding (1 high); not graded: no tool was found in 1 file; look again
            looked at 1 file and 2 functions; no tool was found
        "#]],
    );
}

#[test]
fn wide_characters_keep_the_columns_straight() {
    let mut finding = lost_update();
    finding.tools = vec!["記録".into()];
    finding.witness = Witness(vec![
        step(Lane::A, "src/記.ts", 1, "全部を読む"),
        step(Lane::B, "src/記.ts", 1, "reads it all"),
        step(Lane::A, "src/記.ts", 2, "writes"),
    ]);
    check(
        &only(finding),
        PLAIN,
        expect![[r#"
            high[lost-update]: Two create_entities calls read the same graph, and the later write discards the
                               other's entities
             --> src/graph.ts:5:5
              |
            5 |     const graph = await this.load();
              |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
             ::: src/記.ts:1

              call A  記録            call B  記録
              1 全部を読む  記.ts:1
                                      2 reads it all  記.ts:1
              3 writes      記.ts:2

            in     Graph.create, confidence high, reach both, tools 記録
            fix    Hold one lock from the read to the write, as wide as the state itself, or write only over the
                   version that was read.
            guard  [[tool]]
                   match = ["create_entities", "delete_entities"]
                   lock = "graph"
                   changes = "graph"

            1 finding (1 high); not graded: no tool was found in 1 file; look again
            looked at 1 file and 2 functions; no tool was found
        "#]],
    );
}

#[test]
fn lines_far_apart_get_frames_of_their_own_and_long_ones_are_cut() {
    let text = |_: &str| {
        let mut lines: Vec<String> = (1..=500).map(|number| format!("\tline {number}")).collect();
        lines[6] = format!("  const x = \"{}\";", "日本".repeat(200_000));
        Some(lines.join("\r\n"))
    };
    let mut finding = lost_update();
    finding.witness.0[3].location = at("src/graph.ts", 400);
    expect![[r#"
        high[lost-update]: Two create_entities calls read the same graph, and the later write discards the
                           other's entities
           --> src/graph.ts:5:5
            |
          5 |     line 5
            |     ^^^^^^ 1, 2 reads the whole graph
          6 |     line 6
          7 |   const x = "日本日本日本日本日本日本日本日本日本日本日本日本日本日本日本日本日本日本日…
            |   -------------------------------------------------------------------------------------- 3
            |
           ::: src/graph.ts:400:5
            |
        400 |     line 400
            |     -------- 4 writes the whole graph

          call A  create_entities                call B  create_entities
          1 reads the whole graph   graph.ts:5
                                                 2 reads the whole graph   graph.ts:5
          3 writes the whole graph  graph.ts:7
                                                 4 writes the whole graph  graph.ts:400
                                                   A's entities are gone

        in     Graph.create, confidence high, reach both, tools create_entities, delete_entities
        fix    Hold one lock from the read to the write, as wide as the state itself, or write only over the
               version that was read.
        guard  [[tool]]
               match = ["create_entities", "delete_entities"]
               lock = "graph"
               changes = "graph"

        1 finding (1 high); not graded: no tool was found in 1 file; look again
        looked at 1 file and 2 functions; no tool was found
    "#]]
    .assert_eq(&write(&only(finding), &text, PLAIN));
}

#[test]
fn many_notes_are_counted_and_not_shown() {
    let mut report = nothing();
    report.coverage.notes = (10..40).map(|number| format!("file{number}.ts: not read")).collect();
    check(
        &report,
        PLAIN,
        expect![[r#"
            note: file10.ts: not read
            note: file11.ts: not read
            note: file12.ts: not read
            note: file13.ts: not read
            note: file14.ts: not read
            note: file15.ts: not read
            note: file16.ts: not read
            note: file17.ts: not read
            note: file18.ts: not read
            note: file19.ts: not read
            note: file20.ts: not read
            note: file21.ts: not read
            note: 18 notes more; `--format json` has all of them
            no findings; not graded: no tool was found in 1 file; look again
            looked at 1 file and 2 functions; no tool was found
        "#]],
    );
}

#[test]
fn only_what_broke_on_the_live_server_is_proven() {
    for (verdict, said, proven) in [
        (Verdict::Broken, "proof  found and proven: broken on the live server", true),
        (Verdict::Latent, "proof  found and proven: latent, it breaks when", true),
        (Verdict::Held, "proof  not proven: it held on the live server", false),
        (Verdict::Unknown, "proof  not proven: unknown on the live server", false),
    ] {
        let mut finding = lock_not_released();
        finding.proof.as_mut().unwrap().verdict = verdict;
        let written = write(&only(finding), &sources, PLAIN);
        assert!(written.contains(said), "{written}");
        assert_eq!(written.contains("1 of them proven"), proven, "{written}");
    }
}

#[test]
fn what_is_of_low_confidence_is_one_line_unless_all_is_asked_for() {
    let mut report = two_findings();
    report.findings[1].confidence = interlock_model::Confidence::Low;
    let folded = write(&report, &sources, Look { all: false, ..PLAIN });
    let all = write(&report, &sources, Look { all: true, ..PLAIN });
    let line = "1 finding of low confidence is not shown";
    assert!(folded.contains(line) && !folded.contains("lock-not-released"), "{folded}");
    assert!(!all.contains(line) && all.contains("lock-not-released"), "{all}");
    for written in [folded, all] {
        assert!(
            written.contains("grade C: 1 finding (1 high)\n"),
            "what does not count is not counted: {written}"
        );
    }
}

#[test]
fn what_would_harden_a_server_is_one_line_below_the_findings() {
    let report = Report { findings: vec![retry_storm()], ..nothing() };
    check(
        &report,
        PLAIN,
        expect![[r#"
            harden: src/api.ts:12: A caller who loses tries the request to `api` again at once [retry-storm].
                    Bound the tries, and spread the delay. The same at src/api.ts:20, src/api.ts:40,
                    src/api.ts:60 and 1 more.

            no findings, 1 place to harden; not graded: no tool was found in 1 file; look again
            looked at 1 file and 2 functions; no tool was found
        "#]],
    );
    let both = write(&Report { findings: vec![retry_storm(), lost_update()], ..nothing() }, &sources, PLAIN);
    let place = |words: &str| both.find(words).unwrap();
    assert!(place("high[lost-update]") < place("harden: src/api.ts:12"), "{both}");
}
