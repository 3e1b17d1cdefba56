//! What runs beside what: `await`, tasks, groups of them, threads, and sleeps.

use interlock_model::ir::{AccessPath, Backoff, Block, Op, Root, Start, Term};
use ruff_python_ast::{Expr, ExprAwait, ExprCall};

use super::{
    calls::{Handed, Use},
    context::Lowerer,
};
use crate::{
    Arg, Shape,
    module::{Imported, Threaded},
    val::{Val, flag},
};

impl<'a> Lowerer<'a> {
    pub(super) fn awaited(&mut self, it: &'a ExprAwait) -> Val {
        let val = self.expression_for(&it.value, Use::Awaited);
        self.stand(it);
        self.push(Op::Suspend);
        val
    }

    /// Calls that start, gather or wait for what runs beside others.
    pub(super) fn task_call(&mut self, call: &'a ExprCall, wanted: Use) -> Option<Val> {
        let (module, name) = self.library_call(&call.func);
        let args = &call.arguments.args;
        let concurrent =
            matches!(module.as_str(), "asyncio" | "anyio" | "trio" | "anyio.to_thread" | "asyncio.tasks");
        match (name, args.first()) {
            ("sleep", _) if concurrent || module == "time" => {
                let mut flags = 0;
                for argument in args {
                    flags |= self.expression(argument).flags;
                }
                self.stand(call);
                let grows = flags & (flag::GROWS | flag::COUNTER) != 0;
                let backoff = if grows { Backoff::Growing } else { Backoff::Fixed };
                self.push(Op::Sleep { backoff, jitter: flags & flag::CHANCE != 0 });
                Some(Val::nothing())
            }
            ("gather" | "wait" | "as_completed", Some(_)) if concurrent => Some(self.gather(call, wanted)),
            ("wait_for" | "shield", Some(first)) if concurrent => {
                let val = self.expression_for(first, Use::Awaited);
                for argument in args.iter().skip(1) {
                    self.expression(argument);
                }
                Some(val)
            }
            ("run" | "run_until_complete", Some(first)) if concurrent || name != "run" => {
                // `asyncio.run(main())`, `anyio.run(main)`: start-up waits for it.
                if matches!(first, Expr::Call(_)) {
                    return Some(self.expression_for(first, Use::Awaited));
                }
                let target = self.function_place(first);
                let handed = self.rest(call, 1);
                self.stand(call);
                Some(self.invoke_with(target, handed, false, Use::Awaited))
            }
            // A service for tasks of people has a `create_task` as well.
            ("create_task", Some(first)) if concurrent || starts_tasks(&call.func) => {
                Some(self.start_task(call, first))
            }
            ("ensure_future" | "start_soon" | "run_coroutine_threadsafe", Some(first)) => {
                Some(self.start_task(call, first))
            }
            ("to_thread" | "run_sync" | "run_in_threadpool", Some(first)) if wanted == Use::Awaited => {
                Some(self.in_thread(call, first, 1, None))
            }
            ("run_in_executor", Some(_)) => {
                let function = args.get(1)?;
                let pool = args.first().filter(|pool| !matches!(pool, Expr::NoneLiteral(_)));
                Some(self.in_thread(call, function, 2, pool))
            }
            ("call_later" | "call_at", Some(_)) => {
                let callback = args.get(1)?;
                self.spawn(call, callback, 2, Start::Timer);
                Some(Val::nothing())
            }
            ("call_soon" | "call_soon_threadsafe" | "add_done_callback", Some(callback)) => {
                self.spawn(call, callback, 1, Start::Now);
                Some(Val::nothing())
            }
            ("submit", Some(first)) if self.is_executor(&call.func) => Some(self.submit(call, first)),
            ("map", Some(first)) if args.len() > 1 && self.is_executor(&call.func) => {
                Some(self.map_in_threads(call, first))
            }
            ("Thread" | "Timer" | "Process", _)
                if matches!(module.as_str(), "threading" | "multiprocessing") =>
            {
                Some(self.thread(call, name))
            }
            _ => None,
        }
    }

    /// The library and the function that a name leads to, as far as this file says it.
    pub(super) fn library_call(&mut self, callee: &'a Expr) -> (String, &'a str) {
        match callee {
            Expr::Name(it) => {
                let name = it.id.as_str();
                let import = self.module.imports.iter().find(|import| *import.local == *name);
                match import.map(|import| (import.from.to_string(), import.what.clone())) {
                    Some((from, Imported::Name(_))) => (from, name),
                    _ => (String::new(), name),
                }
            }
            Expr::Attribute(it) => {
                let module = match &*it.value {
                    Expr::Name(object) => self.library_of(object.id.as_str()),
                    Expr::Attribute(object) => match &*object.value {
                        Expr::Name(outer) => match self.library_of(outer.id.as_str()) {
                            library if library.is_empty() => library,
                            library => format!("{library}.{}", object.attr.as_str()),
                        },
                        _ => String::new(),
                    },
                    _ => String::new(),
                };
                (module, it.attr.as_str())
            }
            _ => (String::new(), ""),
        }
    }

    fn library_of(&self, name: &str) -> String {
        let import = self.module.imports.iter().find(|import| *import.local == *name);
        import.map_or_else(String::new, |import| match &import.what {
            Imported::All => import.from.to_string(),
            Imported::Name(inner) => format!("{}.{inner}", import.from),
        })
    }

    /// `asyncio.gather(a(), *more)`: side by side, and all are waited for.
    fn gather(&mut self, call: &'a ExprCall, wanted: Use) -> Val {
        let mut branches: Vec<Block> = vec![];
        let (mut all, mut items) = (Val::nothing(), vec![]);
        for argument in &call.arguments.args {
            let inner = match argument {
                Expr::Starred(it) => &*it.value,
                other => other,
            };
            let (block, val) = match inner {
                Expr::List(list) => {
                    for element in &list.elts {
                        let (block, val) = self.nested(|this| this.expression_for(element, Use::Awaited));
                        all.depend(&val);
                        branches.push(block);
                    }
                    continue;
                }
                Expr::ListComp(it) => {
                    self.nested(|this| this.gathered(&it.generators, &[&it.elt], Use::Awaited))
                }
                Expr::Generator(it) => {
                    self.nested(|this| this.gathered(&it.generators, &[&it.elt], Use::Awaited))
                }
                other => self.nested(|this| this.expression_for(other, Use::Awaited)),
            };
            if !block.is_empty() {
                branches.push(block);
            }
            all.depend(&val);
            items.push(Arg { shape: Shape::Opaque, ..val.into_arg() });
        }
        self.stand(call);
        branches.retain(|block| !block.is_empty());
        if !branches.is_empty() {
            if wanted == Use::Awaited {
                self.push(Op::Together { branches });
            } else {
                for body in branches {
                    self.push(Op::Spawn { start: Start::Now, body });
                }
            }
        }
        all.shape = Shape::List(items);
        all
    }

    /// `asyncio.create_task(f())`, `group.start_soon(f, x)`: it runs on beside.
    fn start_task(&mut self, call: &'a ExprCall, first: &'a Expr) -> Val {
        if !matches!(first, Expr::Call(_)) {
            self.spawn(call, first, 1, Start::Now);
            return Val::nothing();
        }
        let (body, val) = self.branch(|this| this.expression_for(first, Use::Awaited));
        self.stand(call);
        if !body.is_empty() {
            self.push(Op::Spawn { start: Start::Now, body });
        }
        Val { direct: None, shape: Shape::Opaque, ..Val::from_values(val.values, 0) }
    }

    /// `asyncio.to_thread(f, x)`: others run before it, between its steps and behind it.
    fn in_thread(
        &mut self,
        call: &'a ExprCall,
        function: &'a Expr,
        from: usize,
        pool: Option<&'a Expr>,
    ) -> Val {
        let (function, partial) = self.split_partial(function);
        let target = self.function_place(function);
        let handed = self.handed_on(partial, call, from);
        self.stand(call);
        self.push(Op::Suspend);
        self.invoke_in_thread(target, handed, pool)
    }

    /// A call that runs in a thread: others get between any two steps of it.
    fn invoke_in_thread(&mut self, target: Val, handed: Handed, pool: Option<&'a Expr>) -> Val {
        let first = self.module.sites.len();
        let pool = pool.and_then(|pool| self.callee(pool).path_ref().cloned());
        if let Shape::Function { function, .. } = &target.shape
            && pool.is_none()
        {
            self.threaded.push(function.0);
        }
        let val = self.invoke_with(target, handed, false, Use::Awaited);
        // The call itself is the last that was put down.
        let last = self.module.sites.len().checked_sub(1).filter(|last| *last >= first);
        if let Some(site) = last.and_then(|last| u32::try_from(last).ok()) {
            self.module.threads.push(Threaded { site, pool });
        }
        val
    }

    /// `functools.partial(f, x)`, as the function and the call that hands it something.
    fn split_partial(&mut self, function: &'a Expr) -> (&'a Expr, Option<&'a ExprCall>) {
        if let Expr::Call(partial) = function
            && let (module, "partial") = self.library_call(&partial.func)
            && module == "functools"
            && let Some(inner) = partial.arguments.args.first()
        {
            return (inner, Some(partial));
        }
        (function, None)
    }

    /// `pool.submit(f, x)`: it runs on in a thread. What it gives, the future has.
    fn submit(&mut self, call: &'a ExprCall, function: &'a Expr) -> Val {
        let (function, partial) = self.split_partial(function);
        let target = self.function_place(function);
        let handed = self.handed_on(partial, call, 1);
        self.stand(call);
        let at = self.at;
        let pool = pool_of(call);
        let (body, val) = self.branch(|this| this.invoke_in_thread(target, handed, pool));
        self.push_at(at, Op::Spawn { start: Start::Now, body });
        Val { direct: None, shape: Shape::Opaque, ..Val::from_values(val.values, 0) }
    }

    /// `pool.map(f, items)`: it runs in threads for one of them after the other, and whoever goes over what that gives waits.
    fn map_in_threads(&mut self, call: &'a ExprCall, function: &'a Expr) -> Val {
        let (function, partial) = self.split_partial(function);
        let target = self.function_place(function);
        let mut handed = self.handed_on(partial, call, call.arguments.args.len());
        // What is handed over by name is for the pool: `timeout`.
        let named = if handed.named && partial.is_some() { handed.arguments.pop() } else { None };
        if handed.named && partial.is_none() {
            handed.arguments.clear();
        }
        for items in call.arguments.args.iter().skip(1) {
            let items = self.all_of(items);
            self.stand(call);
            let item = self.derive(&"item".into(), items.values, Term::Unknown, 0);
            handed.arguments.push(Val { direct: Some(item), ..Val::of(item, 0) }.into_arg());
        }
        handed.named = named.is_some();
        handed.arguments.extend(named);
        self.stand(call);
        let val = self.invoke_in_thread(target, handed, pool_of(call));
        Val { direct: None, shape: Shape::Opaque, ..Val::from_values(val.values, 0) }
    }

    /// Whether it is a pool of threads whose method is called: by its name, or because this file makes one of it.
    fn is_executor(&mut self, callee: &'a Expr) -> bool {
        if is_called_executor(callee) {
            return true;
        }
        let Expr::Attribute(method) = callee else { return false };
        let object = match &*method.value {
            Expr::Name(it) => self.name_place(it.id.as_str()),
            Expr::Attribute(_) => self.place(&method.value),
            _ => return false,
        };
        object.path_ref().is_some_and(|path| self.is_pool(path, 2))
    }

    /// Whether a pool of threads was made as this, or entered by `with`.
    fn is_pool(&self, path: &AccessPath, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let makes_pool = |arg: &Arg| {
            let Shape::Call(number) = arg.shape else { return false };
            let callee = self.module.sites.get(number as usize).and_then(|site| site.callee.as_ref());
            callee.is_some_and(|callee| match &*self.last_name(callee) {
                "ThreadPoolExecutor" => true,
                "__enter__" => self.is_pool(&AccessPath::of(callee.root.clone()), depth),
                _ => false,
            })
        };
        let local = match (&path.root, path.fields.as_slice()) {
            (Root::Value(value), []) => self.cx.locals.iter().find(|(local, _)| local == value),
            _ => None,
        };
        let mut variables = self.module.variables.iter().filter(|variable| variable.path == *path);
        local.is_some_and(|(_, arg)| makes_pool(arg))
            || variables.any(|variable| variable.initial.as_ref().is_some_and(makes_pool))
    }

    fn spawn(&mut self, call: &'a ExprCall, function: &'a Expr, from: usize, start: Start) {
        let (function, partial) = self.split_partial(function);
        let target = self.function_place(function);
        let handed = self.handed_on(partial, call, from);
        self.stand(call);
        let at = self.at;
        let (body, _) = self.branch(|this| this.invoke_with(target, handed, false, Use::Awaited));
        self.push_at(at, Op::Spawn { start, body });
    }

    /// `threading.Thread(target=f, args=(x,))`: it may start any time from here on.
    fn thread(&mut self, call: &'a ExprCall, name: &str) -> Val {
        let by_name = |wanted: &str| {
            let mut keywords = call.arguments.keywords.iter();
            keywords.find(|keyword| keyword.arg.as_ref().is_some_and(|arg| arg.as_str() == wanted))
        };
        let named = by_name("target").or_else(|| by_name("function")).map(|keyword| &keyword.value);
        let function = named.or_else(|| call.arguments.args.get(1));
        let start = if name == "Timer" { Start::Timer } else { Start::Now };
        if let Some(function) = function {
            let (function, partial) = self.split_partial(function);
            let target = self.function_place(function);
            let mut handed = partial.map_or_else(Handed::default, |partial| self.rest(partial, 1));
            let arguments: Vec<Arg> = match by_name("args").map(|keyword| &keyword.value) {
                Some(Expr::Tuple(it)) => it.elts.iter().map(|it| self.expression(it).into_arg()).collect(),
                Some(Expr::List(it)) => it.elts.iter().map(|it| self.expression(it).into_arg()).collect(),
                _ => vec![],
            };
            self.stand(call);
            let at = self.at;
            let place = handed.arguments.len() - usize::from(handed.named);
            drop(handed.arguments.splice(place..place, arguments));
            let (body, _) = self.branch(|this| this.invoke_in_thread(target, handed, None));
            self.push_at(at, Op::Spawn { start, body });
        }
        // Nothing is called but what it runs; of which library it is says what its methods do.
        let made = self.callee(&call.func).path_ref().cloned();
        let number = self.site(made, true, Handed { arguments: vec![], named: false }, None);
        let thread = self.step(&"thread".into(), 0);
        self.push(Op::New { into: thread, lock: None });
        Val { direct: Some(thread), shape: Shape::Call(number), ..Val::of(thread, 0) }
    }

    /// What a function is handed that runs elsewhere: what `partial` has bound, then the arguments of the call from one on.
    fn handed_on(&mut self, partial: Option<&'a ExprCall>, call: &'a ExprCall, from: usize) -> Handed {
        let Some(partial) = partial else { return self.rest(call, from) };
        let mut bound = self.rest(partial, 1);
        let by_name = if bound.named { bound.arguments.pop() } else { None };
        for argument in call.arguments.args.iter().skip(from) {
            bound.arguments.push(self.expression(argument).into_arg());
        }
        bound.arguments.extend(by_name);
        bound
    }

    /// The arguments of a call from one on, handed to another function.
    fn rest(&mut self, call: &'a ExprCall, from: usize) -> Handed {
        let mut arguments = vec![];
        for argument in call.arguments.args.iter().skip(from) {
            arguments.push(self.expression(argument).into_arg());
        }
        let keywords = &call.arguments.keywords;
        let named = !keywords.is_empty();
        if named {
            arguments.push(self.keywords(keywords));
        }
        Handed { arguments, named }
    }
}

/// The pool whose method is called.
fn pool_of(call: &ExprCall) -> Option<&Expr> {
    match &*call.func {
        Expr::Attribute(method) => Some(&method.value),
        _ => None,
    }
}

/// Whether it is an executor whose method is called, by its name.
fn is_called_executor(callee: &Expr) -> bool {
    let Expr::Attribute(method) = callee else { return false };
    let name = match &*method.value {
        Expr::Name(it) => it.id.as_str(),
        Expr::Attribute(it) => it.attr.as_str(),
        _ => return false,
    };
    let name = name.to_ascii_lowercase();
    ["executor", "pool", "threads"].iter().any(|word| name.ends_with(word))
}

/// Whether it is a loop or a group of tasks whose method is called, by its name: `loop.create_task(…)`, `tg.create_task(…)`.
fn starts_tasks(callee: &Expr) -> bool {
    let Expr::Attribute(method) = callee else { return false };
    let name = match &*method.value {
        Expr::Name(it) => it.id.as_str(),
        Expr::Attribute(it) => it.attr.as_str(),
        Expr::Call(made) => match &*made.func {
            Expr::Attribute(it) => it.attr.as_str(),
            Expr::Name(it) => it.id.as_str(),
            _ => return false,
        },
        _ => return false,
    };
    let name = name.to_ascii_lowercase();
    name.len() <= 2 || ["loop", "group", "nursery", "scope"].iter().any(|word| name.ends_with(word))
}
