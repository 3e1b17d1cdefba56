//! The tables and collections that the sources declare: `CREATE TABLE` in a text, Mongoose schemas, Drizzle tables, Sequelize models,
//! Prisma's schema file.

use interlock_model::ir::{FunctionId, Name, Table, Term};
use rustc_hash::FxHashSet;

use super::meaning::{Meaning, Meanings};
use crate::{Arg, Shape, knowledge::tables_of, typescript::module::Site};

/// Longer texts are no statements that somebody wrote.
const LONGEST: usize = 100_000;

/// The tables of a tree, those of `schemas` (texts of Prisma's schema files) included.
pub(super) fn of<'s>(meanings: &Meanings<'_>, schemas: impl Iterator<Item = &'s str>) -> Vec<Table> {
    let mut tables = Tables::default();
    schemas.for_each(|schema| tables.prisma(schema));
    let flat = meanings.flat;
    for variable in flat.declared.iter().filter_map(|number| flat.variables.get(*number as usize)) {
        if let Some(initial) = &variable.initial {
            tables.texts(initial);
        }
    }
    for site in flat.declaring.iter().filter_map(|number| flat.sites.get(*number as usize)) {
        site.arguments.iter().for_each(|argument| tables.texts(argument));
        tables.model(meanings, site);
    }
    tables.found
}

/// Whether a call may declare a table, as far as that can be told before anything is looked up. Hardly any does.
pub(super) fn may_declare(site: &Site) -> bool {
    let model = match &*site.arguments {
        [name, described, ..] if site.callee.is_some() && name.literal().is_some() => {
            matches!(described.shape, Shape::Object(_) | Shape::Call(_))
                || matches!(described.term, Term::Path(_))
        }
        _ => false,
    };
    model || site.arguments.iter().any(may_create)
}

/// Whether a statement that makes a table may stand in an argument.
pub(super) fn may_create(arg: &Arg) -> bool {
    match &arg.shape {
        Shape::Text(parts) => text_may_create(parts),
        Shape::Object(members) => members.iter().any(|(_, member)| may_create(member)),
        Shape::List(items) => items.iter().any(may_create),
        _ => false,
    }
}

fn text_may_create(parts: &[Term]) -> bool {
    // Most texts are names and messages, and too short to make a table.
    if let [Term::Literal(text)] = parts
        && text.len() < "create table t".len()
    {
        return false;
    }
    parts.iter().any(|part| matches!(part, Term::Literal(text) if contains_create(text)))
}

#[derive(Default)]
struct Tables {
    found: Vec<Table>,
    names: FxHashSet<Name>,
}

impl Tables {
    fn add(&mut self, table: Table) {
        if self.names.insert(table.name.clone()) {
            self.found.push(table);
        }
    }

    /// Statements in the texts of an argument.
    fn texts(&mut self, arg: &Arg) {
        match &arg.shape {
            Shape::Text(parts) => {
                if !text_may_create(parts) {
                    return;
                }
                let part = |part: &'_ Term| match part {
                    Term::Literal(text) => text.to_string(),
                    _ => "x".to_owned(),
                };
                let text: String = parts.iter().map(part).collect();
                if text.len() <= LONGEST && text.to_ascii_lowercase().contains("table") {
                    tables_of(&text).into_iter().for_each(|table| self.add(table));
                }
            }
            Shape::Object(members) => members.iter().for_each(|(_, member)| self.texts(member)),
            Shape::List(items) => items.iter().for_each(|item| self.texts(item)),
            _ => {}
        }
    }

    /// A call that declares a model or a table.
    fn model(&mut self, meanings: &Meanings<'_>, site: &Site) {
        let Some(callee) = &site.callee else { return };
        let [name, described, ..] = &*site.arguments else { return };
        let Some(name) = name.literal() else { return };
        let columns = match meanings.path(FunctionId(site.within), callee) {
            Meaning::Export(library, path)
                if library.starts_with("drizzle-orm/") && path.ends_with("Table") =>
            {
                members(described)
            }
            Meaning::Export(library, path) if &*library == "mongoose" && &*path == "model" => {
                self.schema(meanings, site, described)
            }
            _ if matches!(callee.fields.last(), Some(interlock_model::ir::Field::Name(last)) if &**last == "define") => {
                members(described)
            }
            _ => return,
        };
        if !columns.is_empty() {
            self.add(Table { name: name.clone(), columns });
        }
    }

    /// The fields of a Mongoose schema, written here or elsewhere.
    fn schema(&self, meanings: &Meanings<'_>, site: &Site, described: &Arg) -> Vec<Name> {
        let made = match (&described.shape, &described.term) {
            (Shape::Call(made), _) => Some(*made),
            (_, Term::Path(path)) => meanings
                .place_of(FunctionId(site.within), path)
                .and_then(|place| meanings.index.variables(&place).next())
                .and_then(|variable| meanings.flat.variables.get(variable))
                .and_then(|variable| match &variable.initial.as_ref()?.shape {
                    Shape::Call(made) => Some(*made),
                    _ => None,
                }),
            _ => None,
        };
        let Some(made) = made.and_then(|made| meanings.flat.sites.get(made as usize)) else { return vec![] };
        let mut columns = made.arguments.first().map(members).unwrap_or_default();
        let option = |name: &str| made.arguments.get(1).and_then(|options| options.member(name));
        if !columns.is_empty() {
            // Mongoose counts changes itself, and raises the number only where asked to; times are kept only where asked for.
            let is_on = |name: &str| {
                option(name).is_some_and(|arg| !matches!(arg.shape, Shape::Bool(false) | Shape::Null))
            };
            if is_on("optimisticConcurrency") {
                columns.push("version".into());
            }
            if is_on("timestamps") {
                columns.push("updatedAt".into());
            }
        }
        columns
    }

    /// `model User { id Int @id … }`
    fn prisma(&mut self, schema: &str) {
        let mut open: Option<Table> = None;
        for line in schema.lines() {
            let mut words = line.split_whitespace();
            match (words.next(), &mut open) {
                (Some("model"), None) => {
                    open = words
                        .next()
                        .map(|name| Table { name: name.trim_end_matches('{').into(), columns: vec![] });
                }
                (Some("}"), _) => {
                    if let Some(table) = open.take() {
                        self.add(table);
                    }
                }
                (Some(column), Some(table)) if !column.starts_with(['/', '@']) => {
                    table.columns.push(column.into())
                }
                _ => {}
            }
        }
    }
}

/// The names of an object's members.
fn members(arg: &Arg) -> Vec<Name> {
    match &arg.shape {
        Shape::Object(members) => {
            members.iter().map(|(name, _)| name.clone()).filter(|name| &**name != "...").collect()
        }
        _ => vec![],
    }
}

/// Whether a text may hold a statement that makes a table; asked of every text, so it must be cheap.
fn contains_create(text: &str) -> bool {
    let (word, mut rest) = (b"create", text.as_bytes());
    // Without a way out of it, a processor does this for many bytes at once.
    let begins = |(one, two): (&u8, &u8)| (*one | 0x20 == b'c') & (*two | 0x20 == b'r');
    let pairs = rest.iter().zip(rest.get(1..).unwrap_or_default());
    if !pairs.fold(false, |found, pair| found | begins(pair)) {
        return false;
    }
    while let Some(at) = rest.iter().position(|byte| byte.eq_ignore_ascii_case(&b'c')) {
        let Some(found) = rest.get(at..at + word.len()) else { return false };
        if found.eq_ignore_ascii_case(word) {
            return true;
        }
        rest = rest.get(at + 1..).unwrap_or_default();
    }
    false
}
