//! A tree to measure on, made of our own examples and cases, again and again, each time in a folder of its own.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};

use crate::{root::Root, workspace::Workspace};

/// How large the tree becomes.
const BYTES: usize = 10_000_000;

/// Makes it under a folder; where it is.
pub(super) fn make(root: &Root, under: &Path) -> Result<PathBuf> {
    let pieces = pieces(root)?;
    let size: usize = pieces.iter().map(|(_, text)| text.len()).sum();
    ensure!(size > 0, "there are neither examples nor cases to make a tree of");
    let tree = under.join("tree");
    for copy in 0..BYTES.div_ceil(size) {
        for (path, text) in &pieces {
            let path = tree.join(format!("copy{copy}")).join(path);
            let folder = path.parent().context("a file is in a folder")?;
            fs::create_dir_all(folder)?;
            fs::write(path, text)?;
        }
    }
    Ok(tree)
}

/// The files of the examples, and the blocks of the cases and pages as files.
fn pieces(root: &Root) -> Result<Vec<(String, String)>> {
    let workspace = Workspace::open(root)?;
    let mut pieces = Vec::new();
    for file in workspace.with_extension(&["ts", "json"]).filter(|file| file.starts_with("examples/")) {
        pieces.push((file.to_owned(), root.read(file)?));
    }
    for file in
        workspace.with_extension(&["md"]).filter(|file| file.starts_with("crates/interlock-hazards/src/"))
    {
        let folder = file.trim_end_matches(".md").rsplit('/').take(2).collect::<Vec<_>>().join("-");
        for (number, block) in blocks(&root.read(file)?).into_iter().enumerate() {
            pieces.push((format!("{folder}/{number}.ts"), block));
        }
    }
    Ok(pieces)
}

/// The fenced blocks of a page that are TypeScript or JavaScript.
fn blocks(page: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut open: Option<String> = None;
    for line in page.lines() {
        match (&mut open, line) {
            (None, "```ts" | "```js") => open = Some(String::new()),
            (Some(_), "```") => blocks.extend(open.take()),
            (Some(text), line) => text.extend([line, "\n"]),
            (None, _) => {}
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_gives_its_typescript_and_nothing_else() {
        let page = "# Title\n```ts\na();\nb();\n```\n```toml\nx = 1\n```\n```js\nc();\n```\n";
        assert_eq!(blocks(page), ["a();\nb();\n", "c();\n"]);
    }
}
