//! All modules in one numbering: functions, calls, classes and variables of the whole tree, and every name led to its declaration.

use interlock_model::{
    FileId, Span,
    ir::{AccessPath, Function, FunctionId, HandMade, Name, Note, Root, Value},
};

use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    interfaces,
    names::{Led, Names},
    tables,
    visit::{self, Visitor},
};
use crate::{
    Arg, Shape,
    module::{Class, Interface, KEPT_BY_SERVER, Lowered, Module, Site, Threaded, Variable, split_global},
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
    /// The calls that run in threads.
    pub(crate) threads: Vec<Threaded>,
    /// The calls that are handed functions, by number. Few are, and looking into all arguments for them takes long.
    pub(crate) handing: Vec<u32>,
    /// The variables that are set to something with functions in it, by number.
    pub(crate) holding: Vec<u32>,
    /// The calls and the variables that may declare tables, by number.
    pub(crate) declaring: Vec<u32>,
    pub(crate) declared: Vec<u32>,
    /// The names of members that may be functions, in all objects that are written out.
    pub(crate) members: FxHashSet<Name>,
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
    pub(crate) types: Box<[(Value, AccessPath)]>,
    /// The structure of its locals.
    pub(crate) locals: Box<[(Value, Arg)]>,
    /// What its loops go over.
    pub(crate) items: Box<[(Value, Arg)]>,
    /// What it returns, where that has a structure.
    pub(crate) returned: Box<[Arg]>,
    /// Whether functions are written in any of these.
    pub(crate) holds: bool,
    /// The declared type of what it returns.
    pub(crate) returns: Option<Box<AccessPath>>,
    /// The declared types of several things that it returns, each with its place among them.
    pub(crate) side_by_side: Box<[(u32, AccessPath)]>,
    /// Which of its parameters takes whatever is handed over behind the ones before it.
    pub(crate) gathers: Option<u32>,
    /// By which path it is called.
    pub(crate) bound: Option<AccessPath>,
    /// The first function of its module.
    pub(crate) module: u32,
    /// Its file.
    pub(crate) file: u32,
}

/// Puts the modules one after another. The functions come apart from the rest, for they are still to be changed.
pub(super) fn flatten(modules: Vec<Module>, names: &Names) -> (Flat, Vec<Function>) {
    // Copies of wrappers are added later; with room for them nothing has to be moved then.
    let room = |many: usize| many + many / 32;
    let count = |of: fn(&Module) -> usize| modules.iter().map(of).sum::<usize>();
    let (many, sites) =
        (room(count(|module| module.functions.len())), room(count(|module| module.sites.len())));
    let (mut flat, mut functions) = (Flat::default(), Vec::with_capacity(many));
    flat.files.reserve(modules.len());
    flat.about.reserve(many);
    flat.sites.reserve(sites);
    flat.variables.reserve(count(|module| module.variables.len()));
    let mut mover = Mover {
        names,
        led: Led::default(),
        module: 0,
        file: FileId(0),
        functions: 0,
        sites: 0,
        kept_by_server: None,
        functions_met: 0,
        members: FxHashSet::default(),
        classes: FxHashMap::default(),
        interfaces: vec![],
    };
    let keeping = servers_that_keep(&modules);
    for (index, module) in modules.into_iter().enumerate() {
        mover.kept_by_server = nearest(&keeping, &module.path);
        mover.led.next_module();
        mover.module = index;
        mover.file = FileId(number(index));
        mover.functions = number(functions.len());
        mover.sites = number(flat.sites.len());
        flat.add(module, &mut functions, &mut mover);
    }
    flat.members = mover.members;
    interfaces::fulfil(&mut flat.classes, &mover.interfaces);
    (flat, functions)
}

/// The files that give a server something to keep, each with the global that this is.
fn servers_that_keep(modules: &[Module]) -> Vec<(Name, Name)> {
    let own = split_global(KEPT_BY_SERVER).map_or(KEPT_BY_SERVER, |(_, own)| own);
    let keeps = |module: &Module| {
        let kept: Name = format!("{}::{own}", module.path).into();
        let mut variables = module.variables.iter();
        variables
            .any(|it| matches!(&it.path.root, Root::Global(name) if *name == kept))
            .then(|| (module.path.clone(), kept))
    };
    modules.iter().filter_map(keeps).collect()
}

/// What the server keeps to which a file belongs: the one of that file, or the one with which it shares most of its folders.
fn nearest(keeping: &[(Name, Name)], file: &str) -> Option<Name> {
    let shared = |other: &str| {
        let folders = other.split('/').zip(file.split('/'));
        folders.take_while(|(one, two)| one == two).count()
    };
    let most = keeping.iter().map(|(other, _)| shared(other)).max()?;
    keeping.iter().find(|(other, _)| shared(other) == most).map(|(_, kept)| kept.clone())
}

impl Flat {
    fn add(&mut self, module: Module, functions: &mut Vec<Function>, mover: &mut Mover<'_>) {
        self.files.push(module.path);
        let shares = module.namespace.is_some();
        for lowered in module.functions {
            let Lowered {
                mut function,
                parent,
                mut types,
                mut locals,
                mut items,
                mut returned,
                mut returns,
                mut side_by_side,
                gathers,
                mut bound,
            } = lowered;
            mover.span(&mut function.span);
            visit::block(mover, &mut function.body);
            types.iter_mut().for_each(|(_, declared)| visit::path(mover, declared));
            side_by_side.iter_mut().for_each(|(_, declared)| visit::path(mover, declared));
            let met = mover.functions_met;
            for (_, arg) in locals.iter_mut().chain(&mut items) {
                visit::arg(mover, arg);
            }
            returned.iter_mut().for_each(|arg| visit::arg(mover, arg));
            let holds = mover.functions_met > met;
            for path in returns.iter_mut().chain(&mut bound) {
                visit::path(mover, path);
            }
            let parent = parent.map(|parent| parent + mover.functions);
            functions.push(function);
            let (module, file) = (mover.functions, mover.file.0);
            self.about.push(About {
                parent,
                types: types.into(),
                locals: locals.into(),
                items: items.into(),
                returned: returned.into(),
                holds,
                returns: returns.map(Box::new),
                side_by_side: side_by_side.into(),
                gathers,
                bound,
                module,
                file,
            });
        }
        for mut site in module.sites {
            site.within += mover.functions;
            site.span.file = mover.file;
            site.function = site.function.map(|function| function + mover.functions);
            if let Some(callee) = &mut site.callee {
                visit::path(mover, callee);
            }
            let met = mover.functions_met;
            site.arguments.iter_mut().for_each(|argument| visit::arg(mover, argument));
            if mover.functions_met > met {
                self.handing.push(number(self.sites.len()));
            }
            if tables::may_declare(&site) {
                self.declaring.push(number(self.sites.len()));
            }
            self.sites.push(site);
        }
        for mut threaded in module.threads {
            threaded.site += mover.sites;
            threaded.pool.iter_mut().for_each(|pool| visit::path(mover, pool));
            self.threads.push(threaded);
        }
        for mut class in module.classes {
            class.methods.iter_mut().for_each(|(_, method)| *method += mover.functions);
            class.getters.iter_mut().for_each(|(getter, _)| *getter += mover.functions);
            for path in class.bases.iter_mut().chain(&mut class.implements) {
                visit::path(mover, path);
            }
            class.fields.iter_mut().for_each(|(_, declared)| visit::path(mover, declared));
            self.add_class(class, shares, mover);
        }
        for mut interface in module.interfaces {
            interface.embeds.iter_mut().for_each(|path| visit::path(mover, path));
            mover.interfaces.push(interface);
        }
        for mut variable in module.variables {
            variable.within += mover.functions;
            visit::path(mover, &mut variable.path);
            if let Some(declared) = &mut variable.declared {
                visit::path(mover, declared);
            }
            let met = mover.functions_met;
            if let Some(initial) = &mut variable.initial {
                visit::arg(mover, initial);
            }
            if mover.functions_met > met {
                self.holding.push(number(self.variables.len()));
            }
            if variable.initial.as_ref().is_some_and(tables::may_create) {
                self.declared.push(number(self.variables.len()));
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

    /// Adds a class, or what another file of the namespace says of it.
    fn add_class(&mut self, class: Class, shares: bool, mover: &mut Mover<'_>) {
        if !shares {
            self.classes.push(class);
            return;
        }
        let number = *mover.classes.entry(class.name.clone()).or_insert(self.classes.len());
        match self.classes.get_mut(number) {
            Some(known) => {
                known.bases.extend(class.bases);
                known.implements.extend(class.implements);
                known.methods.extend(class.methods);
                known.getters.extend(class.getters);
                known.fields.extend(class.fields);
            }
            None => self.classes.push(class),
        }
    }
}

/// From one module's numbers and names to the tree's.
struct Mover<'n> {
    names: &'n Names,
    led: Led,
    module: usize,
    file: FileId,
    functions: u32,
    sites: u32,
    /// What the server of this module keeps as long as it runs, as a global.
    kept_by_server: Option<Name>,
    /// How many functions were named so far.
    functions_met: usize,
    /// The members that may be functions.
    members: FxHashSet<Name>,
    /// The classes of namespaces that files share, by name.
    classes: FxHashMap<Name, usize>,
    /// What is only demanded of classes.
    interfaces: Vec<Interface>,
}

impl Visitor for Mover<'_> {
    fn path(&mut self, path: &mut AccessPath) {
        if let (Root::Global(name), Some(kept)) = (&path.root, &self.kept_by_server)
            && &**name == KEPT_BY_SERVER
        {
            path.root = Root::Global(kept.clone());
            return;
        }
        self.names.lead(self.module, path, &mut self.led);
    }

    fn function(&mut self, function: &mut FunctionId) {
        self.functions_met += 1;
        function.0 += self.functions;
    }

    fn member(&mut self, name: &Name, arg: &Arg) {
        let may_be_function =
            !matches!(arg.shape, Shape::Text(_) | Shape::Bool(_) | Shape::Object(_) | Shape::List(_));
        if may_be_function && !self.members.contains(name) {
            self.members.insert(name.clone());
        }
    }

    fn span(&mut self, span: &mut Span) {
        span.file = self.file;
    }

    fn site(&mut self, site: &mut u32) {
        *site += self.sites;
    }
}

/// The part of a global's name that is a global in its file, or of a place's that one starts with: `src/a.ts::store` of
/// `src/a.ts::store.pool`. Of a name whose stem nothing in the tree is called by, nothing can be found in the tree.
pub(crate) fn stem(name: &str) -> &str {
    let (mut end, mut behind) = (name.len(), 0);
    // Read from the end, for there may be dots in the name of the file.
    for (at, byte) in name.bytes().enumerate().rev() {
        match byte {
            b':' if behind == b':' => break,
            b'.' | b'#' | b'[' => end = at,
            _ => {}
        }
        behind = byte;
    }
    name.get(..end).unwrap_or(name)
}

/// Source is read in files of bounded size, so there are never more of anything than a `u32` holds.
pub(crate) fn number(of: usize) -> u32 {
    u32::try_from(of).unwrap_or(u32::MAX)
}
