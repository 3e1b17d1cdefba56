//! A new hazard: one folder from templates and one line in the catalogue. The templates are files of their own, so that they
//! are read and changed like any other source.

use anyhow::{Context, Result, bail};

use super::name::Name;
use crate::{generate, generate::registry::HAZARDS, root::Root};

/// Where the hazards live.
const SOURCES: &str = "crates/interlock-hazards/src";

/// The files of a hazard's folder. `{id}` and `{module}` are filled in.
const TEMPLATES: &[(&str, &str)] = &[
    ("mod.rs", include_str!("../../templates/hazard/mod.rs")),
    ("remedy.rs", include_str!("../../templates/hazard/remedy.rs")),
    ("doc.md", include_str!("../../templates/hazard/doc.md")),
];

/// Creates the folder, adds the line and rewrites the registry. Whatever can be refused is refused before anything is written.
pub(super) fn create(root: &Root, name: &str) -> Result<()> {
    let name = Name::parse(name)?;
    let folder = format!("{SOURCES}/{}", name.module);
    for taken in [folder.clone(), format!("{folder}.rs")] {
        if root.join(&taken).exists() {
            bail!("{taken} exists already; choose another name, or edit what is there");
        }
    }
    let catalogue =
        root.read(HAZARDS.source).context("failed to find the catalogue that the hazard is added to")?;
    let catalogue = HAZARDS.with_module(&catalogue, &format!("pub mod {};", name.module))?;

    for (file, template) in TEMPLATES {
        let path = format!("{folder}/{file}");
        root.write(&path, &filled(template, &name))?;
        println!("{path}: written");
    }
    generate::put(root, HAZARDS.source, &catalogue)?;
    generate::put(root, HAZARDS.target, &HAZARDS.derive(root)?)?;
    println!("{}", next_steps(&folder));
    Ok(())
}

fn filled(template: &str, name: &Name) -> String {
    template.replace("{id}", &name.id).replace("{module}", &name.module)
}

fn next_steps(folder: &str) -> String {
    format!(
        "\nNext:\n\
         1. Write the page, {folder}/doc.md: `cargo test -p interlock-hazards` lists what is missing.\n\
         2. Set title, severity, deduction, CWE and faces in {folder}/mod.rs, and the cure in {folder}/remedy.rs.\n\
         3. `cargo xtask gen` brings docs/hazards.md up to date."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workspace() -> (tempfile::TempDir, Root) {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::of_test(folder.path());
        root.write(
            HAZARDS.source,
            "//! All.\n// catalogue: begin\npub mod lost_update;\n// catalogue: end\n",
        )
        .unwrap();
        root.write(&format!("{SOURCES}/lost_update/mod.rs"), "//! There.\n").unwrap();
        (folder, root)
    }

    #[test]
    fn a_new_hazard_is_one_folder_one_line_and_one_entry() {
        let (_folder, root) = workspace();
        create(&root, "stale-cache").unwrap();
        let module = root.read(&format!("{SOURCES}/stale_cache/mod.rs")).unwrap();
        assert!(module.contains("HazardId::from_static(\"stale-cache\")"), "{module}");
        assert!(root.read(HAZARDS.source).unwrap().contains("pub mod lost_update;\npub mod stale_cache;\n"));
        assert!(root.read(HAZARDS.target).unwrap().contains("crate::stale_cache::HAZARD"));
    }

    #[test]
    fn every_placeholder_of_the_templates_is_filled() {
        let (_folder, root) = workspace();
        create(&root, "stale-cache").unwrap();
        for (file, _) in TEMPLATES {
            let text = root.read(&format!("{SOURCES}/stale_cache/{file}")).unwrap();
            assert!(!text.contains("{id}") && !text.contains("{module}"), "{file}: {text}");
        }
    }

    #[test]
    fn a_name_that_is_taken_is_refused_and_nothing_is_written() {
        let (_folder, root) = workspace();
        root.write(&format!("{SOURCES}/all.rs"), "").unwrap();
        let before = root.read(HAZARDS.source).unwrap();
        for taken in ["lost-update", "all"] {
            let error = create(&root, taken).unwrap_err();
            assert!(error.to_string().contains("exists already"), "{error}");
        }
        assert_eq!(root.read(HAZARDS.source).unwrap(), before);
    }
}
