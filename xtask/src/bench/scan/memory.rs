//! How much memory a program has used at its worst, as Linux counts it.

use std::{
    fs,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use anyhow::{Context, Result, ensure};

/// How often the count is read. It only ever rises, so what is missed is what a program takes in its last moments.
const STEP: Duration = Duration::from_millis(1);

/// The most bytes that were in memory at a time.
pub(super) fn peak(command: &mut Command, fine: &[i32]) -> Result<f64> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().with_context(|| format!("{command:?} could not be started"))?;
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0.0_f64;
    let end = loop {
        if let Some(now) = fs::read_to_string(&status).ok().as_deref().and_then(high_water) {
            peak = peak.max(now);
        }
        if let Some(end) = child.try_wait()? {
            break end;
        }
        thread::sleep(STEP);
    };
    ensure!(end.code().is_some_and(|code| fine.contains(&code)), "{command:?} failed ({end})");
    ensure!(peak > 0.0, "the memory of {command:?} could not be read; this needs Linux");
    Ok(peak)
}

/// `VmHWM:  123 kB`.
fn high_water(status: &str) -> Option<f64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_read_from_what_linux_says() {
        assert_eq!(high_water("Name:\tx\nVmHWM:\t    2048 kB\n"), Some(2048.0 * 1024.0));
        assert_eq!(high_water("Name:\tx\n"), None);
    }

    #[test]
    fn a_program_that_fails_is_not_measured() {
        assert!(peak(Command::new("sh").args(["-c", "exit 3"]), &[0]).is_err());
        assert!(peak(Command::new("sh").args(["-c", "sleep 0.05"]), &[0]).is_ok());
    }
}
