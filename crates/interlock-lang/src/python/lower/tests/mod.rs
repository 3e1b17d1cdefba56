//! What lowering and linking make of Python.

mod basics;
mod constructs;
mod robust;

use interlock_model::ir::Program;

use crate::{Package, Source, knowledge::Knowledge, link, python::LANGUAGE};

/// A tree of files, linked.
fn linked(files: &[(&str, &str)]) -> Program {
    let module = |(path, text): &(&str, &str)| ((*path).into(), LANGUAGE.module(&Source { path, text }));
    let modules = files.iter().map(module).collect();
    let knowledge = Knowledge::of(LANGUAGE).unwrap();
    link(LANGUAGE, Package { modules, settings: vec![], knowledge: &knowledge })
}

/// One file, linked, as text.
fn program(text: &str) -> String {
    linked(&[("server.py", text)]).to_string()
}
