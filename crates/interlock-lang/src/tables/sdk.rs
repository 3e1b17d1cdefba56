//! How SDKs, frameworks and home-grown registries announce what clients can call: the table `tools`.

use interlock_model::ir::Transport;
use rustc_hash::FxHashMap;
use serde::Deserialize;

use super::Words;

/// How tools are announced.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Sdk {
    /// How the names of libraries begin that servers are built with.
    pub(crate) libraries: Vec<String>,
    /// A word in the name of any other library that servers are built with.
    pub(crate) library_words: Vec<String>,
    /// What the names of functions end in by which a library of the protocol puts answers together.
    pub(crate) answers: Vec<String>,
    /// Calls that register, by the name of the method or function.
    pub(crate) call: FxHashMap<String, Call>,
    /// Decorators, by name.
    pub(crate) decorator: FxHashMap<String, Registers>,
    /// Classes that tools extend, by name.
    pub(crate) class: FxHashMap<String, Class>,
    /// Members that a handler is assigned to: `server.oninitialized = …`.
    pub(crate) member: Words,
    /// A file per tool.
    pub(crate) file: File,
    /// Tools that a server is given where it is made.
    pub(crate) given: Given,
    /// What a tool looks like that is written out as an object or a class.
    pub(crate) object: Object,
    /// Handlers of all tools, which tell them apart themselves.
    pub(crate) dispatch: Dispatch,
    /// Servers that take the tools of others over, under another name.
    pub(crate) mount: Mount,
    /// Objects that register their own methods.
    pub(crate) mixin: Mixin,
    /// What begins a server.
    pub(crate) server: FxHashMap<String, Begins>,
    /// How the names of libraries begin whose servers are started, and use standard streams unless told otherwise.
    pub(crate) started: Vec<String>,
    /// The options of what starts a server that say how clients reach it.
    pub(crate) transport: Vec<String>,
    /// Routes of web frameworks.
    pub(crate) route: Route,
    /// Commands of a program, as a library runs them that reads its arguments.
    pub(crate) command: Command,
    /// What a request says of who has sent it.
    pub(crate) request: Request,
    /// What bounds each caller.
    pub(crate) limit: Limit,
}

/// What is registered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Registers {
    /// A tool: its name first, what does the work last, descriptions between them.
    Tool,
    /// Tools as objects that say themselves what they are called.
    Object,
    /// What describes a tool, then what does the work: the last two arguments, or what the only one gives.
    Described,
    /// A tool as a function: the function first, then its name or options. Not named otherwise, it is called like the function.
    Function,
    /// The handler of all calls of tools, which tells them apart itself.
    Calls,
    /// The function that lists the tools.
    Lists,
    /// The handler of a kind of request.
    Request,
    /// Something that clients reach and that is no tool.
    Entry,
}

/// A call that registers.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Call {
    /// What.
    pub(crate) registers: Registers,
    /// With how many arguments at least, where nothing is known of the object that registers.
    #[serde(default)]
    pub(crate) arguments: usize,
    /// Whether it has exactly so many.
    #[serde(default)]
    pub(crate) exactly: bool,
    /// Whether the first of them must look like a name, where nothing is known of the object.
    #[serde(default)]
    pub(crate) named: bool,
    /// Which argument does the work, where options stand behind it.
    pub(crate) handler: Option<usize>,
    /// Whether every argument is one, and not only the first.
    #[serde(default)]
    pub(crate) each: bool,
    /// Whether it is believed though the function that is called is the tree's own, and would be followed.
    #[serde(default)]
    pub(crate) own: bool,
    /// How the name of the library begins whose function it is, where others call something else so.
    pub(crate) library: Option<String>,
    /// Whether clients reach what the function gives, which is put round other handlers.
    #[serde(default)]
    pub(crate) around: bool,
    /// Where what it is handed is a tool already, and becomes another one.
    pub(crate) remakes: Option<Remakes>,
}

/// The options of a call that makes a tool of another one.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Remakes {
    /// The one that has the other tool, where it is not the first argument.
    pub(crate) tool: String,
    /// The one that does the work in its place, and may hand it on.
    pub(crate) by: String,
}

/// A class that tools extend.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Class {
    pub(crate) registers: Registers,
    /// The method that does the work.
    pub(crate) work: String,
}

/// A file per tool: what its exports are called.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct File {
    /// The folders that such files lie in, however deep.
    pub(crate) folders: Words,
    /// The export that describes the tool.
    pub(crate) metadata: String,
    /// The export that does the work.
    pub(crate) work: String,
    /// The exports of a file that goes by its own name, or by one that it exports: what the tool takes, and what does the work.
    pub(crate) takes: Words,
    pub(crate) handler: Words,
    /// The folder at the root of a package whose files answer requests, each by its default export: `api/token.ts`.
    pub(crate) answers: String,
    /// What a file is called that answers the requests to its folder, in which folder it lies, and by which exports: `app/x/route.ts`.
    pub(crate) route: String,
    pub(crate) routed: String,
    pub(crate) methods: Words,
    /// What the first parameter of such a function is called.
    pub(crate) request: Words,
}

/// Tools that a server is given where it is made.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Given {
    /// The member that has them.
    pub(crate) member: String,
    /// The words that are all in the name of what makes a server, or of its library.
    pub(crate) maker: Vec<String>,
    /// The members that have a handler, and of what: `on_call_tool`.
    pub(crate) handlers: FxHashMap<String, Registers>,
}

/// What a tool looks like that is written out.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Object {
    /// What says what it is called.
    pub(crate) name: Vec<String>,
    /// Functions that make what describes a tool, by their name; what it is called is their first argument.
    pub(crate) makers: Vec<String>,
    /// The same for a class of which nothing else is known.
    pub(crate) class_name: Vec<String>,
    /// What does the work, the likeliest first.
    pub(crate) work: Vec<String>,
    /// Functions that do the work together.
    pub(crate) parts: Vec<String>,
    /// What says what it is for.
    pub(crate) purpose: Vec<String>,
    /// What says what it takes.
    pub(crate) takes: Vec<String>,
    /// Members that have its description inside.
    pub(crate) inside: Vec<String>,
    /// How the names of classes end that are tools.
    pub(crate) suffix: String,
    /// The methods by which a container is told what a class is bound to.
    pub(crate) binds: Words,
    /// The member with hints, besides the object itself.
    pub(crate) annotations: String,
    /// The hint that it changes nothing.
    pub(crate) read_only: String,
    /// The hint that doing it twice is like doing it once.
    pub(crate) idempotent: String,
    /// What an entry that is an object calls its function.
    pub(crate) entry: String,
}

/// Handlers of all tools.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Dispatch {
    /// What a request handler for calls of tools is registered with.
    pub(crate) calls: Words,
    /// The same for the list of tools.
    pub(crate) lists: Words,
    /// What a handler written by hand compares the method of a request with.
    pub(crate) method: String,
    /// The member of a request that has its parameters, and the parameter that has the name of the tool.
    pub(crate) parameters: String,
    pub(crate) name: String,
    /// The member of the answer that lists the tools.
    pub(crate) listed: String,
    /// Whether the handler is handed the name first, and not the request.
    pub(crate) handed: bool,
}

/// A server that takes another one's tools over.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Mount {
    /// The methods that do, called with the other server.
    pub(crate) methods: Words,
    /// The options that say what its tools are called by from then on.
    pub(crate) prefix: Vec<String>,
    /// What stands between that and the name.
    pub(crate) joined: String,
    /// The option that says of single tools what they are called instead.
    pub(crate) renamed: Option<String>,
}

/// Objects whose methods say that they are tools, and that register them all when they are told to.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Mixin {
    /// The methods that do, called with the server.
    pub(crate) methods: Words,
    /// The option that says what stands before their names, those that say what stands between, and what that is otherwise.
    pub(crate) prefix: String,
    pub(crate) separator: Vec<String>,
    pub(crate) joined: String,
}

/// What begins a server: a function or method, or a class that is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Begins {
    /// A class for standard streams.
    StdioTransport,
    /// A class for HTTP.
    HttpTransport,
    /// A class of one of the libraries, whose options say which.
    Framework,
    /// A function for standard streams.
    ServeStdio,
    /// A function for HTTP.
    ServeHttp,
    /// A method of a server whose options say which.
    Start,
    /// A method that listens to a port, of whatever object, or a function of one of the libraries that do.
    Listen,
    /// A function of one of the libraries that listen; a method of that name may do anything.
    Listener,
}

/// Routes of web frameworks.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Route {
    /// The frameworks.
    pub(crate) libraries: Words,
    /// Those of them that run handlers in threads which are not asynchronous.
    pub(crate) threads: Words,
    /// The methods that add a route.
    pub(crate) methods: Words,
    /// The arguments by name that are handlers: `Route("/x", endpoint=show)`.
    pub(crate) named: Words,
    /// The decorators that add a route, where a function stands below them. All of them are methods too.
    pub(crate) decorators: Words,
    /// Functions of the frameworks themselves that add a route to what all share.
    pub(crate) functions: Words,
    /// The method by which an object is a handler.
    pub(crate) serves: String,
    /// How many parameters a handler has that something is put round which is not understood; none where that is no use to ask.
    pub(crate) parameters: usize,
    /// The function that makes a server of one handler.
    pub(crate) server: String,
    /// Functions that listen, as they are called in full, or how a library begins whose functions do.
    pub(crate) listeners: Vec<String>,
}

/// Commands of a program, as a library runs them that reads its arguments.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Command {
    /// The types of objects that describe one, each with its library.
    pub(crate) types: Words,
    /// Their members that are functions which run then.
    pub(crate) members: Words,
}

/// What a request says of who has sent it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Request {
    /// What a request, or what comes with one, is called.
    pub(crate) names: Words,
    /// Fields that say who calls, of whatever.
    pub(crate) caller: Words,
    /// Fields that say so of a request or a session.
    pub(crate) user: Words,
    /// Fields that say in which session.
    pub(crate) session: Words,
    /// Fields of a session that say who calls.
    pub(crate) identity: Words,
}

/// What bounds each caller.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Limit {
    /// Libraries that do.
    pub(crate) libraries: Words,
    /// Methods that ask whether there is room for one more.
    pub(crate) questions: Words,
    /// Words in the names of limits that people build themselves.
    pub(crate) words: Vec<String>,
    /// What tells callers apart.
    pub(crate) callers: Words,
}

impl Route {
    /// Whether a library, or a part of one, is a framework: `starlette.routing`.
    pub(crate) fn is_framework(&self, library: &str) -> bool {
        is_among(&self.libraries, library)
    }

    /// Whether it is one that runs handlers in threads which are not asynchronous.
    pub(crate) fn has_threads(&self, library: &str) -> bool {
        is_among(&self.threads, library)
    }
}

fn is_among(libraries: &Words, library: &str) -> bool {
    let whole = library.split_once('.').map(|(whole, _)| whole);
    libraries.contains(library) || whole.is_some_and(|whole| libraries.contains(whole))
}

impl Sdk {
    /// Whether a library is one that servers are built with.
    pub(crate) fn is_sdk(&self, library: &str) -> bool {
        self.libraries.iter().any(|known| library.starts_with(&**known))
    }

    /// Whether it is, or is called like one.
    pub(crate) fn may_be_sdk(&self, library: &str) -> bool {
        self.is_sdk(library) || self.has_word(library)
    }

    /// Whether an export of a library puts together what a tool answers with.
    pub(crate) fn answers(&self, library: &str, export: &str) -> bool {
        self.may_be_sdk(library) && self.answers.iter().any(|end| export.ends_with(&**end))
    }

    /// Whether a name has a word in it that tells of servers.
    pub(crate) fn has_word(&self, name: &str) -> bool {
        let name = name.to_ascii_lowercase();
        self.library_words.iter().any(|word| name.contains(&**word))
    }
}

impl Begins {
    /// How clients reach what is begun so, where that does not depend on options.
    pub(crate) const fn transport(self) -> Option<Transport> {
        match self {
            Self::StdioTransport | Self::ServeStdio => Some(Transport::Stdio),
            Self::HttpTransport | Self::ServeHttp | Self::Listen | Self::Listener => Some(Transport::Http),
            Self::Framework | Self::Start => None,
        }
    }

    /// Whether it is a class that is made, and no function.
    pub(crate) const fn is_class(self) -> bool {
        matches!(self, Self::StdioTransport | Self::HttpTransport | Self::Framework)
    }
}
