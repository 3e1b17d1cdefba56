//! From modules to lines: what is public, under which name, and what it looks like.

use quote::ToTokens;
use syn::{
    Attribute, Fields, ImplItem, Item, ItemImpl, Meta, Signature, TraitItem, Type, UseTree, Visibility,
};

use super::crawl::{Modules, Path, is_left_out};

/// All lines of a crate, unsorted.
pub(super) fn public(modules: &Modules, name: &str) -> Vec<String> {
    let mut list = List { modules, lines: Vec::new() };
    list.module(&Path::new(), name, 0);
    list.lines
}

struct List<'a> {
    modules: &'a Modules,
    lines: Vec<String>,
}

/// Re-exports lead to modules that re-export; more than this is a circle.
const DEEPEST: usize = 12;

impl List<'_> {
    /// Everything public in a module, under this name.
    fn module(&mut self, path: &Path, name: &str, depth: usize) {
        let Some(items) = self.modules.get(path).filter(|_| depth < DEEPEST) else { return };
        for item in items {
            match item {
                Item::Mod(module) if is_public(&module.vis) && !is_left_out(&module.attrs) => {
                    let inner = module.ident.to_string();
                    self.module(&joined(path, &inner), &format!("{name}::{inner}"), depth + 1);
                }
                Item::Use(import) if is_public(&import.vis) && !is_left_out(&import.attrs) => {
                    self.import(&import.tree, path.clone(), name, depth);
                }
                item => {
                    if let Some(found) = name_of(item) {
                        self.item(item, path, &format!("{name}::{found}"));
                    }
                }
            }
        }
    }

    /// What a re-export names. `to` is as far as its path has led.
    fn import(&mut self, tree: &UseTree, to: Path, name: &str, depth: usize) {
        match tree {
            UseTree::Path(step) => {
                let to = match step.ident.to_string().as_str() {
                    "self" => to,
                    "crate" => Path::new(),
                    "super" => to.split_last().map(|(_, rest)| rest.to_vec()).unwrap_or_default(),
                    inner => joined(&to, inner),
                };
                self.import(&step.tree, to, name, depth);
            }
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.import(tree, to.clone(), name, depth);
                }
            }
            UseTree::Name(found) => {
                self.named(&to, &found.ident.to_string(), &found.ident.to_string(), name, depth)
            }
            UseTree::Rename(found) => {
                self.named(&to, &found.ident.to_string(), &found.rename.to_string(), name, depth);
            }
            UseTree::Glob(_) => self.module(&to, name, depth + 1),
        }
    }

    fn named(&mut self, module: &Path, found: &str, shown: &str, name: &str, depth: usize) {
        let shown = format!("{name}::{shown}");
        let Some(items) = self.modules.get(module).filter(|_| depth < DEEPEST) else {
            self.lines.push(format!("{shown} from elsewhere: {}", joined(module, found).join("::")));
            return;
        };
        if let Some(item) = items.iter().find(|item| name_of(item).as_deref() == Some(found)) {
            return self.item(item, module, &shown);
        }
        if self.modules.contains_key(&joined(module, found)) {
            return self.module(&joined(module, found), &shown, depth + 1);
        }
        // It is re-exported there as well.
        let parent = shown.rsplit_once("::").map_or(shown.as_str(), |(parent, _)| parent).to_owned();
        for item in items {
            if let Item::Use(import) = item
                && imports(&import.tree, found)
            {
                self.import(&import.tree, module.clone(), &parent, depth + 1);
            }
        }
    }

    fn item(&mut self, item: &Item, module: &Path, shown: &str) {
        let attributes = attributes_of(item);
        if is_left_out(attributes) {
            return;
        }
        let open = if is_non_exhaustive(attributes) { ", non-exhaustive" } else { "" };
        let mut say = |text: String| self.lines.push(format!("{shown}{text}"));
        match item {
            Item::Fn(function) if is_public(&function.vis) => say(format!(" {}", signature(&function.sig))),
            Item::Const(constant) if is_public(&constant.vis) => {
                say(format!(" const: {}", text(&constant.ty)))
            }
            Item::Static(constant) if is_public(&constant.vis) => {
                say(format!(" static: {}", text(&constant.ty)))
            }
            Item::Type(alias) if is_public(&alias.vis) => {
                say(format!("{} type = {}", text(&alias.generics), text(&alias.ty)));
            }
            Item::Struct(structure) if is_public(&structure.vis) => {
                say(format!("{} struct{open}", text(&structure.generics)));
                for (at, field) in
                    structure.fields.iter().enumerate().filter(|(_, field)| is_public(&field.vis))
                {
                    let field_name = field.ident.as_ref().map_or_else(|| at.to_string(), ToString::to_string);
                    say(format!(".{field_name}: {}", text(&field.ty)));
                }
                self.of_type(&structure.ident.to_string(), module, attributes, shown);
            }
            Item::Enum(choice) if is_public(&choice.vis) => {
                say(format!("{} enum{open}", text(&choice.generics)));
                for variant in &choice.variants {
                    let inside = match &variant.fields {
                        Fields::Unit => "variant".to_owned(),
                        fields => fields_of(fields),
                    };
                    say(format!("::{} {inside}", variant.ident));
                }
                self.of_type(&choice.ident.to_string(), module, attributes, shown);
            }
            Item::Trait(able) if is_public(&able.vis) => {
                say(format!("{} trait", text(&able.generics)));
                for item in &able.items {
                    match item {
                        TraitItem::Fn(function) if !is_left_out(&function.attrs) => {
                            say(format!("::{} {}", function.sig.ident, signature(&function.sig)));
                        }
                        TraitItem::Type(inner) => say(format!("::{} type", inner.ident)),
                        TraitItem::Const(inner) => say(format!("::{} const", inner.ident)),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }

    /// What a type can do: its own methods wherever they stand, and the traits it has.
    fn of_type(&mut self, name: &str, module: &Path, attributes: &[Attribute], shown: &str) {
        for derived in derives(attributes) {
            self.lines.push(format!("{shown} impl {derived}"));
        }
        for block in self.impls(name, module) {
            if let Some((_, able, _)) = &block.trait_ {
                let able = able.segments.last().map(text).unwrap_or_default();
                self.lines.push(format!("{shown} impl {able}"));
                continue;
            }
            for item in &block.items {
                match item {
                    ImplItem::Fn(function) if is_public(&function.vis) && !is_left_out(&function.attrs) => {
                        self.lines.push(format!(
                            "{shown}::{} {}",
                            function.sig.ident,
                            signature(&function.sig)
                        ));
                    }
                    ImplItem::Const(constant) if is_public(&constant.vis) => {
                        self.lines.push(format!("{shown}::{} const: {}", constant.ident, text(&constant.ty)));
                    }
                    _ => {}
                }
            }
        }
    }

    /// The blocks about a type: in the part of the crate where it is at home, and elsewhere if it is the only one of its name.
    fn impls(&self, name: &str, module: &Path) -> Vec<ItemImpl> {
        let homes: Vec<&Path> = self
            .modules
            .iter()
            .filter(|(_, items)| {
                items.iter().any(|item| is_type(item) && name_of(item).as_deref() == Some(name))
            })
            .map(|(path, _)| path)
            .collect();
        let is_at_home = |path: &Path| homes.len() == 1 || path.first() == module.first();
        let blocks = self.modules.iter().filter(|(path, _)| is_at_home(path)).flat_map(|(_, items)| items);
        let about = |item: &Item| match item {
            Item::Impl(block) if !is_left_out(&block.attrs) => {
                (self_name(&block.self_ty).as_deref() == Some(name)).then(|| block.clone())
            }
            _ => None,
        };
        blocks.filter_map(about).collect()
    }
}

fn joined(path: &Path, inner: &str) -> Path {
    path.iter().cloned().chain([inner.to_owned()]).collect()
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn is_type(item: &Item) -> bool {
    matches!(item, Item::Struct(_) | Item::Enum(_))
}

fn name_of(item: &Item) -> Option<String> {
    let name = match item {
        Item::Fn(item) => &item.sig.ident,
        Item::Const(item) => &item.ident,
        Item::Static(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        _ => return None,
    };
    Some(name.to_string())
}

fn attributes_of(item: &Item) -> &[Attribute] {
    match item {
        Item::Fn(item) => &item.attrs,
        Item::Const(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        _ => &[],
    }
}

fn self_name(of: &Type) -> Option<String> {
    match of {
        Type::Path(path) => path.path.segments.last().map(|segment| segment.ident.to_string()),
        _ => None,
    }
}

fn imports(tree: &UseTree, name: &str) -> bool {
    match tree {
        UseTree::Path(step) => imports(&step.tree, name),
        UseTree::Group(group) => group.items.iter().any(|tree| imports(tree, name)),
        UseTree::Name(found) => found.ident == name,
        UseTree::Rename(found) => found.rename == name,
        UseTree::Glob(_) => false,
    }
}

fn is_non_exhaustive(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| attribute.path().is_ident("non_exhaustive"))
}

fn derives(attributes: &[Attribute]) -> Vec<String> {
    let lists = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::List(list) if list.path.is_ident("derive") => Some(list.tokens.to_string()),
        _ => None,
    });
    let last = |path: &str| path.rsplit("::").next().unwrap_or(path).trim().to_owned();
    lists
        .flat_map(|list| list.split(',').map(last).collect::<Vec<_>>())
        .filter(|name| !name.is_empty())
        .collect()
}

/// The fields of a variant, without what is said about them.
fn fields_of(fields: &Fields) -> String {
    let of = |field: &syn::Field| match &field.ident {
        Some(name) => format!("{name}: {}", text(&field.ty)),
        None => text(&field.ty),
    };
    let all = fields.iter().map(of).collect::<Vec<_>>().join(", ");
    if matches!(fields, Fields::Named(_)) { format!("{{ {all} }}") } else { format!("({all})") }
}

fn signature(signature: &Signature) -> String {
    text(signature)
}

/// Source text of a piece of syntax, in one line, with spaces where people put them.
fn text(piece: &impl ToTokens) -> String {
    let mut text = piece.to_token_stream().to_string();
    for (spaced, tight) in [
        (" ,", ","),
        (" :: ", "::"),
        ("< ", "<"),
        (" <", "<"),
        (" >", ">"),
        ("& ", "&"),
        (" (", "("),
        ("( ", "("),
        (" )", ")"),
        (" : ", ": "),
        ("' ", "'"),
        (" ;", ";"),
        (" [", "["),
        (",>", ">"),
        (",)", ")"),
    ] {
        text = text.replace(spaced, tight);
    }
    // An arrow and a bound keep their space.
    text.replace("->(", "-> (")
        .replace("dyn(", "dyn (")
        .replace("=[", "= [")
        .replace("->[", "-> [")
        .replace(":: <", "::<")
}
