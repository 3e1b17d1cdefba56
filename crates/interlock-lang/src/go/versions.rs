//! How tools run, by the version of the library that serves them.
//!
//! Over standard streams `mark3labs/mcp-go` answers one message after another up to 0.37; from 0.38 on five workers run the calls of tools.
//! `modelcontextprotocol/go-sdk` runs the calls of a session side by side from 0.3 on. Over HTTP each request has had a goroutine of its own in every
//! version. Goroutines that a server starts itself run beside its tools all the same, so that what meets in one process is still told, at low.

use interlock_model::ir::{Field, Interleaving, Transport};

use super::tables;
use crate::{Handlers, Module, tables::Begins};

/// The libraries, and the first version 0.N that runs calls over standard streams side by side.
const SIDE_BY_SIDE: [(&str, u32); 2] =
    [("github.com/mark3labs/mcp-go", 38), ("github.com/modelcontextprotocol/go-sdk", 3)];

/// What the `go.mod` files of a tree say of how its tools run.
pub(super) fn handlers(modules: &[Module], settings: &[(String, String)]) -> Vec<Handlers> {
    let mut found = vec![];
    for (path, text) in settings {
        let folder = match path.strip_suffix("go.mod") {
            Some(folder) if folder.is_empty() || folder.ends_with('/') => folder.trim_end_matches('/'),
            _ => continue,
        };
        let Some((library, version)) = one_by_one(text) else { continue };
        let inside = |module: &&Module| {
            folder.is_empty() || module.path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
        };
        if modules.iter().filter(inside).any(listens) {
            continue;
        }
        let remark = format!(
            "{library} {version} answers calls over standard streams one after another, so in one process calls of tools meet only from a later version on; what several processes share is shared all the same"
        );
        found.push(Handlers {
            folder: folder.to_owned(),
            interleaving: Interleaving::OneByOne,
            remark: Some(remark),
        });
    }
    found
}

/// The library and version by which a `go.mod` says that calls run one after another.
fn one_by_one(text: &str) -> Option<(&'static str, &str)> {
    text.lines().find_map(|line| {
        let line = line.trim().trim_start_matches("require").trim_start();
        SIDE_BY_SIDE.iter().find_map(|(library, first)| {
            let version = line.strip_prefix(library)?.split_whitespace().next()?;
            let minor = version.strip_prefix("v0.")?.split('.').next()?;
            let is_old = minor.parse::<u32>().is_ok_and(|minor| minor < *first);
            is_old.then_some((*library, version))
        })
    })
}

/// Whether a file serves HTTP, or listens to a port. A method that is only called like one that may, as `Run` is, says nothing.
fn listens(module: &Module) -> bool {
    let server = &tables().sdk().server;
    let is_http =
        |begins: &Begins| *begins != Begins::Listener && begins.transport() == Some(Transport::Http);
    module.sites.iter().filter_map(|site| site.callee.as_ref()?.fields.last()).any(|last| match last {
        Field::Name(name) => server.get(&**name).is_some_and(is_http),
        Field::At(_) => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_of_the_library_says_whether_calls_over_standard_streams_run_side_by_side() {
        let known = |text: &str| handlers(&[], &[("a/go.mod".to_owned(), text.to_owned())]).len();
        assert_eq!(known("module x\n\nrequire github.com/mark3labs/mcp-go v0.37.0\n"), 1);
        assert_eq!(known("module x\n\nrequire (\n\tgithub.com/mark3labs/mcp-go v0.8.3 // indirect\n)\n"), 1);
        assert_eq!(known("module x\n\nrequire github.com/mark3labs/mcp-go v0.38.0\n"), 0);
        assert_eq!(known("module x\n\nrequire github.com/mark3labs/mcp-go v1.0.0\n"), 0);
        assert_eq!(known("module x\n\nrequire github.com/modelcontextprotocol/go-sdk v0.2.0\n"), 1);
        assert_eq!(known("module x\n\nrequire github.com/modelcontextprotocol/go-sdk v0.3.0\n"), 0);
        assert_eq!(known("module x\n"), 0);
    }
}
