//! Who a process is in a user namespace: the same as outside.

use std::{fs, io};

use rustix::process::{Gid, Uid, getegid, geteuid};

/// The user and group before the namespace was left; inside they are nobody until they are mapped.
#[derive(Debug, Clone, Copy)]
pub(super) struct Owner {
    user: Uid,
    group: Gid,
}

impl Owner {
    pub(super) fn of_this_process() -> Self {
        Self { user: geteuid(), group: getegid() }
    }

    /// Maps both to themselves. Whoever is not privileged has to give up changing groups first.
    pub(super) fn stay(self) -> io::Result<()> {
        let (user, group) = (self.user.as_raw(), self.group.as_raw());
        fs::write("/proc/self/setgroups", "deny")?;
        fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
        fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
    }
}
