//! A file per tool, in a folder called `tools`: `export const metadata = { name: "add" }` beside a default export that does the work. Or
//! `export const schema` beside `export async function handler`, where the server loads what it finds in the folder.

use interlock_model::ir::Name;

use super::{Context, discovery::Discovery, index::Index};

/// What a file is called that speaks for its folder.
const OF_FOLDER: &str = "index";

/// Makes the default exports of such files handlers.
pub(super) fn tools(discovery: &mut Discovery<'_, '_>) {
    let index = discovery.index;
    let known = &index.sdk().file;
    for file in index.eval.flat.files.iter().filter(|file| in_folder(index, file)) {
        let offered = index.names.offered(file);
        let export = |wanted: &str| {
            let (_, global) = offered.iter().find(|(name, _)| &**name == wanted)?;
            Some(index.at_place(global, &Context::plain(0)))
        };
        let (Some(metadata), Some(work)) = (export(&known.metadata), export(&known.work)) else { continue };
        let Some(name) = index.name_in(&metadata).text().cloned() else { continue };
        for function in discovery.functions(&work) {
            discovery.serve(function, index.tool_in(name.clone(), &metadata));
        }
    }
}

/// Makes the handlers of files whose names are those of the tools handlers, because somebody loads tools that nobody can name.
pub(super) fn loaded(discovery: &mut Discovery<'_, '_>) {
    let index = discovery.index;
    let sdk = index.sdk();
    for file in index.eval.flat.files.iter().filter(|file| in_folder(index, file)) {
        let offered = index.names.offered(file);
        let export = |wanted: &dyn Fn(&str) -> bool| {
            let (_, global) = offered.iter().find(|(name, _)| wanted(name))?;
            Some(index.at_place(global, &Context::plain(0)))
        };
        let takes = offered.iter().any(|(name, _)| sdk.file.takes.contains(&**name));
        let Some(work) = export(&|name| sdk.file.handler.contains(name)).filter(|_| takes) else { continue };
        let own = export(&|name| sdk.object.name.iter().any(|known| known == name));
        let own = own.and_then(|name| index.text(name).text().cloned());
        let stem = || {
            let name = file.rsplit('/').next()?;
            let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
            (stem != OF_FOLDER).then(|| Name::from(stem))
        };
        let Some(name) = own.or_else(stem) else { continue };
        for function in discovery.functions(&work) {
            if !discovery.is_handler(function) {
                discovery.serve(function, Discovery::plain(name.clone()));
            }
        }
    }
}

/// Whether a file is in a folder of tools, however deep.
fn in_folder(index: &Index<'_>, file: &Name) -> bool {
    let known = &index.sdk().file;
    file.rsplit('/').skip(1).any(|folder| known.folders.contains(folder))
}

/// Makes the functions entries that a host calls because of the file that they are in: `api/token.ts`, `app/tasks/route.ts`.
pub(super) fn answering(discovery: &mut Discovery<'_, '_>) {
    let index = discovery.index;
    let known = &index.sdk().file;
    if known.answers.is_empty() {
        return;
    }
    for file in &index.eval.flat.files {
        let stem = file.rsplit('/').next().and_then(|name| name.split('.').next()).unwrap_or_default();
        let is_route = stem == known.route && file.split('/').any(|folder| folder == known.routed);
        let package = index.packages.iter().filter_map(|package| match *package {
            "" => Some(&**file),
            package => file.strip_prefix(package)?.strip_prefix('/'),
        });
        let answers = package
            .filter_map(|inside| inside.split_once('/'))
            .any(|(folder, rest)| folder == known.answers && !rest.is_empty());
        if !is_route && !answers {
            continue;
        }
        for (name, global) in index.names.offered(file) {
            let fits = if is_route { known.methods.contains(&*name) } else { &*name == "default" };
            if !fits {
                continue;
            }
            for function in discovery.functions(&index.at_place(&global, &Context::plain(0))) {
                let first = index.unit(function).and_then(|unit| {
                    let parameter = unit.function.parameters.first()?;
                    Some(unit.function.values.get(parameter.0 as usize)?.name.clone())
                });
                if is_route || first.is_some_and(|first| known.request.contains(&*first)) {
                    discovery.entry(function);
                }
            }
        }
    }
}
