//! A value for a schema: the part of JSON Schema 2020-12 that tools use.

use std::{cell::Cell, cmp::Reverse};

use interlock_hazards::words;
use serde_json::{Map, Value};

use super::{
    Pool, Source, Want,
    leaf::{self, Choice},
    name::{Named, Role, names_folder, singular},
    sql,
};
use crate::plan::listing::Listing;

/// How deep values and references may go, and how many there may be.
const DEEPEST: usize = 12;
const MOST: usize = 500;
const MOST_ITEMS: u64 = 16;

/// Verbs of tools that say where to work.
const CHOOSES: &[&str] =
    &["set", "use", "open", "switch", "select", "activate", "choose", "register", "index", "watch"];

pub(super) struct Generator<'g> {
    root: &'g Value,
    tool: &'g Listing,
    noun: Option<&'g str>,
    /// Whether folders shall be there. Who only looks has nothing to look at elsewhere.
    there: bool,
    /// Whether a path is that of a folder, because the tool is about folders.
    on_folders: bool,
    want: &'g Want,
    pool: &'g Pool,
    /// Which of several shapes.
    branch: usize,
    left: Cell<usize>,
}

impl<'g> Generator<'g> {
    pub(super) fn new(
        tool: &'g Listing,
        noun: Option<&'g str>,
        want: &'g Want,
        pool: &'g Pool,
        branch: usize,
    ) -> Self {
        let looks = tool.looks_like_reader();
        let name = words(&tool.name);
        // `set_project_path`: what is chosen has to be there; `add_file_to_project` says which file.
        let chooses = CHOOSES.iter().any(|verb| name.iter().any(|word| word == verb));
        let names_file = name.iter().any(|word| word.starts_with("file"));
        let on_folders = names_folder(&name) && (looks || ((chooses || want.there) && !names_file));
        Self {
            root: &tool.input_schema,
            tool,
            noun,
            there: want.there || looks || (chooses && on_folders),
            on_folders,
            want,
            pool,
            branch,
            left: Cell::new(MOST),
        }
    }

    pub(super) fn arguments(&self) -> Option<Value> {
        self.value(self.root, "", 0, &[])
    }

    fn value(&self, schema: &Value, name: &str, depth: usize, spoken_of: &[Value]) -> Option<Value> {
        let left = self.left.get().checked_sub(1)?;
        self.left.set(left);
        if depth > DEEPEST {
            return None;
        }
        let named = self.named(name);
        let Some(schema) = self.resolved(schema, depth) else {
            return Some(Value::from(leaf::text(&Map::new(), self.choice(&named))));
        };
        if let Some(shown) = self.shown(&schema, &named, depth, spoken_of) {
            return Some(shown);
        }
        let choice = self.choice(&named);
        match kind(&schema)? {
            "object" => self.object(&schema, depth, spoken_of),
            "array" => self.array(&schema, name, depth, spoken_of),
            "string" => {
                let statement =
                    sql::statement(self.tool, name, &schema, leaf::letter(choice), &leaf::said(choice));
                Some(Value::from(statement.unwrap_or_else(|| leaf::text(&schema, choice))))
            }
            "integer" => Some(leaf::number(&schema, choice, true)),
            "number" => Some(leaf::number(&schema, choice, false)),
            "boolean" => Some(Value::Bool(false)),
            _ => Some(Value::Null),
        }
    }

    fn named(&self, name: &str) -> Named {
        let mut named = Named::new(name);
        if self.on_folders && named.role == Role::Path {
            named.role = Role::Folder;
        }
        // A key is the caller's; what the server gives out under that name is the id of something.
        if named.role == Role::Idempotency && self.pool.hands_out(&named) {
            named.role = Role::Id;
        }
        named
    }

    fn choice<'n>(&self, named: &'n Named) -> Choice<'n>
    where
        'g: 'n,
    {
        let also = usize::from(self.want.vary_others && named.is_other) * self.want.variant;
        Choice {
            named,
            noun: named.noun.as_deref().or(self.noun),
            thing: self.want.thing + also,
            variant: self.want.variant,
            there: self.there,
            extension: self.want.extension.as_deref().unwrap_or("txt"),
            relative: self.want.relative,
        }
    }

    /// What need not be made: a constant, a value that was given, one of an enum, an example, what an answer had, the default.
    fn shown(
        &self,
        schema: &Map<String, Value>,
        named: &Named,
        depth: usize,
        spoken_of: &[Value],
    ) -> Option<Value> {
        if let Some(only) = schema.get("const") {
            return Some(only.clone());
        }
        if depth == 0 {
            return None;
        }
        let names = named.role.names_a_thing();
        let plain = !matches!(kind(schema), Some("object" | "array"));
        // What somebody else was told is a path is a file, or a folder that is seen best from outside.
        let may_be_given = plain && !(self.on_folders && named.role == Role::Folder);
        if let Some(given) = self.want.given.get(&named.given_as()).filter(|_| may_be_given) {
            return Some(given.clone());
        }
        let choice = self.choice(named);
        let at = if names { choice.thing + usize::from(named.is_other) } else { choice.variant };
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            return values.get(at % values.len().max(1)).cloned();
        }
        let examples = || self.examples(schema, names, at);
        let seen = || self.seen(schema, named, at, spoken_of).filter(|_| plain);
        let default =
            || schema.get("default").filter(|value| !value.is_null() && self.want.variant == 0).cloned();
        if !names && named.role != Role::Version {
            return examples().or_else(default);
        }
        match self.want.source {
            Source::Examples => examples().or_else(default).or_else(seen),
            Source::Seen => seen().or_else(examples).or_else(default),
            Source::Made if named.role == Role::Version => seen(),
            Source::Made => None,
        }
    }

    fn examples(&self, schema: &Map<String, Value>, names: bool, at: usize) -> Option<Value> {
        let listed = schema.get("examples").and_then(Value::as_array).cloned();
        let mut examples = listed.unwrap_or_default();
        examples.extend(schema.get("example").cloned());
        if examples.is_empty() && kind(schema) == Some("string") {
            examples
                .extend(schema.get("description").and_then(Value::as_str).and_then(quoted).map(Value::from));
        }
        // Of content there is always more to say; of things that exist there are only these.
        if names {
            examples.get(at.min(examples.len().saturating_sub(1))).cloned()
        } else {
            examples.get(at).cloned()
        }
    }

    fn seen(
        &self,
        schema: &Map<String, Value>,
        named: &Named,
        at: usize,
        spoken_of: &[Value],
    ) -> Option<Value> {
        let mut found = self.pool.find(named, self.noun, spoken_of);
        // A place outside of the server's folder is handed to nobody who may change it.
        let is_place =
            !self.tool.looks_like_reader() && matches!(named.role, Role::Path | Role::Folder | Role::Root);
        let is_outside = |value: &Value| value.as_str().is_some_and(|text| text.starts_with(['/', '~']));
        found.retain(|found| fits_kind(&found.value, schema) && !(is_place && is_outside(&found.value)));
        let at = if named.role == Role::Version { 0 } else { at };
        found.get(at.min(found.len().saturating_sub(1))).map(|found| found.value.clone())
    }

    fn object(&self, schema: &Map<String, Value>, depth: usize, spoken_of: &[Value]) -> Option<Value> {
        let none = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
        let required: Vec<&str> = schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        // A version is that of the thing spoken of, so it is looked for when that is known.
        let mut names: Vec<&String> = properties
            .keys()
            .filter(|name| self.want.optional || required.contains(&name.as_str()))
            .collect();
        names.sort_by_key(|name| Reverse(Named::new(name).role.names_a_thing()));
        let mut spoken_of = spoken_of.to_vec();
        let mut object = Map::new();
        for name in names {
            let Some(property) = properties.get(name) else { continue };
            match self.value(property, name, depth + 1, &spoken_of) {
                Some(value) => {
                    if Named::new(name).role.names_a_thing() {
                        spoken_of.push(value.clone());
                    }
                    object.insert(name.clone(), value);
                }
                None if required.contains(&name.as_str()) => return None,
                None => {}
            }
        }
        for name in required.iter().filter(|name| !properties.contains_key(**name)) {
            object.insert(
                (*name).to_owned(),
                Value::from(leaf::text(&Map::new(), self.choice(&self.named(name)))),
            );
        }
        Some(Value::Object(object))
    }

    fn array(
        &self,
        schema: &Map<String, Value>,
        name: &str,
        depth: usize,
        spoken_of: &[Value],
    ) -> Option<Value> {
        let bound = |name: &str| schema.get(name).and_then(Value::as_u64);
        let count = bound("minItems")
            .unwrap_or(0)
            .max(1)
            .min(bound("maxItems").unwrap_or(MOST_ITEMS))
            .min(MOST_ITEMS);
        let item_name = singular(name);
        let first =
            schema.get("prefixItems").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let rest = schema.get("items").filter(|items| !items.is_boolean());
        let mut items = Vec::new();
        for at in 0..usize::try_from(count).ok()?.max(first.len()) {
            let Some(item) = first.get(at).or(rest) else { break };
            // Each of several items speaks of another thing, or they would be the same.
            let want = Want { thing: self.want.thing + at, ..self.want.clone() };
            let inner = Generator {
                root: self.root,
                tool: self.tool,
                noun: self.noun,
                there: self.there,
                on_folders: self.on_folders,
                want: &want,
                pool: self.pool,
                branch: self.branch,
                left: self.left.clone(),
            };
            items.push(inner.value(item, &item_name, depth + 1, spoken_of)?);
            self.left.set(inner.left.get());
        }
        Some(Value::Array(items))
    }

    /// The schema with its references followed and its parts joined; `None` where it says nothing.
    fn resolved(&self, schema: &Value, depth: usize) -> Option<Map<String, Value>> {
        let mut joined = Map::new();
        self.join(schema, &mut joined, depth);
        (!joined.is_empty()).then_some(joined)
    }

    fn join(&self, schema: &Value, joined: &mut Map<String, Value>, depth: usize) {
        let Some(own) = schema.as_object().filter(|_| depth <= DEEPEST) else { return };
        let target =
            own.get("$ref").and_then(Value::as_str).and_then(|reference| reference.strip_prefix('#'));
        if let Some(target) = target.and_then(|pointer| self.root.pointer(pointer)) {
            self.join(target, joined, depth + 1);
        }
        for part in own.get("allOf").and_then(Value::as_array).into_iter().flatten().take(20) {
            self.join(part, joined, depth + 1);
        }
        for (name, value) in own {
            match (name.as_str(), joined.get_mut(name), value) {
                ("allOf" | "$ref" | "oneOf" | "anyOf", _, _) => {}
                ("properties", Some(Value::Object(before)), Value::Object(more)) => {
                    before.extend(more.clone())
                }
                ("required", Some(Value::Array(before)), Value::Array(more)) => {
                    before.extend(more.iter().cloned())
                }
                _ => {
                    joined.insert(name.clone(), value.clone());
                }
            }
        }
        for several in ["oneOf", "anyOf"] {
            let shapes = own.get(several).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            let shapes: Vec<&Value> =
                shapes.iter().filter(|shape| shape.get("type") != Some(&Value::from("null"))).collect();
            if let Some(shape) = shapes.get(self.branch % shapes.len().max(1)) {
                self.join(shape, joined, depth + 1);
            }
        }
    }
}

/// The type that a value shall have.
fn kind(schema: &Map<String, Value>) -> Option<&str> {
    match schema.get("type") {
        Some(Value::String(kind)) => Some(kind),
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null"),
        _ if schema.contains_key("properties") => Some("object"),
        _ if schema.contains_key("items") => Some("array"),
        _ if schema.contains_key("minimum") || schema.contains_key("maximum") => Some("number"),
        _ => Some("string"),
    }
}

fn fits_kind(value: &Value, schema: &Map<String, Value>) -> bool {
    match kind(schema) {
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        Some("string") => value.is_string(),
        _ => true,
    }
}

/// What a description shows: `the account, e.g. "alice"`.
fn quoted(description: &str) -> Option<&str> {
    let shown = ["e.g.", "for example", "such as", "Example:"].iter().find_map(|words| {
        let (_, rest) = description.split_once(words)?;
        let rest = rest.trim_start_matches([' ', ',', ':']);
        let quote = rest.chars().next().filter(|c| "\"'`".contains(*c))?;
        rest.get(quote.len_utf8()..)?.split_once(quote).map(|(inside, _)| inside)
    });
    shown.filter(|shown| !shown.is_empty() && shown.len() <= 80)
}
