//! Why a tree is not graded, and what to do about it.

use std::collections::{BTreeMap, BTreeSet};

use interlock_model::{Loss, LossKind, ToolCoverage};

use crate::walk::{UnreadServer, notes::count};

/// How many of the places at which most tools are lost are named.
const NAMED: usize = 3;

/// How tools become known.
const REGISTER: &str = "Scan the folder that registers the tools together with what they call (`--show-files` lists what was read, and a \
                        file that is left out is read when it is named), or say in `interlock.toml` how they are registered, such as \
                        `[tools.call]` with `defineCommand = { registers = \"tool\", own = true }`";

pub(crate) fn no_source() -> String {
    "no source file was read. Give the folder of a server's sources; `--show-files` lists what a scan reads"
        .to_owned()
}

pub(crate) fn no_file_read(failed: usize) -> String {
    format!("none of the {failed} source files could be read. The notes say why")
}

pub(crate) fn no_tool(files: usize) -> String {
    format!("no tool of an MCP server was found in {}. {REGISTER}", count(files, "file"))
}

/// A server is handed to something unknown.
pub(crate) fn registrar(place: &Loss, found: usize) -> String {
    let Loss { location, callee, .. } = place;
    format!(
        "{} {} found, and others may be announced by `{callee}`, which is handed the server at {}:{} and of which nothing is known. Scan \
         the folder that has its sources too, or name the tools that the server lists, with `--tools FILE` or `--live -- COMMAND`",
        count(found, "tool"),
        if found == 1 { "was" } else { "were" },
        location.file,
        location.line
    )
}

/// A server is written in a language that no front end reads.
pub(crate) fn unread(server: &UnreadServer) -> String {
    let UnreadServer { file, language } = server;
    format!(
        "a server of this tree is written in {language} (`{file}`), which is not read, so what was found elsewhere says nothing of its \
         tools. Scan the folder of a server in TypeScript, JavaScript, Python or Go by itself; `prove` and `guard` work with any server"
    )
}

/// Too few tools were followed to the end: where most of them are lost, and the line that would help.
pub(crate) fn not_followed(tools: &[ToolCoverage], percent: usize) -> String {
    let followed = tools.iter().filter(|tool| tool.followed).count();
    let (all, were) = (tools.len(), if tools.len() == 1 { "was" } else { "were" });
    let few = format!(
        "{followed} of {} {were} followed to the end, and a grade needs {percent} %",
        count(all, "tool")
    );
    let missed: Vec<&str> =
        tools.iter().filter(|tool| is_missed(tool)).map(|tool| tool.name.as_str()).collect();
    if missed.len() * 2 > all - followed {
        return format!(
            "{few}. The server lists {} that the sources do not show, such as `{}`. {REGISTER}",
            count(missed.len(), "tool"),
            missed.first().unwrap_or(&"?"),
        );
    }
    let places = most_frequent(tools);
    let named: Vec<String> = places.iter().take(NAMED).map(|(place, tools)| place.words(*tools)).collect();
    let help = places.first().map(|(place, _)| place.help()).unwrap_or_default();
    format!(
        "{few}. Most are lost at {}. {help}; `--why FILE:LINE` says what is known of a place",
        named.join(", ")
    )
}

/// Whether only the running server knows of a tool.
const fn is_missed(tool: &ToolCoverage) -> bool {
    !tool.followed && tool.lost.is_empty()
}

/// What tools are lost at.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct LossSite<'t> {
    kind: LossKind,
    callee: &'t str,
}

/// What is lost, that which most tools lose first.
fn most_frequent(tools: &[ToolCoverage]) -> Vec<(LossSite<'_>, usize)> {
    let mut places: BTreeMap<LossSite<'_>, usize> = BTreeMap::new();
    for tool in tools.iter().filter(|tool| !tool.followed) {
        let mut seen = BTreeSet::new();
        for loss in tool.lost.iter().filter(|loss| seen.insert((loss.kind, loss.callee.as_str()))) {
            *places.entry(LossSite { kind: loss.kind, callee: &loss.callee }).or_default() += 1;
        }
    }
    let mut places: Vec<(LossSite<'_>, usize)> = places.into_iter().collect();
    places.sort_by(|(one, here), (other, there)| there.cmp(here).then_with(|| one.cmp(other)));
    places
}

impl LossSite<'_> {
    fn words(&self, tools: usize) -> String {
        format!("`{}` ({})", self.callee, count(tools, "tool"))
    }

    /// What would make it known.
    fn help(&self) -> String {
        let callee = self.callee;
        match self.kind {
            LossKind::UnknownLibrary => match callee.rsplit_once('.') {
                Some((library, name)) => format!(
                    "Say in `interlock.toml` what the library does, such as `[library.\"{library}\".exports]` with \
                     `{name} = {{ do = \"nothing\" }}`"
                ),
                None => unknown_method(callee),
            },
            LossKind::UnresolvedReceiver => unknown_method(callee),
            LossKind::UnresolvedImport => {
                "Scan the folder that has the imported files too, or name them on the command line".to_owned()
            }
            LossKind::UnknownFunction | LossKind::Alternatives => {
                "A function that comes as a value is followed where it is handed over by name".to_owned()
            }
            LossKind::OtherProgram => {
                "What another program changes cannot be read here: `prove` tries it out, `guard` keeps such calls apart".to_owned()
            }
            LossKind::UnknownRequest => {
                "A request is understood where its method is written, or handed over by name: what is put together at run time, `prove` tries out"
                    .to_owned()
            }
            LossKind::DamagedFile => {
                "The notes say where the file cannot be read: mend it, or name it under `ignore` in `interlock.toml`".to_owned()
            }
            LossKind::NotInlined | LossKind::Budget => {
                "The tools do more than is followed in one piece: scan the folder of one server at a time"
                    .to_owned()
            }
        }
    }
}

fn unknown_method(callee: &str) -> String {
    let method = callee.rsplit('.').next().unwrap_or(callee);
    format!(
        "Say in `interlock.toml` what it does wherever nothing else is known of it, such as `[unknown.methods]` with \
         `{method} = {{ do = \"nothing\" }}`"
    )
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use interlock_model::Location;

    use super::*;

    fn tool(name: &str, lost: &[(LossKind, &str)]) -> ToolCoverage {
        let loss = |(line, (kind, callee)): (u32, &(LossKind, &str))| Loss {
            location: Location { file: "a.ts".into(), line, end_line: line },
            kind: *kind,
            callee: (*callee).to_owned(),
            hides: true,
        };
        ToolCoverage {
            name: name.into(),
            followed: lost.is_empty(),
            lost: (1..).zip(lost).map(loss).collect(),
        }
    }

    #[test]
    fn where_most_tools_were_not_found_the_line_registers_them() {
        let mut missed = tool("zap", &[]);
        missed.followed = false;
        let advice = not_followed(&[tool("a", &[]), missed], 80);
        assert!(advice.starts_with("1 of 2 tools were followed to the end, and a grade needs 80 %. The server lists 1 tool that the sources do not show, such as `zap`. Scan the folder"), "{advice}");
        assert!(advice.contains("[tools.call]"), "{advice}");
    }

    #[test]
    fn what_most_tools_are_lost_at_is_named_with_the_line_that_helps() {
        let sdk = (LossKind::UnknownLibrary, "@acme/sdk.push");
        let save = (LossKind::UnresolvedReceiver, "save");
        let tools = [tool("a", &[sdk, sdk, save]), tool("b", &[sdk]), tool("c", &[])];
        expect![[r#"1 of 3 tools were followed to the end, and a grade needs 80 %. Most are lost at `@acme/sdk.push` (2 tools), `save` (1 tool). Say in `interlock.toml` what the library does, such as `[library."@acme/sdk".exports]` with `push = { do = "nothing" }`; `--why FILE:LINE` says what is known of a place"#]]
            .assert_eq(&not_followed(&tools, 80));
        let alone = [tool("a", &[save, save, save]), tool("b", &[sdk])];
        expect![[r#"0 of 2 tools were followed to the end, and a grade needs 80 %. Most are lost at `@acme/sdk.push` (1 tool), `save` (1 tool). Say in `interlock.toml` what the library does, such as `[library."@acme/sdk".exports]` with `push = { do = "nothing" }`; `--why FILE:LINE` says what is known of a place"#]]
            .assert_eq(&not_followed(&alone, 80));
    }
}
