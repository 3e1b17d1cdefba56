//! `--tools FILE`: what a server has answered to `tools/list`, saved to a file.

use std::{fs::File, io::Read, path::Path};

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// More than this is no list of tools.
const LARGEST: u64 = 16 << 20;

/// What to try with a file that is something else.
const FORM: &str = "it must be the answer to `tools/list`, as the JSON-RPC message, as its `result`, or as the list of tools itself";

/// The names of the tools in a saved answer.
pub(super) fn read(path: &Path) -> Result<Vec<String>> {
    let mut text = String::new();
    let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    let read = file.take(LARGEST + 1).read_to_string(&mut text);
    read.with_context(|| format!("cannot read {}", path.display()))?;
    if text.len() as u64 > LARGEST {
        bail!("{} is larger than {} MiB: {FORM}", path.display(), LARGEST >> 20);
    }
    names(&text).with_context(|| format!("{} is no list of tools", path.display()))
}

fn names(text: &str) -> Result<Vec<String>> {
    // Some editors put a mark in front of what they save.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let answer: Value = serde_json::from_str(text).context(FORM)?;
    if let Some(error) = answer.get("error") {
        bail!("the server has answered with an error: {error}");
    }
    let result = answer.get("result").unwrap_or(&answer);
    if result.get("nextCursor").is_some_and(|next| !next.is_null()) {
        bail!("it is only the first page (`nextCursor` is set): save all pages as one list of tools");
    }
    let Some(tools) = result.get("tools").unwrap_or(result).as_array() else { bail!("{FORM}") };
    let name = |tool: &Value| tool.get("name").and_then(Value::as_str).map(str::to_owned);
    tools.iter().map(|tool| name(tool).with_context(|| format!("a tool has no name; {FORM}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_with_and_without_its_envelope() {
        let tools = r#"[{"name":"add_note","inputSchema":{}},{"name":"list_notes"}]"#;
        let result = format!(r#"{{"tools":{tools}}}"#);
        let envelope = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#);
        for text in [tools.to_owned(), result, format!("\u{feff}{envelope}"), envelope] {
            assert_eq!(names(&text).unwrap(), ["add_note", "list_notes"], "{text}");
        }
        assert!(names(r#"{"tools":[]}"#).unwrap().is_empty());
    }

    #[test]
    fn what_is_no_list_of_tools_is_refused_with_what_is_one() {
        for (text, why) in [
            ("", FORM),
            ("{}", FORM),
            (r#"{"tools":{"a":1}}"#, FORM),
            (r#"[{"title":"a"}]"#, "a tool has no name"),
            (r#"{"result":{"tools":[],"nextCursor":"2"}}"#, "only the first page"),
            (r#"{"error":{"code":-32601,"message":"no"}}"#, "answered with an error"),
        ] {
            let error = names(text).unwrap_err();
            assert!(format!("{error:#}").contains(why), "{text}: {error:#}");
        }
    }
}
