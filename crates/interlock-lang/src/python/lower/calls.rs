//! Calls. What a call reaches is looked up when all files are known; here it gets a number, its arguments and its place in the order.

use interlock_model::ir::{AccessPath, Argument, Callee, Field, Name, Op, Origin, Root, Term, Value};
use ruff_python_ast::{Arguments, Expr, ExprCall, Keyword};

use super::context::Lowerer;
use crate::{
    Arg, Shape,
    module::{Site, split_global},
    val::{Val, argument, flag, merge},
};

/// What becomes of the result of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// Nobody looks at it.
    Nothing,
    /// It is used as it is.
    Value,
    /// It is waited for.
    Awaited,
}

impl Use {
    /// For a part whose own value is used as well.
    pub(super) fn of_part(self) -> Self {
        if self == Self::Nothing { Self::Value } else { self }
    }
}

/// The arguments of a call: by position, then one object of those by name.
#[derive(Debug, Default)]
pub(super) struct Handed {
    pub(super) arguments: Vec<Arg>,
    pub(super) named: bool,
}

impl<'a> Lowerer<'a> {
    pub(super) fn call(&mut self, call: &'a ExprCall, wanted: Use) -> Val {
        if self.full() {
            return Val::nothing();
        }
        if let Some(val) = self.special_call(call, wanted) {
            return val;
        }
        if let Expr::Attribute(method) = &*call.func
            && matches!(method.attr.as_str(), "commit" | "flush")
            && call.arguments.is_empty()
        {
            self.stand(call);
            self.write_what_changed();
        }
        let target = self.callee(&call.func);
        let to_library = self.is_of_library(&call.func);
        let around = std::mem::replace(&mut self.scope.hands_to_library, to_library);
        let handed = self.arguments(&call.arguments);
        self.scope.hands_to_library = around;
        self.note_lifespan(call);
        self.stand(call);
        self.hand_over_what_changed(&call.arguments);
        let construct = makes_an_object(&call.func);
        self.invoke_with(target, handed, construct, wanted)
    }

    /// Calls whose meaning is part of the language or of its platform.
    fn special_call(&mut self, call: &'a ExprCall, wanted: Use) -> Option<Val> {
        if let Some(val) = self.lower_logging(call, wanted).or_else(|| self.above(call, wanted)) {
            return Some(val);
        }
        if let Some(val) = self.registration(call) {
            return Some(val);
        }
        if let Some(val) = self.stack_call(call) {
            return Some(val);
        }
        let said = self.task_call(call, wanted).or_else(|| self.path_call(call));
        said.or_else(|| self.column_call(call)).or_else(|| self.plain_call(call))
    }

    /// `Slot.taken.is_(False)`: a comparison of a column, by name.
    fn column_call(&mut self, call: &'a ExprCall) -> Option<Val> {
        let (Expr::Attribute(method), [with]) = (&*call.func, &*call.arguments.args) else { return None };
        let how = match method.attr.as_str() {
            "is_" => "eq",
            "is_not" | "isnot" => "ne",
            _ => return None,
        };
        self.is_column(&method.value).then(|| self.said_to_a_database(how, &[&method.value, with], call))
    }

    /// `super().method(…)`, `super().__init__(…)`.
    fn above(&mut self, call: &'a ExprCall, wanted: Use) -> Option<Val> {
        let path = self.path_above(&call.func)?;
        let handed = self.arguments(&call.arguments);
        self.stand(call);
        Some(self.invoke_with(Val::path(path, vec![], 0), handed, false, wanted))
    }

    /// Where `super().method` is.
    pub(super) fn path_above(&mut self, callee: &'a Expr) -> Option<AccessPath> {
        let Expr::Attribute(method) = callee else { return None };
        let Expr::Call(inner) = &*method.value else { return None };
        let Expr::Name(name) = &*inner.func else { return None };
        if name.id.as_str() != "super" {
            return None;
        }
        let path = AccessPath::global("super");
        Some(match method.attr.as_str() {
            "__init__" => path,
            method => path.field(self.name(method)),
        })
    }

    /// Methods of paths that give another path.
    fn path_call(&mut self, call: &'a ExprCall) -> Option<Val> {
        let Expr::Attribute(method) = &*call.func else { return None };
        let operation = match method.attr.as_str() {
            "with_suffix" => "Path.with_suffix",
            "with_name" => "Path.with_name",
            "with_stem" => "Path.with_stem",
            "joinpath" => "Path.joinpath",
            "resolve" | "absolute" | "expanduser" | "as_posix" if call.arguments.args.is_empty() => {
                "Path.resolve"
            }
            _ => return None,
        };
        let object = self.expression(&method.value);
        let mut operands = vec![object];
        for argument in &call.arguments.args {
            operands.push(self.expression(argument));
        }
        self.stand(call);
        if matches!(operation, "Path.with_suffix" | "Path.with_stem") {
            // A name beside the other one, and made of it.
            let mut val = Val::nothing();
            let mut parts = vec![];
            for operand in operands {
                val.depend(&operand);
                parts.push(self.part(operand));
            }
            super::expressions::joined(&mut val, parts);
            val.shape = Shape::Opaque;
            return Some(self.operation(operation, vec![val]));
        }
        if operation == "Path.with_name" {
            let mut operands = operands.into_iter();
            let beside = operands.next().unwrap_or_else(Val::nothing);
            let folder = self.operation("Path.parent", vec![beside]);
            let operands = std::iter::once(folder).chain(operands).collect();
            return Some(self.operation("Path.joinpath", operands));
        }
        Some(self.operation(operation, operands))
    }

    /// Functions of the language that only compute, and what is only a mark around a text: `text("SELECT …")`.
    fn plain_call(&mut self, call: &'a ExprCall) -> Option<Val> {
        if let [only] = &*call.arguments.args
            && self.library_call(&call.func) == ("sqlalchemy".to_owned(), "text")
        {
            return Some(self.expression(only));
        }
        if let [_, only] = &*call.arguments.args
            && self.library_call(&call.func) == ("typing".to_owned(), "cast")
        {
            // It says what a thing is, and is the thing.
            return Some(self.expression(only));
        }
        let Expr::Name(function) = &*call.func else { return None };
        if self.facts.lookup(self.cx.id, function.id.as_str()).is_some() {
            return None;
        }
        if let ("setattr", [object, member, value]) = (function.id.as_str(), &*call.arguments.args) {
            self.expression(member);
            let val = self.expression(value);
            let column = member.as_string_literal_expr().map_or("...", |member| member.value.to_str());
            self.changed_member(object, column, val);
            return Some(Val::nothing());
        }
        if let ("getattr", [object, member, ..]) = (function.id.as_str(), &*call.arguments.args) {
            self.stand(call);
            return Some(self.named_member(object, member));
        }
        if let ("next", [Expr::Generator(_), ..]) = (function.id.as_str(), &*call.arguments.args) {
            return Some(self.first_of(call));
        }
        if let ("type", [only]) = (function.id.as_str(), &*call.arguments.args) {
            // A class of which no more is known: to make another object of it is to compute.
            let of = self.expression(only);
            self.stand(call);
            let class = self.derive(&"type".into(), of.values, Term::Unknown, 0);
            self.cx
                .locals
                .push((class, Arg { shape: Shape::Bool(true), ..Arg::opaque(class.into(), vec![]) }));
            return Some(Val { direct: Some(class), ..Val::of(class, 0) });
        }
        let pure = matches!(
            function.id.as_str(),
            "int"
                | "float"
                | "bool"
                | "len"
                | "min"
                | "max"
                | "sum"
                | "abs"
                | "round"
                | "isinstance"
                | "type"
                | "repr"
                | "hash"
                | "ord"
                | "chr"
                | "any"
                | "all"
                | "callable"
                | "issubclass"
                | "id"
                | "divmod"
                | "hasattr"
                | "range"
                | "zip"
                | "bytes"
                | "bytearray"
                | "format"
                | "hex"
                | "pow"
        );
        let passes =
            matches!(function.id.as_str(), "str" | "sorted" | "reversed" | "enumerate" | "iter" | "tuple");
        if !pure && !passes {
            return None;
        }
        let mut val = Val::nothing();
        for argument in &call.arguments.args {
            let argument = self.all_of(argument);
            if val.term == Term::Unknown && passes {
                // `str(x)` is x by another type, `sorted(xs)` has its entries.
                val.term = argument.term.clone();
                val.flags |= argument.flags & flag::STATE;
                val.shape = argument.shape.clone();
            }
            val.depend(&argument);
        }
        for keyword in &call.arguments.keywords {
            if !matches!(keyword.value, Expr::Lambda(_)) {
                let argument = self.expression(&keyword.value);
                val.depend(&argument);
            }
        }
        if function.id.as_str() == "isinstance" {
            // What kind of thing it is says nothing of what a store has answered.
            return Some(Val::nothing());
        }
        if function.id.as_str() == "pow" {
            val.flags |= flag::GROWS;
        }
        Some(val)
    }

    /// `next((one for one in all if one.name == name), None)`: one of what is gone over.
    fn first_of(&mut self, call: &'a ExprCall) -> Val {
        let mut arguments = call.arguments.args.iter();
        let Some(gone_over) = arguments.next() else { return Val::nothing() };
        let picked = self.expression(gone_over);
        self.stand(call);
        let otherwise = arguments.next().map(|otherwise| self.expression(otherwise));
        let whole = match &picked.shape {
            Shape::Choice(ways) => ways.first().cloned(),
            Shape::List(_) => Some(Arg { term: Term::Unknown, ..picked.clone().into_arg() }),
            _ => None,
        };
        let mut val = Val { shape: Shape::Opaque, direct: None, place: None, ..picked };
        if let Some(otherwise) = &otherwise {
            val.depend(otherwise);
        }
        let Some(whole) = whole.filter(|_| otherwise.is_none_or(|otherwise| otherwise.is_null())) else {
            return val;
        };
        let term = Val { flags: val.flags, ..Val::from_arg(whole.clone()) }.entry();
        let item = self.derive(&"found".into(), val.values, term, val.flags & flag::STATE);
        self.cx.items.push((item, whole));
        Val { direct: Some(item), ..Val::of(item, val.flags & flag::STATE) }
    }

    /// What is called: where it is, unread.
    pub(super) fn callee(&mut self, callee: &'a Expr) -> Val {
        match callee {
            Expr::Name(it) => {
                let symbol = self.facts.lookup(self.cx.id, it.id.as_str());
                let cell = symbol.is_some_and(|symbol| self.facts.is_cell(symbol));
                if cell { self.identifier(it) } else { self.name_place(it.id.as_str()) }
            }
            _ => self.place(callee),
        }
    }

    pub(super) fn arguments(&mut self, arguments: &'a Arguments) -> Handed {
        let mut handed: Vec<Arg> = Vec::with_capacity(arguments.args.len() + 1);
        for argument in &arguments.args {
            handed.push(self.handed(argument).into_arg());
        }
        let named = !arguments.keywords.is_empty();
        if named {
            handed.push(self.keywords(&arguments.keywords));
        }
        Handed { arguments: handed, named }
    }

    /// The arguments that are handed over by name, as one object.
    pub(super) fn keywords(&mut self, keywords: &'a [Keyword]) -> Arg {
        let mut members = Vec::with_capacity(keywords.len());
        let mut values = vec![];
        for keyword in keywords {
            let name: Name = match &keyword.arg {
                Some(name) => self.name(name.as_str()),
                None => "...".into(),
            };
            let val = self.handed(&keyword.value);
            merge(&mut values, &val.values);
            members.push((name, val.into_arg()));
        }
        Arg { term: Term::Unknown, values, shape: Shape::Object(members) }
    }

    /// The arguments as the IR hands them over. What is computed gets a name, so that the callee's parameter leads back to it.
    fn handed_over(&mut self, arguments: &mut [Arg]) -> Vec<Argument> {
        let mut handed = Vec::with_capacity(arguments.len());
        for arg in arguments {
            let is_function = matches!(arg.shape, Shape::Function { .. });
            if arg.term == Term::Unknown && !arg.values.is_empty() && !is_function {
                let value = self.derive(&"arg".into(), arg.values.clone(), Term::Unknown, 0);
                if arg.shape == Shape::Opaque {
                    arg.term = value.into();
                }
                handed.push(value.into());
            } else {
                handed.push(argument(arg));
            }
        }
        handed
    }

    /// Gives everything that is handed over by name a name of its own, for it is handed over one by one.
    fn name_all(&mut self, arguments: &mut [Arg]) {
        let Some((last, positional)) = arguments.split_last_mut() else { return };
        for arg in positional.iter_mut().filter(|arg| is_unnamed(arg)) {
            arg.term = self.derive(&"arg".into(), arg.values.clone(), Term::Unknown, 0).into();
        }
        for arg in std::iter::once(last) {
            if let Shape::Object(members) = &mut arg.shape {
                for (_, member) in members.iter_mut().filter(|(_, member)| is_unnamed(member)) {
                    member.term = self.derive(&"arg".into(), member.values.clone(), Term::Unknown, 0).into();
                }
            }
        }
    }

    /// Records a call that is looked up later, or one that others want to see.
    pub(super) fn site(
        &mut self,
        callee: Option<AccessPath>,
        construct: bool,
        handed: Handed,
        function: Option<u32>,
    ) -> u32 {
        let number = u32::try_from(self.module.sites.len()).unwrap_or(u32::MAX);
        let site = Site {
            within: self.cx.id,
            span: self.at,
            callee,
            construct,
            named: handed.named,
            arguments: handed.arguments.into(),
            function,
            decorates: false,
            unconditional: self.unconditional(),
        };
        self.module.sites.push(site);
        number
    }

    pub(super) fn invoke(&mut self, target: Val, arguments: Vec<Arg>, construct: bool, wanted: Use) -> Val {
        self.invoke_with(target, Handed { arguments, named: false }, construct, wanted)
    }

    /// Pushes a call of something with arguments.
    pub(super) fn invoke_with(
        &mut self,
        target: Val,
        mut handed: Handed,
        construct: bool,
        wanted: Use,
    ) -> Val {
        if handed.named {
            self.name_all(&mut handed.arguments);
        }
        let mut given = self.handed_over(&mut handed.arguments);
        let name = match target.path_ref() {
            Some(path) => self.last_name(path),
            None => "result".into(),
        };
        let called_back = if construct { None } else { self.called_back(&target) };
        let Val { term, shape, .. } = target;
        let path = match term {
            Term::Path(path) => Some(path),
            _ => None,
        };
        let random = path.as_ref().is_some_and(is_random);
        // What a function makes of a counter is its own affair: a delay that it works out may grow, and may be spread.
        let values = handed.arguments.iter().flat_map(|arg| &arg.values);
        let counts = values.copied().any(|value| self.flags(value) & flag::COUNTER != 0);
        let flags = if construct { 0 } else { flag::STATE }
            | if random { flag::CHANCE } else { 0 }
            | if counts && !construct { flag::GROWS | flag::CHANCE } else { 0 };
        let into = (wanted != Use::Nothing || construct).then(|| self.step(&name, flags));
        let receiver = path.as_ref().and_then(|path| {
            let (_, fields) = path.fields.split_last()?;
            if matches!(&path.root, Root::Global(name) if &**name == "super") {
                return Some(self.scope.this.clone());
            }
            Some(AccessPath { root: path.root.clone(), fields: fields.into() })
        });
        let is_global = path.as_ref().is_some_and(|path| matches!(path.root, Root::Global(_)));
        if handed.named && !matches!(shape, Shape::Function { .. }) {
            // Where each of them belongs is known when all files are.
            given.clear();
        }
        let (callee, site) = match (shape, called_back) {
            (Shape::Function { function, captures }, _) if !is_global => {
                let site = self.site(path, construct, handed, Some(function.0));
                (Callee::Closure { function, captures }, site)
            }
            (_, Some(value)) => (Callee::Value(value), self.site(path, construct, handed, None)),
            _ => {
                let site = self.site(path, construct, handed, None);
                (Callee::Pending(site), site)
            }
        };
        self.push(Op::Call { into, callee, receiver, arguments: given, awaited: wanted == Use::Awaited });
        match into {
            Some(into) => Val { shape: Shape::Call(site), direct: Some(into), ..Val::of(into, flags) },
            None => Val::nothing(),
        }
    }

    /// The value, if what is called is a parameter of this function or of one around it, or was read from a variable.
    fn called_back(&self, target: &Val) -> Option<Value> {
        let value = target.only_value()?;
        let origin = self.cx.values.get(value.0 as usize)?.origin;
        (matches!(origin, Origin::Argument | Origin::Capture) || target.direct.is_some()).then_some(value)
    }

    pub(super) fn last_name(&self, path: &AccessPath) -> Name {
        let named = path.fields.iter().rev().find_map(|field| match field {
            Field::Name(name) => Some(name.clone()),
            Field::At(_) => None,
        });
        named.unwrap_or_else(|| match &path.root {
            Root::Global(name) => split_global(name).map_or_else(|| name.clone(), |(_, last)| last.into()),
            Root::Value(value) => {
                self.cx.values.get(value.0 as usize).map_or_else(|| "result".into(), |info| info.name.clone())
            }
            Root::This => "self".into(),
        })
    }

    /// A function that is handed over, as what is called.
    pub(super) fn function_place(&mut self, expression: &'a Expr) -> Val {
        match expression {
            Expr::Lambda(it) => self.lambda(it),
            other => self.callee(other),
        }
    }

    /// A message that goes to a log: nobody else's call depends on it. What an argument does besides being a message still counts.
    fn lower_logging(&mut self, call: &'a ExprCall, wanted: Use) -> Option<Val> {
        let is_log = match &*call.func {
            Expr::Name(name) => name.id.as_str() == "print" && !has_keyword(&call.arguments, "file"),
            Expr::Attribute(method) => {
                let levels = &super::super::tables().lexicon().log_levels;
                let object = match &*method.value {
                    Expr::Name(name) => name.id.as_str(),
                    Expr::Attribute(member) => member.attr.as_str(),
                    _ => "",
                };
                let object = object.trim_start_matches('_').to_ascii_lowercase();
                levels.iter().any(|level| level == method.attr.as_str())
                    && (object == "log"
                        || object == "logging"
                        || object.ends_with("logger")
                        || object.ends_with("_log"))
            }
            _ => false,
        };
        if !is_log || wanted == Use::Awaited {
            return None;
        }
        for argument in call.arguments.args.iter().filter(|argument| !only_names(argument)) {
            self.expression(argument);
        }
        Some(Val::nothing())
    }
}

/// Whether what is called is named like a class, and so makes an object: `Store(…)`, `asyncio.Lock()`, `dict()`.
fn makes_an_object(callee: &Expr) -> bool {
    let (name, builtin) = match callee {
        Expr::Name(it) => (it.id.as_str(), true),
        Expr::Attribute(it) => (it.attr.as_str(), false),
        _ => return false,
    };
    let collection = matches!(name, "dict" | "list" | "set" | "frozenset" | "cls") && builtin;
    let name = name.trim_start_matches('_');
    let is_class =
        name.starts_with(|c: char| c.is_ascii_uppercase()) && name.chars().any(|c| c.is_ascii_lowercase());
    is_class || collection || matches!(name, "defaultdict" | "deque")
}

/// Whether an argument was computed and has no name yet.
fn is_unnamed(arg: &Arg) -> bool {
    arg.term == Term::Unknown && !arg.values.is_empty() && !matches!(arg.shape, Shape::Function { .. })
}

fn is_random(path: &AccessPath) -> bool {
    let name = match path.fields.last() {
        Some(Field::Name(name)) => &**name,
        _ => match &path.root {
            Root::Global(name) => split_global(name).map_or(&**name, |(_, last)| last),
            _ => return false,
        },
    };
    matches!(
        name,
        "random"
            | "randint"
            | "uniform"
            | "randrange"
            | "uuid4"
            | "uuid1"
            | "token_hex"
            | "token_urlsafe"
            | "choice"
    )
}

pub(super) fn has_keyword(arguments: &Arguments, name: &str) -> bool {
    arguments.keywords.iter().any(|keyword| keyword.arg.as_ref().is_some_and(|arg| arg.as_str() == name))
}

/// Whether an expression does nothing but name what is told.
fn only_names(expression: &Expr) -> bool {
    match expression {
        Expr::Name(_)
        | Expr::StringLiteral(_)
        | Expr::NumberLiteral(_)
        | Expr::BooleanLiteral(_)
        | Expr::NoneLiteral(_) => true,
        Expr::Attribute(it) => only_names(&it.value),
        Expr::Subscript(it) => only_names(&it.value) && only_names(&it.slice),
        Expr::FString(it) => it.value.elements().all(|element| match element {
            ruff_python_ast::InterpolatedStringElement::Literal(_) => true,
            ruff_python_ast::InterpolatedStringElement::Interpolation(hole) => only_names(&hole.expression),
        }),
        Expr::Call(it) => {
            matches!(&*it.func, Expr::Name(name) if matches!(name.id.as_str(), "len" | "str" | "repr"))
                && it.arguments.args.iter().all(only_names)
        }
        Expr::BinOp(it) => only_names(&it.left) && only_names(&it.right),
        _ => false,
    }
}
