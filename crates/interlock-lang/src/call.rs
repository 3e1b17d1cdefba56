//! A call as the [`knowledge`](crate::knowledge) of libraries sees it: no language is visible in it any more.

use std::fmt::Debug;

use interlock_model::{
    Span,
    ir::{AccessPath, Field, FunctionId, Name, Root, Term, Value, Via},
};
use serde::{Deserialize, Serialize};

use crate::knowledge::{Engine, Seen};

/// How deep something stands in what is written out and is still looked at.
const DEEPEST: usize = 6;

/// A call of something that may be a library's.
#[derive(Debug, Clone)]
pub struct Call<'c> {
    /// Where it stands.
    pub span: Span,
    /// What is called.
    pub target: Target<'c>,
    /// Whether it makes an object: `new Pool()`.
    pub construct: bool,
    /// With what.
    pub arguments: &'c [Arg],
    /// What its result is called, where it has a name.
    pub into: Option<Value>,
    /// Whether the caller waits for it.
    pub awaited: bool,
    /// What else is known of the things that the arguments name.
    pub surroundings: &'c dyn Surroundings,
}

/// What is known of the things that a call names, and that its arguments alone do not show.
pub trait Surroundings: Debug {
    /// What the result of a [call that stands in an argument](Shape::Call) is.
    fn site(&self, site: u32) -> Option<Kind>;

    /// What is found at a path, where a library made it: a table, a session, a condition.
    fn kind(&self, path: &AccessPath) -> Option<Kind>;

    /// What a constant was set to once and for all: `const SPEND = "UPDATE …"`, `const filter = { … }`. Values of other functions
    /// must not occur in it: see [`Arg::from_outside`].
    fn initial(&self, path: &AccessPath) -> Option<Arg>;

    /// The list that a call standing in an argument comes to, where its function does nothing but put one together, in the names of
    /// the caller: `keyOf(id)` for `(id) => ["todos", id]`.
    fn listed(&self, _site: u32) -> Option<Arg> {
        None
    }

    /// The name of the class that something at a path is of, where the tree declares it.
    fn class(&self, _path: &AccessPath) -> Option<Name> {
        None
    }

    /// Whether a class of that name says something of itself under a name: `__mapper_args__.version_id_col`.
    fn says_of_class(&self, _class: &str, _name: &str) -> bool {
        false
    }

    /// The columns of which no two rows of a table have the same, each key by itself, where the table is declared.
    fn keys(&self, _table: &str) -> &[Vec<Name>] {
        &[]
    }

    /// What the program speaks to by the drivers that it imports, where they are all of one kind.
    fn engine(&self) -> Option<Engine> {
        None
    }

    /// The SQL that was read before, where that is remembered.
    fn seen(&self) -> Option<&Seen> {
        None
    }
}

/// Where nothing else is known.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoSurroundings;

impl Surroundings for NoSurroundings {
    fn site(&self, _: u32) -> Option<Kind> {
        None
    }

    fn kind(&self, _: &AccessPath) -> Option<Kind> {
        None
    }

    fn initial(&self, _: &AccessPath) -> Option<Arg> {
        None
    }
}

/// What is called.
#[derive(Debug, Clone)]
pub enum Target<'c> {
    /// Something that a library exports: `fs/promises` and `writeFile`; `fs` and `promises.writeFile`. A bare global of the language
    /// (`fetch`, `setTimeout`, `process.stdout.write`, `JSON.parse`) is an export of the library with the empty name.
    Export {
        /// The library, without `node:`.
        library: &'c str,
        /// The names inside it, joined by dots; `default` is left out.
        path: &'c str,
    },
    /// A method of an object that a library made.
    Method {
        /// What the object is.
        kind: &'c Kind,
        /// Where it is.
        receiver: &'c AccessPath,
        /// The method. What lies between the object and the method is joined by dots: `user.update` of a Prisma client. Empty where
        /// the object itself is called, or constructed: `release()`, `limit(f)`, `` sql`…` ``, `new Model()`.
        name: &'c str,
    },
    /// A method of an object of which nothing is known, or a function that was not found.
    Other {
        /// Where the object is.
        receiver: Option<&'c AccessPath>,
        /// The method or function.
        name: &'c str,
    },
}

/// What an object is that a library made: `pg.Pool`, `mongodb.Collection` of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kind {
    /// Its type, as the effects file names it.
    pub name: Name,
    /// The table, collection, key or path that it stands for.
    pub subject: Option<Term>,
    /// Which way its statements go.
    pub via: Option<Via>,
    /// The calls that made it what it is, oldest first: the clauses of a statement that is put together call by call, the text of a
    /// prepared one, the key of a lock that it releases.
    pub made: Vec<Made>,
    /// Whether it is only taken for that, by a name or by how it is called.
    pub guessed: bool,
}

/// A call that made an object what it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    /// The function or method.
    pub by: Name,
    /// With what.
    pub arguments: Vec<Arg>,
}

/// An argument: what it is called, what it depends on, and as much of its structure as the source shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arg {
    /// Its name; [`Term::Unknown`] for an object or a list.
    pub term: Term,
    /// Every value that it depends on.
    pub values: Vec<Value>,
    /// Its structure.
    pub shape: Shape,
}

/// The structure of an argument.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Shape {
    /// Nothing more than its term.
    Opaque,
    /// `null` or `undefined`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(i64),
    /// Text with holes in it: literals and what stands between them. A plain string is one literal.
    Text(Vec<Term>),
    /// An object, in the order of the source; a spread has the name `...`.
    Object(Vec<(Name, Arg)>),
    /// A list; a spread is an [`Shape::Opaque`] of its term.
    List(Vec<Arg>),
    /// A function written here or named here.
    Function {
        /// Which.
        function: FunctionId,
        /// What it takes along.
        captures: Vec<Term>,
    },
    /// The result of a call that stands here, by the number of its site.
    Call(u32),
    /// One of several, which one is decided here: `kind ? one : two`, `given ?? usual`.
    Choice(Vec<Arg>),
}

/// The name of a member that says how the next one is called: `{ [TOOLS.ADD]: add }` has two, the constant and the function.
pub(crate) const COMPUTED_KEY: &str = "[key]";

/// What is known of a call after it was looked up.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// What its result is.
    pub kind: Option<Kind>,
    /// What the functions that it was handed are handed in turn: argument, parameter, what it is. A client in a transaction.
    pub parameters: Vec<(usize, usize, Kind)>,
    /// Whether it is only guessed what the call does, by a name or by how it is called.
    pub guessed: bool,
    /// The program that it runs and that may change what calls share, where nobody here sees it. Empty if it is not known which.
    pub program: Option<Name>,
    /// Whether it sends a request of which it is not known what it changes: neither its method nor its address may be missing.
    pub open_request: bool,
    /// Whether what it gives is an answer of a service, of which no more is known than that.
    pub answer: bool,
}

impl Kind {
    /// An object of which only the type is known.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self { name: name.into(), subject: None, via: None, made: vec![], guessed: false }
    }

    /// The same, where it is only taken for that.
    #[must_use]
    pub fn guessed(self) -> Self {
        Self { guessed: true, ..self }
    }

    /// The same object as another function sees it: what names values of the function that it came from is forgotten.
    #[must_use]
    pub fn from_outside(&self) -> Self {
        let outside = |via: &Via| {
            let (Via::Client(path) | Via::Pool(path)) = via;
            (!path_names_values(path)).then(|| via.clone())
        };
        let made = |made: &Made| Made {
            by: made.by.clone(),
            arguments: made.arguments.iter().map(Arg::from_outside).collect(),
        };
        Self {
            name: self.name.clone(),
            subject: self.subject.as_ref().map(term_from_outside),
            via: self.via.as_ref().and_then(outside),
            made: self.made.iter().map(made).collect(),
            guessed: self.guessed,
        }
    }
}

impl Arg {
    /// An argument of which only the name is known.
    #[must_use]
    pub fn opaque(term: Term, values: Vec<Value>) -> Self {
        Self { term, values, shape: Shape::Opaque }
    }

    /// The text, if it is one without holes.
    #[must_use]
    pub fn literal(&self) -> Option<&Name> {
        match &self.shape {
            Shape::Text(parts) => match parts.as_slice() {
                [Term::Literal(text)] => Some(text),
                _ => None,
            },
            _ => None,
        }
    }

    /// A member of an object that is written here.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<&Self> {
        match &self.shape {
            Shape::Object(members) => {
                members.iter().rev().find(|(key, _)| &**key == name).map(|(_, value)| value)
            }
            _ => None,
        }
    }

    /// The member of a name that is written otherwise: `ID` for `id`, `UserName` for `user_name`.
    #[must_use]
    pub fn member_like(&self, name: &str) -> Option<&Self> {
        let plain = |name: &str| name.replace('_', "").to_ascii_lowercase();
        let wanted = plain(name);
        match &self.shape {
            Shape::Object(members) => {
                members.iter().rev().find(|(key, _)| plain(key) == wanted).map(|(_, value)| value)
            }
            _ => None,
        }
    }

    /// The globals that it is, or that stand in its lists and objects, by themselves: `register(Add)`, `[Add, Drop]`.
    #[must_use]
    pub fn globals(&self) -> Vec<&Name> {
        let (mut found, mut pending) = (vec![], vec![(self, DEEPEST)]);
        while let Some((arg, depth)) = pending.pop() {
            if let Term::Path(AccessPath { root: Root::Global(name), fields }) = &arg.term
                && fields.is_empty()
            {
                found.push(name);
            }
            let Some(depth) = depth.checked_sub(1) else { continue };
            match &arg.shape {
                Shape::List(items) | Shape::Choice(items) => {
                    pending.extend(items.iter().map(|item| (item, depth)));
                }
                Shape::Object(members) => pending.extend(members.iter().map(|(_, member)| (member, depth))),
                _ => {}
            }
        }
        found
    }

    /// The same argument as another function sees it: what names values of the function that it came from is forgotten.
    #[must_use]
    pub fn from_outside(&self) -> Self {
        let shape = match &self.shape {
            Shape::Text(parts) => Shape::Text(parts.iter().map(term_from_outside).collect()),
            Shape::Object(members) => Shape::Object(
                members.iter().map(|(name, value)| (name.clone(), value.from_outside())).collect(),
            ),
            Shape::List(items) => Shape::List(items.iter().map(Self::from_outside).collect()),
            Shape::Function { function, captures } => Shape::Function {
                function: *function,
                captures: captures.iter().map(term_from_outside).collect(),
            },
            Shape::Choice(ways) => Shape::Choice(ways.iter().map(Self::from_outside).collect()),
            Shape::Call(_) => Shape::Opaque,
            shape => shape.clone(),
        };
        Self { term: term_from_outside(&self.term), values: vec![], shape }
    }
}

fn term_from_outside(term: &Term) -> Term {
    match term {
        Term::Path(path) if path_names_values(path) => Term::Unknown,
        Term::Join(parts) => Term::Join(parts.iter().map(term_from_outside).collect()),
        Term::Parent(path) => Term::Parent(Box::new(term_from_outside(path))),
        term => term.clone(),
    }
}

fn path_names_values(path: &AccessPath) -> bool {
    let in_field = |field: &Field| matches!(field, Field::At(term) if term_from_outside(term) != *term);
    matches!(path.root, Root::Value(_)) || path.fields.iter().any(in_field)
}
