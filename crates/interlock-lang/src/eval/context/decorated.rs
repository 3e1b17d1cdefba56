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

use interlock_model::ir::{FunctionId, Name, Value};

use super::{Contexts, Env, env::Assumed, facts::Caller};
use crate::{
    Shape,
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
            let Some(factory) = self.target(site).and_then(|factory| Some((factory, self.unit(factory)?)))
            else {
                continue;
            };
            let (factory, unit) = factory;
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
            found.extend(closures.into_iter().map(|closure| (closure, Caller::Decorator(*number))));
        }
        found
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
