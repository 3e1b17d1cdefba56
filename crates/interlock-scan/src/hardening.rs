//! Hardening: findings that say of a whole server that it could bear more. They are told once for each server, below what goes wrong.
//!
//! ```text
//! src/http.ts:40  nothing bounds how many calls one caller has in flight        one line
//! src/api.ts:12   a call that has failed tries again without a pause, …             one line for this loop
//!                 the same at src/jobs.ts:7 and src/sync.ts:31                  and for those
//! ```
//!
//! What is silenced by a comment or known to a baseline is gone before, place by place, so that the next place takes its turn.

use interlock_model::{Finding, Location, Span, ir::Program};

/// The server that a place belongs to: the one whose sources lie nearest to it. Servers that share their handlers are one.
pub(crate) fn server_of(program: &Program, span: Span) -> Option<Location> {
    let file = |span: Span| program.files.get(span.file.0 as usize).map(ToString::to_string);
    let here = file(span)?;
    let mut servers: Vec<(usize, Location)> = vec![];
    for (index, server) in program.servers.iter().enumerate() {
        let listens =
            Location { file: file(server.span)?, line: server.span.line, end_line: server.span.end_line };
        let shares = |other: &interlock_model::ir::Server| other.handlers == server.handlers;
        let first = program.servers.iter().take(index).position(shares).unwrap_or(index);
        servers.push((first, listens));
    }
    // Of those that are equally near, the first one.
    let nearest = servers.iter().rev().max_by_key(|(_, listens)| shared_folders(&listens.file, &here))?;
    servers.iter().find(|(first, _)| *first == nearest.0).map(|(_, listens)| listens.clone())
}

/// How many folders two files have in common.
fn shared_folders(one: &str, other: &str) -> usize {
    let folders = |file: &str| file.rsplit_once('/').map(|(folder, _)| folder.to_owned()).unwrap_or_default();
    let (one, other) = (folders(one), folders(other));
    let same = one.split('/').zip(other.split('/')).take_while(|(one, other)| one == other);
    if one.is_empty() || other.is_empty() { 0 } else { same.count() }
}

/// Leaves one finding for each server and hazard, the surest and then the first, which names the other places.
pub(crate) fn fold(findings: &mut Vec<Finding>) {
    let mut kept: Vec<Finding> = Vec::with_capacity(findings.len());
    for finding in std::mem::take(findings) {
        let twin = kept.iter_mut().find(|other| is_same_advice(other, &finding));
        match twin {
            Some(first) if first.confidence >= finding.confidence => add(first, finding.location),
            Some(first) => {
                let before = std::mem::replace(first, finding);
                add(first, before.location);
                before
                    .hardening
                    .into_iter()
                    .flat_map(|more| more.further)
                    .for_each(|place| add(first, place));
            }
            None => kept.push(finding),
        }
    }
    for further in kept.iter_mut().filter_map(|finding| finding.hardening.as_mut()) {
        further.further.sort();
    }
    *findings = kept;
    findings.sort_by(|one, other| (&one.location, &one.hazard).cmp(&(&other.location, &other.hazard)));
}

fn add(finding: &mut Finding, place: Location) {
    if let Some(hardening) = &mut finding.hardening {
        hardening.further.push(place);
    }
}

fn is_same_advice(one: &Finding, other: &Finding) -> bool {
    match (&one.hardening, &other.hardening) {
        (Some(first), Some(second)) => one.hazard == other.hazard && first.server == second.server,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use interlock_model::{
        Confidence, Fingerprint, Hardening, Reach, Remedy, Severity, Witness,
        ir::{FunctionId, Server, Transport},
    };

    use super::*;

    fn at(file: &str, line: u32) -> Location {
        Location { file: file.into(), line, end_line: line }
    }

    fn advice(line: u32, confidence: Confidence, server: Option<Location>) -> Finding {
        Finding {
            hazard: "retry-storm".parse().unwrap(),
            severity: Severity::Low,
            confidence,
            reach: Reach::InProcess,
            location: at("a.ts", line),
            function: String::new(),
            tools: Vec::new(),
            message: String::new(),
            witness: Witness::default(),
            remedy: Remedy { code: String::new(), policy: Vec::new(), primitive: None },
            fingerprint: Fingerprint(line.to_string()),
            hardening: Some(Hardening { server, further: Vec::new() }),
            proof: None,
        }
    }

    #[test]
    fn the_surest_place_stands_for_all_of_a_server() {
        let mut findings = vec![
            advice(3, Confidence::Low, None),
            advice(5, Confidence::Medium, None),
            advice(7, Confidence::Medium, None),
            advice(9, Confidence::Low, Some(at("other.ts", 1))),
        ];
        fold(&mut findings);
        let places: Vec<(u32, Vec<u32>)> = findings
            .iter()
            .map(|finding| {
                let further = &finding.hardening.as_ref().unwrap().further;
                (finding.location.line, further.iter().map(|place| place.line).collect())
            })
            .collect();
        assert_eq!(places, [(5, vec![3, 7]), (9, vec![])]);
    }

    #[test]
    fn a_finding_that_is_no_advice_is_left_alone() {
        let race = Finding { hardening: None, ..advice(1, Confidence::High, None) };
        let mut findings = vec![race.clone(), race.clone()];
        fold(&mut findings);
        assert_eq!(findings, [race.clone(), race]);
    }

    #[test]
    fn a_place_belongs_to_the_server_nearest_to_it() {
        let mut program = Program::default();
        let files =
            ["one/src/stdio.ts", "one/src/http.ts", "two/src/http.ts", "two/lib/api.ts", "one/src/a/b.ts"];
        let ids: Vec<_> = files.iter().map(|file| program.add_file(*file)).collect();
        let span = |index: usize| Span { file: ids[index], line: 4, end_line: 4, ..Span::default() };
        let server = |index: usize, handler: u32| Server {
            span: span(index),
            transport: Transport::Http,
            handlers: [FunctionId(handler)].into(),
            limited: false,
        };
        program.servers = vec![server(0, 1), server(1, 1), server(2, 2)];
        let near = |index: usize| server_of(&program, span(index)).unwrap().file;
        assert_eq!([near(1), near(3), near(4)], ["one/src/stdio.ts", "two/src/http.ts", "one/src/stdio.ts"]);
        program.servers.clear();
        assert_eq!(server_of(&program, span(3)), None);
    }
}
