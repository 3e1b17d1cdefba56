//! The least version of Rust that the published crates state: no direct dependency needs more, and the README says the same as the manifest. That
//! the code itself needs no more is for clippy's `incompatible_msrv`, which reads the manifest. What dependencies depend on is chosen
//! by whoever builds, as old as it must be.

use anyhow::{Context, Result};
use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package};

use super::{Problem, Report};
use crate::{test::PUBLISHED, workspace::Workspace};

/// A package asks for no more on one platform than on another, as far as versions of Rust go.
const PLATFORM: &str = "x86_64-unknown-linux-gnu";

/// Compares the manifests with the READMEs and with the dependencies.
pub(super) fn check(workspace: &Workspace) -> Result<Report> {
    let metadata = MetadataCommand::new()
        .current_dir(workspace.root.path())
        .other_options(["--offline", "--filter-platform", PLATFORM].map(str::to_owned))
        .exec()
        .context("failed to read what the dependencies need; `cargo fetch` may help")?;
    let mut problems = Vec::new();
    for name in PUBLISHED {
        let package = metadata.workspace_packages().into_iter().find(|package| package.name.as_str() == name);
        let package = package.with_context(|| format!("there is no package `{name}`"))?;
        let readme = workspace.root.read(&format!("crates/{name}/README.md"))?;
        problems.extend(judge(package, &readme, &metadata));
    }
    Ok(problems.into())
}

fn judge(package: &Package, readme: &str, metadata: &Metadata) -> Vec<Problem> {
    let manifest = format!("crates/{}/Cargo.toml", package.name);
    let Some(stated) = &package.rust_version else {
        return vec![Problem::new(&manifest, 1, "states no rust-version")];
    };
    let mut problems = Vec::new();
    let sentence = format!("The least version of Rust is {}.{}", stated.major, stated.minor);
    // Its words may be on two lines.
    let words = readme.split_whitespace().collect::<Vec<_>>().join(" ");
    if !words.contains(&sentence) {
        problems.push(Problem::new(
            &format!("crates/{}/README.md", package.name),
            1,
            format!("does not say: {sentence}"),
        ));
    }
    for needed in direct(package, metadata) {
        if let Some(least) = &needed.rust_version
            && least > stated
        {
            let text = format!("states Rust {stated}, and {} {} needs {least}", needed.name, needed.version);
            problems.push(Problem::new(&manifest, 1, text));
        }
    }
    problems
}

/// What a package itself names, other than for its tests.
fn direct<'a>(package: &Package, metadata: &'a Metadata) -> Vec<&'a Package> {
    let nodes = metadata.resolve.iter().flat_map(|resolve| &resolve.nodes);
    let node = nodes.filter(|node| node.id == package.id).flat_map(|node| &node.deps);
    let is_for_use = |kind: DependencyKind| kind != DependencyKind::Development;
    let ids =
        node.filter(|need| need.dep_kinds.iter().any(|info| is_for_use(info.kind))).map(|need| &need.pkg);
    ids.filter_map(|id| metadata.packages.iter().find(|package| package.id == *id)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::Root;

    #[test]
    fn what_is_published_states_what_it_needs_and_a_lower_claim_is_noticed() {
        let workspace = Workspace::open(&Root::find(None, None).unwrap()).unwrap();
        assert_eq!(check(&workspace).unwrap().problems, []);
        let metadata = MetadataCommand::new()
            .current_dir(workspace.root.path())
            .other_options(["--offline", "--filter-platform", PLATFORM].map(str::to_owned))
            .exec()
            .unwrap();
        let store =
            metadata.packages.iter().find(|package| package.name.as_str() == "interlock-store").unwrap();
        let mut older = store.clone();
        older.rust_version.as_mut().unwrap().minor = 70;
        let texts: Vec<String> =
            judge(&older, "", &metadata).into_iter().map(|problem| problem.text).collect();
        assert!(
            texts.iter().any(|text| text.contains("does not say: The least version of Rust is 1.70")),
            "{texts:?}"
        );
        assert!(texts.iter().any(|text| text.contains("rusqlite")), "{texts:?}");
    }
}
