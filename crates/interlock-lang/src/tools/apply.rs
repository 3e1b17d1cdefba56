//! Writes what was found into the tree, before its calls are looked up.

use std::collections::HashMap;

use interlock_model::ir::{
    Block, Callee, Effect, Function, FunctionId, Name, Note, Op, Origin, OutOfSight, Role, Server, Term,
    Unresolved, UnresolvedReason, Value, ValueInfo,
};

use super::{Discovered, Dispatch, Handler, answer::Added};
use crate::{
    Semantics,
    eval::{Index, World, context::Contexts},
    knowledge::Knowledge,
    link::{
        flat::{Flat, number},
        names::{Names, Namespaces},
    },
};

/// What is left to say about a tree whose functions know their roles.
#[derive(Debug, Default)]
pub(crate) struct Applied {
    /// The servers.
    pub(crate) servers: Vec<Server>,
    /// What was not understood.
    pub(crate) notes: Vec<Note>,
    /// The handlers of all tools that go nobody knows where.
    pub(crate) unresolved: Vec<Unresolved>,
    /// The routes that functions answer, as a reader names them.
    pub(crate) routes: HashMap<FunctionId, Name>,
    /// What clients can call and was not found.
    pub(crate) out_of_sight: Vec<OutOfSight>,
    /// The handlers that the tree's own server calls.
    pub(crate) called_by_tree: Vec<FunctionId>,
    /// The handlers of routes that a framework runs in threads if they are not asynchronous.
    pub(crate) in_threads: Vec<FunctionId>,
}

/// Finds the handlers of a tree and gives its functions their roles. `packages` are the folders with a `package.json`.
pub(crate) fn apply(
    flat: &mut Flat,
    functions: &mut Vec<Function>,
    packages: Vec<&str>,
    (names, namespaces): (&Names, &Namespaces),
    knowledge: &Knowledge,
    semantics: &Semantics,
) -> Applied {
    let Discovered {
        handlers,
        added,
        sites,
        dispatches,
        origins,
        servers,
        nameless,
        called_by_tree,
        routes,
        out_of_sight,
        in_threads,
        notes,
    } = {
        let index = Index::of(flat, functions, knowledge.tables().builtin());
        let world = World::new(flat, &index, namespaces, knowledge, semantics);
        super::discover(Contexts::new(&world, functions, names), packages)
    };
    // Without this, the first one more would make room for twice as many.
    functions.reserve_exact(added.len());
    flat.about.reserve_exact(added.len());
    for Added { function, like } in added {
        if let Some(about) = flat.about.get(like.0 as usize) {
            let mut about = about.clone();
            about.bound = None;
            flat.about.push(about);
            functions.push(function);
        }
    }
    let known = number(flat.sites.len());
    flat.sites.extend(sites);
    flat.handing.extend(known..number(flat.sites.len()));
    flat.declaring.extend(known..number(flat.sites.len()));
    for (function, value, origin) in origins {
        set_origin(functions, function, value, origin);
    }
    for Handler { function, tools } in handlers {
        if let Some(function) = functions.get_mut(function.0 as usize) {
            // A tool is handed its arguments in one object, whichever of its parameters that is.
            let of_tool = if tools.is_empty() { &[][..] } else { &function.parameters };
            for parameter in of_tool {
                if let Some(info) = function.values.get_mut(parameter.0 as usize)
                    && info.origin == Origin::Argument
                {
                    info.origin = Origin::Arguments;
                }
            }
            function.role = Role::Handler(tools);
        }
    }
    for dispatch in &dispatches {
        let within = flat.sites.get(dispatch.site as usize).map(|site| site.within as usize);
        let captures =
            |function: FunctionId| functions.get(function.0 as usize).map_or(0, |f| f.captures.len());
        let ways: Vec<(Name, FunctionId, usize)> = dispatch
            .ways
            .iter()
            .map(|(name, function)| (name.clone(), *function, captures(*function)))
            .collect();
        if let Some(function) = within.and_then(|within| functions.get_mut(within)) {
            let mut body = std::mem::take(&mut function.body);
            Chooser { dispatch, ways: &ways, values: &mut function.values }.block(&mut body);
            function.body = body;
        }
    }
    let unresolved = nameless.into_iter().filter_map(|function| {
        let Function { name, span, .. } = functions.get(function.0 as usize)?;
        Some(Unresolved { function, span: *span, callee: name.clone(), reason: UnresolvedReason::Tools })
    });
    Applied {
        unresolved: unresolved.collect(),
        routes,
        out_of_sight,
        called_by_tree,
        in_threads,
        servers,
        notes,
    }
}

fn set_origin(functions: &mut [Function], function: FunctionId, value: Value, origin: Origin) {
    let info =
        functions.get_mut(function.0 as usize).and_then(|function| function.values.get_mut(value.0 as usize));
    if let Some(info) = info {
        info.origin = origin;
    }
}

/// Replaces a call of what was looked up by a chain of checks on the name.
struct Chooser<'c> {
    dispatch: &'c Dispatch,
    ways: &'c [(Name, FunctionId, usize)],
    values: &'c mut Vec<ValueInfo>,
}

impl Chooser<'_> {
    fn block(&mut self, block: &mut Block) {
        for effect in std::mem::take(block) {
            self.effect(effect, block);
        }
    }

    fn effect(&mut self, mut effect: Effect, out: &mut Block) {
        if matches!(&effect.op, Op::Call { callee: Callee::Pending(site), .. } if *site == self.dispatch.site)
        {
            return self.choose(&effect, out);
        }
        effect.op.blocks_mut().for_each(|inner| self.block(inner));
        out.push(effect);
    }

    fn choose(&mut self, call: &Effect, out: &mut Block) {
        let Op::Call { into, receiver, arguments, awaited, .. } = &call.op else { return };
        let mut results = vec![];
        let mut chain: Block = vec![];
        for (name, function, captures) in self.ways.iter().rev() {
            let result = into.map(|_| self.value("result"));
            results.extend(result);
            let callee = if *captures == 0 {
                Callee::Function(*function)
            } else {
                Callee::Closure { function: *function, captures: vec![Term::Unknown; *captures] }
            };
            let op = Op::Call {
                into: result,
                callee,
                receiver: receiver.clone(),
                arguments: arguments.clone(),
                awaited: *awaited,
            };
            let then = vec![Effect { span: call.span, op }];
            let on = self.dispatch.on.into_iter().collect();
            let op = Op::Check {
                on,
                equal: Some(name.clone()),
                asks: vec![],
                then,
                otherwise: std::mem::take(&mut chain),
            };
            chain.push(Effect { span: call.span, op });
        }
        out.append(&mut chain);
        if let Some(into) = into {
            results.reverse();
            out.push(Effect {
                span: call.span,
                op: Op::Derive { into: *into, from: results, term: Term::Unknown },
            });
        }
    }

    fn value(&mut self, name: &str) -> Value {
        let number = self.values.len();
        let name = format!("{name}.{number}").into();
        self.values.push(ValueInfo { name, origin: Origin::Step, bounded: false });
        Value(u32::try_from(number).unwrap_or(u32::MAX))
    }
}
