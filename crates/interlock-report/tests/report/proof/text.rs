//! A proof on a terminal.

use expect_test::{Expect, expect};
use interlock_model::{ProofReport, SetReport, Writers};
use interlock_report::{proof::text::write, text::Look};

use super::sample::{
    broken, busy, held, hostile, loose, lost_entity, mixed, nothing, only_read, remedies, uneven, unknown,
};

const PLAIN: Look = Look { colour: false, width: 100, all: true };

fn check(report: &ProofReport, look: Look, expect: Expect) {
    expect.assert_eq(&write(report, &remedies, look).replace('\u{1b}', "^"));
}

fn only(set: SetReport) -> ProofReport {
    ProofReport { verdict: set.verdict, sets: vec![set], ..broken() }
}

#[test]
fn what_the_kernel_did_not_refuse_and_what_changed_stands_in_the_first_lines() {
    let said = write(&loose(), &remedies, PLAIN);
    let first: Vec<&str> = said.lines().skip(1).take(3).map(str::trim).collect();
    assert_eq!(
        first,
        [
            "node dist/index.js",
            "CHANGED OUTSIDE: /srv/notes.txt is gone",
            "your files are not protected by the kernel"
        ],
        "{said}"
    );
}

#[test]
fn how_many_writers_were_tried_stands_in_the_first_line() {
    let first = |tried, known| {
        let report = ProofReport { writers: Some(Writers { tried, known }), ..mixed() };
        write(&report, &remedies, PLAIN).lines().next().unwrap_or_default().to_owned()
    };
    let said = "broken: 1 of 3 sets of calls; 1 unknown, 1 held";
    assert_eq!(first(2, 5), format!("{said}; 2 of 5 writers tried (1.84 s)"));
    assert_eq!(first(1, 1), format!("{said}; 1 of 1 writer tried (1.84 s)"));
    assert_eq!(first(0, 0), format!("{said} (1.84 s)"), "nothing that writes is nothing to try");
}

#[test]
fn the_verdict_comes_first_then_a_line_for_each_set_then_the_story_of_what_breaks() {
    check(
        &mixed(),
        PLAIN,
        expect![[r#"
            broken: 1 of 3 sets of calls; 1 unknown, 1 held (1.84 s)
              node dist/index.js

            broken   create_entities + create_entities [lost-update]
            unknown  delete_entities + delete_entities: the server exited with status 1 before it answered; 2
                     calls, 0 trials, 0 schedules, not exhausted
            held     add_observations + read_graph: every outcome is one of the 2 that serial runs lead to; 240
                     calls, 60 trials (one-write, one-write + node-order, one-write + offsets), 20 schedules in
                     420 ms: all there are

            broken[lost-update]: both calls succeed, and one of the entities is gone

            call A    create_entities {"entities":[{"entityType":"person","name":"ada","observations":["ada was
                      here"]}]}
            call B    create_entities {"entities":[{"entityType":"person","name":"bob","observations":["bob was
                      here"]}]}
            reads[0]  read_graph {}
            met by    all requests in one write

                 0 ms                                                                4.21 ms
              A  ├────r───────────────────w─────────────────────────────┤                     result 3.10 ms
              B  ├─────r─────────────────────────────────────────────w─────────────────────┤  result 4.21 ms
                       └─────────────────── stale ───────────────────┘

              r    310 µs  A  read  readFile memory.jsonl
              r    350 µs  B  read  readFile memory.jsonl
              w   1.42 ms  A  write writeFile memory.jsonl
              w   2.98 ms  B  write writeFile memory.jsonl
              stale: what B read at 350 µs was changed by another call before B acted on it at 2.98 ms

              differs at                             observed  A, then B
              reads[0]/structuredContent/entities/0  missing   {"entityType":"person","name":"ada","observation…

              differs at                             observed  B, then A
              reads[0]/structuredContent/entities/1  missing   {"entityType":"person","name":"ada","observation…

            again     20 of 20 more runs
            replay    interlock prove --replay replay/create_entities.json
            fix       Hold one lock from the read to the write, or put a guard in front: interlock guard --lock
                      '*=graph' -- node dist/index.js

            note: slow-files: not tried, the program is linked statically
            note: delete_all was not called
            tried 276 calls, 61 trials (one-write), 20 schedules in 420 ms, not exhausted
        "#]],
    );
}

#[test]
fn what_held_says_how_much_was_tried() {
    check(
        &held(),
        PLAIN,
        expect![[r#"
            held: 1 set of calls (1.84 s)
              node dist/index.js

            held     add_observations + read_graph: every outcome is one of the 2 that serial runs lead to; 240
                     calls, 60 trials (one-write, one-write + node-order, one-write + offsets), 20 schedules in
                     420 ms: all there are

            tried 240 calls, 60 trials (one-write), 20 schedules in 420 ms, not exhausted
        "#]],
    );
}

#[test]
fn what_is_unknown_says_why() {
    check(
        &unknown(),
        PLAIN,
        expect![[r#"
        unknown: 1 set of calls (1.84 s)
          node dist/index.js

        unknown  delete_entities + delete_entities: the server exited with status 1 before it answered; 2
                 calls, 0 trials, 0 schedules, not exhausted

        note: the server printed on its standard output
        tried 2 calls, 0 trials (one-write), 0 schedules, not exhausted
    "#]],
    );
    check(
        &nothing(),
        PLAIN,
        expect![[r#"
            unknown: no calls were set against each other (1.84 s)
              node dist/index.js

            note: no tool changes anything that another reads
            tried 0 calls, 0 trials (one-write), 0 schedules, not exhausted
        "#]],
    );
    check(
        &only_read(),
        PLAIN,
        expect![[r#"
            unknown: no writer was explored: `delete_all` may destroy something; --allow-destructive calls it
              (1.84 s)
              node dist/index.js

            held     add_observations + read_graph: every outcome is one of the 2 that serial runs lead to; 240
                     calls, 60 trials (one-write, one-write + node-order, one-write + offsets), 20 schedules in
                     420 ms: all there are

            tried 240 calls, 60 trials (one-write), 20 schedules in 420 ms, not exhausted
        "#]],
    );
}

#[test]
fn a_race_that_looks_like_no_hazard_says_so() {
    let mut set = lost_entity();
    set.set.hazard = None;
    let text = write(&only(set), &remedies, PLAIN);
    assert!(text.contains("it cannot be told which hazard this is"), "{text}");
    assert!(!text.contains("\nfix"), "{text}");
}

#[test]
fn a_narrow_terminal_has_values_below_their_paths() {
    check(
        &broken(),
        Look { width: 50, ..PLAIN },
        expect![[r#"
            broken: 1 set of calls (1.84 s)
              node dist/index.js

            broken   create_entities + create_entities [lost-
                     update]

            broken[lost-update]: both calls succeed, and one
                                 of the entities is gone

            call A    create_entities
                      {"entities":[{"entityType":"person","nam
                      e":"ada","observations":["ada was
                      here"]}]}
            call B    create_entities
                      {"entities":[{"entityType":"person","nam
                      e":"bob","observations":["bob was
                      here"]}]}
            reads[0]  read_graph {}
            met by    all requests in one write

                 0 ms                                  4.21 ms
              A  ├──r───────────w────────────────┤
              B  ├───r──────────────────────────w────────────┤
                     └───────── stale ──────────┘

              r    310 µs  A  read  readFile memory.jsonl
              r    350 µs  B  read  readFile memory.jsonl
              w   1.42 ms  A  write writeFile memory.jsonl
              w   2.98 ms  B  write writeFile memory.jsonl
              stale: what B read at 350 µs was changed by
              another call before B acted on it at 2.98 ms

              beside A, then B
              reads[0]/structuredContent/entities/0
                observed  missing
                legal     {"entityType":"person","name":"ada"…

              beside B, then A
              reads[0]/structuredContent/entities/1
                observed  missing
                legal     {"entityType":"person","name":"ada"…

            again     20 of 20 more runs
            replay    interlock prove --replay
                      replay/create_entities.json
            fix       Hold one lock from the read to the
                      write, or put a guard in front:
                      interlock guard --lock '*=graph' -- node
                      dist/index.js

            tried 34 calls, 1 trial (one-write), 0 schedules,
              not exhausted
        "#]],
    );
}

#[test]
fn a_short_call_beside_a_long_one_is_seen() {
    check(
        &only(uneven()),
        PLAIN,
        expect![[r#"
            latent: 1 set of calls (1.84 s)
              node dist/index.js

            latent   create_entities + create_entities [lost-update]

            latent[lost-update]: both calls succeed, and one of the entities is gone

            call A    create_entities {"entities":[{"entityType":"person","name":"ada","observations":["ada was
                      here"]}]}
            call B    create_entities {"entities":[{"entityType":"person","name":"bob","observations":["bob was
                      here"]}]}
            call C    read_graph {}
            reads[0]  read_graph {}
            met by    all requests in one write; B 40 µs later; C 90 µs later

                 0 ms                                                                 3.00 s
              A  ├─────────────r────────────────────────w─────────────┤                       result 300 µs
              B         ├──────────r───────────────────────────────────≈≈w─────────────────┤  error 3.00 s
                                   └─────────────── stale ───────────────┘
              C                  ├╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌≈≈╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌  no answer
                 ≈ stands for 3.00 s

              r     80 µs  A  read  read /a
              r    100 µs  B  read  read /a
              w    220 µs  A  write write /a
              w    3.00 s  B  write write /a
              stale: what B read at 100 µs was changed by another call before B acted on it at 3.00 s

              differs at                             observed  A, then B
              reads[0]/structuredContent/entities/0  missing   {"entityType":"person","name":"ada","observation…

              differs at                             observed  B, then A
              reads[0]/structuredContent/entities/1  missing   {"entityType":"person","name":"ada","observation…

            again     20 of 20 more runs
            replay    interlock prove --replay replay/create_entities.json
            fix       Hold one lock from the read to the write, or put a guard in front: interlock guard --lock
                      '*=graph' -- node dist/index.js

            tried 34 calls, 1 trial (one-write), 0 schedules, not exhausted
        "#]],
    );
}

#[test]
fn many_operations_are_drawn_and_a_few_are_told() {
    check(
        &only(busy()),
        PLAIN,
        expect![[r#"
            broken: 1 set of calls (1.84 s)
              node dist/index.js

            broken   create_entities + create_entities [lost-update]

            broken[lost-update]: both calls succeed, and one of the entities is gone

            call A    update_the_shared_document_of_the_whole_workspace_and_notify_everyone_who_follows_it
                      {"index":0}
            call B    update_the_shared_document_of_the_whole_workspace_and_notify_everyone_who_follows_it
                      {"index":0}
            call C    update_the_shared_document_of_the_whole_workspace_and_notify_everyone_who_follows_it
                      {"index":0}
            call D    update_the_shared_document_of_the_whole_workspace_and_notify_everyone_who_follows_it
                      {"index":0}
            reads[0]  read_graph {}
            met by    all requests in one write

                 0 ms                                                                10.1 ms
              A  ├r─·wr·──wr·wr──·wr·w───r·wr·──wr·wr──·wr·w───r·wr·──wr·wr────────┤          result 9.00 ms
              B   ├·wr·w──r·wr·──w─r·wr──·wr·w──r·wr·───wr·wr──·wr·w──r·wr·───────────┤       result 9.23 ms
              C    ├wr·wr─·wr·─w──r·wr·──wr·wr──·─wr·w──r·wr·──wr·wr───·wr·w────────────┤     result 9.46 ms
                              └──────── stale ─────────┘
              D     ├r·wr·─wr·wr──·wr·w──r·wr─·──wr·wr──·wr·w──r·─wr·──wr·wr───────────────┤  result 9.69 ms

              w   1.83 ms  C  write pwrite64 /var/lib/app/documents.sqlite-wal
              r   1.87 ms  D  read  pwrite64 /var/lib/app/documents.sqlite-wal
              w   2.24 ms  B  write pwrite64 /var/lib/app/documents.sqlite-wal
              r   2.27 ms  C  read  pwrite64 /var/lib/app/documents.sqlite-wal
              w   2.34 ms  A  write pwrite64 /var/lib/app/documents.sqlite-wal
              r   2.38 ms  B  read  pwrite64 /var/lib/app/documents.sqlite-wal
              w   2.45 ms  D  write pwrite64 /var/lib/app/documents.sqlite-wal
              r   2.48 ms  A  read  pwrite64 /var/lib/app/documents.sqlite-wal
              … 148 more operations
              w   4.73 ms  D  write pwrite64 /var/lib/app/documents.sqlite-wal
              r   4.76 ms  A  read  pwrite64 /var/lib/app/documents.sqlite-wal
              w   4.83 ms  C  write pwrite64 /var/lib/app/documents.sqlite-wal
              r   4.87 ms  D  read  pwrite64 /var/lib/app/documents.sqlite-wal
              stale: what C read at 1.80 ms was changed by another call before C acted on it at 5.20 ms

              differs at                             observed  A, then B
              reads[0]/structuredContent/entities/0  missing   {"entityType":"person","name":"ada","observation…

              differs at                             observed  B, then A
              reads[0]/structuredContent/entities/1  missing   {"entityType":"person","name":"ada","observation…

            again     20 of 20 more runs
            replay    interlock prove --replay replay/create_entities.json
            fix       Hold one lock from the read to the write, or put a guard in front: interlock guard --lock
                      '*=graph' -- node dist/index.js

            tried 34 calls, 1 trial (one-write), 0 schedules, not exhausted
        "#]],
    );
}

#[test]
fn operations_whose_call_is_not_known_have_a_lane_of_their_own() {
    let mut set = lost_entity();
    let ticks = &mut set.evidence.as_mut().unwrap().history.ticks;
    for tick in ticks.iter_mut() {
        tick.call = None;
        tick.on = format!("{} /a/rather/long/way/down/to/the/file/that/tells/memory.jsonl", tick.kind);
    }
    set.evidence.as_mut().unwrap().stale = None;
    let written = write(&only(set), &remedies, Look { width: 70, ..PLAIN });
    let lanes: Vec<&str> = written
        .lines()
        .skip_while(|line| !line.starts_with("met by"))
        .take_while(|line| !line.contains("beside"))
        .collect();
    expect![[r#"
        met by    all requests in one write

             0 ms                                  4.21 ms
          A  ├───────────────────────────────┤              result 3.10 ms
          B  ├───────────────────────────────────────────┤  result 4.21 ms
          ?  ┈┈┈rr┈┈┈┈┈┈┈┈┈┈w┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈w┈┈┈┈┈┈┈┈┈┈┈┈┈  call not known

          r    310 µs  ?  read  read …down/to/the/file/that/tells/memory.jsonl
          r    350 µs  ?  read  read …down/to/the/file/that/tells/memory.jsonl
          w   1.42 ms  ?  write write …own/to/the/file/that/tells/memory.jsonl
          w   2.98 ms  ?  write write …own/to/the/file/that/tells/memory.jsonl"#]]
    .assert_eq(lanes.join("\n").trim_end());
}

#[test]
fn colour_marks_the_same_text() {
    let coloured = write(&mixed(), &remedies, Look { colour: true, ..PLAIN });
    let mut bare = String::new();
    for (index, part) in coloured.split('\u{1b}').enumerate() {
        bare.push_str(if index == 0 { part } else { part.split_once('m').unwrap().1 });
    }
    assert_ne!(bare, coloured);
    assert_eq!(bare, write(&mixed(), &remedies, PLAIN));
}

#[test]
fn hostile_text_stays_text_and_every_width_is_survived() {
    for width in (0..160).step_by(9).chain([1_000, usize::MAX]) {
        let look = Look { colour: false, width, all: true };
        for report in [mixed(), hostile(), only(uneven()), only(busy())] {
            let written = write(&report, &remedies, look);
            let acting = |c: char| c != '\n' && (c.is_control() || matches!(c, '\u{2028}'..='\u{202e}'));
            assert!(!written.contains(acting), "{written}");
            // Only words that cannot be broken are longer than a line.
            if (60..160).contains(&width) && report != hostile() {
                let long = written.lines().find(|line| line.chars().count() > width);
                assert_eq!(long, None, "at {width}");
            }
        }
    }
}
