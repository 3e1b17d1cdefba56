//! One finding with the races that show it, or one race.

use std::fmt::Write as _;

use interlock_model::Finding;

use super::{filter::Filter, frame};
use crate::{
    Rule,
    audit::{Entry, Subject},
    proof::{Remedies, html as proof, markup},
    summary,
};

pub(super) fn write(
    out: &mut String,
    number: usize,
    entry: &Entry<'_>,
    subject: &Subject,
    rules: &[Rule<'_>],
    remedies: &Remedies<'_>,
    filter: &Filter,
) {
    let standing = entry.standing.word();
    let severity = entry.severity(rules);
    let _ = write!(
        out,
        r#"<section class="entry {standing}" id="entry-{number}"{}><h3>{} <span class="badge severity-{severity}">{severity}</span> "#,
        filter.attributes(entry, rules),
        badge(entry),
    );
    match entry.hazard() {
        Some(hazard) => {
            let title =
                rules.iter().find(|rule| rule.id == *hazard).map(|rule| rule.title).unwrap_or_default();
            let _ = write!(
                out,
                r#"<span>{}</span> <code class="hazard">{hazard}</code></h3>"#,
                markup::text(title)
            );
        }
        None => out.push_str("<span>A race that no order of the calls explains</span></h3>"),
    }
    let _ = writeln!(out, r#"<p class="reason">{}</p>"#, markup::sentence(entry.message()));
    facts(out, entry);
    if let Some(finding) = entry.finding {
        frame::write(out, finding, &subject.sources);
        frame::witness(out, finding);
    }
    for (index, race) in entry.races.iter().enumerate().take(SHOWN) {
        let id = number * 1000 + index;
        let open = if index == 0 { " open=\"open\"" } else { "" };
        let _ = write!(
            out,
            "<details class=\"race\"{open}><summary>{} on the live server: {}</summary>",
            proof::badge(race.verdict),
            markup::short(&race.set.name, 160)
        );
        proof::body(out, id, race, remedies);
        out.push_str("</details>\n");
    }
    if let Some(more @ 1..) = entry.races.len().checked_sub(SHOWN) {
        let _ = writeln!(
            out,
            "<p class=\"quiet\">and {}; the JSON report has all of them</p>",
            summary::counted(more, "more race")
        );
    }
    remedy(out, entry, rules);
    out.push_str("</section>\n");
}

/// So many races of one finding are shown.
const SHOWN: usize = 3;

fn badge(entry: &Entry<'_>) -> String {
    let (sign, class) = if entry.races.is_empty() { ("!", "latent") } else { ("✕", "broken") };
    format!(r#"<span class="badge {class}"><span aria-hidden="true">{sign}</span> {}</span>"#, entry.standing)
}

fn facts(out: &mut String, entry: &Entry<'_>) {
    out.push_str(r#"<dl class="facts">"#);
    if let Some(finding) = entry.finding {
        let Finding { location, function, confidence, reach, .. } = finding;
        let _ = write!(
            out,
            "<dt>where</dt><dd><code>{}</code> in <code>{}</code>; confidence {confidence}, reach {reach}</dd>",
            markup::text(&location.to_string()),
            markup::text(function)
        );
        if let (Some(proof), true) = (&finding.proof, entry.races.is_empty()) {
            let _ = write!(out, "<dt>proof</dt><dd>{}</dd>", summary::proof(proof));
        }
    }
    if !entry.tools.is_empty() {
        let tools: Vec<String> =
            entry.tools.iter().map(|tool| format!("<code>{}</code>", markup::short(tool, 80))).collect();
        let _ = write!(out, "<dt>tools</dt><dd>{}</dd>", tools.join(", "));
    }
    if let Some(verdict) = entry.behind {
        let badge = proof::badge(verdict);
        let _ = write!(out, "<dt>guard</dt><dd>{badge} behind the guard with the suggested policy</dd>");
    }
    out.push_str("</dl>\n");
}

/// What stops it: in the code, in front of the server, with the library.
fn remedy(out: &mut String, entry: &Entry<'_>, rules: &[Rule<'_>]) {
    let Some(finding) = entry.finding else { return };
    out.push_str("<div class=\"remedy\"><h4>What stops it</h4>");
    let _ = write!(out, "<p><b>In the code:</b> {}</p>", markup::sentence(&finding.remedy.code));
    let rule = rules.iter().find(|rule| rule.id == finding.hazard);
    if let Some((language, code)) = rule.and_then(|rule| example(rule.page, &finding.location.file)) {
        let _ = write!(out, "<details><summary>An example in {language}</summary>");
        frame::block(out, code);
        out.push_str("</details>");
    }
    let policy: Vec<String> = finding.remedy.policy.iter().map(ToString::to_string).collect();
    if !policy.is_empty() {
        out.push_str(
            "<details open=\"open\"><summary>In front of the unchanged server: the guard's rule</summary>",
        );
        frame::block(out, &policy.join("\n"));
        out.push_str("</details>");
    }
    if let Some(primitive) = finding.remedy.primitive {
        let _ = write!(
            out,
            "<p><b>With the library, in Rust:</b> the {} of <code>interlock-sync</code></p>",
            markup::text(&primitive.to_string())
        );
    }
    out.push_str("</div>\n");
}

/// The languages that the hazards' pages show code in, by how their files end.
const LANGUAGES: &[(&str, &[&str])] = &[
    ("TypeScript", &["ts", "tsx", "mts", "cts", "js", "jsx", "mjs", "cjs"]),
    ("Python", &["py", "pyi"]),
    ("Go", &["go"]),
    ("Rust", &["rs"]),
];

/// The code of a hazard's page that does not have it: of each language the first block has it, the second does not.
fn example<'p>(page: &'p str, file: &str) -> Option<(&'static str, &'p str)> {
    let ending = file.rsplit_once('.')?.1;
    let (language, _) = LANGUAGES.iter().find(|(_, endings)| endings.contains(&ending))?;
    let (_, section) = page.split_once(&format!("\n## In {language}\n"))?;
    let section = section.split_once("\n## ").map_or(section, |(section, _)| section);
    let mut fences = section.split("\n```");
    // Before the first, the first block, between, the second block.
    let block = fences.nth(3)?;
    Some((language, block.split_once('\n')?.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_is_the_second_block_of_the_language() {
        let page = "# A\n\n## In TypeScript\n\nWrong:\n\n```ts\nbad();\n```\n\nRight:\n\n```ts\ngood();\nmore();\n```\n\n## In Go\n\n```go\nx\n```\n";
        assert_eq!(example(page, "src/a.mjs"), Some(("TypeScript", "good();\nmore();")));
        assert_eq!(example(page, "a.go"), None);
        assert_eq!(example(page, "a.py"), None);
        assert_eq!(example(page, "Makefile"), None);
    }
}
