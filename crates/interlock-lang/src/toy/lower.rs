//! From the tree of a file to its module.

use interlock_model::{
    FileId, Span,
    ir::{
        AccessPath, Argument, Callee, Effect, Exit, FunctionBuilder, FunctionId, Name, Note, Op, Origin,
        Role, Root, Term, Value, ValueInfo,
    },
};

use super::parse::{Expression, Line, What};
use crate::{
    Arg, Module, Shape,
    module::{Class, Export, Import, Imported, Lowered, Site, Variable},
};

/// Lowers a file.
pub(super) fn lower(path: &str, lines: &[Line]) -> Module {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let module = Module { path: path.into(), namespace: Some(folder.into()), ..Module::default() };
    let mut lowerer = Lowerer { module, scopes: vec![] };
    lowerer.function("module", None, None, &[], lines);
    if let Some(first) = lowerer.module.functions.first_mut() {
        first.function.role = Role::StartUp;
    }
    lowerer.module
}

struct Lowerer {
    module: Module,
    /// The functions around here, the innermost last.
    scopes: Vec<Scope>,
}

/// A function that is being lowered.
struct Scope {
    number: u32,
    names: Vec<(String, Value)>,
    values: Vec<ValueInfo>,
    /// What it captures: outside and here.
    captures: Vec<(Value, Value)>,
    steps: Vec<Effect>,
}

impl Scope {
    fn declare(&mut self, name: &str, origin: Origin) -> Value {
        let value = Value(u32::try_from(self.values.len()).unwrap());
        self.values.push(ValueInfo { name: name.into(), origin, bounded: false });
        self.names.push((name.to_owned(), value));
        value
    }

    fn find(&self, name: &str) -> Option<Value> {
        self.names.iter().rev().find(|(known, _)| known == name).map(|(_, value)| *value)
    }
}

fn span(line: &Line) -> Span {
    Span::on_line(FileId(0), line.number)
}

impl Lowerer {
    /// Lowers a function; answers with its number and what it captures.
    fn function(
        &mut self,
        name: &str,
        owner: Option<&Name>,
        bound: Option<AccessPath>,
        parameters: &[String],
        lines: &[Line],
    ) -> (u32, Vec<Term>) {
        let number = u32::try_from(self.module.functions.len()).unwrap();
        let parent = self.scopes.last().map(|scope| scope.number);
        // Its place among all is taken before those inside it.
        let at = lines.first().map(span).unwrap_or_default();
        let mut function = FunctionBuilder::new(name).span(at).body([], |_, []| ());
        function.owner = owner.cloned();
        self.module.functions.push(Lowered { parent, bound, ..Lowered::from(function) });
        let mut scope = Scope { number, names: vec![], values: vec![], captures: vec![], steps: vec![] };
        let parameters: Vec<Value> =
            parameters.iter().map(|name| scope.declare(name, Origin::Argument)).collect();
        self.scopes.push(scope);
        lines.iter().for_each(|line| self.line(line));
        let Scope { values, captures, steps, .. } = self.scopes.pop().unwrap();
        let lowered = &mut self.module.functions[number as usize];
        lowered.function.parameters = parameters;
        lowered.function.captures = captures.iter().map(|(_, own)| *own).collect();
        lowered.function.values = values;
        lowered.function.body = steps;
        (number, captures.into_iter().map(|(outside, _)| outside.into()).collect())
    }

    fn scope(&mut self) -> &mut Scope {
        self.scopes.last_mut().unwrap()
    }

    fn push(&mut self, line: &Line, op: Op) {
        self.scope().steps.push(Effect { span: span(line), op });
    }

    fn global(&self, name: &str) -> Name {
        format!("{}::{name}", self.module.namespace.as_deref().unwrap_or_default()).into()
    }

    fn export(&mut self, name: &str) {
        self.module.exports.push(Export::Local { exported: name.into(), local: name.into() });
    }

    fn line(&mut self, line: &Line) {
        match &line.what {
            What::Use(from) => {
                let local = from.rsplit('/').next().unwrap_or(from).into();
                let import = Import { local, from: from.as_str().into(), what: Imported::All };
                self.module.imports.push(import);
            }
            What::Type { name, base } => {
                self.export(name);
                let class = self.global(name);
                let bases = base.iter().map(|base| AccessPath::of(Root::Global(self.global(base)))).collect();
                let mut methods = vec![];
                for inner in &line.inner {
                    let What::Function { name: method, parameters } = &inner.what else { continue };
                    let whole = format!("{name}.{method}");
                    let (number, _) = self.function(&whole, Some(&class), None, parameters, &inner.inner);
                    methods.push((method.as_str().into(), number));
                }
                self.module.classes.push(Class {
                    name: class,
                    bases,
                    implements: vec![],
                    methods,
                    getters: vec![],
                    fields: vec![],
                });
            }
            What::Function { name, parameters } => {
                self.export(name);
                let bound = AccessPath::of(Root::Global(self.global(name)));
                self.function(name, None, Some(bound), parameters, &line.inner);
            }
            What::Return(what) => {
                let arg = self.expression(line, what);
                let values = arg.values.clone();
                let number = self.scope().number;
                self.module.functions[number as usize].returned.push(arg);
                self.push(line, Op::Exit(Exit::Return(values)));
            }
            What::Set { name, to } => {
                let arg = self.expression(line, to);
                let Some(name) = name else { return };
                let number = self.scope().number;
                if number == 0 {
                    self.export(name);
                    let path = AccessPath::of(Root::Global(self.global(name)));
                    let (owner, declared) = (None, None);
                    self.module.variables.push(Variable {
                        path,
                        owner,
                        declared,
                        initial: Some(arg),
                        within: 0,
                    });
                } else {
                    let into = self.scope().declare(name, Origin::Step);
                    self.push(line, Op::Derive { into, from: arg.values, term: arg.term });
                }
            }
            What::Nonsense(text) => {
                let text = format!("`{text}` is not understood");
                self.module.notes.push(Note { span: span(line), text });
            }
        }
    }

    /// The path that names lead to: a local, something captured, the receiver, or a global of the package.
    fn path(&mut self, names: &[String]) -> AccessPath {
        let (first, rest) = names.split_first().unwrap();
        let root = match self.local(first, self.scopes.len() - 1) {
            Some(value) => Root::Value(value),
            None if first == "self" => Root::This,
            None if first == "join" => Root::Global(first.as_str().into()),
            None => Root::Global(self.global(first)),
        };
        rest.iter().fold(AccessPath::of(root), |path, name| path.field(name.as_str()))
    }

    /// A local of the function at a depth, captured from those around it if need be.
    fn local(&mut self, name: &str, depth: usize) -> Option<Value> {
        if let Some(value) = self.scopes[depth].find(name) {
            return Some(value);
        }
        let outside = self.local(name, depth.checked_sub(1)?)?;
        let own = self.scopes[depth].declare(name, Origin::Capture);
        self.scopes[depth].captures.push((outside, own));
        Some(own)
    }

    fn expression(&mut self, line: &Line, expression: &Expression) -> Arg {
        match expression {
            Expression::Text(text) => {
                let literal = Term::Literal(text.as_str().into());
                Arg { term: literal.clone(), values: vec![], shape: Shape::Text(vec![literal]) }
            }
            Expression::Path(names) => {
                let path = self.path(names);
                let values = match path.root {
                    Root::Value(value) => vec![value],
                    _ => vec![],
                };
                Arg::opaque(path.into(), values)
            }
            Expression::New(class) => self.call(line, std::slice::from_ref(class), vec![], true),
            Expression::Call(callee, arguments, closure) => {
                let mut arguments: Vec<Arg> =
                    arguments.iter().map(|argument| self.expression(line, argument)).collect();
                if let Some(parameter) = closure {
                    let parameters = std::slice::from_ref(parameter);
                    let (function, captures) = self.function("closure", None, None, parameters, &line.inner);
                    let shape = Shape::Function { function: FunctionId(function), captures };
                    arguments.push(Arg { term: Term::Unknown, values: vec![], shape });
                }
                self.call(line, callee, arguments, false)
            }
        }
    }

    fn call(&mut self, line: &Line, callee: &[String], arguments: Vec<Arg>, construct: bool) -> Arg {
        let path = self.path(callee);
        let number = u32::try_from(self.module.sites.len()).unwrap();
        let argument = |arg: &Arg| match &arg.shape {
            Shape::Function { function, captures } => {
                Argument::Closure { function: *function, captures: captures.clone() }
            }
            _ => Argument::Term(arg.term.clone()),
        };
        let given = arguments.iter().map(argument).collect();
        let name = callee.last().map_or("result", |name| name);
        let scope = self.scope();
        let (within, into) = (scope.number, scope.declare(&format!("{name}()"), Origin::Step));
        self.module.sites.push(Site {
            within,
            span: span(line),
            callee: Some(path),
            function: None,
            construct,
            arguments: arguments.into(),
            named: false,
            decorates: false,
            unconditional: true,
        });
        let (callee, awaited) = (Callee::Pending(number), true);
        self.push(line, Op::Call { into: Some(into), callee, receiver: None, arguments: given, awaited });
        Arg { term: into.into(), values: vec![into], shape: Shape::Call(number) }
    }
}
