//! Declarations of a file: what it imports and offers, its types, and types as hints of what something is.

use interlock_model::ir::{AccessPath, Name, Root};
use rustc_hash::FxHashSet;

use super::{
    super::{
        ast::{File, Function, Type, TypeSpec},
        is_builtin,
    },
    Lowerer,
};
use crate::module::{Class, Export, Import, Imported, Interface};

impl<'a> Lowerer<'a> {
    /// Reads what the file takes and offers, before anything is lowered.
    pub(super) fn declare(&mut self, file: &File<'a>) {
        for import in &file.imports {
            match import.name {
                // Nobody can say its name, but a driver is known by it.
                Some("_") => {
                    let local = format!("_ {}", import.path).into();
                    let from = import.path.into();
                    self.work.module.imports.push(Import { local, from, what: Imported::All });
                }
                Some(name) => self.import(name, import.path),
                None => {
                    package_names(import.path).into_iter().for_each(|name| self.import(name, import.path))
                }
            }
        }
        let functions = file.functions.iter().filter(|it| it.receiver.is_none()).map(|it| it.name);
        let constants = file.variables.iter().filter(|it| it.constant).flat_map(|it| &it.names);
        let types = file.types.iter().map(|it| it.name);
        let fixed: Vec<&'a str> = functions.chain(types).chain(constants.map(|name| name.text)).collect();
        let variables = file.variables.iter().flat_map(|it| &it.names).map(|name| name.text);
        self.declared.extend(fixed.iter().copied().chain(variables));
        for name in fixed {
            let global = self.global(name);
            self.work.fixed.insert(global);
        }
        let declared: Vec<&'a str> = self.declared.iter().copied().collect();
        for name in declared {
            let name = self.name(name);
            self.work.module.exports.push(Export::Local { exported: name.clone(), local: name });
        }
        self.work.module.exports.sort_by(|one, two| exported(one).cmp(exported(two)));
        for spec in &file.types {
            self.type_spec(spec);
        }
    }

    fn import(&mut self, name: &'a str, path: &'a str) {
        if self.imports.contains_key(name) {
            return;
        }
        self.imports.insert(name, path);
        let global = self.global(name);
        self.work.fixed.insert(global);
        let import = Import { local: name.into(), from: path.into(), what: Imported::All };
        self.work.module.imports.push(import);
    }

    fn type_spec(&mut self, spec: &TypeSpec<'a>) {
        let name = self.global(spec.name);
        match &spec.type_ {
            Type::Interface { methods, embeds } => {
                let methods = methods.iter().map(|method| self.name(method)).collect();
                let embeds = embeds.iter().filter_map(|embedded| self.type_path(embedded)).collect();
                self.work.module.interfaces.push(Interface { name, methods, embeds });
            }
            Type::Struct(all) => {
                let mut class = Class {
                    name,
                    bases: vec![],
                    implements: vec![],
                    methods: vec![],
                    getters: vec![],
                    fields: vec![],
                };
                for field in all {
                    let own: Name = match (field.name, embedded_name(&field.type_)) {
                        (Some(name), _) | (None, Some(name)) => self.name(name),
                        (None, None) => continue,
                    };
                    let Some(path) = self.type_path(&field.type_) else { continue };
                    if field.name.is_none() {
                        class.bases.push(path.clone());
                    }
                    // What is in a map or a list has a place of its own.
                    if let Type::Map(inner) | Type::List(inner) | Type::Channel(inner) = &field.type_
                        && let Some(inner) = self.type_path(inner)
                    {
                        class.fields.push((format!("{own}[]").into(), inner));
                    }
                    class.fields.push((own, path));
                }
                self.work.module.classes.push(class);
            }
            // `type Store Other`, `type Handlers map[string]Handler`.
            other => {
                let bases = match other {
                    Type::Named(..) | Type::Pointer(_) => self.type_path(other).into_iter().collect(),
                    _ => vec![],
                };
                let class = Class {
                    name,
                    bases,
                    implements: vec![],
                    methods: vec![],
                    getters: vec![],
                    fields: vec![],
                };
                self.work.module.classes.push(class);
            }
        }
    }

    /// The class, interface, collection or library's type that a type names; of a pointer, what it leads to.
    pub(super) fn type_path(&mut self, type_: &Type<'a>) -> Option<AccessPath> {
        match type_ {
            Type::Named(None, name) if is_builtin(name.text) && !self.declared.contains(name.text) => {
                Some(AccessPath::global(self.name(name.text)))
            }
            Type::Named(None, name) => Some(AccessPath::of(Root::Global(self.global(name.text)))),
            Type::Named(Some(package), name) => {
                let package = AccessPath::of(Root::Global(self.global(package.text)));
                Some(package.field(self.name(name.text)))
            }
            Type::Pointer(inner) => self.type_path(inner),
            Type::Map(_) => Some(AccessPath::global("map")),
            Type::List(_) => Some(AccessPath::global("slice")),
            Type::Channel(_) => Some(AccessPath::global("chan")),
            Type::Function | Type::Struct(_) | Type::Interface { .. } | Type::Other => None,
        }
    }
}

/// Whether a variable of a type leads to something that others may hold as well, and is no copy.
pub(super) fn is_reference(type_: &Type<'_>) -> bool {
    matches!(type_, Type::Pointer(_) | Type::Map(_) | Type::List(_) | Type::Channel(_))
}

/// The fields of the structs of a file whose entries are values: `filters []Filter`. A name that is also that of a field with pointers is
/// left out.
pub(super) fn copied_entries<'a>(file: &File<'a>) -> FxHashSet<&'a str> {
    let structs = || {
        file.types.iter().filter_map(|spec| match &spec.type_ {
            Type::Struct(fields) => Some((spec.name, fields)),
            _ => None,
        })
    };
    let is_struct = |name: &str| structs().any(|(known, _)| known == name);
    let (mut copied, mut pointers) = (FxHashSet::default(), FxHashSet::default());
    for field in structs().flat_map(|(_, fields)| fields) {
        let (Some(name), Type::Map(entry) | Type::List(entry)) = (field.name, &field.type_) else { continue };
        match &**entry {
            Type::Struct(_) => copied.insert(name),
            Type::Named(None, of) if is_struct(of.text) => copied.insert(name),
            _ => pointers.insert(name),
        };
    }
    copied.retain(|name| !pointers.contains(name));
    copied
}

/// Fields that are declared with a type that is no pointer, list, map or plain type. Of those only a struct has members to be set, so a
/// variable whose members are set and that was set to such a field is a copy.
pub(super) fn fields_by_value<'a>(file: &File<'a>) -> FxHashSet<&'a str> {
    let structs = file.types.iter().filter_map(|spec| match &spec.type_ {
        Type::Struct(fields) => Some(fields),
        _ => None,
    });
    let (mut values, mut others) = (FxHashSet::default(), FxHashSet::default());
    for field in structs.flatten() {
        let Some(name) = field.name.or_else(|| embedded_name(&field.type_)) else { continue };
        match &field.type_ {
            Type::Named(..) | Type::Struct(_) => values.insert(name),
            _ => others.insert(name),
        };
    }
    values.retain(|name| !others.contains(name));
    values
}

/// Fields that hold a lock itself and no pointer to one.
pub(super) fn uncopied_fields<'a>(file: &File<'a>) -> FxHashSet<&'a str> {
    let structs = file.types.iter().filter_map(|spec| match &spec.type_ {
        Type::Struct(fields) => Some(fields),
        _ => None,
    });
    structs.flatten().filter(|field| is_lock(&field.type_)).filter_map(|field| field.name).collect()
}

/// Functions and methods that give back a struct with a lock in it, and no pointer to one: whoever calls them gets a copy. Those whose name
/// others have as well are left out.
pub(super) fn copying_functions<'a>(file: &File<'a>) -> FxHashSet<&'a str> {
    let has_lock = |name: &str| {
        file.types.iter().any(|spec| match &spec.type_ {
            Type::Struct(fields) => spec.name == name && fields.iter().any(|field| is_lock(&field.type_)),
            _ => false,
        })
    };
    let copies = |function: &&Function<'a>| match function.results.as_slice() {
        [only] => matches!(&only.type_, Type::Named(None, name) if has_lock(name.text)),
        _ => false,
    };
    let others: FxHashSet<&str> =
        file.functions.iter().filter(|function| !copies(function)).map(|function| function.name).collect();
    let found = file.functions.iter().filter(copies).map(|function| function.name);
    found.filter(|name| !others.contains(name)).collect()
}

/// Fields that hold a timer or a ticker: on its channel the time comes. A name that is also that of another field is left out.
pub(super) fn timer_fields<'a>(file: &File<'a>) -> FxHashSet<&'a str> {
    let fields = || {
        let structs = file.types.iter().filter_map(|spec| match &spec.type_ {
            Type::Struct(fields) => Some(fields),
            _ => None,
        });
        structs.flatten().filter_map(|field| Some((field.name?, is_timer(&field.type_))))
    };
    let others: FxHashSet<&str> = fields().filter(|(_, timer)| !timer).map(|(name, _)| name).collect();
    fields().filter(|(name, timer)| *timer && !others.contains(name)).map(|(name, _)| name).collect()
}

/// Whether a type is that of a timer or a ticker.
pub(super) fn is_timer(type_: &Type<'_>) -> bool {
    match type_ {
        Type::Pointer(inner) => is_timer(inner),
        Type::Named(Some(package), name) => package.text == "time" && matches!(name.text, "Timer" | "Ticker"),
        _ => false,
    }
}

/// Whether a type is that of a lock itself.
pub(super) fn is_lock(type_: &Type<'_>) -> bool {
    match type_ {
        Type::Named(Some(package), name) => is_lock_name(package.text, name.text),
        _ => false,
    }
}

/// The same of a type by its package and name.
pub(super) fn is_lock_name(package: &str, name: &str) -> bool {
    super::super::tables().builtin().uncopied.contains(format!("{package}.{name}").as_str())
}

/// What an embedded field is called: like its type.
fn embedded_name<'a>(type_: &Type<'a>) -> Option<&'a str> {
    match type_ {
        Type::Named(_, name) => Some(name.text),
        Type::Pointer(inner) => embedded_name(inner),
        _ => None,
    }
}

fn exported(export: &Export) -> &str {
    match export {
        Export::Local { exported, .. } | Export::From { exported, .. } => exported,
        Export::All { from } => from,
    }
}

/// What the package at a path is probably called, the likeliest first: `redis` at `github.com/redis/go-redis/v9`, `yaml` at
/// `gopkg.in/yaml.v3`. Only the package itself says it for sure.
fn package_names(path: &str) -> Vec<&str> {
    let is_version = |part: &str| {
        part.strip_prefix('v')
            .is_some_and(|number| !number.is_empty() && number.bytes().all(|it| it.is_ascii_digit()))
    };
    let mut parts = path.rsplit('/');
    let mut last = parts.next().unwrap_or(path);
    if is_version(last) {
        last = parts.next().unwrap_or(last);
    }
    if let Some((name, version)) = last.rsplit_once('.')
        && is_version(version)
    {
        last = name;
    }
    let mut names = vec![last];
    let plain = last.strip_prefix("go-").or_else(|| last.strip_prefix("golang-"));
    names.extend(plain.or_else(|| last.strip_suffix("-go")).or_else(|| last.strip_suffix(".go")));
    names.extend(last.rsplit_once(['-', '.']).map(|(_, name)| name));
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::package_names;

    #[test]
    fn the_name_of_a_package_is_guessed_from_its_path() {
        let first = |path| package_names(path).into_iter().collect::<Vec<_>>().join(" ");
        assert_eq!(first("net/http"), "http");
        assert_eq!(first("github.com/redis/go-redis/v9"), "go-redis redis");
        assert_eq!(first("gopkg.in/yaml.v3"), "yaml");
        assert_eq!(first("github.com/hashicorp/golang-lru/v2"), "golang-lru lru");
        assert_eq!(first("github.com/acme/mcp-go"), "mcp-go mcp go");
    }
}
