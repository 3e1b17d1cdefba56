//! The crates that strangers use: each builds with each of its features alone, and can be packed as it would be published.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};

use crate::{
    root::Root,
    run::{Run, cargo},
};

/// The crates that are published, each before those that use it.
pub(crate) const PUBLISHED: [&str; 2] = ["interlock-sync", "interlock-store"];

/// Checks each crate without features, and with each feature alone: what is used only together with another feature is found so.
pub(super) fn features(root: &Root) -> Result<()> {
    for package in PUBLISHED {
        let features = features_of(root, package)?;
        ensure!(!features.is_empty(), "{package} has no features, or they were not found");
        let check = ["clippy", "--locked", "--lib", "--no-default-features", "--package", package];
        for feature in std::iter::once("").chain(features.iter().map(String::as_str)) {
            cargo(root, &[&check[..], &["--features", feature, "--", "-D", "warnings"]].concat())
                .with_context(|| format!("{package} with the feature `{feature}` alone"))?;
        }
    }
    Ok(())
}

/// Packs the crates and builds what was packed, without asking any registry.
pub(super) fn package(root: &Root) -> Result<()> {
    let mut arguments = vec!["package", "--locked", "--offline", "--allow-dirty"];
    for package in PUBLISHED {
        arguments.extend(["--package", package]);
    }
    cargo(root, &arguments)
}

fn features_of(root: &Root, package: &str) -> Result<Vec<String>> {
    #[derive(serde::Deserialize)]
    struct Metadata {
        packages: Vec<Package>,
    }
    #[derive(serde::Deserialize)]
    struct Package {
        name: String,
        features: BTreeMap<String, Vec<String>>,
    }
    let arguments = ["metadata", "--format-version", "1", "--no-deps", "--locked"];
    let text = Run::new(root, "cargo").args(arguments).quiet().text()?;
    let metadata: Metadata = serde_json::from_str(&text).context("cargo's metadata is not understood")?;
    let found = metadata.packages.into_iter().find(|found| found.name == package);
    let found = found.with_context(|| format!("there is no package `{package}`"))?;
    Ok(found.features.into_keys().filter(|feature| feature != "default").collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_features_of_what_is_published_are_known() {
        let root = Root::find(None, None).unwrap();
        assert_eq!(features_of(&root, "interlock-store").unwrap(), ["postgres", "redis", "sqlite", "tls"]);
        assert!(features_of(&root, "interlock-sync").unwrap().contains(&"rmcp".to_owned()));
    }
}
