//! What stands behind a command, as far as that can be told without running it: whether a disturbance can have a hold on it.

mod image;
mod script;

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

pub(super) use image::Image;

use crate::launch::Launch;

/// The environment that a server gets besides what its launch adds.
pub type Inherited = BTreeMap<OsString, OsString>;

/// Scripts name an interpreter, which may be a script: the kernel gives up after five as well.
const DEEPEST: usize = 5;

/// As much of a file's beginning as the kernel looks at, and the line that `pip` adds where that is too little.
const HEAD: u64 = 1024;

/// Where programs are looked for when nothing says so.
const USUAL: &str = "/usr/local/bin:/usr/bin:/bin";

/// A program and what runs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Program {
    /// The file that was named, then the one that its first line names, and so on.
    pub(super) files: Vec<PathBuf>,
    /// What the last of them is.
    pub(super) image: Image,
}

impl Program {
    /// Looks for what a launch would start; if it cannot be told, why.
    pub(super) fn behind(launch: &Launch, inherited: &Inherited) -> Result<Self, String> {
        let path = variable(launch, inherited, "PATH").unwrap_or(OsStr::new(USUAL));
        let mut named = launch.program.clone();
        if name_of(Path::new(&named)) == "env" {
            let words = launch.arguments.iter().map(|word| word.to_string_lossy().into_owned());
            named = script::program_of_env(words).map_or(named, OsString::from);
        }
        let mut files: Vec<PathBuf> = Vec::new();
        loop {
            let file = find(&named, path, &launch.directory)
                .ok_or_else(|| format!("{} was not found", Path::new(&named).display()))?;
            let head = head(&file).map_err(|error| format!("{} cannot be read: {error}", file.display()))?;
            files.push(file.clone());
            match script::interpreter(&head) {
                Some(_) if files.len() == DEEPEST => {
                    return Err(format!("{} is a script of a script of a script", named.display()));
                }
                Some(interpreter) => named = interpreter.into(),
                None => return Ok(Self { files, image: Image::of(&file) }),
            }
        }
    }

    /// The names of its files, without folders.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|file| name_of(file))
    }
}

/// A variable as the server will see it.
pub(super) fn variable<'a>(launch: &'a Launch, inherited: &'a Inherited, name: &str) -> Option<&'a OsStr> {
    let name = OsStr::new(name);
    launch.environment.get(name).or_else(|| inherited.get(name)).map(OsString::as_os_str)
}

fn name_of(file: &Path) -> &str {
    file.file_name().and_then(OsStr::to_str).unwrap_or_default()
}

/// The file that a name would start, if there is one.
pub(crate) fn find_program(named: &OsStr, path: Option<&OsStr>, directory: &Path) -> Option<PathBuf> {
    find(named, path.unwrap_or(OsStr::new(USUAL)), directory).filter(|file| file.is_file())
}

/// A name with a slash is a path; one without is looked for.
fn find(named: &OsStr, path: &OsStr, directory: &Path) -> Option<PathBuf> {
    if Path::new(named).components().count() > 1 || Path::new(named).is_absolute() {
        return Some(directory.join(named));
    }
    std::env::split_paths(path).map(|folder| directory.join(folder).join(named)).find(|file| may_run(file))
}

fn may_run(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

fn head(file: &Path) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    File::open(file)?.take(HEAD).read_to_end(&mut head)?;
    Ok(head)
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt};

    use super::*;

    fn executable(folder: &Path, name: &str, text: &str) -> PathBuf {
        let file = folder.join(name);
        fs::write(&file, text).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        file
    }

    fn launch(folder: &Path, words: &[&str]) -> Launch {
        let path = format!("{}:{USUAL}", folder.display());
        Launch {
            program: words[0].into(),
            arguments: words[1..].iter().map(OsString::from).collect(),
            environment: [("PATH".into(), path.into())].into(),
            scratch: folder.to_owned(),
            directory: folder.to_owned(),
        }
    }

    fn names(launch: &Launch) -> Result<Vec<String>, String> {
        let program = Program::behind(launch, &Inherited::new())?;
        Ok(program.names().map(str::to_owned).collect())
    }

    #[test]
    fn a_script_leads_to_the_program_that_runs_it() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        executable(at, "inner", "#!/bin/sh\n");
        executable(at, "outer", "#!/usr/bin/env -S FOO=1 inner -x\n");
        assert_eq!(names(&launch(at, &["outer"])).unwrap(), ["outer", "inner", "sh"]);
        assert_eq!(names(&launch(at, &["./outer"])).unwrap(), ["outer", "inner", "sh"]);
        assert_eq!(names(&launch(at, &["env", "-i", "A=b", "inner", "more"])).unwrap(), ["inner", "sh"]);
    }

    #[test]
    fn what_is_not_there_or_leads_nowhere_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        let circle = executable(at, "circle", "#!/usr/bin/env circle\n");
        assert_eq!(names(&launch(at, &["no-such-program"])), Err("no-such-program was not found".to_owned()));
        assert_eq!(
            names(&launch(at, &["circle"])),
            Err("circle is a script of a script of a script".to_owned())
        );
        fs::write(&circle, [0xff, 0xfe, b'#']).unwrap();
        let program = Program::behind(&launch(at, &["circle"]), &Inherited::new()).unwrap();
        assert_eq!(program.image, Image::Other);
    }

    #[test]
    fn the_launch_overrules_what_is_inherited() {
        let folder = tempfile::tempdir().unwrap();
        let inherited: Inherited = [("PATH".into(), "/nowhere".into()), ("LANG".into(), "C".into())].into();
        let launch = launch(folder.path(), &["x"]);
        assert_ne!(variable(&launch, &inherited, "PATH"), Some(OsStr::new("/nowhere")));
        assert_eq!(variable(&launch, &inherited, "LANG"), Some(OsStr::new("C")));
        assert_eq!(variable(&launch, &inherited, "OTHER"), None);
    }
}
