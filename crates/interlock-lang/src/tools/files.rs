//! A file per tool: `export const metadata = { name: "add" }` beside a default export that does the work, in a folder called `tools`.

use interlock_model::ir::Name;

use super::{env::At, found::Found, look::FUEL};

/// Makes the default exports of such files handlers.
pub(super) fn tools(found: &mut Found<'_, '_>) {
    let index = found.index;
    let known = &index.sdk().file;
    // Whether a file is in such a folder, however deep.
    let in_folder = |file: &&Name| file.rsplit('/').skip(1).any(|folder| known.folders.contains(folder));
    for file in index.input.files.iter().filter(in_folder) {
        let offered = index.input.names.offered(file);
        let export = |wanted: &str| {
            let (_, global) = offered.iter().find(|(name, _)| &**name == wanted)?;
            Some(index.at_place(global, &At::plain(0), FUEL))
        };
        let (Some(metadata), Some(work)) = (export(&known.metadata), export(&known.work)) else { continue };
        let Some(name) = index.name_in(&metadata).text().cloned() else { continue };
        for function in found.functions(&work) {
            found.serve(function, index.tool_in(name.clone(), &metadata));
        }
    }
}
