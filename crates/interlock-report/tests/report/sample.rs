//! The reports that the formats are shown with.

use interlock_model::{
    Confidence, Coverage, Explored, Finding, Fingerprint, Hardening, HazardId, Lane, Location, Loss,
    LossKind, NotFollowed, Proof, Rating, Reach, Remedy, Report, Severity, ToolCoverage, ToolPolicy, Verdict,
    Witness, WitnessStep,
};
use interlock_report::Rule;

/// The file that most findings stand in.
pub(crate) const GRAPH: &str = "\
export class Graph {
  constructor(private path: string) {}

  async create(entities: Entity[]) {
    const graph = await this.load();
    graph.entities.push(...entities);
    await this.save(graph);
  }
}
";

/// The source lines of [`two_findings`].
pub(crate) fn sources(file: &str) -> Option<String> {
    (file == "src/graph.ts").then(|| GRAPH.to_owned())
}

/// One hazard that is described, so that another is not.
pub(crate) fn rules() -> Vec<Rule<'static>> {
    vec![Rule {
        id: HazardId::from_static("lost-update"),
        title: "Read, changed and written back over someone else's change",
        summary: "A whole file is read, changed and written back.".into(),
        page: "# Read, changed and written back\n\nA whole file is read.\n",
        url: Some("https://example.com/hazards/lost-update".into()),
        severity: Severity::High,
        cwe: &[362, 20],
    }]
}

pub(crate) fn at(file: &str, line: u32) -> Location {
    Location { file: file.into(), line, end_line: line }
}

pub(crate) fn step(lane: Lane, file: &str, line: u32, step: &str) -> WitnessStep {
    WitnessStep { lane, location: at(file, line), step: step.into() }
}

/// A lost update in a graph, between two calls.
pub(crate) fn lost_update() -> Finding {
    let policy = ToolPolicy {
        matches: vec!["create_entities".into(), "delete_entities".into()],
        lock: Some(vec!["graph".parse().unwrap()]),
        changes: Some(vec!["graph".parse().unwrap()]),
        ..ToolPolicy::default()
    };
    Finding {
        hazard: HazardId::from_static("lost-update"),
        severity: Severity::High,
        confidence: Confidence::High,
        reach: Reach::Both,
        location: at("src/graph.ts", 5),
        function: "Graph.create".into(),
        tools: vec!["create_entities".into(), "delete_entities".into()],
        message: "Two create_entities calls read the same graph, and the later write discards the other's entities".into(),
        witness: Witness(vec![
            step(Lane::A, "src/graph.ts", 5, "reads the whole graph"),
            step(Lane::B, "src/graph.ts", 5, "reads the whole graph"),
            step(Lane::A, "src/graph.ts", 7, "writes the whole graph"),
            step(Lane::B, "src/graph.ts", 7, "writes the whole graph: A's entities are gone"),
        ]),
        remedy: Remedy {
            code: "Hold one lock from the read to the write, as wide as the state itself, or write only over the \
                   version that was read."
                .into(),
            policy: vec![policy],
            primitive: None,
        },
        fingerprint: Fingerprint("0123456789abcdef".into()),
        hardening: None,
        proof: None,
    }
}

/// A lock that a failure leaves held, in a file whose text is not at hand, and proven.
pub(crate) fn lock_not_released() -> Finding {
    Finding {
        hazard: HazardId::from_static("lock-not-released"),
        severity: Severity::Medium,
        confidence: Confidence::Medium,
        reach: Reach::InProcess,
        location: Location { file: "src/lock.ts".into(), line: 10, end_line: 14 },
        function: "withLock".into(),
        tools: vec![],
        message: "When the work fails the lock stays held, and every later call waits for good".into(),
        witness: Witness(vec![
            step(Lane::A, "src/lock.ts", 10, "takes the lock"),
            step(Lane::X, "src/work.ts", 12, "the work fails"),
            step(Lane::B, "src/lock.ts", 10, "waits for the lock: for good"),
        ]),
        remedy: Remedy { code: "Release in finally.".into(), policy: vec![], primitive: None },
        fingerprint: Fingerprint("fedcba9876543210".into()),
        hardening: None,
        proof: Some(Proof {
            verdict: Verdict::Broken,
            reason: None,
            explored: Explored::default(),
            replay: Some("replay.json".into()),
        }),
    }
}

/// A server that could bear more, with four further places.
pub(crate) fn retry_storm() -> Finding {
    let further = (1..=4).map(|number| at("src/api.ts", 20 * number)).collect();
    Finding {
        hazard: HazardId::from_static("retry-storm"),
        severity: Severity::Low,
        message: "A caller who loses tries the request to `api` again at once".into(),
        location: at("src/api.ts", 12),
        remedy: Remedy {
            code: "Bound the tries, and spread the delay.".into(),
            policy: vec![],
            primitive: None,
        },
        hardening: Some(Hardening { server: Some(at("src/http.ts", 40)), further }),
        ..lost_update()
    }
}

/// A tool that was followed to its end, and one that was not.
fn tools() -> Vec<ToolCoverage> {
    let lost = Loss {
        location: at("src/graph.ts", 9),
        kind: LossKind::UnresolvedReceiver,
        callee: "flush".into(),
        hides: true,
    };
    vec![
        ToolCoverage { name: "create_entities".into(), followed: true, lost: vec![] },
        ToolCoverage { name: "delete_entities".into(), followed: false, lost: vec![lost] },
    ]
}

fn sum() -> NotFollowed {
    NotFollowed { unresolved_receivers: 1, unreached: 7, ..NotFollowed::default() }
}

/// A report as most are.
pub(crate) fn two_findings() -> Report {
    let notes =
        vec!["src/broken.ts: 3 lines could not be read".into(), "tests were left out: 4 files".into()];
    Report {
        rating: Rating::Score(75),
        coverage: Coverage {
            files: 12,
            functions: 240,
            handlers: 2,
            tools: tools(),
            not_followed: sum(),
            listed: None,
            notes,
        },
        findings: vec![lost_update(), lock_not_released()],
    }
}

/// A report of a tree in which there is nothing.
pub(crate) fn nothing() -> Report {
    Report {
        rating: Rating::NotGraded("no tool was found in 1 file; look again".into()),
        coverage: Coverage { files: 1, functions: 2, ..Coverage::default() },
        findings: vec![],
    }
}
