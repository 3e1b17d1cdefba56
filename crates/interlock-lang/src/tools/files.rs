//! A file per tool: `export const metadata = { name: "add" }` beside a default export that does the work, in a folder called `tools`.

use super::{env::At, found::Found, look::FUEL};

/// Makes the default exports of such files handlers.
pub(super) fn tools(found: &mut Found<'_, '_>) {
    let index = found.index;
    for file in index.input.files.iter().filter(|file| in_tools(file)) {
        let offered = index.input.names.offered(file);
        let export = |wanted: &str| {
            let (_, global) = offered.iter().find(|(name, _)| &**name == wanted)?;
            Some(index.at_place(global, &At::plain(0), FUEL))
        };
        let (Some(metadata), Some(work)) = (export("metadata"), export("default")) else { continue };
        let Some(name) = index.name_in(&metadata).text().cloned() else { continue };
        for function in found.functions(&work) {
            found.serve(function, index.tool_in(name.clone(), &metadata));
        }
    }
}

/// Whether a file is in a folder of tools, however deep.
fn in_tools(file: &str) -> bool {
    file.rsplit('/').skip(1).any(|folder| folder == "tools")
}
