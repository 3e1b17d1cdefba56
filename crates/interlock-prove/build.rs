//! Compiles the file shim to a shared object, which the crate embeds: it is loaded into other processes, never into ours.

use std::{env, path::PathBuf, process::Command};

/// The one C file of the project.
const SHIM: &str = "src/perturb/slow_files/shim.c";

/// `nonnull` in the C library's headers would let the compiler drop the check for a missing path, and hardening would define the
/// names that the shim defines. The thread's own numbers must not need an allocation.
const FLAGS: &[&str] = &[
    "-std=gnu11",
    "-O2",
    "-fPIC",
    "-shared",
    "-Wall",
    "-Wextra",
    "-Werror=implicit",
    "-U_FORTIFY_SOURCE",
    "-fno-delete-null-pointer-checks",
    "-ftls-model=initial-exec",
];

fn main() {
    println!("cargo::rerun-if-changed={SHIM}");
    if let Err(error) = compile() {
        println!("cargo::error=failed to compile the file shim of `prove` ({SHIM}): {error}");
    }
}

#[expect(clippy::disallowed_methods, reason = "cargo tells a build script in its environment what to build")]
fn compile() -> Result<(), String> {
    if env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("linux") {
        return Err("`prove` is for Linux only".to_owned());
    }
    let out = env::var_os("OUT_DIR").map(PathBuf::from).ok_or("cargo did not set OUT_DIR")?;
    let compiler = cc::Build::new()
        .cargo_metadata(false)
        .try_get_compiler()
        .map_err(|error| format!("{error}; install a C compiler (Debian: gcc) or name one in CC"))?;
    let mut command: Command = compiler.to_command();
    command.args(FLAGS).arg("-o").arg(out.join("slow_files.so")).arg(SHIM).arg("-ldl");
    let output = command.output().map_err(|error| {
        format!(
            "{} does not start: {error}; install a C compiler (Debian: gcc) or name one in CC",
            compiler.path().display()
        )
    })?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    // A build script speaks in lines; cargo shows each `cargo::error` as one.
    Err(format!("{} says: {}", compiler.path().display(), said.lines().collect::<Vec<_>>().join(" / ")))
}
