//! What the process itself takes, as Linux tells it.

use std::time::SystemTime;

/// What the process takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::ops) struct Process {
    /// User and system time, in seconds.
    pub(in crate::ops) cpu_seconds: f64,
    /// Memory that is really there, in bytes.
    pub(in crate::ops) resident: u64,
    /// Memory that was asked for, in bytes.
    pub(in crate::ops) virtual_memory: u64,
    /// Threads.
    pub(in crate::ops) threads: u64,
    /// Files and connections.
    pub(in crate::ops) open_files: u64,
}

impl Process {
    /// Asks. `None` where nothing of that kind is known.
    #[cfg(target_os = "linux")]
    pub(in crate::ops) fn now() -> Option<Self> {
        let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
        let open_files = std::fs::read_dir("/proc/self/fd").map_or(0, |folder| folder.count() as u64);
        Self::read(
            &stat,
            rustix::param::clock_ticks_per_second(),
            rustix::param::page_size() as u64,
            open_files,
        )
    }

    /// Asks. `None` where nothing of that kind is known.
    #[cfg(not(target_os = "linux"))]
    pub(in crate::ops) fn now() -> Option<Self> {
        None
    }

    /// Reads `/proc/self/stat`. The name of the program may have spaces and brackets in it, so fields are counted behind the last one.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux has the file"))]
    fn read(stat: &str, ticks: u64, page: u64, open_files: u64) -> Option<Self> {
        let (_, fields) = stat.rsplit_once(')')?;
        // The first of these is the third field of the manual.
        let field = |number: usize| fields.split_ascii_whitespace().nth(number - 3)?.parse::<u64>().ok();
        Some(Self {
            cpu_seconds: (field(14)? + field(15)?) as f64 / ticks.max(1) as f64,
            threads: field(20)?,
            virtual_memory: field(23)?,
            resident: field(24)?.saturating_mul(page),
            open_files,
        })
    }
}

/// Seconds since 1970, for a gauge.
pub(super) fn unix_seconds(time: SystemTime) -> f64 {
    time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_are_counted_behind_the_name_whatever_it_is() {
        let stat = "42 (a ) (b) S 1 42 42 0 -1 4194304 100 0 0 0 250 50 0 0 20 0 7 0 100 8192000 300 18446744073709551615 1 1 0";
        let process = Process::read(stat, 100, 4096, 9).unwrap();
        assert_eq!(
            process,
            Process {
                cpu_seconds: 3.0,
                resident: 1_228_800,
                virtual_memory: 8_192_000,
                threads: 7,
                open_files: 9
            }
        );
        assert_eq!(Process::read("42 (short) S 1", 100, 4096, 9), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_process_takes_something() {
        let process = Process::now().unwrap();
        assert!(process.resident > 100_000 && process.threads >= 1 && process.open_files >= 3);
    }
}
