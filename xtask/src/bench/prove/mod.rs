//! Prove, on servers whose races are known: the twenty seeded ones and their twins, one source on two versions of `mcp`, and the
//! official memory and filesystem servers. What is counted is right and wrong verdicts; the peer is the table itself.

mod official;
mod rows;
mod trial;

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use anyhow::{Result, ensure};

use self::{
    rows::{Places, Row, Rows},
    trial::{Prover, Said},
};
use super::release_program;
use crate::{
    columns::{Side, columns},
    root::Root,
    run::cargo,
    servers,
};

/// A race is looked for as by anybody who gives no flags.
const RACE: &[&str] = &["--no-save"];
/// A twin gets the time to try every set of calls that prove thinks of.
const SURVEY: &[&str] = &["--no-save", "--trials", "5", "--budget", "600s", "--max-calls", "20000"];
/// How often the calls that showed a race meet on the twin.
const TWIN: &[&str] = &["--no-save", "--trials", "200", "--budget", "600s", "--max-calls", "100000"];

/// What came of one server.
struct Line {
    row: Row,
    racy: Said,
    /// The twin, told what the server with the race was told.
    fixed: Said,
    /// The twin, told the calls that showed the race.
    same: Said,
}

/// Builds, proves, counts. Words say which servers: those whose name or hazard has one of them in it.
pub(super) fn run(root: &Root, words: &[PathBuf]) -> Result<String> {
    servers::ready(root, false)?;
    cargo(root, &["build", "--release", "--locked", "--package", "interlock"])?;
    cargo(root, &["build", "--release", "--locked", "--package", "interlock-testkit", "--example", "seeds"])?;
    let prover = Prover { program: release_program(root, "interlock")?, places: Places::of(root)? };
    let wanted = Wanted(words.iter().map(|word| word.display().to_string()).collect());
    let Rows { server, beside } = Rows::read(root)?;
    let is_wanted = |row: &Row| wanted.names(&row.name) || wanted.names(&row.hazard);
    let counted = server.len();
    let (of_table, rows): (Vec<bool>, Vec<Row>) = server
        .into_iter()
        .chain(beside)
        .enumerate()
        .filter(|(_, row)| is_wanted(row))
        .map(|(at, row)| (at < counted, row))
        .unzip();
    let counted = of_table.iter().filter(|counts| **counts).count();
    let mut lines = proved(&prover, rows)?;
    let others = lines.split_off(counted);
    let mut text = format!("{}\n{}", table(&lines), count(&lines));
    if !others.is_empty() {
        text.push_str(&format!("\n{}", table(&others)));
    }
    if wanted.names("official") {
        text.push_str(&format!("\n{}", official::run(&prover)?));
    }
    let wrong = wrong(lines.iter().chain(&others));
    if !wrong.is_empty() {
        text.push_str(&format!("\nnot as the table says:\n{wrong}"));
    }
    let false_proofs = lines.iter().chain(&others).filter(|line| line.is_false()).count();
    if false_proofs > 0 {
        print!("{text}");
    }
    ensure!(false_proofs == 0, "{false_proofs} servers without a race were called broken or latent");
    Ok(text)
}

/// The words that say which servers; none of them means all.
struct Wanted(Vec<String>);

impl Wanted {
    fn names(&self, text: &str) -> bool {
        self.0.is_empty() || self.0.iter().any(|word| text.contains(word))
    }
}

/// The races one by one, because how soon they show is what is told of them; then the twins, as many beside each other as there are
/// processors, because of them it is only told that nothing shows.
fn proved(prover: &Prover, rows: Vec<Row>) -> Result<Vec<Line>> {
    let all = rows.len();
    let mut racy = Vec::new();
    for (at, row) in (1..).zip(&rows) {
        let why = row.why.as_ref().map(|why| format!("; told what to call: {why}")).unwrap_or_default();
        let said = prover.on(row, false, &row.told(), RACE)?;
        eprintln!(
            "race {at} of {all}: {} ({}): {} after {} trials, {:.1} s: {}{why}",
            row.name, row.hazard, said.verdict, said.trials, said.seconds, said.reason
        );
        racy.push(said);
    }
    // The longest way first, so that the last of them is not waited for alone.
    let surveys = rows.iter().enumerate().map(|(at, row)| Job { at, told: row.told(), flags: SURVEY });
    let (bare, told): (Vec<Job>, Vec<Job>) = surveys.partition(|job| job.told.is_empty());
    let same = racy.iter().enumerate().map(|(at, said)| Job { at, told: said.calls.clone(), flags: TWIN });
    let jobs: Vec<Job> = bare.into_iter().chain(same).chain(told).collect();
    let said = on_twins(prover, &rows, &jobs)?;
    let of = |at: usize, flags: &[&str]| {
        let mut made = jobs.iter().zip(&said).filter(|(job, _)| job.at == at && job.flags == flags);
        made.next().map(|(_, said)| said.clone()).unwrap_or_default()
    };
    let lines = rows.into_iter().zip(racy).enumerate();
    let line = |(at, (row, racy))| Line { row, racy, fixed: of(at, SURVEY), same: of(at, TWIN) };
    Ok(lines.map(line).collect())
}

/// One run on a twin.
struct Job {
    /// Which row.
    at: usize,
    told: Vec<String>,
    flags: &'static [&'static str],
}

/// What prove says of twins, in the order of the jobs.
fn on_twins(prover: &Prover, rows: &[Row], jobs: &[Job]) -> Result<Vec<Said>> {
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let said: Mutex<BTreeMap<usize, Result<Said>>> = Mutex::default();
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(number) else { return };
                    let Some(row) = rows.get(job.at) else { return };
                    let outcome = prover.on(row, true, &job.told, job.flags);
                    let finished = done.fetch_add(1, Ordering::Relaxed) + 1;
                    let what = if job.flags == SURVEY { "as the race was" } else { "the same calls" };
                    let how = match &outcome {
                        Ok(Said { verdict, all_trials, seconds, reason, .. }) => {
                            format!("{verdict} after {all_trials} trials, {seconds:.1} s: {reason}")
                        }
                        Err(error) => error.to_string(),
                    };
                    eprintln!("twin {finished} of {}: {}, told {what}: {how}", jobs.len(), row.name);
                    said.lock().unwrap_or_else(PoisonError::into_inner).insert(number, outcome);
                }
            });
        }
    });
    said.into_inner().unwrap_or_else(PoisonError::into_inner).into_values().collect()
}

impl Line {
    /// Whether the twin was called what it is not.
    fn is_false(&self) -> bool {
        [&self.fixed, &self.same].iter().any(|said| matches!(said.verdict.as_str(), "broken" | "latent"))
    }
}

fn table(lines: &[Line]) -> String {
    let head = [
        "server",
        "hazard",
        "told",
        "race",
        "trials",
        "of all",
        "s",
        "twin",
        "trials",
        "s",
        "same calls",
        "trials",
        "s",
    ];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(lines.iter().map(|line| {
        vec![
            line.row.name.clone(),
            line.row.hazard.clone(),
            if line.row.is_bare() { "nothing" } else { "calls" }.to_owned(),
            line.racy.verdict.clone(),
            line.racy.trials.to_string(),
            line.racy.all_trials.to_string(),
            format!("{:.1}", line.racy.seconds),
            line.fixed.verdict.clone(),
            line.fixed.all_trials.to_string(),
            format!("{:.1}", line.fixed.seconds),
            line.same.verdict.clone(),
            line.same.all_trials.to_string(),
            format!("{:.1}", line.same.seconds),
        ]
    }));
    // Each verdict is followed by its numbers.
    let numbers = |count: usize| std::iter::once(Side::Left).chain(std::iter::repeat_n(Side::Right, count));
    let sides: Vec<Side> =
        [Side::Left; 3].into_iter().chain(numbers(3)).chain(numbers(2)).chain(numbers(2)).collect();
    columns(&sides, &rows)
}

fn count(lines: &[Line]) -> String {
    let broken: Vec<&Line> = lines.iter().filter(|line| line.racy.verdict == "broken").collect();
    let of = |value: fn(&Line) -> f64| {
        median(broken.iter().map(|line| value(line)).collect())
            .map_or("-".to_owned(), |median| format!("{median:.1}"))
    };
    let false_proofs = lines.iter().filter(|line| line.is_false()).count();
    [
        format!("broken: {} of {} (aim: all but one)", broken.len(), lines.len()),
        format!(
            "median trials to the proof: {} of its set (aim: at most 3), {} of all sets",
            of(|line| line.racy.trials as f64),
            of(|line| line.racy.all_trials as f64)
        ),
        format!("median seconds to the proof: {}", of(|line| line.racy.seconds)),
        format!("twins called broken or latent: {false_proofs} of {} (aim: none)", lines.len()),
    ]
    .map(|line| format!("{line}\n"))
    .concat()
}

fn wrong<'a>(lines: impl Iterator<Item = &'a Line>) -> String {
    let mut text = String::new();
    for Line { row, racy, fixed, same } in lines {
        for (what, said, expected) in
            [("", racy, &row.racy), (", twin", fixed, &row.survey), (", twin, same calls", same, &row.fixed)]
        {
            if said.verdict != *expected {
                let name = &row.name;
                text.push_str(&format!(
                    "  {name}{what}: {}, not {expected}: {}\n",
                    said.verdict, said.reason
                ));
            }
        }
    }
    text
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let upper = *values.get(values.len() / 2)?;
    let lower = if values.len() % 2 == 1 { upper } else { *values.get(values.len() / 2 - 1)? };
    Some(f64::midpoint(lower, upper))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(name: &str, racy: &str, trials: u64, fixed: &str) -> Line {
        let row = format!("name='{name}'\nhazard='lost-update'\ntransport='stdio'\ncommand=['c']");
        let said = |verdict: &str| Said {
            verdict: verdict.to_owned(),
            trials,
            all_trials: trials + 1,
            reason: "so".to_owned(),
            again: (5, 5),
            seconds: 2.0,
            walked: (0, false, 0.0),
            calls: Vec::new(),
        };
        Line { row: toml::from_str(&row).unwrap(), racy: said(racy), fixed: said(fixed), same: said("held") }
    }

    #[test]
    fn verdicts_are_counted_and_what_the_table_did_not_expect_is_named() {
        let lines =
            [line("a", "broken", 1, "held"), line("b", "held", 30, "broken"), line("c", "broken", 4, "held")];
        assert_eq!(
            count(&lines),
            "broken: 2 of 3 (aim: all but one)\n\
             median trials to the proof: 2.5 of its set (aim: at most 3), 3.5 of all sets\n\
             median seconds to the proof: 2.0\n\
             twins called broken or latent: 1 of 3 (aim: none)\n"
        );
        assert_eq!(wrong(lines.iter()), "  b: held, not broken: so\n  b, twin: broken, not held: so\n");
    }

    #[test]
    fn a_server_is_one_line() {
        let text = table(&[line("a", "broken", 1, "held")]);
        assert_eq!(
            text.lines().nth(1),
            Some(
                "a       lost-update  nothing  broken       1       2  2.0  held       2  2.0  held             2  2.0"
            )
        );
    }
}
