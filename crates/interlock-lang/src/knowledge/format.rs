//! The form of an effects file.
//!
//! `[library.NAME.exports]` says what a library's functions do, `[kind.NAME.methods]` what the methods of an object do, and
//! `[unknown.methods]` what may be guessed of a method when nothing is known of its object. What one of them does is an [`Entry`];
//! a list of entries is tried from the first to the last, and text instead of an entry is the name of another one that does the same.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, de::Error as _};

use super::place::{Place, Test};

/// The file.
#[derive(Debug, Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub(super) struct File {
    /// Libraries by the name that they are imported by.
    pub(super) library: BTreeMap<String, LibraryText>,
    /// Types of objects.
    pub(super) kind: BTreeMap<String, KindText>,
    /// Objects of which nothing is known.
    pub(super) unknown: UnknownText,
    /// How tools are registered, what the language offers, which words hint at what: see [`Tables`](crate::Tables).
    pub(super) tools: toml::Table,
    pub(super) builtin: toml::Table,
    pub(super) lexicon: toml::Table,
}

/// A library.
#[derive(Debug, Deserialize, Default)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub(super) struct LibraryText {
    /// Other names that it is imported by.
    pub(super) also: Vec<String>,
    /// The library whose exports it has besides its own.
    pub(super) like: Option<String>,
    /// Whether its functions take a node-style callback at the end.
    pub(super) callbacks: bool,
    /// What the names of its synchronous variants end in.
    pub(super) sync: Option<String>,
    /// What a program speaks to that imports it, if it is a driver that others find by its import alone.
    pub(super) engine: Option<Engine>,
    /// Exports that are libraries themselves: `fs.promises`.
    pub(super) inside: BTreeMap<String, String>,
    /// Exports that are objects or types, and what they are.
    pub(super) types: BTreeMap<String, String>,
    /// Functions and constructors; `read_*` is any that begins so.
    pub(super) exports: BTreeMap<String, toml::Value>,
}

/// A type of objects.
#[derive(Debug, Deserialize, Default)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub(super) struct KindText {
    /// The type whose methods it has besides its own.
    pub(super) like: Option<String>,
    /// Which way statements go that are sent through it; else the way of the object that it came from.
    pub(super) via: Option<Way>,
    /// The members of arguments that name the connection instead: `session`, `transaction`.
    pub(super) connection: Vec<String>,
    /// What runs its statements.
    pub(super) engine: Option<Engine>,
    /// How many it lets in, if it is a lock.
    pub(super) lock: Option<Holders>,
    /// Whether it bounds what one caller may do.
    pub(super) limiter: Option<bool>,
    /// Whether its methods take a node-style callback at the end.
    pub(super) callbacks: Option<bool>,
    /// Whether a call of its methods does nothing until it is waited for.
    pub(super) lazy: Option<bool>,
    /// Whether a statement runs only where one of `ends` is called, whoever waits for a call before that.
    pub(super) only_ends: Option<bool>,
    /// Whether it is only another form of what it was made from: `new ObjectId(id)`.
    pub(super) transparent: Option<bool>,
    /// How a write through it meets others, whatever its methods say: a file that was opened exclusively.
    pub(super) mode: Option<Mode>,
    /// Its methods. The empty one is a call of the object itself, `new` its construction; `*.create` is any path that ends so, `get_*` any
    /// name that begins so.
    pub(super) methods: BTreeMap<String, toml::Value>,
    /// Its members that are objects; `*` for any.
    pub(super) members: BTreeMap<String, MemberText>,
    /// For a statement that is put together call by call: what each call says. It runs when it is waited for.
    pub(super) clauses: BTreeMap<String, Clause>,
    /// The calls that run it at once.
    pub(super) ends: Vec<String>,
    /// What a statement gives, where that is an object with methods.
    pub(super) rows: Option<String>,
    /// Whether it is named by what it stands for and its own name behind that: what was listed of a folder.
    pub(super) below: Option<bool>,
    /// Where a row is named by a path: how that path is divided into a table, a row of it and a column.
    pub(super) path: Option<PathForm>,
    /// What its entries are, if it is a list of objects.
    pub(super) items: Option<String>,
    /// The statements that such an object comes from: it is saved to the row that they found.
    pub(super) found_by: Option<String>,
    /// What a class says of itself where each write of its rows demands the version that was read, and raises it.
    pub(super) versioned: Option<String>,
}

/// How a path names a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum PathForm {
    /// Collections and documents by turns: the last part is the row.
    Document,
    /// Members of members, of which nobody says where the rows begin: the last part that is not written out is the row.
    Tree,
}

/// A member of an object.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MemberText {
    /// What it is.
    pub(super) kind: String,
    /// Whether its name is what it stands for: the table of `prisma.user`.
    #[serde(default)]
    pub(super) named: bool,
}

/// Objects of which nothing is known.
#[derive(Debug, Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub(super) struct UnknownText {
    /// What an object probably is that goes by this name, in lower case.
    pub(super) names: BTreeMap<String, String>,
    /// The same of what a function was handed under this name.
    pub(super) parameters: BTreeMap<String, String>,
    /// The libraries that are handed over as an object under this name, in lower case.
    pub(super) libraries: BTreeMap<String, String>,
    /// What members of something that goes by this name probably are, if theirs are written as those of constants.
    pub(super) members: BTreeMap<String, String>,
    /// Methods whose name and arguments say enough.
    pub(super) methods: BTreeMap<String, toml::Value>,
}

/// What a call does.
#[derive(Debug, Clone, Deserialize, Default)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub(super) struct Entry {
    /// Which calls it is about: all of these hold. Without it, all calls.
    pub(super) when: BTreeMap<Place, Test>,
    /// The step.
    pub(super) r#do: Do,
    /// The file, key, text or stream that it is about; of a request, which record of the service.
    pub(super) at: Option<Place>,
    /// What takes the place of what: the new name.
    pub(super) to: Option<Place>,
    /// What is written; of a row, whatever its columns are.
    pub(super) from: Option<Place>,
    /// How a write meets others.
    pub(super) mode: Option<Mode>,
    /// What a read asks for.
    pub(super) aspect: Option<AspectText>,
    /// The parameters of a statement, from here on.
    pub(super) parameters: Option<Place>,
    /// Whether the result is the object with more said about it: a prepared statement that is given its parameters.
    pub(super) keeps: bool,
    /// The table, where it is not the object's; of the result, where there is one.
    pub(super) table: Option<Place>,
    /// The rows that a statement is about; what says which one a request is about.
    pub(super) filter: Option<Place>,
    /// What it sets them to.
    pub(super) set: Option<Place>,
    /// The columns that it asks for.
    pub(super) columns: Option<Place>,
    /// Whether it inserts what is not there.
    pub(super) upsert: Option<Place>,
    /// Whether what is read stays locked until the transaction ends.
    pub(super) locking: bool,
    /// The lock object; the receiver if it is not said.
    pub(super) object: Option<Place>,
    /// Which of many: of a lock, of the entries of a hash, of the rows that are inserted; or the idempotency key.
    pub(super) key: Option<Place>,
    /// Whether the lock keeps other processes out.
    pub(super) processes: bool,
    /// Whether the lock has a time limit.
    pub(super) lease: Option<LeaseText>,
    /// Whether it is held with other readers.
    pub(super) shared: bool,
    /// How many the lock lets in, where the object does not say it.
    pub(super) holders: Option<Holders>,
    /// Whether it is only tried, so that the result tells whether it was got.
    pub(super) tried: bool,
    /// Whether it is done again when it fails, and how a failure shows: `true` where it is thrown, `"returned"` where it is a value.
    #[serde(deserialize_with = "retried")]
    pub(super) retried: Retried,
    /// The function that is called back.
    pub(super) run: Option<Place>,
    /// What the function is handed.
    pub(super) gives: Vec<String>,
    /// The isolation of a transaction.
    pub(super) isolation: Option<Place>,
    /// Whom an external effect reaches.
    pub(super) service: Option<Place>,
    /// Whether the world outside is different afterwards.
    pub(super) change: Option<ChangeText>,
    /// The method of a request, which says so as well.
    pub(super) method: Option<Place>,
    /// A field that must still be what it was, and what it was: `ETag` and `If-Match`.
    pub(super) unchanged: Option<(String, Place)>,
    /// Whether what it finds a row by is a key that no two rows share.
    pub(super) unique: bool,
    /// Whether it fails where no row is what it demands, so that whoever comes behind it knows that it took effect.
    pub(super) fails: bool,
    /// What the result is.
    pub(super) result: Option<String>,
    /// What the result stands for; else what the object stands for. Of a statement without one, the table by the value that names it.
    pub(super) subject: Option<Place>,
    /// What the result stands for below that: a further part of a path, or several. Nothing else of `subject` counts then but what it
    /// stands for.
    pub(super) under: Option<Place>,
    /// The method of the thing at `at` that is meant by handing it over; the arguments behind the first are those of the method.
    pub(super) call: Option<String>,
    /// Steps that follow.
    pub(super) also: Vec<Entry>,
}

/// What a step does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Do {
    /// Nothing that others can see.
    #[default]
    Nothing,
    ReadFile,
    WriteFile,
    DeleteFile,
    RenameFile,
    /// Reads one file and writes another.
    CopyFile,
    /// Writes beside the file, then takes its place.
    ReplaceFile,
    /// Reads the file, changes its content inside the library, and writes it back.
    RewriteFile,
    /// A file that nobody else has the name of.
    FreshFile,
    ReadKey,
    WriteKey,
    DeleteKey,
    /// Memory that a library keeps for the program, in steps that nobody gets into: an atomic, a map that locks itself.
    ReadMemory,
    WriteMemory,
    DeleteMemory,
    WriteStream,
    /// What a writer is handed goes to the file or the connection that it is; of others nothing is known.
    WriteWriter,
    /// Runs a text.
    Sql,
    Find,
    FindId,
    Update,
    UpdateId,
    Replace,
    Insert,
    Remove,
    RemoveId,
    /// Writes back the row that the object was read from.
    Save,
    /// Deletes it.
    Destroy,
    Acquire,
    Release,
    /// Calls a function under a lock.
    Guard,
    Begin,
    Commit,
    Rollback,
    /// Calls a function in a transaction.
    Transaction,
    /// Runs a list of statements in a transaction.
    Batch,
    /// Calls a function.
    Call,
    External,
    /// Asks something of a service or changes it, as the words of the method say: `client.pages.update`.
    Request,
    /// Does what sending the argument does: a command object.
    HandOver,
    Open,
    Close,
    /// Counts a call in, so that a close can wait for it.
    CountIn,
    /// Counts it out.
    CountOut,
    /// Waits until nobody is counted in.
    Drain,
    Sleep,
}

/// What a call says about a statement that is put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Clause {
    /// Nothing that matters: an order, a limit.
    Skip,
    Table,
    /// The table, or a column of it: `select(Account.id)`.
    Entity,
    /// The table and the id of a row.
    EntityId,
    Columns,
    /// An object, a column and a value, a column, an operator and a value, text, or a condition.
    Where,
    /// Conditions, all of which hold.
    WhereAll,
    /// A column and a value.
    Equal,
    Different,
    AtLeast,
    AtMost,
    OtherWay,
    /// It is an update; of which table, if it says so.
    UpdateTable,
    /// It inserts; into which table, if it says so.
    InsertTable,
    /// It deletes; from which table, if it says so.
    RemoveTable,
    /// What it sets, or inserts.
    Values,
    /// It is an update to these values.
    Update,
    /// It is an insert of these values.
    Insert,
    /// It inserts or overwrites these values.
    Upsert,
    /// It inserts these values where no such row is there.
    Ensure,
    /// It deletes.
    Remove,
    /// A column and by how much it changes.
    Increment,
    /// Keeps the rows locked.
    Lock,
    /// Is content that the row is there.
    Ignore,
    /// Overwrites a row that is there.
    Merge,
    /// A filter first.
    Find,
    /// The same, of one row.
    FindOne,
    /// Only the first row; which columns of it, if it says so.
    First,
    /// Only whether there is one.
    Exists,
    /// Only how many there are, or the greatest of them.
    Total,
    /// The same of what a filter finds.
    FindTotal,
    /// What it goes through, and behind that conditions, orders and limits, each made by a function of its own.
    Constraints,
    /// In which order; where the greatest comes first, it may be the only one that is asked for.
    Order,
    /// At most so many.
    Limit,
    FindId,
    /// A filter, then what is set.
    UpdateWhere,
    UpdateId,
    ReplaceWhere,
    RemoveWhere,
    RemoveId,
    /// The connection that it goes over.
    Connection,
    /// A condition: text and what stands for its marks, an object, or an id.
    Condition,
    /// An object of the table that its type says, and behind it a condition.
    Object,
    /// The same of one row.
    OneObject,
    /// The row that an object stands for.
    OwnObject,
    /// It writes the row that an object stands for.
    SaveObject,
    /// It inserts what an object says.
    InsertObject,
    /// The same where no such row is there.
    EnsureObject,
    /// It deletes the row that an object stands for, or those of its type that a condition names.
    RemoveObject,
    /// Text that says what is set, and what stands for its marks.
    SetText,
    /// The row that the object stands for which was handed over before.
    OwnKey,
    /// A lock, or what is done about a row that is there, as an object says it.
    Told,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Way {
    Client,
    Pool,
    /// The connection that it came from, and where nothing is known of that, itself.
    Handed,
}

/// What runs the statements that a program sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "each is called by its name")]
pub enum Engine {
    Postgres,
    Mysql,
    Sqlite,
    Mongo,
    Redis,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Holders {
    Mutex,
    Semaphore,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Mode {
    Blind,
    Exclusive,
    Ensure,
    Append,
    Pieces,
    Atomic,
    Expiry,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum AspectText {
    Content,
    Existence,
    Metadata,
    Target,
    Total,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum LeaseText {
    Plain,
    Renewed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ChangeText {
    None,
    Effect,
    Settled,
    Unknown,
    /// As the words of a command say.
    Command,
}

/// Whether something is done again when it fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Retried {
    /// Once, whatever comes of it.
    #[default]
    Never,
    /// Again when it throws.
    Thrown,
    /// Again when it gives a failure back.
    Returned,
}

fn retried<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Retried, D::Error> {
    match toml::Value::deserialize(deserializer)? {
        toml::Value::Boolean(false) => Ok(Retried::Never),
        toml::Value::Boolean(true) => Ok(Retried::Thrown),
        toml::Value::String(text) if text == "returned" => Ok(Retried::Returned),
        other => Err(D::Error::custom(format!("a {} does not say how a failure shows", other.type_str()))),
    }
}
