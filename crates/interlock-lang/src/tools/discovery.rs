//! What was found so far.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use interlock_model::{
    Span,
    ir::{FunctionId, Name, Note, OutOfSight, Tool},
};

use super::{
    AbstractValue, Context, Discovered, Dispatch, Handler, files, index::Index, mounted::Way,
    serve::Packages, shape, unseen, wrap::Wrapped,
};

/// How many notes about registrations are written.
const NOTES: usize = 20;

/// How many wrappers a tool is looked for in.
const WRAPPERS: usize = 8;

/// A function that answers for all tools.
struct Dispatcher {
    function: u32,
    /// Whether a server was told so.
    registered: bool,
    /// Whether it goes where a name leads in a table that is known.
    settled: bool,
}

/// What was found so far.
pub(super) struct Discovery<'x, 'i> {
    pub(super) index: &'x Index<'i>,
    pub(super) wrapped: Wrapped,
    pub(super) dispatches: BTreeMap<u32, Dispatch>,
    /// The handlers that the tree's own server calls.
    pub(super) called_by_tree: Vec<FunctionId>,
    /// The routes that functions answer, as a reader names them.
    pub(super) routes: HashMap<FunctionId, Name>,
    /// The handlers of routes that a framework runs in threads if they are not asynchronous.
    pub(super) in_threads: Vec<FunctionId>,
    /// The tools that servers list.
    pub(super) listed: Vec<Listed<'i>>,
    /// Whether all that looks like a tool was registered.
    all_tools: bool,
    /// The packages in which something was registered because it looks like a tool.
    by_look: Vec<&'i str>,
    handlers: BTreeMap<u32, Vec<Tool>>,
    /// The functions that answer for all tools.
    dispatchers: Vec<Dispatcher>,
    packages: Packages<'i>,
    /// What clients can call and was not found so far.
    out_of_sight: Vec<OutOfSight>,
    notes: Vec<Note>,
}

/// A tool that a server lists.
pub(super) struct Listed<'i> {
    /// The package of who lists it.
    pub(super) package: &'i str,
    /// Where that is.
    pub(super) span: Span,
    pub(super) tool: Tool,
}

impl<'x, 'i> Discovery<'x, 'i> {
    pub(super) fn new(index: &'x Index<'i>) -> Self {
        Self {
            index,
            wrapped: Wrapped::new(index),
            dispatches: BTreeMap::new(),
            called_by_tree: vec![],
            routes: HashMap::new(),
            in_threads: vec![],
            listed: vec![],
            all_tools: false,
            by_look: vec![],
            handlers: BTreeMap::new(),
            dispatchers: vec![],
            packages: Packages::of(index),
            out_of_sight: vec![],
            notes: vec![],
        }
    }

    /// Makes what does the work the handler of a tool. Without a name it gets that of the function inside.
    pub(super) fn handler(
        &mut self,
        site: u32,
        work: &AbstractValue<'i>,
        name: Option<Name>,
        describe: impl Fn(Name) -> Tool,
    ) {
        let functions = self.functions(work);
        if functions.is_empty() {
            self.unhandled(site, work, name.as_ref());
        }
        for function in functions {
            let name = name.clone().unwrap_or_else(|| self.called_after(function));
            let tool = describe(name);
            self.serve(function, tool);
        }
    }

    /// Remembers that a tool was announced whose function was not found.
    pub(super) fn unhandled(&mut self, site: u32, work: &AbstractValue<'i>, name: Option<&Name>) {
        let at = self.index.site(site).map(|site| site.span).unwrap_or_default();
        if self.notes.len() < NOTES {
            let tool = name.map_or(String::new(), |name| format!(" {name}"));
            let note = Note { span: at, text: format!("the handler of the tool{tool} was not found") };
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        let Some(name) = name else { return };
        let (callee, is_lost) = unseen::described(self.index, work).unwrap_or_else(|| (name.clone(), false));
        self.out_of_sight.push(OutOfSight { span: at, tool: Some(name.clone()), callee, is_lost });
    }

    /// Registers whatever looks like a tool, because somebody registers tools that nobody can name.
    pub(super) fn all_tools(&mut self, site: u32) {
        if !std::mem::replace(&mut self.all_tools, true) {
            let known: BTreeSet<u32> = self.working().collect();
            shape::all_tools(self, site);
            files::loaded(self);
            let new: Vec<u32> = self.working().filter(|function| !known.contains(function)).collect();
            self.by_look = new.into_iter().map(|function| self.package_of(function)).collect();
        }
    }

    /// The functions that do the work of tools.
    fn working(&self) -> impl Iterator<Item = u32> {
        self.handlers.iter().filter(|(_, tools)| !tools.is_empty()).map(|(function, _)| *function)
    }

    /// Makes a function the handler of a tool.
    pub(super) fn serve(&mut self, function: u32, tool: Tool) {
        let tools = self.handlers.entry(function).or_default();
        match tools.iter_mut().find(|known| known.name == tool.name) {
            Some(known) => {
                known.read_only &= tool.read_only;
                known.idempotent &= tool.idempotent;
            }
            None => tools.push(tool),
        }
    }

    /// Makes a function a tool under a name, or its own, as it is called on each of these ways. `options` say what else is known of it.
    pub(super) fn serve_under(
        &mut self,
        function: u32,
        name: Option<&Name>,
        ways: &[Way],
        options: &[AbstractValue<'i>],
    ) {
        let own = name.cloned().unwrap_or_else(|| self.called_like(function));
        for way in ways {
            let mut tool = Self::plain(way.name(own.clone()));
            for object in options {
                let described = self.index.tool_in(tool.name.clone(), object);
                tool.read_only |= described.read_only;
                tool.idempotent |= described.idempotent;
            }
            self.serve(function, tool);
        }
    }

    /// Makes a function an entry that is no tool.
    pub(super) fn entry(&mut self, function: u32) {
        self.handlers.entry(function).or_default();
    }

    /// A tool of which only the name is known.
    pub(super) const fn plain(name: Name) -> Tool {
        Tool { name, read_only: false, idempotent: false }
    }

    /// Remembers that a function answers the calls of all tools, whether their names were found or not. One that only looks so may do
    /// something else about them: it writes them down. It is `settled` if it goes where a name leads in a table that is known.
    pub(super) fn dispatcher(&mut self, function: u32, registered: bool, settled: bool) {
        self.dispatchers.push(Dispatcher { function, registered, settled });
    }

    /// The package that a function is written in.
    pub(super) fn package_of(&self, function: u32) -> &'i str {
        let unit = self.index.unit(self.wrapped.like(function));
        unit.map_or("", |unit| self.packages.at(unit.function.span))
    }

    /// The tools that a server lists: those of its own package, and where none lists any there the only ones that there are.
    fn listed_for(&self, function: u32) -> Vec<Tool> {
        let own = self.package_of(function);
        let first = self.listed.first().map(|listed| listed.package);
        let only = first.filter(|first| self.listed.iter().all(|listed| listed.package == *first));
        let of_it = |listed: &&Listed<'i>| listed.package == own || only == Some(listed.package);
        self.listed.iter().filter(of_it).map(|listed| listed.tool.clone()).collect()
    }

    /// The function of the tree that does the work inside of wrappers.
    pub(super) fn inside(&self, function: u32) -> u32 {
        self.wrapped.like(self.innermost(function))
    }

    /// Whether anything of MCP was discovered.
    pub(super) fn any(&self) -> bool {
        !self.handlers.is_empty()
    }

    /// Whether a function is known to be called by clients.
    pub(super) fn is_handler(&self, function: u32) -> bool {
        self.handlers.contains_key(&function)
    }

    /// Whether a function answers for tools of which the names are known.
    pub(super) fn tells_tools_apart(&self, function: u32) -> bool {
        self.handlers.get(&function).is_some_and(|tools| !tools.is_empty())
    }

    /// Whether a function, or one that was made from the same as it, does the work of a tool.
    pub(super) fn serves_like(&self, function: u32) -> bool {
        let like = self.wrapped.like(function);
        self.handlers.iter().any(|(known, tools)| !tools.is_empty() && self.wrapped.like(*known) == like)
    }

    /// Whether a function does the work of a tool, as it is or inside of wrappers.
    pub(super) fn serves_inside(&self, function: u32) -> bool {
        let like = self.wrapped.like(function);
        let served = self.handlers.iter().filter(|(_, tools)| !tools.is_empty());
        served.into_iter().any(|(known, _)| self.inside(*known) == like || self.wrapped.like(*known) == like)
    }

    /// What a function is called.
    pub(super) fn name_of(&self, function: u32) -> Name {
        match self.index.unit(function) {
            Some(unit) => unit.function.name.clone(),
            None => self.wrapped.name_of(function).unwrap_or_else(|| "tool".into()),
        }
    }

    /// What a tool is called that goes by the name of its function: of a method the last part of it.
    pub(super) fn called_like(&self, function: u32) -> Name {
        let name = self.called_after(function);
        name.rsplit_once('.').map_or_else(|| name.clone(), |(_, own)| own.into())
    }

    /// What a tool without a name is called: as the function that does the work, which wrappers may be around.
    fn called_after(&self, function: u32) -> Name {
        self.name_of(self.innermost(function))
    }

    /// The function that wrappers are around.
    fn innermost(&self, function: u32) -> u32 {
        let mut work = function;
        for _ in 0..WRAPPERS {
            match self.wrapped.around(work) {
                Some(inside) => work = inside,
                None => break,
            }
        }
        work
    }

    /// The functions that run when something is called: itself, a method of an object, a wrapper around another function.
    pub(super) fn functions(&mut self, work: &AbstractValue<'i>) -> Vec<u32> {
        let index = self.index;
        match index.settle(work.clone()) {
            AbstractValue::Function(FunctionId(function), env) => {
                // A closure that was returned, or that is a member of an object that was: what it has taken along may be known.
                if matches!(work, AbstractValue::Call(..)) {
                    let returned = index.functions_of(work).into_iter();
                    return returned
                        .map(|(function, env)| self.wrapped.specialise(index, function, &env))
                        .collect();
                }
                vec![if env.is_empty() { function } else { self.wrapped.specialise(index, function, &env) }]
            }
            object @ (AbstractValue::Object(..) | AbstractValue::Instance(..)) => {
                let parts = &index.sdk().object.parts;
                let tasks: Vec<AbstractValue<'i>> =
                    parts.iter().map(|part| index.member(object.clone(), part)).collect();
                let mut functions: Vec<u32> = tasks.iter().filter_map(function_of).collect();
                if functions.is_empty() {
                    let work = index.work_in(&object);
                    functions.extend(function_of(&index.settle(work)));
                }
                functions
            }
            AbstractValue::Alternatives(things) => {
                things.iter().flat_map(|thing| self.functions(thing)).collect()
            }
            // A wrapper that is not understood runs what it was given.
            AbstractValue::Call(number, at) => {
                let Some(site) = index.site(number) else { return vec![] };
                let at: Context<'i> = at.go(site.within);
                let mut given = site.arguments.iter().rev().map(|arg| index.evaluate(arg, &at));
                given.find_map(|thing| function_of(&index.settle(thing))).into_iter().collect()
            }
            _ => vec![],
        }
    }

    /// Everything, in the order of the functions.
    pub(super) fn finish(mut self) -> Discovered {
        let mut nameless = vec![];
        for Dispatcher { function, registered, settled } in std::mem::take(&mut self.dispatchers) {
            let answered = self.handlers.values().any(|tools| !tools.is_empty());
            let listed = self.listed_for(function);
            if self.handlers.get(&function).is_some_and(|tools| !tools.is_empty()) || answered && !registered
            {
                // It tells some names apart. Those may be exceptions, where it looks the others up in what nobody can read.
                if registered && !settled && listed.is_empty() {
                    self.all_tools(0);
                }
                continue;
            }
            // Where it goes nobody can tell, but to tools.
            self.all_tools(0);
            // A dispatch that is not understood still answers what the server lists. Where that is not known either, it goes to what looks
            // like tools, and is none itself.
            let mut tools = listed;
            if tools.is_empty() && self.by_look.contains(&self.package_of(function)) {
                continue;
            }
            if tools.is_empty() {
                tools.push(Self::plain(self.name_of(function)));
                nameless.push(FunctionId(function));
            }
            tools.into_iter().for_each(|tool| self.serve(function, tool));
        }
        let out_of_sight =
            unseen::tools(std::mem::take(&mut self.out_of_sight), &self.listed, self.handlers.values());
        let listed = self.listed;
        let describe = |mut tool: Tool| {
            if let Some(Listed { tool: known, .. }) = listed.iter().find(|known| known.tool.name == tool.name)
            {
                tool.read_only |= known.read_only;
                tool.idempotent |= known.idempotent;
            }
            tool
        };
        let (added, sites) = self.wrapped.finish();
        Discovered {
            handlers: self
                .handlers
                .into_iter()
                .map(|(function, tools)| Handler {
                    function: FunctionId(function),
                    tools: tools.into_iter().map(describe).collect(),
                })
                .collect(),
            added,
            sites,
            dispatches: self.dispatches.into_values().collect(),
            nameless,
            called_by_tree: self.called_by_tree,
            out_of_sight,
            routes: self.routes,
            in_threads: self.in_threads,
            notes: self.notes,
            ..Discovered::default()
        }
    }
}

fn function_of(thing: &AbstractValue<'_>) -> Option<u32> {
    match thing {
        AbstractValue::Function(FunctionId(function), _) => Some(*function),
        _ => None,
    }
}
