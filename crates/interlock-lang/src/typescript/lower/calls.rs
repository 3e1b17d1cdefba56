//! Calls. What a call reaches is looked up when all files are known; here it gets a number, its arguments and its place in the order.

use interlock_model::ir::{AccessPath, Callee, Field, Fresh, Name, Op, Root, Term, Value};
use oxc_ast::ast::{
    Argument, CallExpression, Expression, NewExpression, StaticMemberExpression, TaggedTemplateExpression,
};
use oxc_syntax::operator::LogicalOperator;

use super::{
    bind::{SymbolKind, meaning_of},
    context::{Lowerer, flag},
    val::{Val, argument, is_small, merge},
};
use crate::{
    Arg, Shape,
    module::{Site, is_qualified, split_global},
};

/// What becomes of the result of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// Nobody looks at it.
    Nothing,
    /// It is used as it is; a promise goes on by itself.
    Value,
    /// It is waited for.
    Awaited,
    /// The function returns it, so that its caller waits for it.
    Returned,
}

impl Use {
    pub(super) fn waits(self) -> bool {
        matches!(self, Self::Awaited | Self::Returned)
    }

    /// For a part whose own value is used as well.
    pub(super) fn of_part(self) -> Self {
        if self == Self::Nothing { Self::Value } else { self }
    }
}

impl<'a> Lowerer<'a> {
    pub(super) fn call(&mut self, call: &CallExpression<'a>, wanted: Use) -> Val {
        if self.full() {
            return Val::nothing();
        }
        if let Some(val) = self.planned_call(call).or_else(|| self.special_call(call, wanted)) {
            return val;
        }
        let target = self.callee(&call.callee);
        let arguments = self.arguments_of_call(&call.arguments, wanted);
        self.lock_file_removed(call);
        self.stand(call.span);
        let val = self.invoke(target, arguments, false, wanted);
        self.lock_file_made(call);
        val
    }

    /// Calls whose meaning is part of the language or of its platform.
    fn special_call(&mut self, call: &CallExpression<'a>, wanted: Use) -> Option<Val> {
        if let Some(val) = self.lower_logging(call, wanted).or_else(|| self.required(call)) {
            return Some(val);
        }
        if let Some(val) = self.promise_call(call, wanted) {
            return Some(val);
        }
        if let Some(val) = self.timer_call(call, wanted) {
            return Some(val);
        }
        if self.describes_data(&call.callee) {
            let mut val = Val::nothing();
            for argument in &call.arguments {
                let argument = self.spread_or_expression(argument);
                val.depend(&argument);
            }
            return Some(val);
        }
        self.plain_call(call)
    }

    /// `z.string().min(1)`: a chain that starts at a package for schemas, however long.
    fn describes_data(&mut self, callee: &Expression<'a>) -> bool {
        let mut expression = callee;
        let start = loop {
            match expression {
                Expression::StaticMemberExpression(member) => expression = &member.object,
                Expression::CallExpression(call) => expression = &call.callee,
                Expression::Identifier(id) => break id,
                _ => return false,
            }
        };
        let schema = meaning_of(&start.reference_id)
            .and_then(|symbol| self.facts.symbol(symbol))
            .is_some_and(|symbol| symbol.kind == SymbolKind::Schema);
        if !schema {
            return false;
        }
        let mut links = vec![];
        let mut expression = callee;
        loop {
            match expression {
                Expression::StaticMemberExpression(member) => expression = &member.object,
                Expression::CallExpression(call) => {
                    links.push(call);
                    expression = &call.callee;
                }
                _ => break,
            }
        }
        for argument in links.iter().rev().flat_map(|call| &call.arguments) {
            self.spread_or_expression(argument);
        }
        true
    }

    /// Functions of the language that only compute.
    fn plain_call(&mut self, call: &CallExpression<'a>) -> Option<Val> {
        let of_pattern = |member: &StaticMemberExpression<'a>| {
            matches!(member.object.get_inner_expression(), Expression::RegExpLiteral(_))
        };
        let (object, name) = match &call.callee {
            // `/a+/.exec(text)`.
            Expression::StaticMemberExpression(member) if of_pattern(member) => {
                let mut val = Val::nothing();
                for argument in &call.arguments {
                    let argument = self.spread_or_expression(argument);
                    val.depend(&argument);
                }
                return Some(val);
            }
            Expression::Identifier(id) if meaning_of(&id.reference_id).is_none() => ("", id.name.as_str()),
            Expression::StaticMemberExpression(member) => match &member.object {
                Expression::Identifier(id) if meaning_of(&id.reference_id).is_none() => {
                    (id.name.as_str(), member.property.name.as_str())
                }
                _ => return None,
            },
            _ => return None,
        };
        let pure = match object {
            "" => matches!(
                name,
                "String" | "Number" | "Boolean" | "parseInt" | "parseFloat" | "isNaN" | "isFinite"
            ),
            "Math" => true,
            "Number" | "String" => true,
            "Array" => name == "isArray",
            _ => false,
        };
        if !pure {
            return None;
        }
        let mut val = Val::nothing();
        for argument in &call.arguments {
            let argument = self.spread_or_expression(argument);
            // `String(x)` is x by another type.
            if object.is_empty() && matches!(name, "String" | "Number") {
                val.term = argument.term.clone();
            }
            val.depend(&argument);
        }
        match (object, name) {
            ("Math", "random") => {
                val.flags |= flag::CHANCE;
                val.term = Term::Fresh(Fresh::Random);
            }
            ("Math", "pow") => val.flags |= flag::GROWS,
            _ => {}
        }
        Some(val)
    }

    /// What is called: where it is, unread.
    fn callee(&mut self, callee: &Expression<'a>) -> Val {
        match callee {
            Expression::Identifier(id) => {
                let cell = meaning_of(&id.reference_id).is_some_and(|symbol| self.facts.is_cell(symbol));
                if cell { self.identifier(id) } else { self.identifier_place(id) }
            }
            Expression::ArrowFunctionExpression(_) | Expression::FunctionExpression(_) => {
                self.function_expression(callee, None)
            }
            Expression::ParenthesizedExpression(it) => self.callee(&it.expression),
            // `(options.save ?? save)(…)`: what may be handed in instead is somebody else's, the default is what runs here.
            Expression::LogicalExpression(it)
                if it.operator != LogicalOperator::And && matches!(it.right, Expression::Identifier(_)) =>
            {
                self.expression(&it.left);
                self.callee(&it.right)
            }
            // `(fast ? one : two)(x)`: what was chosen is called as if it had a name.
            Expression::ConditionalExpression(it) => {
                self.condition(&it.test);
                let (left, right) = (self.expression(&it.consequent), self.expression(&it.alternate));
                self.chosen([left, right])
            }
            _ => self.place(callee),
        }
    }

    /// One of two things that is called.
    fn chosen(&mut self, ways: [Val; 2]) -> Val {
        let mut values = vec![];
        ways.iter().for_each(|way| merge(&mut values, &way.values));
        let shape = Shape::Choice(ways.into_iter().map(Val::into_arg).collect());
        let name = self.names.get("chosen");
        self.local(&name, Val { shape, values, ..Val::nothing() })
    }

    pub(super) fn spread_or_expression(&mut self, argument: &Argument<'a>) -> Val {
        match argument {
            Argument::SpreadElement(spread) => {
                let mut val = self.all_of(&spread.argument);
                // Those of a list that is written out are still known one by one.
                if !matches!(val.shape, Shape::List(_)) {
                    val.shape = Shape::Opaque;
                }
                val.term = Term::Unknown;
                val
            }
            other => other.as_expression().map_or_else(Val::nothing, |it| self.expression(it)),
        }
    }

    pub(super) fn arguments(&mut self, arguments: &[Argument<'a>]) -> Vec<Arg> {
        let mut evaluated = Vec::with_capacity(arguments.len());
        for argument in arguments {
            self.argument_or_spread(argument, &mut evaluated);
        }
        evaluated
    }

    /// One argument, or those of a list that is written out: `get(...[id, name])`.
    fn argument_or_spread(&mut self, argument: &Argument<'a>, evaluated: &mut Vec<Arg>) {
        let mut val = self.spread_or_expression(argument);
        match std::mem::replace(&mut val.shape, Shape::Opaque) {
            Shape::List(items) if matches!(argument, Argument::SpreadElement(_)) && !items.is_empty() => {
                evaluated.extend(items);
            }
            Shape::List(_) if matches!(argument, Argument::SpreadElement(_)) => {
                evaluated.push(val.into_arg())
            }
            shape => evaluated.push(Val { shape, ..val }.into_arg()),
        }
    }

    /// The arguments of a call. A promise that is made for a call which is waited for has its value and its failure there:
    /// `await withTimeout(load(), 1000)`.
    fn arguments_of_call(&mut self, arguments: &[Argument<'a>], wanted: Use) -> Vec<Arg> {
        let waits = wanted == Use::Awaited || wanted == Use::Returned && self.cx.tries == 0;
        let mut evaluated = Vec::with_capacity(arguments.len());
        for argument in arguments {
            let made = argument.as_expression().map(Expression::get_inner_expression);
            match made {
                Some(made @ Expression::CallExpression(_)) if waits => {
                    let val = self.expression_for(made, Use::Awaited);
                    evaluated.push(val.into_arg());
                }
                _ => self.argument_or_spread(argument, &mut evaluated),
            }
        }
        evaluated
    }

    /// The arguments as the IR hands them over. What is computed gets a name, so that the callee's parameter leads back to it.
    fn handed_over(&mut self, arguments: &mut [Arg]) -> Vec<interlock_model::ir::Argument> {
        let mut handed = Vec::with_capacity(arguments.len());
        for arg in arguments {
            let is_function = matches!(arg.shape, Shape::Function { .. });
            if arg.term == Term::Unknown && !arg.values.is_empty() && !is_function {
                let name = self.names.get("arg");
                let value = self.derive(&name, arg.values.clone(), Term::Unknown, 0);
                if matches!(arg.shape, Shape::Opaque | Shape::Choice(_)) {
                    arg.term = value.into();
                }
                handed.push(value.into());
            } else {
                handed.push(argument(arg));
            }
        }
        handed
    }

    /// Records a call that is looked up later, or one that others want to see.
    pub(super) fn site(
        &mut self,
        callee: Option<AccessPath>,
        construct: bool,
        arguments: Vec<Arg>,
        function: Option<u32>,
    ) -> u32 {
        let number = u32::try_from(self.module.sites.len()).unwrap_or(u32::MAX);
        self.module.sites.push(Site {
            within: self.cx.id,
            span: self.at,
            callee,
            construct,
            arguments: arguments.into(),
            named: false,
            function,
            decorates: false,
            unconditional: self.cx.conditions == 0,
        });
        number
    }

    /// Pushes a call of something with arguments.
    pub(super) fn invoke(
        &mut self,
        target: Val,
        mut arguments: Vec<Arg>,
        construct: bool,
        wanted: Use,
    ) -> Val {
        let handed = self.handed_over(&mut arguments);
        let name = match target.path_ref() {
            Some(path) => self.last_name(path),
            None => self.names.get("result"),
        };
        let called_back = if construct { None } else { self.called_back(&target) };
        let Val { term, shape, .. } = target;
        let path = match term {
            Term::Path(path) => Some(path),
            _ => None,
        };
        let copies = path.as_ref().is_some_and(makes_a_copy);
        let random = path.as_ref().is_some_and(is_random);
        // What a function makes of a counter is its own affair: a delay that it works out may grow, and may be spread.
        let counts =
            arguments.iter().flat_map(|arg| &arg.values).any(|value| self.flags(*value) & flag::COUNTER != 0);
        let flags = if construct || copies { 0 } else { flag::STATE }
            | if random { flag::CHANCE } else { 0 }
            | if counts && !construct { flag::GROWS | flag::CHANCE } else { 0 };
        let into = (wanted != Use::Nothing || construct).then(|| self.step(&name, flags));
        let awaited = match wanted {
            Use::Awaited => true,
            // Nothing behind the return waits for it, least of all a `finally`.
            Use::Returned => self.cx.tries == 0,
            Use::Nothing | Use::Value => false,
        };
        let receiver = path.as_ref().and_then(|path| {
            let (_, fields) = path.fields.split_last()?;
            if matches!(&path.root, Root::Global(name) if &**name == "super") {
                return Some(self.cx.this.clone());
            }
            Some(AccessPath { root: path.root.clone(), fields: fields.into() })
        });
        let (callee, site) = match (shape, called_back) {
            (Shape::Function { function, captures }, _) if !is_global(path.as_ref()) => {
                let site = self.site(path, construct, arguments, Some(function.0));
                (Callee::Closure { function, captures }, site)
            }
            (_, Some(value)) => (Callee::Value(value), self.site(path, construct, arguments, None)),
            _ => {
                let site = self.site(path, construct, arguments, None);
                (Callee::Pending(site), site)
            }
        };
        self.push(Op::Call { into, callee, receiver, arguments: handed, awaited });
        match into {
            Some(into) => Val { shape: Shape::Call(site), direct: Some(into), ..Val::of(into, flags) },
            None => Val::nothing(),
        }
    }

    /// The value, if what is called is a parameter of this function or of one around it, or was read from a variable.
    fn called_back(&self, target: &Val) -> Option<Value> {
        let value = target.only_value()?;
        let origin = self.cx.values.get(value.0 as usize)?.origin;
        let argument =
            matches!(origin, interlock_model::ir::Origin::Argument | interlock_model::ir::Origin::Capture);
        (argument || target.direct.is_some()).then_some(value)
    }

    fn last_name(&mut self, path: &AccessPath) -> Name {
        match path.fields.iter().rev().find_map(|field| match field {
            Field::Name(name) => Some(name.clone()),
            Field::At(_) => None,
        }) {
            Some(name) => name,
            None => match &path.root {
                Root::Global(name) => match split_global(name) {
                    Some((_, last)) => self.names.met(last),
                    None => name.clone(),
                },
                Root::Value(value) => self
                    .cx
                    .values
                    .get(value.0 as usize)
                    .map_or_else(|| Name::from("result"), |info| info.name.clone()),
                Root::This => self.names.get("this"),
            },
        }
    }

    pub(super) fn construct(&mut self, new: &NewExpression<'a>, wanted: Use) -> Val {
        if let Some(val) = self.new_promise(new, wanted) {
            return val;
        }
        let target = match &new.callee {
            Expression::ClassExpression(class) => self.class_expression(class),
            other => self.place(other),
        };
        let arguments = self.arguments(&new.arguments);
        self.stand(new.span);
        if let Some(AccessPath { root: Root::Global(name), fields }) = target.path_ref() {
            // An error of the language is made for its message; nobody shares it.
            if fields.is_empty() && name.ends_with("Error") && !is_qualified(name) {
                let values = arguments.iter().flat_map(|arg| arg.values.iter().copied()).collect();
                return Val::from_values(values, 0);
            }
        }
        self.invoke(target, arguments, true, wanted)
    }

    /// `` sql`select ${id}` `` is a call with a text.
    pub(super) fn tagged(&mut self, tagged: &TaggedTemplateExpression<'a>, wanted: Use) -> Val {
        let target = self.callee(&tagged.tag);
        let text = self.tagged_text(&tagged.quasi);
        self.stand(tagged.span);
        self.invoke(target, vec![text.into_arg()], false, wanted)
    }

    fn tagged_text(&mut self, quasi: &oxc_ast::ast::TemplateLiteral<'a>) -> Val {
        let mut val = self.template_value(quasi);
        if !is_small(&val.shape) {
            val.shape = Shape::Opaque;
        }
        val
    }

    /// Whether the expression names a parameter that settles a promise.
    pub(super) fn is_settler(&self, expression: &Expression<'a>) -> bool {
        match expression {
            Expression::Identifier(id) => {
                meaning_of(&id.reference_id).is_some_and(|symbol| self.settlers.contains(&symbol))
            }
            _ => false,
        }
    }

    /// The symbol of a plain identifier, if it comes from a package.
    pub(super) fn is_from_package(&self, expression: &Expression<'a>) -> bool {
        let symbol = match expression {
            Expression::Identifier(id) => meaning_of(&id.reference_id),
            Expression::StaticMemberExpression(member) => self.whole_module(&member.object),
            _ => None,
        };
        let symbol = symbol.and_then(|symbol| self.facts.symbol(symbol));
        symbol.is_some_and(|symbol| symbol.kind == SymbolKind::Library)
    }

    /// The name that an expression is, if it stands for a whole module.
    pub(super) fn whole_module(&self, expression: &Expression<'a>) -> Option<u32> {
        let Expression::Identifier(id) = expression else { return None };
        meaning_of(&id.reference_id)
            .filter(|symbol| self.facts.symbol(*symbol).is_some_and(|symbol| symbol.whole))
    }
}

fn is_global(path: Option<&AccessPath>) -> bool {
    path.is_some_and(|path| matches!(path.root, Root::Global(_)))
}

/// Calls whose result shares nothing with what went in.
fn makes_a_copy(path: &AccessPath) -> bool {
    let Root::Global(root) = &path.root else { return false };
    match path.fields.as_slice() {
        [] => &**root == "structuredClone",
        [Field::Name(name)] => match &**root {
            "JSON" => true,
            "Object" => matches!(&**name, "keys" | "fromEntries"),
            "Date" => true,
            "Buffer" => true,
            _ => false,
        },
        _ => false,
    }
}

fn is_random(path: &AccessPath) -> bool {
    let name = match path.fields.last() {
        Some(Field::Name(name)) => &**name,
        _ => match &path.root {
            Root::Global(name) => split_global(name).map_or(&**name, |(_, last)| last),
            _ => return false,
        },
    };
    matches!(name, "random" | "randomInt" | "randomUUID" | "randomBytes" | "nanoid" | "getRandomValues")
}
