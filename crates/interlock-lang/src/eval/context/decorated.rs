//! Decorators that the tree defines itself, whatever they are called.
//!
//! ```ts
//! function expose(name: string) {
//!   return (_: object, key: string, descriptor: PropertyDescriptor) => registry.push({ name, run: descriptor.value });
//! }
//! class Points { @expose("add_point") async add(args) { … } }
//! ```
//!
//! A decorator runs what it returns on the method, so it counts as a caller of that closure, which hands over the method, its name and
//! its descriptor. Whatever the closure does with them is then followed like any registration. What a decorator leaves in metadata of a
//! library is not followed.
//!
//! ```python
//! class App:
//!     def tool(self, name=None):
//!         def register(fn):
//!             self.mcp.add_tool(fn, name=name or fn.__name__)
//!             return fn
//!         return register
//! @app.tool("add")
//! async def add_note(text): ...
//! ```
//!
//! Where the name of the decorator is that of a registration, the call that stands for it is handed the function first and then what the
//! decorator is given. The method gets those options as arguments, and the decorated function gets what the method returns.

use interlock_model::ir::{FunctionId, Name, Value};

use super::{Context, Contexts, Env, env::Assumed, facts::Caller, split_method};
use crate::{
    Arg, Shape,
    eval::{index::Definition, value::AbstractValue},
    module::Site,
};

/// A method that a decorator stands at.
struct Decorated<'f> {
    class: usize,
    name: &'f Name,
    method: u32,
}

impl<'f> Contexts<'f> {
    /// The closures that decorators run, each with the call that names the decorator.
    pub(super) fn decorators(&self) -> Vec<(u32, Caller<'f>)> {
        let mut found = vec![];
        for number in &self.eval.flat.handing {
            let Some(site) = self.site(*number).filter(|site| self.decorated(site).is_some()) else {
                continue;
            };
            let Some(factory) = self.target(site) else { continue };
            let closures = self.closures_given(factory);
            found.extend(closures.into_iter().map(|closure| (closure, Caller::Decorator(*number))));
        }
        found
    }

    /// The closures that a function gives back.
    pub(super) fn closures_given(&self, factory: u32) -> Vec<u32> {
        let Some(unit) = self.unit(factory) else { return vec![] };
        let written = unit.returned.iter().filter_map(|arg| match arg.shape {
            Shape::Function { function, .. } => Some(function.0),
            _ => None,
        });
        let made = unit.returned_values().filter_map(|value| match self.definition(factory, value)? {
            Definition::Function(function) => Some(function.0),
            _ => None,
        });
        let mut closures: Vec<u32> = written.chain(made).collect();
        closures.dedup();
        closures
    }

    /// The assumptions that a registration brings into the method of the tree that it names, or into the closure that this gives back.
    pub(super) fn registering(&self, number: u32, reached: u32, env: &Env<'f>) -> Option<Env<'f>> {
        let site = self.site(number)?;
        let callee = site.callee.as_ref()?;
        let (work, options) = site.arguments.split_first()?;
        let factory = self.target(site)?;
        let at = Context { function: site.within, env: env.clone() };
        // What the object was made with belongs together.
        let object = split_method(callee).map(|(_, fields)| self.receiver(fields, callee, &at));
        let env = match object {
            Some(AbstractValue::Instance(class, made)) => {
                let owner = self.owner(factory).and_then(|owner| self.class(owner));
                owner.map_or_else(|| made.clone(), |owner| made.with_this(owner, class))
            }
            _ => env.clone(),
        };
        let env = env.with(factory, self.options_of(factory, options, site));
        let first = self.unit(reached)?.function.parameters.first().copied();
        let first = first.map(|first| (first, Assumed::Arg(work, site.within)));
        // `@app.tool` hands the function over at once, and looks in the source like `@app.tool()`.
        let is_handed = reached != factory || options.is_empty();
        Some(if is_handed { env.with(reached, first.into_iter().collect()) } else { env })
    }

    /// The values of a method's parameters that the options of a decorator give.
    fn options_of(&self, method: u32, options: &'f [Arg], site: &'f Site) -> Vec<(Value, Assumed<'f>)> {
        let Some(unit) = self.unit(method) else { return vec![] };
        let (named, positional) = match options.split_last() {
            Some((Arg { shape: Shape::Object(members), .. }, positional)) if site.named => {
                (&**members, positional)
            }
            _ => (&[][..], options),
        };
        let parameters = &unit.function.parameters;
        let called =
            |parameter: &Value| unit.function.values.get(parameter.0 as usize).map(|info| &info.name);
        // The last one has under its names whatever is left over.
        let is_left = |(name, _): &(Name, Arg)| !parameters.iter().any(|own| called(own) == Some(name));
        let rest = parameters.last().filter(|_| named.iter().any(is_left));
        let mut positional = positional.iter();
        let bind = |parameter: &Value| {
            let given = positional.next().filter(|_| Some(parameter) != rest);
            if Some(parameter) == rest {
                let left = AbstractValue::Object(named, Context::plain(site.within));
                return Some((*parameter, Assumed::Value(left)));
            }
            let by_name =
                || named.iter().find(|(name, _)| Some(name) == called(parameter)).map(|(_, arg)| arg);
            Some((*parameter, Assumed::Arg(given.or_else(by_name)?, site.within)))
        };
        parameters.iter().filter_map(bind).collect()
    }

    /// The assumptions that a decorator brings into the closure that it runs.
    pub(super) fn decorating(&self, number: u32, closure: u32, env: &Env<'f>) -> Option<Env<'f>> {
        let site = self.site(number)?;
        let Decorated { class, name, method } = self.decorated(site)?;
        let factory = self.target(site)?;
        let given = site.arguments.iter().take(site.arguments.len().saturating_sub(1));
        let given = given.map(|arg| Assumed::Arg(arg, site.within));
        let parameters =
            |function: u32| self.unit(function).map_or(&[][..], |unit| &unit.function.parameters);
        let env = env.with(factory, parameters(factory).iter().copied().zip(given).collect());
        let work = AbstractValue::of_function(FunctionId(method));
        let has = |name: Name, thing: AbstractValue<'f>| AbstractValue::Entries([(name, thing)].into());
        let text = AbstractValue::Text(name.clone());
        let things: Vec<AbstractValue<'f>> = match parameters(closure) {
            // A decorator of a class.
            [_] => vec![AbstractValue::Class(class)],
            // The function and what is said about it, as the standard has it.
            [_, _] => vec![work, has("name".into(), text)],
            _ => vec![has(name.clone(), work.clone()), text, has("value".into(), work)],
        };
        let bound: Vec<(Value, Assumed<'f>)> =
            parameters(closure).iter().copied().zip(things.into_iter().map(Assumed::Value)).collect();
        Some(env.with(closure, bound))
    }

    /// The method that is handed to a decorator: no other call is handed one by what it is.
    fn decorated(&self, site: &Site) -> Option<Decorated<'f>> {
        let Shape::Function { function, .. } = &site.arguments.last()?.shape else { return None };
        let owner = self.class(self.owner(function.0)?)?;
        let mut methods = self.class_at(owner)?.methods.iter();
        let (name, method) = methods.find(|(_, method)| *method == function.0)?;
        Some(Decorated { class: owner, name, method: *method })
    }
}
