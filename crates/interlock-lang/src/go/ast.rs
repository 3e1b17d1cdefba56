//! The syntax of Go, as much of it as lowering looks at. `parse/` makes it from the parser's tree, with a bound on how deep it nests, so
//! that everything behind may recurse.

/// From a first byte to behind a last one.
pub(super) type Place = (u32, u32);

/// A file.
#[derive(Debug, Default)]
pub(super) struct File<'a> {
    /// The name of its package.
    pub(super) package: &'a str,
    pub(super) imports: Vec<Import<'a>>,
    pub(super) functions: Vec<Function<'a>>,
    pub(super) types: Vec<TypeSpec<'a>>,
    /// Variables and constants, in order.
    pub(super) variables: Vec<Variables<'a>>,
}

/// `import name "path"`.
#[derive(Debug)]
pub(super) struct Import<'a> {
    /// The name in this file; `_` and `.` are names.
    pub(super) name: Option<&'a str>,
    pub(super) path: &'a str,
}

/// `type Name …`.
#[derive(Debug)]
pub(super) struct TypeSpec<'a> {
    pub(super) name: &'a str,
    pub(super) type_: Type<'a>,
}

/// `var a, b T = x, y`, `const …`.
#[derive(Debug)]
pub(super) struct Variables<'a> {
    pub(super) at: Place,
    pub(super) names: Vec<Name<'a>>,
    pub(super) type_: Option<Type<'a>>,
    pub(super) values: Vec<Expr<'a>>,
    pub(super) constant: bool,
}

/// A name, where it stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Name<'a> {
    pub(super) at: Place,
    pub(super) text: &'a str,
}

/// A function, method or function literal.
#[derive(Debug)]
pub(super) struct Function<'a> {
    pub(super) at: Place,
    /// Empty for a literal.
    pub(super) name: &'a str,
    pub(super) receiver: Option<Receiver<'a>>,
    pub(super) parameters: Vec<Parameter<'a>>,
    /// The types of its results; `names` are those of named ones.
    pub(super) results: Vec<Parameter<'a>>,
    pub(super) body: Vec<Stmt<'a>>,
}

/// `(m *Manager)`.
#[derive(Debug)]
pub(super) struct Receiver<'a> {
    pub(super) name: Option<Name<'a>>,
    /// The name of its type.
    pub(super) type_: &'a str,
    /// Whether it is the object itself, and no copy.
    pub(super) pointer: bool,
}

/// A parameter or result.
#[derive(Debug)]
pub(super) struct Parameter<'a> {
    pub(super) name: Option<Name<'a>>,
    pub(super) type_: Type<'a>,
}

/// A type.
#[derive(Debug, Clone)]
pub(super) enum Type<'a> {
    /// `Name` or `pkg.Name`.
    Named(Option<Name<'a>>, Name<'a>),
    Pointer(Box<Type<'a>>),
    /// What its entries are; of keys nothing is asked.
    Map(Box<Type<'a>>),
    List(Box<Type<'a>>),
    Channel(Box<Type<'a>>),
    Function,
    Struct(Vec<FieldSpec<'a>>),
    Interface {
        methods: Vec<&'a str>,
        embeds: Vec<Type<'a>>,
    },
    Other,
}

/// A field of a struct.
#[derive(Debug, Clone)]
pub(super) struct FieldSpec<'a> {
    /// `None` for an embedded one.
    pub(super) name: Option<&'a str>,
    pub(super) type_: Type<'a>,
}

/// An expression.
#[derive(Debug)]
pub(super) struct Expr<'a> {
    pub(super) at: Place,
    pub(super) kind: Kind<'a>,
}

#[derive(Debug)]
pub(super) enum Kind<'a> {
    Name(&'a str),
    Text(String),
    Number(Option<i64>),
    Bool(bool),
    Nil,
    Selector(Box<Expr<'a>>, &'a str),
    Index(Box<Expr<'a>>, Box<Expr<'a>>),
    Slice(Box<Expr<'a>>, Vec<Expr<'a>>),
    Call(Box<Call<'a>>),
    /// `-x`, `!x`, `<-x`, `*x`, `&x`.
    Unary(&'a str, Box<Expr<'a>>),
    /// A chain of operators, from the left.
    Binary(Box<Expr<'a>>, Vec<(&'a str, Expr<'a>)>),
    Function(Box<Function<'a>>),
    Composite(Type<'a>, Vec<Element<'a>>),
    /// `x.(T)`.
    Assert(Box<Expr<'a>>, Type<'a>),
    /// `T(x)` where that cannot be a call, and types that stand as arguments.
    Convert(Type<'a>, Option<Box<Expr<'a>>>),
    Other(Vec<Expr<'a>>),
}

/// A call.
#[derive(Debug)]
pub(super) struct Call<'a> {
    pub(super) callee: Expr<'a>,
    pub(super) arguments: Vec<Expr<'a>>,
    /// Whether the last argument is spread: `f(xs...)`.
    pub(super) spread: bool,
}

/// An element of a composite literal.
#[derive(Debug)]
pub(super) struct Element<'a> {
    pub(super) key: Option<Expr<'a>>,
    pub(super) value: Expr<'a>,
}

/// A statement.
#[derive(Debug)]
pub(super) struct Stmt<'a> {
    pub(super) at: Place,
    pub(super) kind: StmtKind<'a>,
}

#[derive(Debug)]
pub(super) enum StmtKind<'a> {
    Expr(Expr<'a>),
    /// `a, b := x, y`.
    Define(Vec<Expr<'a>>, Vec<Expr<'a>>),
    /// `a, b = x, y`; `a += x` with its operator.
    Assign(Vec<Expr<'a>>, &'a str, Vec<Expr<'a>>),
    Variables(Variables<'a>),
    Block(Vec<Stmt<'a>>),
    /// Statements that are no scope of their own.
    Several(Vec<Stmt<'a>>),
    If(Box<If<'a>>),
    For(Box<For<'a>>),
    Switch(Box<Switch<'a>>),
    Select(Vec<Case<'a>>),
    Go(Expr<'a>),
    Defer(Expr<'a>),
    Return(Vec<Expr<'a>>),
    Send(Expr<'a>, Expr<'a>),
    Break,
    Continue,
    Other,
}

#[derive(Debug)]
pub(super) struct If<'a> {
    pub(super) initial: Option<Stmt<'a>>,
    pub(super) condition: Expr<'a>,
    pub(super) then: Vec<Stmt<'a>>,
    pub(super) otherwise: Option<Stmt<'a>>,
}

#[derive(Debug)]
pub(super) enum For<'a> {
    /// `for init; condition; update`, any of which may be missing.
    Clause {
        initial: Option<Box<Stmt<'a>>>,
        condition: Option<Expr<'a>>,
        update: Option<Box<Stmt<'a>>>,
        body: Vec<Stmt<'a>>,
    },
    /// `for k, v := range x`.
    Range { left: Vec<Expr<'a>>, defines: bool, over: Expr<'a>, body: Vec<Stmt<'a>> },
}

#[derive(Debug)]
pub(super) struct Switch<'a> {
    pub(super) initial: Option<Stmt<'a>>,
    /// `switch alias := value.(type)`.
    pub(super) alias: Option<Name<'a>>,
    pub(super) value: Option<Expr<'a>>,
    pub(super) cases: Vec<Case<'a>>,
}

/// A case of a `switch` or `select`.
#[derive(Debug)]
pub(super) struct Case<'a> {
    pub(super) at: Place,
    /// What is compared with; of a type switch nothing is said.
    pub(super) values: Vec<Expr<'a>>,
    /// The types of a type switch.
    pub(super) types: Vec<Type<'a>>,
    /// What is waited for, in a `select`.
    pub(super) waits: Option<Stmt<'a>>,
    pub(super) is_default: bool,
    pub(super) body: Vec<Stmt<'a>>,
}
