//! Calls that register handlers: `registerTool`, `tool`, `addTool`, `setRequestHandler` and their like.

use interlock_model::ir::{AccessPath, FunctionId, Name, Root, Term, Tool};

use super::{
    AbstractValue, Context, Env, Unbound,
    call_kind::CallKind,
    constructed,
    discovery::Discovery,
    dispatch, exact_name,
    index::{Definition, Index},
    mixin, mounted, overridden, per_tool, remade, shape, split_method, unseen,
};
use crate::{
    Arg, Shape,
    module::{Site, is_qualified, split_global},
    tables::{Call, Registers},
};

/// Looks at every call of the tree that is called like a registration.
pub(super) fn registrations<'i>(discovery: &mut Discovery<'_, 'i>) {
    let index = discovery.index;
    let (mut overridden, mut above) = (vec![], vec![]);
    for (number, site) in index.calls_that(CallKind::REGISTERS) {
        let called = site.callee.as_ref().and_then(split_method).map(|(method, _)| method);
        let called = called.or_else(|| function_of_library(index, site));
        let Some(method) = called.or_else(|| own_registry(index, site)) else {
            if constructed::is_given(index, site) {
                constructed::tools(discovery, number, site);
            } else {
                announced(discovery, number, site);
            }
            continue;
        };
        let Some(call) = index.sdk().call.get(method) else { continue };
        if call.library.is_some() && function_of_library(index, site).is_none() {
            continue;
        }
        let may_be_own = site.function.is_some() || !index.kind_of_call(number).any(CallKind::NOBODY);
        let is_own_function = may_be_own && index.target(site).is_some();
        if !call.own && (site.construct || is_own_function || !is_server(index, site, call)) {
            if is_own_function && call.registers == Registers::Function {
                overridden.push(site);
            }
            continue;
        }
        match call.registers {
            Registers::Tool => tool(discovery, number, site, call.handler),
            Registers::Object if call.each => {
                site.arguments.iter().for_each(|argument| tool_object(discovery, number, site, argument));
            }
            Registers::Object => first_object(discovery, number, site),
            Registers::Described => pair(discovery, number, site),
            // Under which name depends on who calls the method of the tree that it is in.
            Registers::Function if overridden::calls_above(index, site) => above.push((number, site)),
            Registers::Function => match &call.remakes {
                Some(remakes) => remade::tool(discovery, site, remakes),
                None => function(discovery, (number, site), false),
            },
            Registers::Calls => each_function(discovery, site, dispatch::calls),
            Registers::Lists => each_function(discovery, site, |discovery, function| {
                dispatch::lists(discovery, function);
                discovery.entry(function);
            }),
            Registers::Request => request(discovery, site),
            Registers::Entry => {
                let is_function = |arg: &&Arg| matches!(arg.shape, Shape::Function { .. });
                let work = site.arguments.iter().find(is_function).or(site.arguments.last());
                if let Some(work) = work {
                    entry(discovery, site, work, call.around);
                }
            }
        }
    }
    overridden.into_iter().for_each(|site| overridden::tool(discovery, site));
    above.into_iter().for_each(|site| function(discovery, site, true));
    assigned_entries(discovery);
}

/// The name of a function by which a library registers what describes a tool: `mcp.AddTool(server, tool, handler)`.
fn function_of_library<'i>(index: &Index<'i>, site: &'i Site) -> Option<&'i str> {
    let Some(AccessPath { root: Root::Global(name), fields }) = &site.callee else { return None };
    let (library, own) = split_global(name).filter(|_| fields.is_empty())?;
    let call = index.sdk().call.get(own)?;
    let describes = matches!(call.registers, Registers::Described);
    let is_its_own = call.library.as_ref().is_none_or(|known| library.starts_with(&**known));
    (describes && is_its_own && index.sdk().may_be_sdk(library)).then_some(own)
}

/// The name of a function that registers by itself, where a user has said that one does: `defineCommand({ … })`.
fn own_registry<'i>(index: &Index<'i>, site: &'i Site) -> Option<&'i str> {
    let Some(AccessPath { root: Root::Global(name), .. }) = &site.callee else { return None };
    let own = split_global(name).map_or(&**name, |(_, own)| own);
    index.sdk().call.get(own).filter(|call| call.own).map(|_| own)
}

/// Whether the object that registers is an MCP server, as far as that can be told. What is known to be something else is none; of
/// what nothing is known the arguments have to look the part.
fn is_server<'i>(index: &Index<'i>, site: &'i Site, call: &Call) -> bool {
    let Some(callee) = &site.callee else { return false };
    let at = Context::plain(site.within);
    if let Some(known) = library_of(index, callee, &at) {
        return index.sdk().may_be_sdk(&known);
    }
    let given = site.arguments.len();
    let fits = if call.exactly { given == call.arguments } else { given >= call.arguments };
    fits && (!call.named || site.arguments.first().is_some_and(|name| may_be_text(index, name, &at)))
}

/// The library that the object comes from whose method is called: by what it was made with, or by its declared type.
pub(super) fn library_of<'i>(index: &Index<'i>, callee: &'i AccessPath, at: &Context<'i>) -> Option<Name> {
    let (_, fields) = split_method(callee)?;
    // What a class overrides it still calls by the name of what it extends.
    if matches!(&callee.root, Root::Global(name) if Some(&**name) == index.eval.semantics.above) {
        return extended(index, index.class(index.owner(at.function)?)?);
    }
    if let Some(library) = made_by(index, &index.receiver(fields, callee, at)) {
        return Some(library);
    }
    index.declared_library(callee, at)
}

/// The library that made an object, if one did.
pub(super) fn made_by<'i>(index: &Index<'i>, thing: &AbstractValue<'i>) -> Option<Name> {
    match thing {
        AbstractValue::Export(..) => thing.exported(),
        AbstractValue::Call(number, at) => {
            let site = index.site(*number)?;
            match index.path(site.callee.as_ref()?, &at.go(site.within)) {
                made @ AbstractValue::Export(..) => {
                    made.exported().filter(|name| site.construct || is_qualified(name))
                }
                _ => None,
            }
        }
        AbstractValue::Instance(class, _) => extended(index, *class),
        _ => None,
    }
}

impl<'i> Index<'i> {
    /// The library that the declared type of what a path starts with comes from. `server.server.setRequestHandler` and
    /// `server.experimental.tasks.registerToolTask` are the server's as well.
    pub(super) fn declared_library(&self, callee: &'i AccessPath, at: &Context<'i>) -> Option<Name> {
        let declared = match &callee.root {
            Root::Value(value) => self.declared(at.function, *value),
            _ => None,
        };
        let declared = declared.or_else(|| self.declared_field(callee, at.function))?;
        let Root::Global(name) = &declared.root else { return None };
        match self.class(name) {
            Some(class) => extended(self, class),
            None => split_global(name)
                .filter(|(library, _)| !self.eval.names.contains(library))
                .map(|_| name.clone()),
        }
    }
}

/// The library class that a class of the tree extends.
pub(super) fn extended(index: &Index<'_>, class: usize) -> Option<Name> {
    let root = index.ancestry(class).last()?.bases.first()?;
    match &root.root {
        Root::Global(name) if index.class(name).is_none() => Some(name.clone()),
        _ => None,
    }
}

fn may_be_text<'i>(index: &Index<'i>, arg: &'i Arg, at: &Context<'i>) -> bool {
    matches!(
        index.settle(index.evaluate(arg, at)),
        AbstractValue::Text(_) | AbstractValue::Unbound(_) | AbstractValue::Unknown
    )
}

/// `registerTool(name, config, handler)`, `tool(name, …, handler)`, `tool({ name, … }, handler)`.
fn tool<'i>(discovery: &mut Discovery<'_, 'i>, number: u32, site: &'i Site, handler: Option<usize>) {
    let index = discovery.index;
    let arguments = match handler.and_then(|last| site.arguments.get(..=last)) {
        Some(known) => known,
        None => up_to_handler(index, site),
    };
    let (Some(name), Some((handler, before))) = (arguments.first(), arguments.split_last()) else {
        return;
    };
    if let Shape::Object(_) = name.shape {
        return described(discovery, number, site);
    }
    let configs = before.get(1..).unwrap_or_default();
    let class = index.owner(site.within).and_then(|owner| index.class(owner));
    let ways = index.caller_contexts(site.within, |at| {
        let named = index.text(index.evaluate(name, at));
        // A base class whose name is nowhere to be read registers for the classes that extend it all the same.
        let inherited = class.filter(|class| {
            named.text().is_none() && at.env.this(*class).is_none() && !index.descendants(*class).is_empty()
        });
        let name = inherited.map(Unbound::This).or_else(|| named.unbound());
        let (at, nameless) = (at.clone(), named.text().is_none());
        let more = move || {
            let work = index.settle(index.evaluate(handler, &at));
            // Where the name is put together by chance, what the handler has taken along still tells the tools apart.
            let taken = match &work {
                AbstractValue::Function(FunctionId(function), _) if nameless => {
                    unbound_captures(index, *function, &at.env)
                }
                _ => vec![],
            };
            work.unbound().into_iter().chain(taken)
        };
        name.into_iter().chain(std::iter::once_with(more).flatten())
    });
    let several = ways.len() > 1;
    if let Some(look) = shape::ToolShape::of((name, handler), configs) {
        let work =
            |env: &Env<'i>| index.evaluate(handler, &Context { function: site.within, env: env.clone() });
        if ways.iter().all(|env| discovery.functions(&work(env)).is_empty()) && look.tools(discovery, number)
        {
            return;
        }
    }
    let named_in = |at: &Context<'i>| {
        let actual = class.and_then(|class| at.env.this(class));
        let named = index.text(index.evaluate(name, at)).text().cloned();
        named.or_else(|| actual.and_then(|actual| name_of_class(index, actual)))
    };
    let nameless = |env: &Env<'i>| named_in(&Context { function: site.within, env: env.clone() }).is_none();
    if ways.iter().all(nameless) {
        discovery.all_tools(number);
    }
    // Those that have a name first: of what is also registered without one it is known by then.
    let (nameless, named): (Vec<Env<'i>>, Vec<Env<'i>>) = ways.into_iter().partition(nameless);
    let any = !named.is_empty();
    for env in named.into_iter().chain(nameless) {
        let at = Context { function: site.within, env };
        let named = named_in(&at);
        let work = index.evaluate(handler, &at);
        // One more of which nothing could be read is no tool by another name.
        if any
            && named.is_none()
            && discovery.functions(&work).iter().all(|function| discovery.serves_like(*function))
        {
            continue;
        }
        let describe = |name: Name| {
            let mut tool = Tool { name: name.clone(), read_only: false, idempotent: false };
            for config in configs {
                let described = index.tool(name.clone(), &index.evaluate(config, &at));
                tool.read_only |= described.read_only;
                tool.idempotent |= described.idempotent;
            }
            tool
        };
        discovery.handler(number, &work, named.clone(), describe);
        if let (true, Some(name)) = (several, named) {
            per_tool::calls(discovery, &work, &at, &name);
        }
    }
}

/// `@mcp.tool(name="add") def add(…)`, `mcp.add_tool(add, name="add")`: the function first, then what it is called or options that say so.
/// `only_new` leaves those as they are that are tools already.
fn function<'i>(discovery: &mut Discovery<'_, 'i>, (number, site): (u32, &'i Site), only_new: bool) {
    let index = discovery.index;
    let Some((work, rest)) = site.arguments.split_first() else { return };
    let ways = index.caller_contexts(site.within, |at| {
        let named = rest.iter().map(|arg| index.settle(index.evaluate(arg, at)).unbound());
        // What the object was made with, or of which class it is: `tool(name=f"{self.prefix}_add")`.
        let by_name = site.arguments.iter().map(|arg| index.name_in(&index.evaluate(arg, at)).unbound());
        // A loop says it together with the function; another that has used the variable before says nothing of it.
        let by_name = by_name.flatten().filter(|open| !matches!(open, Unbound::Item(..)));
        let named: Vec<Unbound> = named.flatten().chain(by_name).collect();
        open_in(index, index.evaluate(work, at)).into_iter().chain(named)
    });
    for env in ways {
        let at = Context { function: site.within, env };
        let work = index.evaluate(work, &at);
        // What was made of a function by another registration is registered there: `add_tool(Tool.from_function(add, name="plus"))`.
        if made_by_registration(index, &work) {
            continue;
        }
        let mut functions = discovery.functions(&work);
        if only_new {
            functions.retain(|function| !discovery.serves_inside(*function));
        }
        let ways = mounted::ways_of(index, site, &at);
        // Where all is handed over by name, the function is one of the options.
        let all_named = site.arguments.iter().take(1).filter(|arg| matches!(arg.shape, Shape::Object(_)));
        let options = rest.iter().chain(all_named).map(|arg| index.evaluate(arg, &at));
        let options: Vec<AbstractValue<'i>> = options.collect();
        let named = named_by(index, &options);
        if let Some(own) = unseen::imported_name(&work).filter(|_| functions.is_empty() && !only_new) {
            for way in &ways {
                let named = way.name(named.clone().unwrap_or_else(|| own.clone()));
                discovery.unhandled(number, &work, Some(&named));
            }
        }
        for function in functions {
            discovery.serve_under(function, named.as_ref(), &ways, &options);
        }
    }
}

/// What a tool is called by what stands behind its function: a name, or options that say one.
pub(super) fn named_by<'i>(index: &Index<'i>, options: &[AbstractValue<'i>]) -> Option<Name> {
    let first = options.first().and_then(|first| index.text(first.clone()).text().cloned());
    first.or_else(|| options.iter().find_map(|object| index.name_in(object).text().cloned()))
}

/// Who decides what something is, or what a wrapper of a library was handed: `partial(work, store)`.
fn open_in<'i>(index: &Index<'i>, thing: AbstractValue<'i>) -> Vec<Unbound> {
    match index.settle(thing) {
        AbstractValue::Call(number, at) => {
            let Some(site) = index.site(number) else { return vec![] };
            let at = at.go(site.within);
            let open = site.arguments.iter().map(|arg| index.settle(index.evaluate(arg, &at)).unbound());
            open.flatten().collect()
        }
        // A wrapper that another function has made around what this one was handed: `add_tool(handled("add")(work))`.
        AbstractValue::Function(FunctionId(function), env) => unbound_captures(index, function, &env),
        thing => thing.unbound().into_iter().collect(),
    }
}

/// Whether something is what a call gives that registers a function by itself.
pub(super) fn made_by_registration<'i>(index: &Index<'i>, thing: &AbstractValue<'i>) -> bool {
    let AbstractValue::Call(number, _) = thing else { return false };
    let callee = index.site(*number).and_then(|site| site.callee.as_ref());
    let called = callee.and_then(split_method).and_then(|(method, _)| index.sdk().call.get(method));
    called.is_some_and(|call| call.registers == Registers::Function)
}

/// What is done with each function that a registration is handed first.
fn each_function<'i>(
    discovery: &mut Discovery<'_, 'i>,
    site: &'i Site,
    work: impl Fn(&mut Discovery<'_, 'i>, u32),
) {
    let Some(first) = site.arguments.first() else { return };
    let thing = discovery.index.evaluate(first, &Context::plain(site.within));
    for function in discovery.functions(&thing) {
        work(discovery, function);
    }
}

/// Who decides what a closure has taken along.
fn unbound_captures<'i>(index: &Index<'i>, function: u32, env: &Env<'i>) -> Vec<Unbound> {
    let Some((within, terms)) = index.captured(function) else { return vec![] };
    let at = Context { function: within, env: env.clone() };
    terms.iter().filter_map(|term| index.settle(index.term(term, &at)).unbound()).collect()
}

/// The arguments of a registration without what stands behind the function that does the work: nobody looks at that.
fn up_to_handler<'i>(index: &Index<'i>, site: &'i Site) -> &'i [Arg] {
    let is_function = |arg: &Arg| matches!(arg.shape, Shape::Function { .. });
    let is_work = |arg: &Arg| match arg.shape {
        Shape::Call(number) => index.site(number).is_some_and(|site| site.arguments.iter().any(is_function)),
        _ => is_function(arg),
    };
    let at = Context::plain(site.within);
    let is_none = |arg: &'i Arg| match arg.shape {
        Shape::Object(_) | Shape::Null => true,
        Shape::Opaque | Shape::Choice(_) => {
            // What was computed from something is not that.
            let computed = match &arg.term {
                Term::Path(AccessPath { root: Root::Value(value), fields }) => {
                    fields.is_empty()
                        && matches!(index.definition(site.within, *value), Some(Definition::Either(_)))
                }
                _ => false,
            };
            computed
                || matches!(
                    index.settle(index.evaluate(arg, &at)),
                    AbstractValue::Unknown | AbstractValue::Object(..)
                )
        }
        _ => false,
    };
    let arguments = &*site.arguments;
    let behind = arguments.iter().rev().take_while(|arg| is_none(arg)).count();
    match arguments.split_at_checked(arguments.len() - behind) {
        Some((given, _)) if given.last().is_some_and(is_work) => given,
        _ => arguments,
    }
}

/// A tool whose object says what it is called; the function that does the work stands in it or behind it.
fn described<'i>(discovery: &mut Discovery<'_, 'i>, number: u32, site: &'i Site) {
    let index = discovery.index;
    let Some((object, rest)) = site.arguments.split_first() else { return };
    let Some(handler) = rest.last() else { return first_object(discovery, number, site) };
    let ways = index.caller_contexts(site.within, |at| {
        let named = index.name_in(&index.evaluate(object, at)).unbound();
        named.or_else(|| index.settle(index.evaluate(handler, at)).unbound())
    });
    for env in ways {
        let at = Context { function: site.within, env };
        let (object, work) = (index.evaluate(object, &at), index.evaluate(handler, &at));
        let named = index.name_in(&object).text().cloned();
        discovery.handler(number, &work, named, |name| index.tool_in(name, &object));
    }
}

/// `@Tool({ name, … }) method(…)`: a tool that is not named otherwise is called like its method.
fn announced<'i>(discovery: &mut Discovery<'_, 'i>, number: u32, site: &'i Site) {
    let index = discovery.index;
    let Some(AccessPath { root: Root::Global(callee), fields }) = &site.callee else { return };
    let at = Context::plain(site.within);
    let is_function =
        |arg: &&'i Arg| matches!(index.settle(index.evaluate(arg, &at)), AbstractValue::Function(..));
    let Some(method) = site.arguments.iter().rev().find(is_function) else { return };
    let mut described = site.arguments.iter().filter(|arg| !std::ptr::eq(*arg, method));
    let work = index.evaluate(method, &at);
    let Some(function) = discovery.functions(&work).first().copied() else { return };
    let (library, announces) = split_global(callee).unwrap_or_default();
    let object = described.next().map_or(AbstractValue::Unknown, |object| index.evaluate(object, &at));
    // What goes by so general a name may announce something else. A tool says what it is for and what it takes.
    let sdk = index.sdk();
    let of_mcp = sdk.may_be_sdk(library) || sdk.has_word(announces);
    let described = || matches!(&object, AbstractValue::Object(members, _) if shape::describes(sdk, members));
    if !fields.is_empty() || !(of_mcp || described()) {
        return;
    }
    match sdk.decorator.get(announces) {
        None => return,
        Some(Registers::Tool | Registers::Object | Registers::Function | Registers::Described) => {}
        Some(Registers::Request | Registers::Entry | Registers::Calls | Registers::Lists) => {
            return entry(discovery, site, method, false);
        }
    }
    let named = index.text(object.clone()).text().cloned().or_else(|| index.name_in(&object).text().cloned());
    // Of a class it is called like that, not like the method that every such class has.
    let own = || match discovery.name_of(function).rsplit_once('.') {
        Some((class, name)) if sdk.object.work.iter().any(|work| work == name) => Some(class.into()),
        Some((_, name)) => Some(name.into()),
        None => None,
    };
    let named = named.or_else(own);
    let Some(named) = named else {
        return discovery.handler(number, &work, None, |name| index.tool_in(name, &object));
    };
    for way in mixin::ways_of(index, discovery.inside(function), &discovery.name_of(function)) {
        let name = Some(way.name(named.clone()));
        discovery.handler(number, &work, name, |name| index.tool_in(name, &object));
    }
}

/// What a tool is called whose class is all that is known of it.
fn name_of_class(index: &Index<'_>, class: usize) -> Option<Name> {
    let names = index.sdk().object.class_name.iter();
    let mut own = names.map(|field| index.settle(index.member(AbstractValue::Class(class), field)));
    let own = own.find_map(|thing| thing.text().cloned());
    own.or_else(|| index.class_at(class)?.name.rsplit_once("::").map(|(_, name)| name.into()))
}

/// `AddTool(tool, handler)`, `AddTool(server, tool, handler)`, and `AddTool(makeTool())` where that gives both.
fn pair<'i>(discovery: &mut Discovery<'_, 'i>, number: u32, site: &'i Site) {
    let index = discovery.index;
    let parts = |at: &Context<'i>| match &*site.arguments {
        [.., object, handler] => (index.evaluate(object, at), index.evaluate(handler, at)),
        [only] => {
            let both = index.settle(index.evaluate(only, at));
            match index.member(both.clone(), "1") {
                AbstractValue::Unknown => (both.clone(), index.work_in(&both)),
                work => (index.member(both, "0"), work),
            }
        }
        [] => (AbstractValue::Unknown, AbstractValue::Unknown),
    };
    let ways = index.caller_contexts(site.within, |at| {
        let (object, work) = parts(at);
        let object = index.settle(object);
        let named = object.unbound().or_else(|| index.name_in(&object).unbound());
        named.or_else(|| index.settle(work).unbound())
    });
    let several = ways.len() > 1;
    for env in ways {
        let at = Context { function: site.within, env };
        let (object, mut work) = parts(&at);
        // A method of something of which only the type is known.
        if let Some(Term::Path(path)) = site.arguments.last().map(|arg| &arg.term)
            && discovery.functions(&work).is_empty()
            && let Some(function) = index.declared_method(path, site.within)
        {
            work = AbstractValue::Function(FunctionId(function), at.env.clone());
        }
        let named = index.name_in(&object).text().cloned();
        discovery.handler(number, &work, named.clone(), |name| index.tool_in(name, &object));
        if let (true, Some(name)) = (several, named) {
            per_tool::calls(discovery, &work, &at, &name);
        }
    }
}

fn first_object<'i>(discovery: &mut Discovery<'_, 'i>, number: u32, site: &'i Site) {
    if let Some(argument) = site.arguments.first() {
        tool_object(discovery, number, site, argument);
    }
}

/// `addTool({ name, execute })`, `addTools([…])`.
fn tool_object<'i>(discovery: &mut Discovery<'_, 'i>, number: u32, site: &'i Site, argument: &'i Arg) {
    let index = discovery.index;
    let ways = index.caller_contexts(site.within, |at| {
        let object = index.settle(index.evaluate(argument, at));
        object
            .unbound()
            .or_else(|| index.name_in(&object).unbound())
            .or_else(|| index.work_in(&object).unbound())
    });
    let several = ways.len() > 1;
    for env in ways {
        let at = Context { function: site.within, env };
        let thing = index.settle(index.evaluate(argument, &at));
        let objects = match thing {
            AbstractValue::List(..) | AbstractValue::Items(_) => index.list(&thing),
            object => vec![object],
        };
        for object in objects {
            let work = index.work_in(&object);
            let named = index.name_in(&object).text().cloned();
            discovery.handler(number, &work, named.clone(), |name| index.tool_in(name, &object));
            if let (true, Some(name)) = (several, named) {
                per_tool::calls(discovery, &work, &at, &name);
            }
        }
    }
}

/// `setRequestHandler(CallToolRequestSchema, handler)`, `setRequestHandler("tools/call", handler)`.
fn request<'i>(discovery: &mut Discovery<'_, 'i>, site: &'i Site) {
    let index = discovery.index;
    let (Some(what), Some(handler)) =
        (site.arguments.first(), site.arguments.get(1..).and_then(<[Arg]>::last))
    else {
        return;
    };
    let at = Context::plain(site.within);
    let asked = requested_name(index, what, &at);
    let known = &index.sdk().dispatch;
    match asked.as_deref() {
        Some(asked) if known.calls.contains(asked) => {
            for function in discovery.functions(&index.evaluate(handler, &at)) {
                dispatch::calls(discovery, function);
            }
        }
        Some(asked) if known.lists.contains(asked) => {
            for function in discovery.functions(&index.evaluate(handler, &at)) {
                dispatch::lists(discovery, function);
                discovery.entry(function);
            }
        }
        _ => entry(discovery, site, handler, false),
    }
}

/// What a request handler is for: the name of the schema, or the method.
fn requested_name<'i>(index: &Index<'i>, what: &'i Arg, at: &Context<'i>) -> Option<Name> {
    if let AbstractValue::Text(method) = index.evaluate(what, at) {
        return Some(method);
    }
    let Term::Path(path) = &what.term else { return None };
    let last = path.fields.iter().rev().find_map(exact_name);
    let name = match (&path.root, last) {
        (_, Some(name)) => name,
        (Root::Global(name), None) => split_global(name).map_or(&**name, |(_, name)| name),
        _ => return None,
    };
    Some(name.into())
}

/// A handler of something that is no tool.
fn entry<'i>(discovery: &mut Discovery<'_, 'i>, site: &'i Site, handler: &'i Arg, around: bool) {
    let index = discovery.index;
    let ways = index.caller_contexts(site.within, |at| index.settle(index.evaluate(handler, at)).unbound());
    for env in ways {
        let at = Context { function: site.within, env };
        let thing = index.settle(index.evaluate(handler, &at));
        let load = index.member(thing.clone(), &index.sdk().object.entry);
        let thing = if matches!(load, AbstractValue::Unknown) { thing } else { load };
        for function in discovery.functions(&thing) {
            discovery.entry(function);
            if around {
                given_by(index, function).into_iter().for_each(|inner| discovery.entry(inner));
            }
        }
    }
}

/// The functions that a function gives: what a middleware puts round a handler.
fn given_by(index: &Index<'_>, function: u32) -> Vec<u32> {
    let Some(unit) = index.unit(function) else { return vec![] };
    let at = Context::plain(function);
    let written = unit.returned.iter().map(|arg| index.evaluate(arg, &at));
    let values = unit.returned_values().map(|value| index.value(value, &at));
    let given = written.chain(values).filter_map(|thing| match index.settle(thing) {
        AbstractValue::Function(FunctionId(inner), _) => Some(inner),
        _ => None,
    });
    let mut given: Vec<u32> = given.collect();
    given.dedup();
    given
}

/// `server.oninitialized = async () => …`.
fn assigned_entries(discovery: &mut Discovery<'_, '_>) {
    let index = discovery.index;
    for variable in &index.eval.flat.variables {
        let last = variable.path.fields.last().and_then(exact_name);
        if !last.is_some_and(|last| index.sdk().member.contains(last)) {
            continue;
        }
        if let Some(initial) = &variable.initial {
            for function in discovery.functions(&index.evaluate(initial, &Context::plain(variable.within))) {
                discovery.entry(function);
            }
        }
    }
}
