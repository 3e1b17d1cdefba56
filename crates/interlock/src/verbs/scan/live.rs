//! `--live -- COMMAND`: what the running server lists. It is started as `prove` starts it, apart from the user's files, and only asked.

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use interlock_prove::{
    Ask, Budget, Patience, Request, Target,
    isolate::{Isolation, Leave},
    list,
    plan::restraint::Restraint,
};

use super::super::{
    given,
    prove::{apart, progress::Line},
};
use super::Scan;
use crate::{console::Console, ending::Ending};

/// The names of the tools that the server lists.
pub(super) fn listed(options: &Scan, console: &mut Console) -> Result<Vec<String>> {
    let target = Target::Command {
        command: options.command.clone(),
        environment: given::pairs(&options.env)?,
        directory: given::here(),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let mut ending = runtime.block_on(async { Ending::with_terminal() })?;
    let helper = apart::helper()?;
    let line = Line::new(console.errors_are_seen() && !options.no_progress);
    let outcome = runtime.block_on(async {
        let listed = async {
            let kernel = apart::probe(helper.clone(), &target).await;
            let leave = Leave { in_place: false, network: options.network };
            let isolation = apart::isolation(helper, kernel, leave);
            let program = options.command.first().map(String::as_str).unwrap_or_default();
            let restraint = Arc::new(Restraint::new(isolation.told(program), false));
            let request = request(target, Arc::new(isolation), Arc::clone(&restraint));
            (list(&request, &line).await, restraint)
        };
        tokio::select! {
            listed = listed => Some(listed),
            () = ending.asked() => None,
        }
    });
    drop(runtime);
    drop(line);
    let Some((listed, restraint)) = outcome else {
        bail!("interrupted; the server that was started is ended")
    };
    for said in &restraint.isolation().said {
        console.remark(said);
    }
    listed.with_context(|| {
        format!("the server did not list its tools: {}; try the command by itself, or give a saved answer with --tools", options.command.join(" "))
    })
}

fn request(target: Target, isolation: Arc<Isolation>, restraint: Arc<Restraint>) -> Request {
    Request {
        target,
        ask: Ask::Survey,
        isolation,
        restraint,
        perturbations: Vec::new(),
        budget: Budget::default(),
        patience: Patience::default(),
        all: false,
        side_by_side: 0,
    }
}
