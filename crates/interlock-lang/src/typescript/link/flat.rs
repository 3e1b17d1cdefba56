//! All modules in one numbering: functions, calls, classes and variables of the whole tree, and every name led to its declaration.

use interlock_model::{
    FileId, Span,
    ir::{AccessPath, Function, FunctionId, HandMade, Name, Note, Value},
};

use super::{
    names::Names,
    visit::{self, Visitor},
};
use crate::{
    Arg,
    typescript::module::{Class, Lowered, Module, Site, Variable},
};

/// Everything that was lowered, numbered through.
#[derive(Debug, Default)]
pub(crate) struct Flat {
    /// The paths of the files.
    pub(crate) files: Vec<Name>,
    /// What is known of each function besides its steps; those of one module stand together.
    pub(crate) about: Vec<About>,
    /// The calls to look up; `within` is a number of the whole tree.
    pub(crate) sites: Vec<Site>,
    /// The classes; the numbers of their methods are those of the whole tree.
    pub(crate) classes: Vec<Class>,
    /// The variables; `within` is a number of the whole tree.
    pub(crate) variables: Vec<Variable>,
    /// The locks that the tree builds itself.
    pub(crate) hand_made: Vec<HandMade>,
    /// What was not understood.
    pub(crate) notes: Vec<Note>,
}

/// A function without its steps.
#[derive(Debug, Clone)]
pub(crate) struct About {
    /// The function that it is written in.
    pub(crate) parent: Option<u32>,
    /// The declared types of its values.
    pub(crate) types: Vec<(Value, AccessPath)>,
    /// The structure of its locals.
    pub(crate) locals: Vec<(Value, Arg)>,
    /// What its loops go over.
    pub(crate) items: Vec<(Value, Arg)>,
    /// What it returns, where that has a structure.
    pub(crate) returned: Vec<Arg>,
    /// The declared type of what it returns.
    pub(crate) returns: Option<AccessPath>,
    /// By which path it is called.
    pub(crate) bound: Option<AccessPath>,
    /// The first function of its module.
    pub(crate) module: u32,
    /// Its file.
    pub(crate) file: u32,
}

/// Puts the modules one after another. The functions come apart from the rest, for they are still to be changed.
pub(super) fn flatten(modules: Vec<Module>, names: &Names) -> (Flat, Vec<Function>) {
    let count = |of: fn(&Module) -> usize| modules.iter().map(of).sum();
    let (many, sites) = (count(|module| module.functions.len()), count(|module| module.sites.len()));
    let (mut flat, mut functions) = (Flat::default(), Vec::with_capacity(many));
    flat.about.reserve(many);
    flat.sites.reserve(sites);
    for (index, module) in modules.into_iter().enumerate() {
        let mut mover = Mover {
            names,
            module: index,
            file: FileId(number(index)),
            functions: number(functions.len()),
            sites: number(flat.sites.len()),
        };
        flat.add(module, &mut functions, &mut mover);
    }
    (flat, functions)
}

impl Flat {
    fn add(&mut self, module: Module, functions: &mut Vec<Function>, mover: &mut Mover<'_>) {
        self.files.push(module.path);
        for lowered in module.functions {
            let Lowered {
                mut function,
                parent,
                mut types,
                mut locals,
                mut items,
                mut returned,
                mut returns,
                mut bound,
            } = lowered;
            mover.span(&mut function.span);
            visit::block(mover, &mut function.body);
            types.iter_mut().for_each(|(_, declared)| visit::path(mover, declared));
            for (_, arg) in locals.iter_mut().chain(&mut items) {
                visit::arg(mover, arg);
            }
            returned.iter_mut().for_each(|arg| visit::arg(mover, arg));
            for path in returns.iter_mut().chain(&mut bound) {
                visit::path(mover, path);
            }
            let parent = parent.map(|parent| parent + mover.functions);
            functions.push(function);
            let (module, file) = (mover.functions, mover.file.0);
            self.about.push(About { parent, types, locals, items, returned, returns, bound, module, file });
        }
        for mut site in module.sites {
            site.within += mover.functions;
            site.span.file = mover.file;
            site.function = site.function.map(|function| function + mover.functions);
            if let Some(callee) = &mut site.callee {
                visit::path(mover, callee);
            }
            site.arguments.iter_mut().for_each(|argument| visit::arg(mover, argument));
            self.sites.push(site);
        }
        for mut class in module.classes {
            class.methods.iter_mut().for_each(|(_, method)| *method += mover.functions);
            for path in class.extends.iter_mut().chain(&mut class.implements) {
                visit::path(mover, path);
            }
            class.fields.iter_mut().for_each(|(_, declared)| visit::path(mover, declared));
            self.classes.push(class);
        }
        for mut variable in module.variables {
            variable.within += mover.functions;
            visit::path(mover, &mut variable.path);
            if let Some(declared) = &mut variable.declared {
                visit::path(mover, declared);
            }
            if let Some(initial) = &mut variable.initial {
                visit::arg(mover, initial);
            }
            self.variables.push(variable);
        }
        for mut lock in module.hand_made {
            mover.span(&mut lock.span);
            mover.span(&mut lock.removal.1);
            mover.function(&mut lock.function);
            visit::path(mover, &mut lock.path);
            self.hand_made.push(lock);
        }
        for mut note in module.notes {
            mover.span(&mut note.span);
            self.notes.push(note);
        }
    }
}

/// From one module's numbers and names to the tree's.
struct Mover<'n> {
    names: &'n Names,
    module: usize,
    file: FileId,
    functions: u32,
    sites: u32,
}

impl Visitor for Mover<'_> {
    fn path(&mut self, path: &mut AccessPath) {
        self.names.lead(self.module, path);
    }

    fn function(&mut self, function: &mut FunctionId) {
        function.0 += self.functions;
    }

    fn span(&mut self, span: &mut Span) {
        span.file = self.file;
    }

    fn site(&mut self, site: &mut u32) {
        *site += self.sites;
    }
}

/// Source is read in files of bounded size, so there are never more of anything than a `u32` holds.
pub(super) fn number(of: usize) -> u32 {
    u32::try_from(of).unwrap_or(u32::MAX)
}
