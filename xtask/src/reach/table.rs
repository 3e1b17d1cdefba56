//! The tables that the command prints.

use super::{
    outcome::Outcome,
    removals::{Answer, Removed},
    tools::Probed,
};
use crate::columns::{Side, columns};

/// A server and its tools, probed.
pub(super) type Row = (String, Vec<Probed>);

/// Per server how many tools have which outcome, then the sum, then what is not right.
pub(super) fn of_tools(rows: &[Row]) -> String {
    let head = ["server", "tools"].map(str::to_owned).into_iter();
    let head = head.chain(Outcome::ALL.map(|outcome| outcome.words().to_owned()));
    let mut lines: Vec<Vec<String>> = vec![head.collect()];
    lines.extend(rows.iter().map(|(server, probed)| counts(server, probed.iter())));
    lines.push(counts("all", rows.iter().flat_map(|(_, probed)| probed)));
    let mut text =
        columns(&[Side::Left, Side::Right, Side::Right, Side::Right, Side::Right, Side::Right], &lines);
    for outcome in Outcome::ALL {
        let of_outcome: Vec<Vec<String>> = rows
            .iter()
            .flat_map(|(server, probed)| probed.iter().map(move |probed| (server, probed)))
            .filter(|(_, probed)| probed.outcome == outcome && !probed.why.is_empty())
            .map(|(server, Probed { tool, file, line, why, .. })| {
                vec![format!("  {server}"), tool.clone(), format!("{file}:{line}"), why.clone()]
            })
            .collect();
        if !of_outcome.is_empty() {
            text += &format!("\n{}:\n{}", outcome.words(), columns(&[Side::Left; 4], &of_outcome));
        }
    }
    text
}

/// How many tools of a server have which outcome, in one line.
pub(super) fn in_words(probed: &[Probed]) -> String {
    let of = |outcome: Outcome| {
        let count = probed.iter().filter(|probed| probed.outcome == outcome).count();
        (count > 0).then(|| format!("{count} {}", outcome.words()))
    };
    let each: Vec<String> = Outcome::ALL.into_iter().filter_map(of).collect();
    format!("of {} tools {}", probed.len(), each.join(", "))
}

fn counts<'a>(server: &str, probed: impl Iterator<Item = &'a Probed> + Clone) -> Vec<String> {
    let all = probed.clone().count();
    let each = Outcome::ALL.map(|outcome| {
        let count = probed.clone().filter(|probed| probed.outcome == outcome).count();
        format!("{count} ({} %)", (count * 100).checked_div(all).unwrap_or(0))
    });
    [server.to_owned(), all.to_string()].into_iter().chain(each).collect()
}

/// Each removal with its answer, then how many were found.
pub(super) fn of_removals(removed: &[Removed]) -> String {
    let head = ["", "server", "hazard", "where", "what was taken away", "note"].map(str::to_owned).to_vec();
    let cells =
        removed.iter().map(|Removed { repo, removes, hazards, file, lines: (first, last), answer, why }| {
            let place = format!("{file}:{first}-{last}");
            vec![
                answer.words().to_owned(),
                repo.clone(),
                hazards.join(" or "),
                place,
                removes.clone(),
                why.clone(),
            ]
        });
    let lines: Vec<Vec<String>> = std::iter::once(head).chain(cells).collect();
    let found = removed.iter().filter(|removed| removed.answer == Answer::Found).count();
    format!("{}\nfound: {found} of {}\n", columns(&[Side::Left; 6], &lines), removed.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_a_row_and_what_is_not_right_is_named_below() {
        let probed = |tool: &str, outcome, why: &str| Probed {
            tool: tool.to_owned(),
            file: "a.ts".to_owned(),
            function: String::new(),
            line: 3,
            outcome,
            why: why.to_owned(),
        };
        let tools = vec![
            probed("add", Outcome::Named, ""),
            probed("get", Outcome::Named, ""),
            probed("put", Outcome::Missed, "no finding"),
        ];
        let text = of_tools(&[("a/b".to_owned(), tools.clone())]);
        let expected = "\
server  tools  right name  other or no name  low only  not at all
a/b         3    2 (66 %)           0 (0 %)   0 (0 %)    1 (33 %)
all         3    2 (66 %)           0 (0 %)   0 (0 %)    1 (33 %)

not at all:
  a/b  put  a.ts:3  no finding
";
        assert_eq!(text, expected);
        assert_eq!(in_words(&tools), "of 3 tools 2 right name, 1 not at all");
    }
}
