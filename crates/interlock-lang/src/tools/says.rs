//! What the names in a call say about it, before anything is followed. All calls of a tree are asked several questions, and nearly all
//! answers are no; so each call is looked at once, and each name of a file once, for the calls of a file share their names.

use interlock_model::ir::{AccessPath, Field, Name, Root};
use rustc_hash::FxHashMap;

use super::{limits, place::name_of, register, routes, serve};
use crate::module::{is_announcement, split_global};

/// What a call may be, as far as its names say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Says(u8);

impl Says {
    pub(super) const NOTHING: Self = Self(0);
    /// What it calls is [foreign](super::index::Index::is_foreign).
    pub(super) const FOREIGN: Self = Self(1);
    /// A registration.
    pub(super) const REGISTERS: Self = Self(2);
    /// A route of a web framework.
    pub(super) const ROUTES: Self = Self(4);
    /// The beginning of a server.
    pub(super) const STARTS: Self = Self(8);
    /// A question to something that limits callers.
    pub(super) const ASKS: Self = Self(16);
    /// A function of a library that limits callers.
    pub(super) const LIMITS: Self = Self(32);
    /// Something is put into a collection.
    pub(super) const KEEPS: Self = Self(64);
    /// Nothing of the tree that could be called goes by the name of the method.
    pub(super) const NOBODY: Self = Self(128);

    /// Whether it says one of these.
    pub(super) const fn any(self, of: Self) -> bool {
        self.0 & of.0 != 0
    }

    const fn and(self, more: Self, if_so: bool) -> Self {
        if if_so { Self(self.0 | more.0) } else { self }
    }
}

/// What names say. They are found by where they stand in memory, so the tree must stay as it is meanwhile.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// What globals say in any case, and what they say where they are called themselves.
    roots: FxHashMap<usize, (Says, Says)>,
    methods: FxHashMap<usize, Says>,
}

impl Names {
    /// What the names of a callee say.
    pub(super) fn of(
        &mut self,
        callee: &AccessPath,
        is_foreign: impl Fn(&Root) -> bool,
        is_known: impl Fn(&str) -> bool,
    ) -> Says {
        let method = |name: &str| method(name).and(Says::NOBODY, !is_known(name));
        let (by_root, alone) = match &callee.root {
            Root::Global(name) => *self.roots.entry(name.as_ptr().addr()).or_insert_with(|| {
                let (always, alone) = root(name);
                (always.and(Says::FOREIGN, is_foreign(&callee.root)), alone)
            }),
            _ => (Says::NOTHING, Says::NOTHING),
        };
        let by_method = match callee.fields.last() {
            Some(Field::Name(name)) => {
                *self.methods.entry(name.as_ptr().addr()).or_insert_with(|| method(name))
            }
            Some(field) => name_of(field).map_or(Says::NOTHING, method),
            None => alone,
        };
        Says(by_root.0 | by_method.0)
    }
}

/// What a global says in any case, and what it says where it is called itself: a function may begin a server as well as a method.
fn root(name: &Name) -> (Says, Says) {
    let (library, own) = split_global(name).unwrap_or(("", name));
    let always = Says::NOTHING
        .and(Says::LIMITS, limits::is_limiter(library))
        .and(Says::ROUTES, name.ends_with("::createServer"));
    let alone = Says::NOTHING
        .and(Says::STARTS, serve::may_start(own))
        .and(Says::REGISTERS, is_announcement(own) || may_take_tools(own));
    (always, alone)
}

/// Whether something is called like what makes a server of MCP.
fn may_take_tools(own: &str) -> bool {
    let own = own.to_ascii_lowercase();
    own.contains("mcp") && own.contains("server")
}

fn method(name: &str) -> Says {
    Says::NOTHING
        .and(Says::REGISTERS, register::is_registration(name))
        .and(Says::ROUTES, routes::is_method(name))
        .and(Says::STARTS, serve::may_start(name))
        .and(Says::ASKS, limits::is_question(name))
        .and(Says::KEEPS, matches!(name, "set" | "push" | "add" | "unshift"))
}
