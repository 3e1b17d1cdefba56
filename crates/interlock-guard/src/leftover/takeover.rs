//! Guards that are dead, and what becomes of what they held.

use std::{
    fs::{self, File},
    io::Read as _,
    os::unix::fs::MetadataExt as _,
    path::Path,
    time::Duration,
};

use interlock_sync::store::Store;
use rustix::{
    fs::fstatfs,
    process::{Pid, Signal, geteuid, kill_process_group},
};
use tokio::time::{Instant, sleep};

use super::journal::{ENDING, Entries, Guard, Held};

/// How long what was killed may take to be gone.
const GONE_WITHIN: Duration = Duration::from_secs(5);
/// The largest file that is read.
const LARGEST: u64 = 64 << 20;
/// How long a file stays of a guard of which nobody here can tell whether its programs run: by then all that it held has run out.
const KEPT_FOR: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// Filesystems of this machine alone, by the numbers that the kernel has for them: ext2 to ext4, XFS, Btrfs, tmpfs, ramfs, overlayfs, F2FS, ZFS.
const LOCAL: [u64; 8] =
    [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0x8584_58f6, 0x794c_7630, 0xf2f5_2010, 0x2fc1_2fc1];

/// What was left of guards that are dead, and is settled now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Taken {
    /// How many guards.
    pub guards: usize,
    /// How many of their programs were still there.
    pub programs: usize,
    /// How many calls.
    pub calls: usize,
}

/// Settles what dead guards of this folder have left behind. What cannot be settled just now stays for the next time.
pub async fn take_over(folder: &Path, store: &dyn Store) -> Taken {
    let mut taken = Taken::default();
    if !is_ours(folder) {
        return taken;
    }
    let Ok(files) = fs::read_dir(folder) else { return taken };
    for path in files.filter_map(|file| Some(file.ok()?.path())) {
        if path.extension().is_none_or(|ending| ending != ENDING) {
            continue;
        }
        // Kept locked to the end, so that nobody else settles the same.
        let Some((file, entries)) = dead(&path) else { continue };
        let Some(programs) = end_all(&entries, is_local(&file)).await else {
            if is_old(&file) {
                let _ = fs::remove_file(&path);
            }
            continue;
        };
        let Some(calls) = settle_all(&entries, store).await else { continue };
        if fs::remove_file(&path).is_ok() {
            taken.guards += 1;
            taken.programs += programs;
            taken.calls += calls;
        }
    }
    taken
}

/// What a file says, if its guard is dead.
fn dead(path: &Path) -> Option<(File, Entries)> {
    let mut file = File::open(path).ok()?;
    file.try_lock().ok()?;
    // Another may have settled it between the two, or its guard have written it anew.
    let (ours, there) = (file.metadata().ok()?, fs::metadata(path).ok()?);
    if (ours.dev(), ours.ino()) != (there.dev(), there.ino()) {
        return None;
    }
    let mut text = String::new();
    (&mut file).take(LARGEST).read_to_string(&mut text).ok()?;
    Some((file, Entries::read(&text)))
}

/// Ends the programs that are left, and says how many were. `None` if one of them cannot be ended, or nobody here knows whether it runs: then
/// its calls may go on. `is_local` is whether only this machine has the file.
async fn end_all(entries: &Entries, is_local: bool) -> Option<usize> {
    let Guard { boot, home: there, pid } = entries.guard.as_ref()?;
    // Before this machine was started anew nothing ran that still does; but another machine that has the same file was not.
    if *boot != self::boot() {
        return is_local.then_some(0);
    }
    // Elsewhere numbers mean something else; but where the first process ends, all others do.
    if *there != home() {
        return (*pid == 1).then_some(0);
    }
    let mut count = 0;
    let patience = Instant::now() + GONE_WITHIN;
    for (pid, start) in &entries.running {
        let Some(group) = i32::try_from(*pid).ok().and_then(Pid::from_raw) else { continue };
        match started(*pid) {
            Some(now) if now == *start => {
                count += 1;
                let _ = kill_process_group(group, Signal::KILL);
            }
            // Somebody else has the number by now, so the whole group was gone.
            Some(_) => continue,
            // The dead guard's server may still run, but its process number may also belong to another program by now.
            None if lives(*pid) => return None,
            None => continue,
        }
        while lives(*pid) {
            if Instant::now() >= patience {
                return None;
            }
            sleep(Duration::from_millis(10)).await;
        }
    }
    Some(count)
}

async fn settle_all(entries: &Entries, store: &dyn Store) -> Option<usize> {
    let mut count = 0;
    for settlement in entries.held.values().filter_map(Held::settlement) {
        // What had run out by itself counts as well: now it is known.
        count += usize::from(store.settle(&settlement).await.ok()?);
    }
    Some(count)
}

/// When a process was started, in ticks since the start of the machine; `None` if there is none, or nothing of it but that it ended.
pub(super) fn started(pid: u32) -> Option<u64> {
    stat(&pid.to_string()).map(|(_, start)| start)
}

/// Whether a process of this group runs.
fn lives(group: u32) -> bool {
    let Ok(all) = fs::read_dir("/proc") else { return true };
    let names = all.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names
        .filter(|name| name.starts_with(|first: char| first.is_ascii_digit()))
        .any(|name| stat(&name).is_some_and(|(its, _)| its == group))
}

/// The group of a process that runs, and when it was started.
fn stat(pid: &str) -> Option<(u32, u64)> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // Its name may have any characters in it, and ends with the last bracket.
    let (_, rest) = text.rsplit_once(')')?;
    let mut fields = rest.split_whitespace();
    let state = fields.next()?;
    let group = fields.nth(1)?.parse().ok()?;
    let start = fields.nth(16)?.parse().ok()?;
    // One that has ended and that nobody has asked for does nothing any more.
    (!matches!(state, "Z" | "X")).then_some((group, start))
}

/// Whether the file is on a disk of this machine, so that no guard of another one has written it.
fn is_local(file: &File) -> bool {
    fstatfs(file).is_ok_and(|found| u64::try_from(found.f_type).is_ok_and(|kind| LOCAL.contains(&kind)))
}

fn is_old(file: &File) -> bool {
    let modified = file.metadata().and_then(|found| found.modified());
    modified.is_ok_and(|modified| modified.elapsed().is_ok_and(|age| age > KEPT_FOR))
}

/// Whether only this user can write files in the folder: what they say of other guards is believed.
pub(super) fn is_ours(folder: &Path) -> bool {
    fs::symlink_metadata(folder)
        .is_ok_and(|found| found.is_dir() && found.uid() == geteuid().as_raw() && found.mode() & 0o022 == 0)
}

/// Which start of which machine this is. Empty if the kernel does not say.
pub(super) fn boot() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}

/// Where numbers of processes mean what they mean to us.
pub(super) fn home() -> String {
    fs::read_link("/proc/self/ns/pid").map(|link| link.display().to_string()).unwrap_or_default()
}
