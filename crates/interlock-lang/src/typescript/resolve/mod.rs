//! Where the imports of TypeScript and JavaScript lead: `specifier` finds the file of one, with what `settings` says, which are
//! `package.json` and `tsconfig.json` in the form that `jsonc` reads.

mod jsonc;
mod settings;
mod specifier;

use interlock_model::ir::Name;

use self::{settings::Settings, specifier::Files};
use crate::{Layout, Module};

/// What the settings of a tree say, and where its imports lead.
pub(super) fn layout(modules: &[Module], settings: &[(String, String)]) -> Layout {
    let paths: Vec<Name> = modules.iter().map(|module| module.path.clone()).collect();
    let mut settings = Settings::read(settings);
    let (schemas, broken) = (std::mem::take(&mut settings.schemas), std::mem::take(&mut settings.broken));
    let packages = settings.packages.iter().map(|package| package.folder.clone()).collect();
    Layout { imports: Box::new(Files::new(&paths, settings)), packages, schemas, broken, handlers: vec![] }
}
