//! What is left of a guard that died: the processes it had started, and what its calls held.
//!
//! A guard writes down in a file of its own, which it keeps locked, what each call holds that is with a program of its own, and which programs
//! run. The kernel gives the lock of the file back when the process is gone, and not before: not while it is stopped, slow, or waits for a
//! disk. So whoever gets the lock knows that the guard is dead. It ends what is left of the programs, and then settles the calls as calls of
//! which nobody knows how they ended: their locks are free, what they may have changed counts as changed, and their keys stay in doubt.
//!
//! That is known on one machine only. Of a guard on another machine nobody knows whether it is dead, so what it holds is held until it runs
//! out; and so is what is with a server behind a URL, which goes on without the guard.
//!
//! | file | question |
//! |---|---|
//! | `journal` | what does this guard hold, and what runs for it? |
//! | `takeover` | which guards are dead, and what becomes of what they held? |
//! | `children` | what ends the programs when the guard has no time to? |

mod children;
mod journal;
mod takeover;

#[cfg(test)]
mod tests;

pub use self::{
    children::{Children, end_with},
    journal::Journal,
    takeover::{Taken, take_over},
};

use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

/// The folder for the files of all guards of one store and namespace. `None` for a store that nobody else can see.
///
/// That of a database file lies beside it; those of other stores lie in `runtime`, which is one of this machine.
#[must_use]
pub fn folder(state: &str, namespace: &str, runtime: &Path) -> Option<PathBuf> {
    let (scheme, rest) = state.split_once(':')?;
    match scheme {
        "memory" => None,
        "sqlite" => (!rest.is_empty()).then(|| PathBuf::from(format!("{rest}.guards")).join(namespace)),
        _ => {
            // The address may have a password in it, so what is shown of it is a digest.
            let digest = Sha256::digest(format!("{state}\n{namespace}").as_bytes());
            let name: String = digest.iter().take(12).map(|byte| format!("{byte:02x}")).collect();
            Some(runtime.join(format!("interlock-guards-{}-{name}", rustix::process::geteuid().as_raw())))
        }
    }
}
