//! Landlock: no file is written, made, moved or removed outside of a few folders, and no signal sent to strangers.

use std::{
    io,
    path::{Path, PathBuf},
};

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, PathBeneath, PathFd, RestrictionStatus,
    Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetStatus, Scope,
};

/// The first version that also refuses to truncate; with less a file could be emptied.
const NEEDED: ABI = ABI::V3;

/// Devices that hold nothing, and terminals.
const DEVICES: &[&str] = &[
    "/dev/full",
    "/dev/null",
    "/dev/ptmx",
    "/dev/pts",
    "/dev/random",
    "/dev/tty",
    "/dev/urandom",
    "/dev/zero",
];

/// Shared memory; where mounts are ours it is a folder of our own.
pub(super) const SHARED_MEMORY: &str = "/dev/shm";

/// Refuses to write anywhere but below these folders. `own_memory` is whether [`SHARED_MEMORY`] is the server's own.
pub(super) fn refuse_writes(writable: &[PathBuf], own_memory: bool) -> io::Result<()> {
    let refused = AccessFs::from_write(NEEDED);
    let rules = || {
        let ruleset = Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(refused)?
            .set_compatibility(CompatLevel::BestEffort)
            .scope(Scope::from_all(ABI::V6))?
            .create()?;
        let shared = own_memory.then_some(Path::new(SHARED_MEMORY));
        let allowed =
            writable.iter().map(PathBuf::as_path).chain(DEVICES.iter().map(Path::new)).chain(shared);
        let mut ruleset = ruleset;
        for path in allowed {
            // A device that this machine does not have needs no rule.
            let Ok(file) = PathFd::new(path) else { continue };
            let of_files = refused & AccessFs::from_file(NEEDED);
            let access = if path.is_dir() { refused } else { of_files };
            ruleset = ruleset.add_rule(PathBeneath::new(file, access))?;
        }
        ruleset.restrict_self()
    };
    match rules() {
        Ok(RestrictionStatus { ruleset: RulesetStatus::NotEnforced, .. }) => {
            Err(io::Error::new(io::ErrorKind::Unsupported, "the kernel does not know Landlock"))
        }
        Ok(_) => Ok(()),
        Err(error) => Err(io::Error::other(format!("Landlock does not refuse to write: {error}"))),
    }
}

/// Refuses TCP connections, where there is no network of one's own.
pub(super) fn refuse_connections() -> io::Result<()> {
    let refused = || {
        Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessNet::ConnectTcp)?
            .create()?
            .restrict_self()
    };
    refused()
        .map(|_| ())
        .map_err(|error| io::Error::other(format!("Landlock does not refuse to connect: {error}")))
}
