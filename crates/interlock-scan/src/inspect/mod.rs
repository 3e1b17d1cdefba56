//! Questions to the analysis: the IR of a function (`--dump-ir`), and why a line is reported or is not (`--why`).
//!
//! Authors ask them to trust a clean result, and we ask them to find a miss. Both read the tree as a scan does and answer from the same
//! program, entry points and rules.

mod find;
mod reach;
mod why;

use interlock_model::{FunctionIr, Why};

pub use self::find::NotFound;
use self::find::{functions_named, place};
use crate::{
    Engine, Phase, Progress, Request, ScanError, config, engine::Linked, examine::programs, expand,
    walk::Root,
};

/// The IR of the functions that a name or a place stands for: as linked, or with their calls inlined.
///
/// # Errors
/// If the paths or the configuration are not right, or there is no such function.
pub fn dump_ir(
    request: &Request<'_>,
    function: &str,
    inlined: bool,
    progress: &dyn Progress,
) -> Result<Vec<FunctionIr>, ScanError> {
    with_programs(request, progress, |_, linked| {
        let mut dumped = Vec::new();
        let mut missed = NotFound::default();
        for Linked { program, .. } in linked {
            let found = match functions_named(&program, function) {
                Ok(found) => found,
                Err(not_found) => {
                    missed = missed.or(not_found);
                    continue;
                }
            };
            for id in found {
                let Some(function) = program.function(id) else { continue };
                let whole = if inlined { expand::inlined(program.clone(), id) } else { None };
                let shown = whole.as_ref().unwrap_or(function);
                dumped.push(FunctionIr {
                    name: function.name.to_string(),
                    location: expand::location(&program, function.span),
                    ir: program.print(shown).to_string(),
                });
            }
        }
        if dumped.is_empty() { Err(missed.of_function(function).into()) } else { Ok(dumped) }
    })
}

/// What is known about a line: who gets there, its steps, what the rules say to it, and where the analysis lost its way.
///
/// # Errors
/// If the paths or the configuration are not right, or nothing stands at the line.
pub fn why(request: &Request<'_>, at: &str, progress: &dyn Progress) -> Result<Why, ScanError> {
    with_programs(request, progress, |engine, linked| {
        let mut missed = NotFound::default();
        for Linked { program, .. } in linked {
            match place(&program, at) {
                Ok(place) => return Ok(why::why(engine, program, place)),
                Err(not_found) => missed = missed.or(not_found),
            }
        }
        Err(missed.of_place(at).into())
    })
}

/// Reads the tree of a request and asks something of its programs.
fn with_programs<T: Send>(
    request: &Request<'_>,
    progress: &dyn Progress,
    ask: impl FnOnce(&Engine<'_>, Vec<Linked>) -> Result<T, ScanError> + Send,
) -> Result<T, ScanError> {
    let root = Root::find(&request.paths)?;
    let config = config::load(request.config.as_deref(), &root)?;
    let engine =
        Engine::new(request.frontends, config.models.as_deref(), request.threads)?.with_words(&config.words);
    engine.inside(|| {
        let linked = programs(&root, &config, &engine, progress);
        progress.reached(Phase::Looking);
        ask(&engine, linked)
    })
}
