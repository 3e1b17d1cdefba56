//! Classes: methods are functions, what is assigned in the body belongs to the class and to all of its objects.

use interlock_model::ir::{AccessPath, Name, Origin, Root};
use ruff_python_ast::{Decorator, Expr, Stmt, StmtClassDef, StmtFunctionDef};
use ruff_text_size::Ranged;
use rustc_hash::FxHashSet;

use super::{
    super::bind::is_static,
    context::{ClassScope, Lowerer, Scope},
};
use crate::{
    lower::{Cx, Head},
    module::{self, Kept, Variable},
    val::{Val, flag},
};

/// What all languages call the function that makes an object ready.
const CONSTRUCTOR: &str = "constructor";

impl<'a> Lowerer<'a> {
    pub(super) fn class(&mut self, it: &'a StmtClassDef) {
        let name = self.global(it.name.as_str());
        let path = AccessPath::of(Root::Global(name.clone()));
        let mut bases = vec![];
        let bases_of = it.arguments.iter().flat_map(|arguments| &arguments.args);
        for base in bases_of.filter(|base| !only_marks(base)) {
            let base = match base {
                Expr::Subscript(generic) => self.place(&generic.value),
                other => self.place(other),
            };
            bases.extend(base.path_ref().cloned());
        }
        let mut lowered = module::Class {
            name: name.clone(),
            bases,
            implements: vec![],
            methods: vec![],
            getters: vec![],
            fields: vec![],
        };
        let scope = ClassScope { path: path.clone(), names: FxHashSet::default() };
        let outer = self.scope.class.replace(scope);
        self.around.push(it);
        for statement in &it.body {
            match statement {
                Stmt::FunctionDef(method) => self.method(method, it, &path, &mut lowered),
                Stmt::AnnAssign(field) => {
                    if let (Expr::Name(own), Some(declared)) =
                        (&*field.target, self.type_path(&field.annotation))
                    {
                        let own = self.name(own.id.as_str());
                        lowered.fields.push((own, declared));
                    }
                    self.statements(std::slice::from_ref(statement));
                }
                _ => self.statements(std::slice::from_ref(statement)),
            }
        }
        self.scope.class = outer;
        self.around.pop();
        let has_constructor = lowered.methods.iter().any(|(name, _)| &**name == CONSTRUCTOR);
        if !has_constructor && is_record(it) {
            let id = self.record_constructor(it, &name);
            lowered.methods.push((CONSTRUCTOR.into(), id));
        }
        self.module.classes.push(lowered);
    }

    fn method(
        &mut self,
        it: &'a StmtFunctionDef,
        class: &'a StmtClassDef,
        path: &AccessPath,
        lowered: &mut module::Class,
    ) {
        let Some(id) = self.facts.function_at(u32::from(it.name.range().start())) else { return };
        let own = self.name(it.name.as_str());
        let name: Name = format!("{}.{own}", class.name.as_str()).into();
        let of_class = has_decorator(&it.decorator_list, "classmethod") || it.name.as_str() == "__new__";
        let (this, bound) = if is_static(it) || of_class {
            (path.clone(), Some(path.clone().field(own.clone())))
        } else {
            (AccessPath::this(), None)
        };
        let scope = self.scope.class.take();
        self.definition(it, id, name, None, (Some(lowered.name.clone()), this), bound);
        self.decorated(&it.decorator_list, Val::function(id, vec![]));
        self.scope.class = scope;
        // What only says that others have it is theirs to do.
        let others = ["setter", "deleter"].iter().any(|name| has_decorator(&it.decorator_list, name));
        if !others && !is_abstract(it) {
            let own = if &*own == "__init__" { CONSTRUCTOR.into() } else { own };
            lowered.methods.push((own, id));
            lowered.getters.extend(getter(it).map(|kept| (id, kept)));
        }
    }

    /// Something that is assigned in the body of a class: all of its objects have it.
    pub(super) fn class_member(
        &mut self,
        path: AccessPath,
        name: &str,
        val: Val,
        declared: Option<AccessPath>,
    ) {
        let owner = match &path.root {
            Root::Global(owner) => Some(owner.clone()),
            _ => None,
        };
        let of_object = Variable {
            path: AccessPath::this().field(name),
            owner,
            declared: declared.clone(),
            initial: Some(val.clone().into_arg()),
            within: self.cx.id,
        };
        self.record(path, declared, val);
        self.module.variables.push(of_object);
    }

    /// The constructor that a dataclass or a model has without being written: each field is what it is handed.
    fn record_constructor(&mut self, it: &'a StmtClassDef, class: &Name) -> u32 {
        let id = self.next_function();
        let mut cx = Cx::new(id, format!("{}.__init__", it.name.as_str()).into());
        cx.owner = Some(class.clone());
        let outer = self.begin_function(cx, Scope::new(AccessPath::this()));
        self.stand(it);
        let mut parameters = vec![];
        for statement in &it.body {
            let Stmt::AnnAssign(field) = statement else { continue };
            let Expr::Name(name) = &*field.target else { continue };
            let name = self.name(name.id.as_str());
            let value = self.value(name.clone(), Origin::Argument, flag::STATE);
            let declared = self.type_path(&field.annotation);
            self.cx.types.extend(declared.clone().map(|path| (value, path)));
            let path = AccessPath::this().field(name);
            self.write(path.clone(), vec![value]);
            self.record(path, declared, Val::of(value, flag::STATE));
            parameters.push(value);
        }
        let span = self.at;
        let parent = Some(outer.0.id);
        self.end_function(Head { span, parameters, parent, ..Head::default() }, outer);
        id
    }
}

/// Whether a base only says how a class is meant, and nothing of what its objects are: `ABC`, `Protocol`, `Generic[T]`.
fn only_marks(base: &Expr) -> bool {
    let name = match base {
        Expr::Name(it) => it.id.as_str(),
        Expr::Attribute(it) => it.attr.as_str(),
        Expr::Subscript(it) => return only_marks(&it.value),
        _ => return false,
    };
    matches!(name, "ABC" | "Protocol" | "Generic" | "object")
}

/// Whether a method only says that classes which extend this one have it.
fn is_abstract(it: &StmtFunctionDef) -> bool {
    let is_text = |statement: &&Stmt| matches!(statement, Stmt::Expr(only) if only.value.is_string_literal_expr() || only.value.is_ellipsis_literal_expr());
    let mut steps = it.body.iter().filter(|statement| !is_text(statement));
    let only = (steps.next(), steps.next());
    let refuses = |raised: &Expr| {
        let name = match raised {
            Expr::Call(call) => &*call.func,
            other => other,
        };
        matches!(name, Expr::Name(name) if name.id.as_str() == "NotImplementedError")
    };
    match only {
        (None | Some(Stmt::Pass(_)), None) => has_decorator(&it.decorator_list, "abstractmethod"),
        (Some(Stmt::Raise(raise)), None) => raise.exc.as_deref().is_some_and(refuses),
        _ => false,
    }
}

/// Whether a method is named like a field, and whether it then runs once only.
fn getter(it: &StmtFunctionDef) -> Option<Kept> {
    let is = |name| has_decorator(&it.decorator_list, name);
    if is("cached_property") {
        return Some(Kept::Yes);
    }
    is("property").then_some(Kept::No)
}

/// Whether a class is given its constructor by what it is: a dataclass, a pydantic model, a named tuple.
fn is_record(it: &StmtClassDef) -> bool {
    let base = |base: &Expr| {
        let name = match base {
            Expr::Name(it) => it.id.as_str(),
            Expr::Attribute(it) => it.attr.as_str(),
            _ => return false,
        };
        matches!(name, "BaseModel" | "NamedTuple" | "SQLModel" | "BaseSettings" | "Struct")
    };
    // A model that is a table is made by its library, which keeps what it is given as columns: `class Visit(SQLModel, table=True)`.
    let mut keywords = it.arguments.iter().flat_map(|arguments| &arguments.keywords);
    if keywords.any(|keyword| keyword.arg.as_ref().is_some_and(|name| name.as_str() == "table")) {
        return false;
    }
    let mut bases = it.arguments.iter().flat_map(|arguments| &arguments.args);
    ["dataclass", "define", "frozen", "attrs"].iter().any(|name| has_decorator(&it.decorator_list, name))
        || bases.any(base)
}

/// Whether a decorator of this name is among them, called or not, of whatever module.
pub(super) fn has_decorator(decorators: &[Decorator], name: &str) -> bool {
    decorators.iter().any(|decorator| {
        let callee = match &decorator.expression {
            Expr::Call(call) => &*call.func,
            other => other,
        };
        match callee {
            Expr::Name(it) => it.id.as_str() == name,
            Expr::Attribute(it) => it.attr.as_str() == name,
            _ => false,
        }
    })
}
