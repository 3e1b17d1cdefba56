//! Prove, on servers whose races are known: the twenty seeded ones and their twins, one source on two versions of `mcp`, and the
//! official memory and filesystem servers. What is counted is right and wrong verdicts; the peer is the table itself.

mod official;
mod rows;
mod trial;

use std::path::Path;

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
const SURVEY: &[&str] = &["--no-save", "--trials", "10", "--budget", "600s", "--max-calls", "20000"];
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

/// Builds, proves, counts. A word says which servers: those whose name or hazard has it in it.
pub(super) fn run(root: &Root, word: Option<&Path>) -> Result<String> {
    servers::ready(root, false)?;
    cargo(root, &["build", "--release", "--locked", "--package", "interlock"])?;
    cargo(root, &["build", "--release", "--locked", "--package", "interlock-testkit", "--example", "seeds"])?;
    let prover = Prover { program: release_program(root, "interlock")?, places: Places::of(root)? };
    let word = word.map(|word| word.display().to_string()).unwrap_or_default();
    let Rows { server, beside } = Rows::read(root)?;
    let counted = proved(&prover, server, &word)?;
    let others = proved(&prover, beside, &word)?;
    let mut text = format!("{}\n{}", table(&counted), count(&counted));
    if !others.is_empty() {
        text.push_str(&format!("\n{}", table(&others)));
    }
    if word.is_empty() || "official".contains(&word) {
        text.push_str(&format!("\n{}", official::run(&prover)?));
    }
    let wrong = wrong(counted.iter().chain(&others));
    if !wrong.is_empty() {
        text.push_str(&format!("\nnot as the table says:\n{wrong}"));
    }
    let false_proofs = counted.iter().chain(&others).filter(|line| line.is_false()).count();
    if false_proofs > 0 {
        print!("{text}");
    }
    ensure!(false_proofs == 0, "{false_proofs} servers without a race were called broken or latent");
    Ok(text)
}

fn proved(prover: &Prover, rows: Vec<Row>, word: &str) -> Result<Vec<Line>> {
    let mut lines = Vec::new();
    for row in rows.into_iter().filter(|row| row.name.contains(word) || row.hazard.contains(word)) {
        let why = row.why.as_ref().map(|why| format!("; told what to call: {why}")).unwrap_or_default();
        eprintln!("{} ({}){why}", row.name, row.hazard);
        let told = row.told();
        let racy = prover.on(&row, false, &told, RACE)?;
        eprintln!("  {} after {} trials, {:.1} s: {}", racy.verdict, racy.trials, racy.seconds, racy.reason);
        let fixed = prover.on(&row, true, &told, SURVEY)?;
        eprintln!("  twin {} after {} trials, {:.1} s", fixed.verdict, fixed.all_trials, fixed.seconds);
        let same = prover.on(&row, true, &racy.calls, TWIN)?;
        eprintln!("  same calls {} after {} trials, {:.1} s", same.verdict, same.all_trials, same.seconds);
        lines.push(Line { row, racy, fixed, same });
    }
    Ok(lines)
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
            [("", racy, &row.racy), (", twin", fixed, &row.fixed), (", twin, same calls", same, &row.fixed)]
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
