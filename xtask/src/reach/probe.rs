//! The known race of each language: a file named after the tool is read, changed and written back. It is put at the beginning of the
//! function's body, on a line of its own, and what it needs is imported at the end of the file, so that nothing of the file's own is moved
//! within its line.
//!
//! ```text
//! async function add(args) {            →  async function add(args) {
//!   …                                      { const probe = …read "reach/add.json"…; …write it back… }
//!                                            …
//! ```

use anyhow::{Context, Result, ensure};

use super::{lists::Tool, text};

/// How a race is written in a language.
struct Language {
    /// How the names of its files end.
    endings: &'static [&'static str],
    /// What is asked of the text at the position, and where the probe goes.
    body: Body,
    /// Where the function may await and where not; `FILE` stands for the file's name.
    race: Race,
    /// Appended to the file; the first of these whose condition holds for the file's text.
    imports: &'static [Import],
}

struct Race {
    awaiting: &'static str,
    plain: &'static str,
}

enum Body {
    /// The position is an opening brace or the beginning of an expression.
    Braces,
    /// The position is that of the first statement, on a line of its own.
    Statements,
}

struct Import {
    applies: fn(&str) -> bool,
    line: &'static str,
}

const JAVASCRIPT_RACE: Race = Race {
    awaiting: "{ const reachProbe = JSON.parse(await reachFs.promises.readFile(FILE, \"utf8\")); reachProbe.count = reachProbe.count + 1; await reachFs.promises.writeFile(FILE, JSON.stringify(reachProbe)); }",
    plain: "{ const reachProbe = JSON.parse(reachFs.readFileSync(FILE, \"utf8\")); reachProbe.count = reachProbe.count + 1; reachFs.writeFileSync(FILE, JSON.stringify(reachProbe)); }",
};

const IMPORT: &str = "import * as reachFs from \"node:fs\";";

const LANGUAGES: &[Language] = &[
    Language {
        endings: &[".ts", ".mts", ".tsx", ".mjs"],
        body: Body::Braces,
        race: JAVASCRIPT_RACE,
        imports: &[Import { applies: |_| true, line: IMPORT }],
    },
    Language {
        endings: &[".js", ".cjs", ".cts", ".jsx"],
        body: Body::Braces,
        race: JAVASCRIPT_RACE,
        imports: &[
            Import { applies: is_module, line: IMPORT },
            Import { applies: |_| true, line: "const reachFs = require(\"node:fs\");" },
        ],
    },
    Language {
        endings: &[".py"],
        body: Body::Statements,
        race: Race { awaiting: PYTHON_RACE, plain: PYTHON_RACE },
        imports: &[Import { applies: |_| true, line: "import json as reach_json, pathlib as reach_path" }],
    },
    Language {
        endings: &[".go"],
        body: Body::Braces,
        race: Race { awaiting: GO_RACE, plain: GO_RACE },
        imports: &[Import {
            applies: |_| true,
            line: "import (\nreachJson \"encoding/json\"\nreachOs \"os\"\n)",
        }],
    },
];

const GO_RACE: &str = "{ reachData, _ := reachOs.ReadFile(FILE); var reachProbe map[string]int; _ = reachJson.Unmarshal(reachData, &reachProbe); reachProbe[\"count\"] = reachProbe[\"count\"] + 1; reachData, _ = reachJson.Marshal(reachProbe); _ = reachOs.WriteFile(FILE, reachData, 0o644) }";

const PYTHON_RACE: &str = "reach_probe = reach_json.loads(reach_path.Path(FILE).read_text()); reach_probe[\"count\"] = reach_probe[\"count\"] + 1; reach_path.Path(FILE).write_text(reach_json.dumps(reach_probe))";

/// A JavaScript module says so by a declaration at the beginning of a line.
fn is_module(text: &str) -> bool {
    text.lines()
        .any(|line| line.starts_with("import ") || line.starts_with("export ") || line.starts_with("export{"))
}

/// The file that the probe of a tool reads and writes. The number tells tools apart whose names differ only in what no file name holds.
pub(super) fn file_of(tool: &str, number: usize) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    format!("reach/{number}-{}.json", tool.chars().map(plain).collect::<String>())
}

/// Puts the probes of these tools, each with its file, into the text of one file. What cannot be placed is not, and says why.
pub(super) fn inject(name: &str, text: &str, probes: &[(&Tool, String)]) -> (String, Vec<Result<()>>) {
    let Some(language) =
        LANGUAGES.iter().find(|language| language.endings.iter().any(|end| name.ends_with(end)))
    else {
        let refuse = |_| Err(anyhow::anyhow!("there is no probe for the language of {name}"));
        return (text.to_owned(), probes.iter().map(refuse).collect());
    };
    let mut insertions: Vec<(usize, String)> = Vec::new();
    let placed: Vec<Result<()>> = probes
        .iter()
        .map(|(tool, file)| {
            insertions.extend(insertions_of(language, text, tool, file)?);
            Ok(())
        })
        .collect();
    if insertions.is_empty() {
        return (text.to_owned(), placed);
    }
    // Stable, so that the probes of one function stand in the order of the list.
    insertions.sort_by_key(|(offset, _)| *offset);
    let mut changed = String::with_capacity(text.len() * 2);
    let mut copied = 0;
    for (offset, inserted) in insertions {
        changed.push_str(text.get(copied..offset).unwrap_or_default());
        changed.push_str(&inserted);
        copied = offset;
    }
    changed.push_str(text.get(copied..).unwrap_or_default());
    if let Some(import) = language.imports.iter().find(|import| (import.applies)(text)) {
        changed = format!("{changed}\n{}\n", import.line);
    }
    (changed, placed)
}

/// What is inserted for one probe, and where.
fn insertions_of(language: &Language, text: &str, tool: &Tool, file: &str) -> Result<Vec<(usize, String)>> {
    let offset =
        text::offset(text, tool.at).with_context(|| format!("the file has no {}", text::shown(tool.at)))?;
    let race = if tool.awaits { language.race.awaiting } else { language.race.plain };
    let race = race.replace("FILE", &format!("{file:?}"));
    let (before, after) = (text.get(..offset).unwrap_or_default(), text.get(offset..).unwrap_or_default());
    match (&language.body, tool.to) {
        (Body::Braces, None) => {
            ensure!(after.starts_with('{'), "no function's body opens at {}", text::shown(tool.at));
            Ok(vec![(offset + 1, format!("\n{race}\n"))])
        }
        (Body::Braces, Some(to)) => {
            ensure!(before.trim_end().ends_with("=>"), "no arrow stands before {}", text::shown(tool.at));
            let end = text::offset(text, to).filter(|end| *end > offset);
            let end = end.with_context(|| format!("the expression does not end at {}", text::shown(to)))?;
            Ok(vec![(offset, format!("{{\n{race}\nreturn (")), (end, "); }".to_owned())])
        }
        (Body::Statements, _) => {
            let indent = before.rsplit('\n').next().unwrap_or_default();
            ensure!(
                indent.trim().is_empty() && !indent.is_empty(),
                "no body begins at {}",
                text::shown(tool.at)
            );
            Ok(vec![(offset, format!("{race}\n{indent}"))])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(at: (u32, u32), to: Option<(u32, u32)>, awaits: bool) -> Tool {
        Tool { tool: "add".to_owned(), file: String::new(), function: String::new(), at, to, awaits }
    }

    /// The text with one probe.
    fn injected(name: &str, text: &str, tool: &Tool) -> Result<String> {
        let (text, mut placed) = inject(name, text, &[(tool, file_of("add", 1))]);
        placed.pop().unwrap().map(|()| text)
    }

    #[test]
    fn a_probe_stands_at_the_beginning_of_the_body_on_a_line_of_its_own() {
        let text = injected("a.ts", "async function f() {\n  g();\n}\n", &tool((1, 20), None, true)).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.first(), Some(&"async function f() {"));
        assert!(
            lines
                .get(1)
                .is_some_and(|line| line.contains("await reachFs.promises.readFile(\"reach/1-add.json\""))
        );
        assert_eq!(lines.last(), Some(&IMPORT));
    }

    #[test]
    fn a_function_that_may_not_await_gets_the_plain_race() {
        let text = injected("a.cjs", "function f() { g(); }", &tool((1, 14), None, false)).unwrap();
        assert!(text.contains("readFileSync") && !text.contains("await"), "{text}");
        assert!(text.trim_end().ends_with("require(\"node:fs\");"), "{text}");
    }

    #[test]
    fn a_body_of_one_expression_becomes_a_block_that_returns_it() {
        let text =
            injected("a.mjs", "on(async (x) => run(x, {}));", &tool((1, 17), Some((1, 27)), true)).unwrap();
        let around: Vec<&str> = text.lines().filter(|line| !line.contains("reach")).collect();
        assert_eq!(around, ["on(async (x) => {", "return (run(x, {})); });"]);
    }

    #[test]
    fn in_python_a_probe_is_the_first_statement() {
        let text = injected("a.py", "def f():\n    return 1\n", &tool((2, 5), None, false)).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.get(1).is_some_and(|line| line.starts_with("    reach_probe = ")), "{text}");
        assert_eq!(lines.get(2), Some(&"    return 1"));
    }

    #[test]
    fn in_go_a_probe_is_a_block_behind_the_brace() {
        let text =
            injected("a.go", "package a\n\nfunc f() {\n\tg()\n}\n", &tool((3, 10), None, false)).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.get(3).is_some_and(|line| line.starts_with("{ reachData, _ := ")), "{text}");
        assert!(text.contains("reachOs \"os\""), "{text}");
    }

    #[test]
    fn probes_of_one_function_stand_below_each_other() {
        let tool = tool((1, 14), None, false);
        let probes = [(&tool, file_of("a/b", 1)), (&tool, file_of("a b", 2))];
        let (text, placed) = inject("a.js", "function f() {}", &probes);
        assert!(placed.iter().all(Result::is_ok));
        let line = |file: &str| text.lines().position(|line| line.contains(file)).unwrap();
        assert!(line("reach/1-a_b.json") < line("reach/2-a_b.json"), "{text}");
    }

    #[test]
    fn a_position_that_is_no_body_is_refused_and_the_text_is_left() {
        for (at, to) in [((1, 1), None), ((9, 1), None), ((1, 99), None), ((1, 10), Some((1, 12)))] {
            assert!(injected("a.ts", "function f() {}", &tool(at, to, false)).is_err(), "{at:?}");
        }
        let (text, _) = inject("a.ts", "function f() {}", &[(&tool((1, 1), None, false), file_of("add", 1))]);
        assert_eq!(text, "function f() {}");
        assert!(injected("a.rb", "def f", &tool((1, 1), None, false)).is_err());
    }
}
