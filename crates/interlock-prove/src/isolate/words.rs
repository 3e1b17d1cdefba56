//! What a report says first: what is not refused, and why.

use std::path::Path;

use interlock_model::{Confinement, Refusal};

use super::Isolation;

/// Programs that have somebody else run the server: what is refused to them is not refused to it.
const ELSEWHERE: &[&str] = &[
    "docker",
    "podman",
    "nerdctl",
    "kubectl",
    "ssh",
    "systemd-run",
    "machinectl",
    "flatpak-spawn",
    "toolbox",
    "distrobox",
    "lxc",
    "at",
    "batch",
];

/// Whether a program has its server run by somebody else.
pub(super) fn runs_elsewhere(program: &str) -> bool {
    let name = Path::new(program).file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| ELSEWHERE.contains(&name))
}

/// A sentence for each thing that the kernel does not refuse.
pub(super) fn said(isolation: &Isolation, told: &Confinement, program: &str) -> Vec<String> {
    let mut said = Vec::new();
    if runs_elsewhere(program) {
        said.push(format!(
            "not isolated: `{program}` has the server run elsewhere, where the kernel refuses it nothing on our behalf"
        ));
        return said;
    }
    let kernel = &isolation.kernel;
    if isolation.leave.in_place {
        said.push(
            "in place: the server runs in your current folder with your home, and can write and delete there"
                .into(),
        );
    }
    let why = |layer: &Result<(), String>| layer.as_ref().err().cloned().unwrap_or_default();
    let layers = isolation.layers();
    match (layers.landlock, layers.mounts) {
        (true, true) => {}
        (true, false) => said.push(format!(
            "modes, owners and times of your files are not protected, only contents and names: {}",
            why(&kernel.mounts)
        )),
        (false, true) => said.push(format!(
            "files are protected by read-only mounts alone: {}",
            why(&kernel.landlock)
        )),
        (false, false) => said.push(format!(
            "your files are not protected by the kernel, the server was only moved to a folder of its own: {}; {}",
            why(&kernel.landlock),
            why(&kernel.mounts)
        )),
    }
    match told.network {
        Refusal::Refused => {}
        _ if isolation.leave.network => said.push(
            "the server has the network (--network), and with it every service and socket of this machine"
                .into(),
        ),
        Refusal::Partly => said.push(format!(
            "of the network only TCP connections are refused, not UDP or sockets with a path: {}",
            why(&kernel.network)
        )),
        Refusal::Open => said.push(format!("the network is not refused: {}", why(&kernel.network))),
    }
    said
}
