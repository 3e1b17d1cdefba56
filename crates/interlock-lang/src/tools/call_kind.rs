//! What the names in a call say about it, before anything is followed. All calls of a tree are asked several questions, and nearly all
//! answers are no; so each call is looked at once, and each name once.

use interlock_model::ir::{AccessPath, Name, Root};
use rustc_hash::FxHashMap;

use super::{exact_name, serve};
use crate::{
    Tables,
    module::split_global,
    tables::{Does, Sdk},
};

/// What a call may be, as far as its names say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CallKind(u8);

impl CallKind {
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

/// What names say.
#[derive(Debug)]
pub(super) struct Names<'t> {
    tables: &'t Tables,
    /// What globals say in any case, and what they say where they are called themselves.
    roots: FxHashMap<&'t str, (CallKind, CallKind)>,
    methods: FxHashMap<&'t str, CallKind>,
}

impl<'t> Names<'t> {
    /// What names say by the tables of a language.
    pub(super) fn new(tables: &'t Tables) -> Self {
        Self { tables, roots: FxHashMap::default(), methods: FxHashMap::default() }
    }

    /// What the names of a callee say.
    pub(super) fn of(
        &mut self,
        callee: &'t AccessPath,
        is_foreign: impl Fn(&Root) -> bool,
        is_known: impl Fn(&str) -> bool,
    ) -> CallKind {
        let tables = self.tables;
        let method = |name: &str| method(tables, name).and(CallKind::NOBODY, !is_known(name));
        let (by_root, alone) = match &callee.root {
            Root::Global(name) => *self.roots.entry(name).or_insert_with(|| {
                let (always, alone) = root(tables.sdk(), name);
                (always.and(CallKind::FOREIGN, is_foreign(&callee.root)), alone)
            }),
            _ => (CallKind::NOTHING, CallKind::NOTHING),
        };
        let by_method = match callee.fields.last() {
            Some(field) => exact_name(field)
                .map_or(CallKind::NOTHING, |name| *self.methods.entry(name).or_insert_with(|| method(name))),
            None => alone,
        };
        CallKind(by_root.0 | by_method.0)
    }
}

/// What a global says in any case, and what it says where it is called itself: a function may begin a server as well as a method.
fn root(sdk: &Sdk, name: &Name) -> (CallKind, CallKind) {
    let (library, own) = split_global(name).unwrap_or(("", name));
    let always = CallKind::NOTHING
        .and(CallKind::LIMITS, sdk.limit.libraries.contains(library))
        .and(CallKind::ROUTES, !library.is_empty() && own == sdk.route.server);
    let registers =
        sdk.decorator.contains_key(own) || sdk.call.contains_key(own) || may_take_tools(sdk, name);
    let alone = CallKind::NOTHING
        .and(CallKind::STARTS, serve::begins(sdk, own).is_some())
        .and(CallKind::ROUTES, !library.is_empty() && sdk.route.functions.contains(own))
        .and(CallKind::REGISTERS, registers);
    (always, alone)
}

/// Whether something is called like what makes a server of MCP.
fn may_take_tools(sdk: &Sdk, name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    !sdk.given.maker.is_empty() && sdk.given.maker.iter().all(|word| name.contains(&**word))
}

/// Whether a method of this name registers, or has a say in what is registered by others.
fn registers(sdk: &Sdk, name: &str) -> bool {
    let others = [&sdk.mount.methods, &sdk.mixin.methods];
    sdk.call.contains_key(name) || others.iter().any(|methods| methods.contains(name))
}

fn method(tables: &Tables, name: &str) -> CallKind {
    let (sdk, does) = (tables.sdk(), tables.builtin().does(name));
    CallKind::NOTHING
        .and(CallKind::REGISTERS, registers(sdk, name))
        .and(CallKind::ROUTES, sdk.route.methods.contains(name) || name == sdk.route.server)
        .and(CallKind::STARTS, serve::begins(sdk, name).is_some())
        .and(CallKind::ASKS, sdk.limit.questions.contains(name))
        .and(CallKind::KEEPS, matches!(does, Some(Does::Set | Does::Push | Does::Add)))
}
