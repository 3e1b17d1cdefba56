//! The module tree of a crate: every file read once, modules by their path.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use syn::{Attribute, Item, Meta};

use crate::root::Root;

/// A path from the root of the crate.
pub(super) type Path = Vec<String>;

/// Modules by path, without those for tests and those that are hidden.
pub(super) type Modules = BTreeMap<Path, Vec<Item>>;

/// Reads all modules of a crate.
pub(super) fn modules(root: &Root, folder: &str) -> Result<Modules> {
    let mut modules = Modules::new();
    let items = read(root, &format!("{folder}/lib.rs"))?;
    add(root, folder, Path::new(), items, &mut modules)?;
    Ok(modules)
}

fn add(root: &Root, folder: &str, path: Path, items: Vec<Item>, modules: &mut Modules) -> Result<()> {
    for item in &items {
        let Item::Mod(module) = item else { continue };
        if is_left_out(&module.attrs) {
            continue;
        }
        let mut inner = path.clone();
        inner.push(module.ident.to_string());
        let content = match &module.content {
            Some((_, content)) => content.clone(),
            None => read_module(root, folder, &inner)?,
        };
        add(root, folder, inner, content, modules)?;
    }
    modules.insert(path, items);
    Ok(())
}

fn read_module(root: &Root, folder: &str, path: &[String]) -> Result<Vec<Item>> {
    let stem = format!("{folder}/{}", path.join("/"));
    for file in [format!("{stem}.rs"), format!("{stem}/mod.rs")] {
        if root.join(&file).is_file() {
            return read(root, &file);
        }
    }
    bail!("the module {} has no file", path.join("::"))
}

fn read(root: &Root, file: &str) -> Result<Vec<Item>> {
    let text = root.read(file)?;
    Ok(syn::parse_file(&text).with_context(|| format!("{file} is not understood"))?.items)
}

/// Whether an item is only for tests, or hidden from the documentation.
pub(super) fn is_left_out(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) => {
            let inside = list.tokens.to_string();
            (list.path.is_ident("cfg") && (inside == "test" || inside == "doctest"))
                || (list.path.is_ident("doc") && inside == "hidden")
        }
        _ => false,
    })
}
