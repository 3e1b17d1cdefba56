//! Everything that was lowered from one tree.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
};

use serde::{Deserialize, Serialize};

use crate::{FileId, Span};

use super::{AccessPath, Function, FunctionId, Name, Transport, Value};

/// The lowered tree: what rules look at.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Program {
    /// Paths relative to the scanned root, with forward slashes.
    pub files: Vec<Name>,
    /// The functions.
    pub functions: Vec<Function>,
    /// The servers that the tree starts.
    pub servers: Vec<Server>,
    /// The tables and collections that the tree declares, where it does.
    pub tables: Vec<Table>,
    /// The shared maps and lists that do not grow with every key.
    pub limited: Vec<Limited>,
    /// The locks that the tree builds itself from promises, flags or channels.
    pub hand_made: Vec<HandMade>,
    /// Where maps are changed that break when two calls change them at once, as those of Go do.
    pub bare_maps: HashSet<Span>,
    /// The functions that are called in several places: what the analysis finds out, never a front end.
    pub called_often: HashSet<FunctionId>,
    /// What was not understood, so that a report can say so.
    pub notes: Vec<Note>,
    /// The calls that lead nowhere, or not everywhere, in the order of the functions: where the analysis lost its way.
    pub unresolved: Vec<Unresolved>,
    /// The tools that are announced without a function that is known, and the places at which others may be announced.
    #[serde(default)]
    pub out_of_sight: Vec<OutOfSight>,
    /// What the requests that are no tools are called: `POST /notes`.
    #[serde(default)]
    pub routes: HashMap<FunctionId, Name>,
    /// Code that is read and may not be what runs, or may never run.
    #[serde(default)]
    pub doubts: Vec<Doubt>,
    /// The calls that hand a function what its requests are made of, all of it: what is open inside of it is not open for them.
    pub settled_requests: HashSet<Span>,
    /// What functions put together and give back, member by member, where each is one place whichever way they return: `return { row, file }`.
    pub returned: HashMap<FunctionId, Vec<Member>>,
    /// What functions put together and keep or hand over, by the value that it is there: `run(args, { pool, config })`.
    pub made: HashMap<FunctionId, Vec<(Value, Vec<Member>)>>,
    /// Which parameter of a function takes whatever is handed over behind the ones before it: `*args`. A call that is handed that one hands
    /// all of it on.
    pub gathers: HashMap<FunctionId, u32>,
    /// The parameters that are nothing where nothing is handed over for them: `on_progress=None`. To call one is to do nothing then, for
    /// whoever may leave out a function asks first.
    pub optional: HashMap<FunctionId, Vec<u32>>,
    /// Words that a project adds to what rules read names by, under the names of the lists: never from a front end.
    pub words: BTreeMap<Name, Vec<Name>>,
}

/// A member of what a function puts together and gives back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// Where it is in there.
    pub names: Vec<Name>,
    /// What it is, as the function calls it.
    pub is: AccessPath,
}

/// Code of which it is doubtful that it runs as it is read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Doubt {
    /// Where: of a file, any place in it.
    pub span: Span,
    /// Why.
    pub why: Doubtful,
}

/// Why it is doubtful that code runs as it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Doubtful {
    /// The file does not parse, and a part of it was left out.
    DamagedFile,
    /// The file imports several others, and none of them is there.
    StrandedFile,
    /// It is a function of a class that nothing names: nobody creates one.
    UnmadeClass,
}

impl Doubt {
    /// Whether code is of what is doubtful.
    #[must_use]
    pub const fn covers(&self, span: Span) -> bool {
        if self.span.file.0 != span.file.0 {
            return false;
        }
        match self.why {
            Doubtful::DamagedFile | Doubtful::StrandedFile => true,
            Doubtful::UnmadeClass => self.span.start <= span.start && span.end <= self.span.end,
        }
    }
}

impl Doubtful {
    /// The sentence for whoever reads a finding there.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::DamagedFile => "the file does not parse, so this may not be what runs",
            Self::StrandedFile => "the files that this one imports are not there, so it may never run",
            Self::UnmadeClass => "nothing creates an object of this class, so it may never run",
        }
    }
}

/// What clients can call and nobody finds in the sources.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutOfSight {
    /// Where it is announced.
    pub span: Span,
    /// The tool; none where a server is handed to something unknown, which may announce any number of them.
    pub tool: Option<Name>,
    /// What does the work, or is handed the server, as far as it has a name.
    pub callee: Name,
    /// Whether that comes from an import which leads to no file.
    pub is_lost: bool,
}

/// A call of which it is not known what it does, or not all of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unresolved {
    /// The function that it stands in.
    pub function: FunctionId,
    /// Where.
    pub span: Span,
    /// What is called, as it is written.
    pub callee: Name,
    /// Why.
    pub reason: UnresolvedReason,
}

/// Why it is not known what a call does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum UnresolvedReason {
    /// Nothing is known of the object whose method it is.
    Receiver,
    /// What the object is is known, and it has no such method in the tree.
    Method,
    /// No function of that name is in the tree.
    Function,
    /// It is computed which function is called.
    Computed,
    /// The function belongs to a library of which nothing is known.
    Library,
    /// What it does was guessed from a name on the way to it, or from how it is called.
    Guessed,
    /// It runs another program, and what that one changes is not seen.
    Program,
    /// It sends a request, and what that one changes is not seen: its method is not known, or where it goes to.
    Request,
    /// It answers for all tools, and neither their names nor where it goes for each were found.
    Tools,
    /// So many functions may be meant that the budget was not enough for all of them.
    Alternatives {
        /// How many were left out.
        left_out: u32,
    },
}

/// A server that the tree starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Server {
    /// Where it starts to listen.
    pub span: Span,
    /// How clients reach it.
    pub transport: Transport,
    /// The handlers that it serves; servers of one package share them.
    pub handlers: Arc<[FunctionId]>,
    /// Whether something bounds each caller before a handler runs.
    pub limited: bool,
}

/// A table or collection as the tree declares it: a model class, a document type, a `CREATE TABLE`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Table {
    /// Its name in statements.
    pub name: Name,
    /// Its columns or fields.
    pub columns: Vec<Name>,
    /// The columns of which no two rows have the same, each key by itself.
    pub keys: Vec<Vec<Name>>,
}

impl Table {
    /// The name of a table as declarations and statements agree on it, however each of them writes it.
    #[must_use]
    pub fn plain(name: &str) -> String {
        name.rsplit('.').next().unwrap_or_default().trim_matches(['"', '`', '[', ']']).to_lowercase()
    }
}

/// A shared map or list that does not grow with every key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limited {
    /// Where it is found.
    pub path: AccessPath,
    /// What limits it.
    pub by: Limit,
}

/// A lock that the tree builds itself, recognised by its shape. Its uses are [acquired](super::Op::Acquire) and released like those
/// of any other lock; this says what it is worth.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandMade {
    /// Where it is built.
    pub span: Span,
    /// The function that builds it.
    pub function: FunctionId,
    /// The variable, field or map that holds it.
    pub path: AccessPath,
    /// Whether it is one of many in a map.
    pub keyed: bool,
    /// Whether two that wait for the same holder can never go on together.
    pub exclusive: bool,
    /// Whether the next one gets its turn when the one before it has failed.
    pub outlives_failure: bool,
    /// Who removes its entry from the map, and where that is written.
    pub removal: (Removal, Span),
}

/// Who removes an entry of a map of locks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Removal {
    /// The last one out; or there is no entry to remove.
    Last,
    /// Nobody: it is never removed, or only under a condition that never holds.
    Nobody,
    /// Anybody, also while others wait for it.
    Anybody,
    /// A timer, whoever holds it.
    Timer,
}

/// What keeps a collection from growing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Limit {
    /// A number of entries or their age.
    Capacity,
    /// An entry goes when nobody holds what it leads to.
    Weakness,
}

/// Something that lowering met and did not understand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// Where.
    pub span: Span,
    /// What, in a few words.
    pub text: String,
}

impl Program {
    /// Adds a file.
    pub fn add_file(&mut self, path: impl Into<Name>) -> FileId {
        self.files.push(path.into());
        FileId(index(self.files.len()))
    }

    /// Adds a function; calls refer to it by what this returns.
    pub fn add_function(&mut self, function: Function) -> FunctionId {
        self.functions.push(function);
        FunctionId(index(self.functions.len()))
    }

    /// A function by its id; `None` for an id of another program.
    #[must_use]
    pub fn function(&self, id: FunctionId) -> Option<&Function> {
        self.functions.get(id.0 as usize)
    }
}

/// The index of the last of `len` things. Source is read in files of bounded size, so there are never more than a `u32` holds.
fn index(len: usize) -> u32 {
    u32::try_from(len - 1).unwrap_or(u32::MAX)
}
