//! Set-up steps on an instance's folder that no tool is called for, written like calls:
//!
//! ```text
//! scratch: {"write": {"data/a.csv": "id,name\\n1,one\\n"}}     files that the server finds there
//! scratch: {"make": ["a.xlsx", "b.db"]}                       small files of the kinds that their endings say
//! scratch: {"processes": 2}                                   the calls go to two processes on this folder in turn
//! ```
//!
//! A server on standard streams is one process for each client, so two clients are two processes and one state.

use std::{
    fs, io,
    path::{Component, Path, PathBuf},
};

use interlock_model::{CallSet, PlannedCall};
use serde_json::{Value, json};

use super::{FILES, is_files, seeds};

/// More processes nobody has on one folder.
const MOST_PROCESSES: usize = 4;
/// A larger file is not laid down.
const LARGEST: usize = 1 << 20;

/// Lays down the files that a step names.
pub(crate) fn lay(step: &PlannedCall, folder: &Path) -> io::Result<()> {
    let wanted = step.arguments.get("write").and_then(Value::as_object).into_iter().flatten();
    for (name, content) in wanted {
        let text = content.as_str().map_or_else(|| content.to_string(), str::to_owned);
        let path = inside(folder, name, text.len() <= LARGEST)?;
        fs::write(path, text)?;
    }
    let made = step.arguments.get("make").and_then(Value::as_array).into_iter().flatten();
    for name in made.filter_map(Value::as_str) {
        seeds::make(&inside(folder, name, true)?)?;
    }
    Ok(())
}

/// Where a file goes; nowhere else than in the folder.
fn inside(folder: &Path, name: &str, is_small: bool) -> io::Result<PathBuf> {
    let path = Path::new(name);
    let is_inside = path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if !is_inside || !is_small {
        let why = format!("`{name}` is not a file in the folder, or too large");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    let path = folder.join(path);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    Ok(path)
}

/// How many processes the calls of a set go to.
pub(crate) fn processes(set: &CallSet) -> usize {
    let steps = set.setup.iter().filter(|step| is_files(step));
    let wanted = steps.filter_map(|step| step.arguments.get("processes")?.as_u64());
    usize::try_from(wanted.max().unwrap_or(1)).unwrap_or(1).clamp(1, MOST_PROCESSES)
}

/// The same set with a process for each of two callers. The step comes last, because calls refer to answers of the set-up by their number.
#[must_use]
pub fn in_processes(mut set: CallSet) -> CallSet {
    set.setup.push(PlannedCall::new(FILES, json!({ "processes": 2 })));
    set.name = format!("{}, in two processes", set.name);
    set
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_laid_down_inside_and_nowhere_else() {
        let folder = tempfile::tempdir().unwrap();
        let step =
            |name: &str| PlannedCall::new(FILES, json!({ "write": { name: "id\n1\n", "x.json": {"a": 1} } }));
        lay(&step("data/a.csv"), folder.path()).unwrap();
        assert_eq!(fs::read_to_string(folder.path().join("data/a.csv")).unwrap(), "id\n1\n");
        assert_eq!(fs::read_to_string(folder.path().join("x.json")).unwrap(), "{\"a\":1}");
        for outside in ["../a", "/tmp/a", "data/../../a"] {
            assert!(lay(&step(outside), folder.path()).is_err(), "{outside}");
            let made = PlannedCall::new(FILES, json!({ "make": [outside] }));
            assert!(lay(&made, folder.path()).is_err(), "{outside}");
        }
    }

    #[test]
    fn two_processes_are_said_last_and_bounded() {
        let set = CallSet { setup: vec![PlannedCall::new("init", json!({}))], ..CallSet::default() };
        assert_eq!(processes(&set), 1);
        let set = in_processes(set);
        assert_eq!((processes(&set), set.setup.len()), (2, 2));
        assert_eq!(set.setup[0].tool, "init");
        let many =
            CallSet { setup: vec![PlannedCall::new(FILES, json!({"processes": 999}))], ..CallSet::default() };
        assert_eq!(processes(&many), MOST_PROCESSES);
    }
}
