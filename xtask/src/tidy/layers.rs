//! Who may use whom: the arrows of the design, as a table. What is not in the table is not allowed, so that a new arrow is a
//! line that somebody reviews. Development dependencies are exempt: a test may look at anything.

/// What one crate of the workspace may depend on.
pub(super) struct Layer {
    pub(super) name: &'static str,
    pub(super) ours: Ours,
    /// For a crate that must touch neither files, network, clock, chance nor tasks: the only crates of others that it may use.
    pub(super) pure: Option<&'static [&'static str]>,
}

/// Which crates of the workspace.
pub(super) enum Ours {
    Only(&'static [&'static str]),
    Any,
}

/// Where the table is, for messages.
pub(super) const TABLE: &str = "xtask/src/tidy/layers.rs";

/// The table, lowest crates first.
pub(super) const LAYERS: &[Layer] = &[
    pure("interlock-model", &[], &["serde", "serde_json", "thiserror"]),
    pure("interlock-hazards", &["interlock-model"], &["serde_json", "toml"]),
    pure(
        "interlock-lang",
        &["interlock-model"],
        &[
            "memchr",
            "oxc_allocator",
            "oxc_ast",
            "oxc_ast_visit",
            "oxc_parser",
            "oxc_span",
            "oxc_str",
            "oxc_syntax",
            // Functions are rewritten side by side; it touches nothing outside.
            "rayon",
            "ruff_python_ast",
            "ruff_python_parser",
            "ruff_text_size",
            "rustc-hash",
            "serde",
            "serde_json",
            "sqlparser",
            "thiserror",
            "toml",
            "tree-sitter",
            "tree-sitter-go",
            "tree-sitter-typescript",
        ],
    ),
    layer("interlock-scan", &["interlock-model", "interlock-hazards", "interlock-lang"]),
    layer("interlock-sync", &[]),
    layer("interlock-store", &["interlock-sync"]),
    layer("interlock-prove", &["interlock-model", "interlock-hazards"]),
    layer("interlock-guard", &["interlock-model", "interlock-hazards", "interlock-sync", "interlock-store"]),
    layer("interlock-report", &["interlock-model"]),
    layer("interlock-fetch", &[]),
    layer("interlock-ledger", &["interlock-sync", "interlock-store"]),
    // An audit is a process of its own, so that it knows none of what an audit is made of.
    layer("interlock-serve", &["interlock-fetch", "interlock-sync"]),
    // The binary may use everything but what is for development only.
    layer(
        "interlock",
        &[
            "interlock-model",
            "interlock-hazards",
            "interlock-lang",
            "interlock-scan",
            "interlock-sync",
            "interlock-store",
            "interlock-prove",
            "interlock-guard",
            "interlock-report",
            "interlock-ledger",
            "interlock-fetch",
            "interlock-serve",
        ],
    ),
    // An example for strangers: it uses what they may.
    layer("rmcp-ledger", &["interlock-sync", "interlock-store"]),
    // In nobody's list, so a development dependency is the only way to reach them.
    Layer { name: "interlock-testkit", ours: Ours::Any, pure: None },
    Layer { name: "interlock-bench", ours: Ours::Any, pure: None },
    // Must build when nothing else does.
    layer("xtask", &[]),
];

const fn layer(name: &'static str, ours: &'static [&'static str]) -> Layer {
    Layer { name, ours: Ours::Only(ours), pure: None }
}

const fn pure(name: &'static str, ours: &'static [&'static str], others: &'static [&'static str]) -> Layer {
    Layer { name, ours: Ours::Only(ours), pure: Some(others) }
}

impl Layer {
    /// Whether it may depend on that crate of the workspace.
    pub(super) fn may_use(&self, name: &str) -> bool {
        match self.ours {
            Ours::Any => true,
            Ours::Only(names) => names.contains(&name),
        }
    }
}

/// The row of a crate.
pub(super) fn layer_of(name: &str) -> Option<&'static Layer> {
    LAYERS.iter().find(|layer| layer.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_in_the_table_has_a_row_above_the_row_that_names_it() {
        // Which also says that the table has no circle.
        for (index, layer) in LAYERS.iter().enumerate() {
            let Ours::Only(names) = layer.ours else { continue };
            for name in names {
                assert!(
                    LAYERS.iter().take(index).any(|above| above.name == *name),
                    "{} may use {name}, which has no row above it",
                    layer.name
                );
            }
        }
    }

    #[test]
    fn what_is_for_development_only_is_in_nobodys_list() {
        for layer in LAYERS {
            let Ours::Only(names) = layer.ours else { continue };
            for development in ["interlock-testkit", "interlock-bench", "xtask"] {
                assert!(!names.contains(&development), "{} may use {development}", layer.name);
            }
        }
    }
}
