//! The import directions, held against the table in `layers.rs`. The compiler only refuses circles; that hazards never learn of
//! tokio, or that scan and guard stay strangers, is our wish and needs our check.

use anyhow::{Context, Result};
use cargo_metadata::{DependencyKind, MetadataCommand};

use super::{
    Problem, Report,
    layers::{LAYERS, TABLE, layer_of},
};
use crate::{root::Root, workspace::Workspace};

/// A crate of the workspace and what its manifest asks for.
struct Member {
    name: String,
    /// Its manifest, relative to the root.
    manifest: String,
    needs: Vec<Need>,
}

/// One dependency.
struct Need {
    name: String,
    kind: DependencyKind,
}

/// Something the table does not allow.
#[derive(Debug, PartialEq, Eq)]
struct Violation {
    manifest: String,
    /// The dependency whose line is at fault; none if it is the crate itself.
    need: Option<String>,
    text: String,
}

/// Reads the manifests and judges them.
pub(super) fn check(workspace: &Workspace) -> Result<Report> {
    let mut problems = Vec::new();
    for violation in judge(&members(&workspace.root)?) {
        let manifest = workspace.root.read(&violation.manifest)?;
        let line = violation.need.and_then(|need| line_of(&manifest, &need)).unwrap_or(1);
        problems.push(Problem::new(&violation.manifest, line, violation.text));
    }
    Ok(problems.into())
}

fn members(root: &Root) -> Result<Vec<Member>> {
    // Without dependencies nothing is resolved, so neither the network nor the lock file is touched.
    let metadata = MetadataCommand::new()
        .current_dir(root.path())
        .no_deps()
        .other_options(["--offline".to_owned()])
        .exec()
        .context("failed to read the manifests; `cargo metadata --no-deps` says why")?;
    let member = |package: &cargo_metadata::Package| Member {
        name: package.name.to_string(),
        manifest: package
            .manifest_path
            .strip_prefix(&metadata.workspace_root)
            .unwrap_or(&package.manifest_path)
            .as_str()
            .replace('\\', "/"),
        needs: package
            .dependencies
            .iter()
            .map(|dependency| Need { name: dependency.name.clone(), kind: dependency.kind })
            .collect(),
    };
    Ok(metadata.workspace_packages().into_iter().map(member).collect())
}

fn judge(members: &[Member]) -> Vec<Violation> {
    members.iter().flat_map(|member| judge_member(member, members)).collect()
}

fn judge_member(member: &Member, members: &[Member]) -> Vec<Violation> {
    let name = &member.name;
    let violation = |need: Option<&str>, text| Violation {
        manifest: member.manifest.clone(),
        need: need.map(str::to_owned),
        text,
    };
    let Some(layer) = layer_of(name) else {
        let text = format!("{name} is not in the table of import directions; add a row for it in {TABLE}");
        return vec![violation(None, text)];
    };
    let is_ours = |need: &str| {
        members.iter().any(|other| other.name == need) || LAYERS.iter().any(|layer| layer.name == need)
    };
    let mut violations = Vec::new();
    for need in member.needs.iter().filter(|need| need.kind != DependencyKind::Development) {
        let need = need.name.as_str();
        let text = if is_ours(need) {
            (!layer.may_use(need))
                .then(|| format!("{name} may not depend on {need}; the directions are in {TABLE}"))
        } else {
            let refused = layer.pure.is_some_and(|allowed| !allowed.contains(&need));
            refused.then(|| {
                format!("{name} is pure and may not depend on {need}; what it may use is in {TABLE}")
            })
        };
        violations.extend(text.map(|text| violation(Some(need), text)));
    }
    violations
}

/// The first line of a manifest that sets the dependency, in either spelling: `name = …`, `name.workspace = …`, `[….name]`.
fn line_of(manifest: &str, need: &str) -> Option<usize> {
    let sets = |line: &str| {
        let line = line.trim();
        line.strip_prefix(need).is_some_and(|rest| rest.starts_with(['.', ' ', '=']))
            || line.ends_with(&format!("dependencies.{need}]"))
    };
    manifest.lines().position(sets).map(|index| index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(name: &str, needs: &[(&str, DependencyKind)]) -> Member {
        Member {
            name: name.to_owned(),
            manifest: format!("crates/{name}/Cargo.toml"),
            needs: needs.iter().map(|&(name, kind)| Need { name: name.to_owned(), kind }).collect(),
        }
    }

    fn check(members: &[Member], expected: &[&str]) {
        let found: Vec<String> = judge(members).into_iter().map(|violation| violation.text).collect();
        assert_eq!(found, expected);
    }

    use DependencyKind::{Build, Development, Normal};

    #[test]
    fn the_arrows_of_the_design_are_allowed() {
        check(
            &[
                member("interlock-model", &[("serde_json", Normal), ("thiserror", Normal)]),
                member(
                    "interlock-hazards",
                    &[("interlock-model", Normal), ("interlock-testkit", Development)],
                ),
                member("interlock-guard", &[("interlock-hazards", Normal), ("tokio", Normal)]),
                member("interlock", &[("interlock-guard", Normal), ("clap", Normal)]),
                member("interlock-testkit", &[("interlock-guard", Normal)]),
                member("xtask", &[("clap", Normal)]),
            ],
            &[],
        );
    }

    #[test]
    fn an_arrow_that_is_not_in_the_table_is_refused_as_normal_and_as_build_dependency() {
        let text = "interlock-scan may not depend on interlock-guard; the directions are in xtask/src/tidy/layers.rs";
        check(&[member("interlock-scan", &[("interlock-guard", Normal)])], &[text]);
        check(&[member("interlock-scan", &[("interlock-guard", Build)])], &[text]);
        check(&[member("interlock-scan", &[("interlock-guard", Development)])], &[]);
    }

    #[test]
    fn the_testkit_is_for_development_only() {
        check(
            &[member("interlock", &[("interlock-testkit", Normal)])],
            &[
                "interlock may not depend on interlock-testkit; the directions are in xtask/src/tidy/layers.rs",
            ],
        );
    }

    #[test]
    fn xtask_uses_none_of_ours() {
        check(
            &[member("xtask", &[("interlock-model", Normal)])],
            &["xtask may not depend on interlock-model; the directions are in xtask/src/tidy/layers.rs"],
        );
    }

    #[test]
    fn a_pure_crate_uses_only_the_crates_of_others_that_its_row_names() {
        check(
            &[member("interlock-hazards", &[("tokio", Normal), ("proptest", Development)])],
            &[
                "interlock-hazards is pure and may not depend on tokio; what it may use is in xtask/src/tidy/layers.rs",
            ],
        );
    }

    #[test]
    fn a_crate_without_a_row_is_told_where_to_add_one() {
        check(
            &[member("interlock-new", &[("interlock-model", Normal)])],
            &[
                "interlock-new is not in the table of import directions; add a row for it in xtask/src/tidy/layers.rs",
            ],
        );
    }

    #[test]
    fn a_dependency_is_found_in_each_spelling_of_a_manifest() {
        let manifest = "[dependencies]\nclap-x = \"1\"\nclap.workspace = true\n\n[build-dependencies.cc]\n";
        assert_eq!(line_of(manifest, "clap"), Some(3));
        assert_eq!(line_of(manifest, "clap-x"), Some(2));
        assert_eq!(line_of(manifest, "cc"), Some(5));
        assert_eq!(line_of(manifest, "serde"), None);
    }

    #[test]
    fn the_manifests_of_this_workspace_can_be_read_without_a_network() {
        let members = members(&Root::find(None, None).unwrap()).unwrap();
        let xtask = members.iter().find(|member| member.name == "xtask").unwrap();
        assert_eq!(xtask.manifest, "xtask/Cargo.toml");
        assert!(xtask.needs.iter().any(|need| need.name == "anyhow"));
    }
}
