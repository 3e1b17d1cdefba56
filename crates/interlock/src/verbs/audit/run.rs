//! From the command line to the report.

use std::{path::PathBuf, time::Instant};

use anyhow::{Context, Result};
use interlock_fetch::{Limits, fetch};
#[cfg(target_os = "linux")]
use interlock_model::Rating;
use interlock_report::audit::{Audit as Report, Live, Subject};

use super::{
    Audit, consent, output, scanned,
    steps::{Audience, Steps, Stop, end_with_input},
    wanted::{self, Brings, Source, Start, Wanted},
};
use crate::{console::Console, exit::Exit, verbs::given::environment};

/// At most so many steps has a server: fetching it, its tools, its sources, the proof, the guard.
const STEPS: usize = 5;

pub(super) fn run(options: &Audit, console: &mut Console) -> Result<Exit> {
    output::check(options)?;
    let begin = Instant::now();
    let stop = Stop::default();
    #[cfg(target_os = "linux")]
    let mut bench = super::live::Bench::new(stop.clone())?;
    let wanted = wanted::of(options, console)?;
    // Whoever can be asked is asked first, and may then go away.
    let leave: Vec<Result<(), String>> =
        wanted.iter().map(|wanted| consent::consent(options, wanted, console)).collect();
    let audience = if options.for_worker {
        end_with_input(stop.clone());
        Audience::Program
    } else if console.errors_are_seen() && !options.no_progress {
        Audience::Person
    } else {
        Audience::Nobody
    };
    let steps = Steps::new(audience, stop.clone());
    steps.expect(wanted.len() * STEPS);
    let alone = wanted.len() == 1;
    let mut report = Report::default();
    for (mut wanted, leave) in wanted.into_iter().zip(leave) {
        if stop.is_asked() {
            break;
        }
        let mut subject = Subject {
            name: options.called.clone().unwrap_or_else(|| wanted.name.clone()),
            ..Subject::default()
        };
        let folder = match sources(options, &mut wanted, leave.is_ok(), &steps) {
            Ok(folder) => folder,
            Err(_) if stop.is_asked() => {
                subject.notes.push("it was interrupted before it was fetched".to_owned());
                subject.live = Live::NotRun("it was interrupted before that".to_owned());
                report.subjects.push(subject);
                break;
            }
            // One of several servers that cannot be fetched does not end the others.
            Err(why) if alone => return Err(why),
            Err(why) => {
                subject.notes.push(format!("it could not be fetched: {why:#}"));
                None
            }
        };
        subject.origin.append(&mut wanted.origin);
        let start = leave.and_then(|()| wanted.start.clone());
        #[cfg(target_os = "linux")]
        one(options, start, folder, &mut subject, &mut bench, &steps)?;
        #[cfg(not(target_os = "linux"))]
        one(start, folder, &mut subject, &steps)?;
        report.subjects.push(subject);
    }
    report.stopped = stop.is_asked();
    report.took = begin.elapsed();
    drop(steps);
    #[cfg(target_os = "linux")]
    let outside = bench.end();
    output::write(options, &report, console)?;
    #[cfg(target_os = "linux")]
    if outside {
        console.complain(&anyhow::anyhow!("a server changed what is not its own; the report says what"));
        return Ok(Exit::Failed);
    }
    Ok(if report.subjects.iter().any(Subject::has_hazards) {
        Exit::Found
    } else if report.subjects.iter().all(Subject::is_judged) && !report.stopped {
        Exit::Clean
    } else {
        Exit::Nothing
    })
}

/// The folder with the sources, fetched if need be.
fn sources(options: &Audit, wanted: &mut Wanted, may_run: bool, steps: &Steps) -> Result<Option<PathBuf>> {
    let (named, brings) = match &wanted.source {
        Source::Nowhere => {
            steps.skip(1);
            return Ok(None);
        }
        Source::Folder(folder) => {
            steps.skip(1);
            return Ok(Some(folder.clone()));
        }
        Source::Fetched(named, brings) => (named.clone(), *brings),
    };
    steps.begin("fetching");
    let to_run = may_run && brings == Brings::Server;
    let fetched = fetch(&named, to_run, Limits::default(), &environment(), steps)
        .with_context(|| format!("{} could not be fetched", wanted.name))?;
    let folder = fetched.folder.clone();
    wanted.origin.extend(fetched.origin.iter().cloned());
    match (brings, &fetched.start) {
        (Brings::Server, Ok(found)) => wanted.start = Ok(Start::found(found.clone(), &folder, options)?),
        (Brings::Server, Err(why)) => wanted.start = Err(why.clone()),
        (Brings::Sources, _) => {
            if let Ok(start) = wanted.start.clone() {
                wanted.start = Ok(start.with_settings(&folder, options)?);
            }
        }
    }
    wanted.stage = fetched.into_stage();
    Ok(Some(folder))
}

#[cfg(target_os = "linux")]
fn one(
    options: &Audit,
    start: Result<Start, String>,
    folder: Option<PathBuf>,
    subject: &mut Subject,
    bench: &mut super::live::Bench,
    steps: &Steps,
) -> Result<()> {
    let mut place = None;
    let mut listed = None;
    match start {
        Ok(start) => {
            steps.begin("starting the server");
            match bench.open(options, &start, steps) {
                Ok(opened) => {
                    subject.origin.extend(opened.given());
                    listed = Some(opened.names());
                    place = Some(opened);
                }
                Err(why) => {
                    steps.skip(2);
                    subject.live = Live::Unknown(format!("{why:#}"));
                }
            }
        }
        Err(why) => {
            steps.skip(3);
            subject.live = Live::NotRun(why);
        }
    }
    if let Some(folder) = &folder {
        steps.begin("reading the sources");
        scanned::into(subject, folder, listed, steps)?;
    } else {
        steps.skip(1);
    }
    if let Some(place) = place {
        bench.prove(options, &place, subject, steps);
        deduct(subject);
    }
    Ok(())
}

/// What calls showed counts as what was found does: each hazard that no finding explains once.
#[cfg(target_os = "linux")]
fn deduct(subject: &mut Subject) {
    let proven = subject.proven_only();
    let hazards = proven.iter().filter_map(|hazard| interlock_hazards::find(hazard.as_str()));
    let deduction = hazards.fold(0_u8, |sum, hazard| sum.saturating_add(hazard.deduction));
    if let Some(Rating::Score(score)) = subject.scan.as_mut().map(|report| &mut report.rating)
        && deduction > 0
    {
        *score = score.saturating_sub(deduction);
        let names: Vec<&str> = proven.iter().map(|hazard| hazard.as_str()).collect();
        subject
            .notes
            .push(format!("the score has {deduction} less for what was proven only: {}", names.join(", ")));
    }
}

#[cfg(not(target_os = "linux"))]
fn one(
    start: Result<Start, String>,
    folder: Option<PathBuf>,
    subject: &mut Subject,
    steps: &Steps,
) -> Result<()> {
    let why = start.err().unwrap_or_else(|| "servers are proved on Linux only".to_owned());
    subject.live = Live::NotRun(why);
    if let Some(folder) = &folder {
        steps.begin("reading the sources");
        scanned::into(subject, folder, None, steps)?;
    }
    Ok(())
}
