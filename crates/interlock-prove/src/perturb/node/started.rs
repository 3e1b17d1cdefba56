//! Whether a command ends up in Node: by the names of what it starts, or by the first line of a script.

use std::path::Path;

use crate::{
    launch::Launch,
    perturb::program::{Inherited, Program},
};

/// Programs that are Node or start it.
const RUNNERS: &[&str] = &[
    "node", "nodejs", "npx", "npm", "pnpm", "pnpx", "yarn", "yarnpkg", "tsx", "ts-node", "nodemon",
    "corepack",
];

/// Programs that start what their arguments name.
const CARRIERS: &[&str] =
    &["sh", "bash", "dash", "zsh", "env", "nice", "timeout", "setsid", "stdbuf", "taskset", "nohup"];

/// Ok if the command looks like Node; else why it does not.
pub(super) fn by_node(launch: &Launch, inherited: &Inherited) -> Result<(), String> {
    let named = Path::new(&launch.program).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut names = vec![named.clone()];
    if let Ok(program) = Program::behind(launch, inherited) {
        names.extend(program.names().map(str::to_owned));
    }
    if names.iter().any(|name| RUNNERS.contains(&name.as_str())) {
        return Ok(());
    }
    if CARRIERS.contains(&named.as_str()) {
        let mut words = launch.arguments.iter().flat_map(|argument| words(&argument.to_string_lossy()));
        if words.any(|word| RUNNERS.contains(&word.as_str()) || is_script(&word)) {
            return Ok(());
        }
    }
    Err(format!("`{named}` is not known to start Node, whose operations alone can be reordered"))
}

fn is_script(name: &str) -> bool {
    let extension = Path::new(name).extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| ["js", "mjs", "cjs", "ts", "mts", "cts"].contains(&extension))
}

/// The parts of what looks like paths and words in a line of shell.
fn words(line: &str) -> Vec<String> {
    let words = line.split(|mark: char| mark.is_whitespace() || "'\";|&()=/".contains(mark));
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt};

    use super::*;

    fn launch(command: &[&str]) -> Launch {
        let (program, arguments) = command.split_first().unwrap();
        Launch {
            program: program.into(),
            arguments: arguments.iter().map(Into::into).collect(),
            ..Launch::default()
        }
    }

    #[test]
    fn node_and_what_starts_it_are_known_by_name() {
        for command in [
            &["node", "server.js"][..],
            &["/usr/bin/node", "x"],
            &["npx", "-y", "@scope/server"],
            &["sh", "-c", "cd x && exec node server.js"],
            &["env", "A=1", "tsx", "server.ts"],
            &["nice", "./server.mjs"],
        ] {
            assert_eq!(by_node(&launch(command), &Inherited::new()), Ok(()), "{command:?}");
        }
    }

    #[test]
    fn others_are_refused_by_name() {
        for command in
            [&["python3", "node.py"][..], &["uvx", "server"], &["sh", "-c", "python3 server.py"], &["./no"]]
        {
            let why = by_node(&launch(command), &Inherited::new()).unwrap_err();
            assert!(why.starts_with(&format!("`{}`", command[0].trim_start_matches("./"))), "{why}");
        }
    }

    #[test]
    fn a_script_says_in_its_first_line_what_runs_it() {
        let folder = tempfile::tempdir().unwrap();
        // A script that names Node counts only if there is such a program.
        for (name, text) in
            [("node", ""), ("server-a", "#!/usr/bin/env node\nx\n"), ("server-b", "#!/bin/sh\n# node\n")]
        {
            let file = folder.path().join(name);
            fs::write(&file, text).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let inherited: Inherited = [("PATH".into(), folder.path().into())].into();
        assert_eq!(by_node(&launch(&["server-a"]), &inherited), Ok(()));
        assert!(by_node(&launch(&["server-b"]), &inherited).is_err());
    }
}
