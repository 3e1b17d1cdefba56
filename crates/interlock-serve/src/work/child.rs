//! An audit is a process of its own: `interlock audit`, without leave to start anything, with an environment made for it and limits that the
//! kernel keeps. Whatever a file that nobody vouched for does to a parser, it is that process which ends.

use std::{collections::BTreeMap, ffi::OsString, path::Path, process::Stdio, time::Duration};

use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process_group, prlimit};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, BufReader},
    process::{Child, Command},
};

use super::Work;
use crate::jobs::{Form, Progress};

/// Why an audit came to no report.
pub(super) enum Left {
    /// With this reason.
    Failed(String),
    /// Another worker may have it.
    ToAnother,
}

/// What the process is to look at, and the hosts that it may reach for that.
pub(super) struct Target {
    pub(super) what: String,
    /// What it is called in the report.
    pub(super) called: String,
    pub(super) hosts: Vec<String>,
}

/// A line of progress is at most this long.
const LONGEST_LINE: usize = 4 << 10;
/// Of what it complains so much is shown.
const LONGEST_COMPLAINT: usize = 600;

/// The name of a report of this form in the folder of an audit.
pub(super) fn report_name(form: Form) -> String {
    format!("report.{}", form.ending())
}

/// The environment of every client: a home of its own, no credentials, and one way to the network.
pub(super) fn environment(work: &Work, folder: &Path, proxy: &str) -> BTreeMap<OsString, OsString> {
    let mut environment = work.environment.clone();
    let mut set =
        |name: &str, value: &std::ffi::OsStr| drop(environment.insert(name.into(), value.to_owned()));
    for name in ["HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "NPM_CONFIG_CACHE"] {
        set(name, folder.as_os_str());
    }
    for name in
        ["https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY", "ALL_PROXY", "NPM_CONFIG_HTTPS_PROXY"]
    {
        set(name, proxy.as_ref());
    }
    for (name, value) in [
        ("LANG", "C.UTF-8"),
        ("CI", "1"),
        // The files of this machine's user and of whoever built it are none of its business.
        ("NPM_CONFIG_GLOBALCONFIG", "/dev/null"),
        ("NPM_CONFIG_UPDATE_NOTIFIER", "false"),
        ("NPM_CONFIG_IGNORE_SCRIPTS", "true"),
        ("PIP_CONFIG_FILE", "/dev/null"),
        ("PIP_NO_CACHE_DIR", "1"),
        ("PIP_DISABLE_PIP_VERSION_CHECK", "1"),
        ("PYTHONDONTWRITEBYTECODE", "1"),
        ("PYTHONNOUSERSITE", "1"),
    ] {
        set(name, value.as_ref());
    }
    environment
}

/// Runs the audit; its reports are in the folder afterwards.
pub(super) async fn run<F: Future<Output = ()>>(
    work: &Work,
    target: &Target,
    folder: &Path,
    progress: &impl Fn(Progress) -> F,
    gone: impl Future<Output = ()>,
) -> Result<(), Left> {
    let ticket = work.egress.ticket(target.hosts.clone(), work.bounds.download);
    let mut command = Command::new(&work.program);
    command.arg("audit").arg("--for-worker").arg(format!("--called={}", target.called));
    for form in Form::ALL {
        command.arg("--output").arg(folder.join(report_name(form)));
    }
    command
        .arg(&target.what)
        .env_clear()
        .envs(environment(work, folder, &ticket.url))
        .current_dir(folder)
        // It ends when we do: our end of this pipe is closed then, however we end.
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .process_group(0);
    let child =
        command.spawn().map_err(|error| Left::Failed(format!("the audit could not be started: {error}")))?;
    let mut child = Group(child);
    child.limit(work);
    let said = child.0.stderr.take().ok_or_else(|| Left::Failed("the audit says nothing".to_owned()))?;
    let ended = async {
        let complaint = listen(said, progress).await;
        (child.0.wait().await, complaint)
    };
    let ended = tokio::select! {
        ended = tokio::time::timeout(work.bounds.time, ended) => ended,
        () = gone => {
            child.end().await;
            return Err(Left::ToAnother);
        }
    };
    let failed = match ended {
        Err(_) => {
            child.end().await;
            format!("it took more than {} s", work.bounds.time.as_secs())
        }
        // 0, 1 and 3 say what the report says.
        Ok((Ok(status), _)) if matches!(status.code(), Some(0 | 1 | 3)) => return Ok(()),
        Ok((Ok(status), complaint)) if complaint.is_empty() => format!("the audit broke off ({status})"),
        Ok((_, complaint)) => complaint,
    };
    Err(Left::Failed(failed))
}

/// Passes progress on until the process is done; what else it said.
async fn listen<F: Future<Output = ()>>(
    said: impl tokio::io::AsyncRead + Unpin,
    progress: &impl Fn(Progress) -> F,
) -> String {
    let mut said = BufReader::new(said);
    let mut complaint = String::new();
    loop {
        let mut line = Vec::new();
        match (&mut said).take(LONGEST_LINE as u64).read_until(b'\n', &mut line).await {
            Ok(1..) => {}
            _ => return shorten(&complaint),
        }
        match serde_json::from_slice::<Progress>(&line) {
            Ok(step) => progress(Progress { doing: shorten(&step.doing), ..step }).await,
            Err(_) if complaint.len() < LONGEST_LINE => complaint.push_str(&String::from_utf8_lossy(&line)),
            Err(_) => {}
        }
    }
}

fn shorten(text: &str) -> String {
    let plain = text.trim().trim_start_matches("error:").trim();
    plain.chars().map(|c| if c.is_control() { ' ' } else { c }).take(LONGEST_COMPLAINT).collect()
}

/// A process with all that it started; ended when this is dropped.
struct Group(Child);

/// So long has a process to end its clients and itself when nobody waits for it any more.
const GRACE: Duration = Duration::from_secs(6);

impl Group {
    /// Lets it end what it started, which may be in groups of their own; then ends it.
    async fn end(&mut self) {
        drop(self.0.stdin.take());
        let _ = tokio::time::timeout(GRACE, self.0.wait()).await;
    }

    /// What the kernel keeps it and its children from taking.
    fn limit(&self, work: &Work) {
        let Some(process) = self.process() else { return };
        let set = |resource: Resource, most: u64| {
            let _ = prlimit(Some(process), resource, Rlimit { current: Some(most), maximum: Some(most) });
        };
        set(Resource::Data, work.bounds.memory);
        set(Resource::Fsize, 1 << 30);
        set(Resource::Core, 0);
        // Two threads at work for the whole of its time.
        set(Resource::Cpu, work.bounds.time.as_secs().saturating_mul(2).max(1));
    }

    fn process(&self) -> Option<Pid> {
        Pid::from_raw(i32::try_from(self.0.id()?).ok()?)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(group) = self.process() {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.0.start_kill();
    }
}
