//! The tables that the command prints.

use super::{
    compare::{Answer, Compared},
    lists::Label,
};
use crate::columns::{Side, columns};

const HEAD: [&str; 9] =
    ["server", "tools", "followed", "races found", "low or other", "traps told", "high", "medium", "grade"];

/// A line per server, then the sum.
pub(super) fn of(rows: &[Compared<'_>]) -> String {
    let mut lines = vec![HEAD.map(str::to_owned).to_vec()];
    lines.extend(rows.iter().map(|row| {
        let grade = row.grade.clone().unwrap_or_else(|| "none".to_owned());
        line(&row.server.repo, std::slice::from_ref(row), grade)
    }));
    lines.push(line("all", rows, String::new()));
    let mut sides = [Side::Right; HEAD.len()];
    sides[0] = Side::Left;
    columns(&sides, &lines)
}

fn line(name: &str, rows: &[Compared<'_>], grade: String) -> Vec<String> {
    let sum = |of: fn(&Compared<'_>) -> usize| rows.iter().map(of).sum::<usize>();
    let races = |answers: &[Answer]| {
        rows.iter().flat_map(|row| &row.races).filter(|(_, answer)| answers.contains(answer)).count()
    };
    let invented = match sum(|row| row.invented) {
        0 => String::new(),
        more => format!(" (+{more})"),
    };
    vec![
        name.to_owned(),
        format!("{} of {}{invented}", sum(|row| row.tools), sum(|row| row.server.tools.len())),
        sum(|row| row.followed).to_string(),
        format!("{} of {}", races(&[Answer::Found]), sum(|row| row.races.len())),
        races(&[Answer::Low, Answer::Other]).to_string(),
        format!("{} of {}", sum(|row| row.trapped.len()), sum(|row| row.server.traps.len())),
        sum(|row| row.high).to_string(),
        sum(|row| row.medium).to_string(),
        grade,
    ]
}

/// The races that are not found, and the traps that are told, with what the reader wrote.
pub(super) fn of_missed(rows: &[Compared<'_>]) -> String {
    let place = |label: &Label| format!("{}:{}", label.file, label.line);
    let entry = |word: &str, row: &Compared<'_>, label: &Label| {
        vec![word.to_owned(), row.server.repo.clone(), label.hazard.clone(), place(label), label.why.clone()]
    };
    let lines = rows.iter().flat_map(|row| {
        let races = row.races.iter().filter_map(|(race, answer)| match answer {
            Answer::Found => None,
            Answer::Low => Some(entry("low", row, race)),
            Answer::Other => Some(entry("other", row, race)),
            Answer::Missed => Some(entry("missed", row, race)),
        });
        let traps = row.trapped.iter().map(|trap| entry("trap", row, trap));
        races.chain(traps).collect::<Vec<_>>()
    });
    format!("\n{}", columns(&[Side::Left; 5], &lines.collect::<Vec<_>>()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        labels::{compare::compare, lists},
        report::Report,
    };

    #[test]
    fn a_server_is_a_line_and_what_is_missed_is_named() {
        let list = concat!(
            r#"{"kind":"tool","repo":"a/b","commit":"1","tool":"add","file":"a.ts","line":1}"#,
            "\n",
            r#"{"kind":"hazard","repo":"a/b","commit":"1","hazard":"lost-update","file":"a.ts","line":3,"why":"read, then written"}"#,
        );
        let servers = lists::read(list).unwrap();
        let report = Report { tools: vec![("add".to_owned(), true)], ..Report::default() };
        let rows: Vec<_> = servers.iter().map(|server| compare(server, &report)).collect();
        let text = of(&rows);
        let words: Vec<&str> = text.lines().nth(1).unwrap().split_whitespace().collect();
        let told = ["a/b", "1", "of", "1", "1", "0", "of", "1", "0", "0", "of", "0", "0", "0", "none"];
        assert_eq!(words, told);
        assert_eq!(of_missed(&rows), "\nmissed  a/b  lost-update  a.ts:3  read, then written\n");
    }
}
