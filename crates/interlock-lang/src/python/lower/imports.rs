//! What a file takes from elsewhere, and what it offers: every name of a module is there for others.

use interlock_model::ir::{AccessPath, Name, Root};
use ruff_python_ast::{StmtImport, StmtImportFrom};

use super::{super::bind::SymbolKind, context::Lowerer};
use crate::module::{Export, Import, Imported};

/// Modules of the platform whose members nobody changes.
const STANDARD: &[&str] = &[
    "abc",
    "argparse",
    "ast",
    "asyncio",
    "base64",
    "collections",
    "concurrent",
    "contextlib",
    "copy",
    "csv",
    "dataclasses",
    "datetime",
    "decimal",
    "difflib",
    "enum",
    "fcntl",
    "fnmatch",
    "functools",
    "glob",
    "hashlib",
    "hmac",
    "html",
    "http",
    "importlib",
    "inspect",
    "io",
    "itertools",
    "json",
    "logging",
    "math",
    "mimetypes",
    "multiprocessing",
    "operator",
    "os",
    "pathlib",
    "pickle",
    "platform",
    "queue",
    "random",
    "re",
    "secrets",
    "shlex",
    "shutil",
    "signal",
    "smtplib",
    "socket",
    "sqlite3",
    "ssl",
    "statistics",
    "string",
    "subprocess",
    "sys",
    "tempfile",
    "textwrap",
    "threading",
    "time",
    "tomllib",
    "traceback",
    "types",
    "typing",
    "typing_extensions",
    "unicodedata",
    "urllib",
    "uuid",
    "warnings",
    "weakref",
    "xml",
    "zipfile",
    "zoneinfo",
    "mcp",
    "fastmcp",
    "pydantic",
    "anyio",
    "httpx",
    "requests",
    "aiohttp",
    "yaml",
    "toml",
    "numpy",
    "pandas",
    "click",
    "typer",
    "starlette",
    "fastapi",
    "uvicorn",
    "dotenv",
    "rich",
    "filelock",
    "aiofiles",
    "redis",
    "sqlalchemy",
];

impl<'a> Lowerer<'a> {
    /// The names that stand for functions, classes and parts of the platform: nothing is kept in them.
    pub(super) fn fix_globals(&mut self) {
        let names: Vec<&'a str> = self
            .facts
            .symbols
            .iter()
            .filter(|symbol| {
                symbol.function == 0 && matches!(symbol.kind, SymbolKind::Function(_) | SymbolKind::Class)
            })
            .map(|symbol| symbol.name)
            .collect();
        for name in names {
            // What a class keeps for all of its objects is state, so only functions are fixed for good.
            let symbol = self.facts.lookup(0, name).and_then(|symbol| self.facts.symbol(symbol));
            if symbol.is_some_and(|symbol| matches!(symbol.kind, SymbolKind::Function(_))) {
                let global = self.global(name);
                self.fixed.insert(global);
            }
        }
    }

    /// Every name of the module is offered to others.
    pub(super) fn exports(&mut self) {
        let names: Vec<&'a str> = self
            .facts
            .symbols
            .iter()
            .filter(|symbol| symbol.function == 0)
            .map(|symbol| symbol.name)
            .collect();
        for name in names {
            let name = self.name(name);
            self.module.exports.push(Export::Local { exported: name.clone(), local: name });
        }
    }

    pub(super) fn import(&mut self, it: &'a StmtImport) {
        for alias in &it.names {
            let whole = alias.name.as_str();
            let (local, from) = match &alias.asname {
                Some(local) => (local.as_str(), whole),
                None => {
                    let top = whole.split('.').next().unwrap_or(whole);
                    let symbol =
                        self.facts.lookup(self.cx.id, top).and_then(|symbol| self.facts.symbol(symbol));
                    if symbol.is_some_and(|symbol| symbol.kind != SymbolKind::Import) {
                        continue;
                    }
                    (top, top)
                }
            };
            self.bring(local, from.into(), Imported::All);
        }
    }

    pub(super) fn import_from(&mut self, it: &'a StmtImportFrom) {
        let dots = ".".repeat(it.level.min(64) as usize);
        let from: Name = format!("{dots}{}", it.module.as_ref().map_or("", |module| module.as_str())).into();
        for alias in &it.names {
            let name = alias.name.as_str();
            if name == "*" {
                self.module.exports.push(Export::All { from: from.clone() });
                continue;
            }
            let local = alias.asname.as_ref().unwrap_or(&alias.name).as_str();
            let what = Imported::Name(self.name(name));
            self.bring(local, from.clone(), what);
        }
    }

    fn bring(&mut self, local: &'a str, from: Name, what: Imported) {
        let top = from.split('.').next().unwrap_or_default();
        if STANDARD.contains(&top) {
            let global = self.global(local);
            self.fixed.insert(global);
        }
        let local = self.name(local);
        self.module.imports.push(Import { local, from, what });
    }

    /// A name that this file does not have, where it has taken all names of another.
    pub(super) fn starred(&mut self, name: &'a str) -> Option<AccessPath> {
        if super::super::is_builtin(name) {
            return None;
        }
        let stars = self.module.exports.iter().filter_map(|export| match export {
            Export::All { from } => Some(from.clone()),
            _ => None,
        });
        let stars: Vec<Name> = stars.collect();
        let from = stars.iter().find(|from| from.starts_with('.')).or_else(|| stars.first())?.clone();
        let (path, local) = (AccessPath::of(Root::Global(self.global(name))), self.name(name));
        if !self.module.imports.iter().any(|import| import.local == local) {
            let what = Imported::Name(local.clone());
            self.module.imports.push(Import { local, from, what });
        }
        Some(path)
    }
}
