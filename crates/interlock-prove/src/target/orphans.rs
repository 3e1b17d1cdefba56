//! Processes that a server leaves behind: one that made itself independent of its group is not ended with it. We take such processes as our
//! own children when their parent ends, and end them too.

use std::{
    fs,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    time::Duration,
};

use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, waitpid};

/// Whoever ends leaves its own children to us; one after another that many times, no more.
const ROUNDS: usize = 50;
/// How long the end of those that were killed is waited for, in milliseconds.
const GONE_WITHIN_MS: usize = 2000;

/// From now on processes that lose their parent become children of this one.
pub(crate) fn adopt() {
    // Without it they outlive us, as they did before.
    let _ = set_child_subreaper(Some(getpid()));
}

/// Ends the processes of an instance that are left, known by its folder in their environment.
pub(super) fn end_those_of(root: &Path) {
    let root = root.as_os_str().as_bytes();
    let is_of = |process: &Path| {
        fs::read(process.join("environ"))
            .is_ok_and(|variables| variables.windows(root.len()).any(|part| part == root))
    };
    end(is_of);
}

/// Ends whoever is left of all instances, known by namespaces that are not ours. One that wiped its environment is among them.
pub(crate) fn end_confined() {
    let mounts = |process: &Path| fs::read_link(process.join("ns/mnt")).ok();
    let ours = mounts(Path::new("/proc/self"));
    end(|process| ours.is_some() && mounts(process).is_some_and(|theirs| Some(theirs) != ours));
}

fn end(is_meant: impl Fn(&Path) -> bool) {
    for _ in 0..ROUNDS {
        let meant: Vec<Pid> =
            children().into_iter().filter(|(_, process)| is_meant(process)).map(|(id, _)| id).collect();
        if meant.is_empty() {
            return;
        }
        for id in &meant {
            let _ = kill_process(*id, Signal::KILL);
        }
        for id in meant {
            wait_for(id);
        }
    }
}

fn wait_for(id: Pid) {
    for _ in 0..GONE_WITHIN_MS {
        if !matches!(waitpid(Some(id), WaitOptions::NOHANG), Ok(None)) {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The children of this process, whichever thread has them.
fn children() -> Vec<(Pid, PathBuf)> {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten().filter_map(Result::ok);
    let lists = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    let ids: Vec<i32> = lists
        .flat_map(|list| list.split_whitespace().filter_map(|id| id.parse().ok()).collect::<Vec<_>>())
        .collect();
    ids.into_iter()
        .filter_map(|id| Some((Pid::from_raw(id)?, PathBuf::from(format!("/proc/{id}")))))
        .collect()
}
