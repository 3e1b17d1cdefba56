//! The tables and collections that the sources declare: `CREATE TABLE` in a text, Mongoose schemas, Drizzle tables, Sequelize models,
//! migrations of Knex, the files of schemas.

use interlock_model::ir::{AccessPath, Field, FunctionId, Name, Root, Table, Term};
use rustc_hash::FxHashMap;

use super::{drizzle, knex};
use crate::{
    Arg, Schema, Shape,
    eval::{AbstractValue, Evaluator},
    knowledge::tables_of,
    module::Site,
};

/// Longer texts are no statements that somebody wrote.
const LONGEST: usize = 100_000;

/// The keys of tables, by the tables' names.
pub(crate) type Keys = FxHashMap<String, Vec<Vec<Name>>>;

/// The tables of a tree, those of its schemas included.
pub(super) fn of(eval: &Evaluator<'_, '_>, schemas: &[Schema]) -> Vec<Table> {
    let mut tables = Tables::default();
    for schema in schemas {
        match schema {
            Schema::Prisma(text) => tables.prisma(text),
            Schema::Sql(text) => tables.statements(text),
        }
    }
    let flat = eval.flat;
    for variable in flat.declared.iter().filter_map(|number| flat.variables.get(*number as usize)) {
        if let Some(initial) = &variable.initial {
            tables.texts(initial);
        }
    }
    for site in flat.declaring.iter().filter_map(|number| flat.sites.get(*number as usize)) {
        site.arguments.iter().for_each(|argument| tables.texts(argument));
        tables.model(eval, site);
    }
    tables.found
}

/// What statements find one row by at most.
pub(super) fn keys(tables: &[Table]) -> Keys {
    let mut keys = Keys::default();
    for table in tables {
        // A key of no columns, in a schema that is broken, would be named by every statement.
        let named = table.keys.iter().filter(|key| !key.is_empty());
        keys.entry(Table::plain(&table.name)).or_default().extend(named.cloned());
    }
    keys
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
    model || knex::may_describe(site) || site.arguments.iter().any(may_create)
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

/// The last name of what is called by a name that is written.
fn last_name(path: &AccessPath) -> Option<String> {
    match (path.fields.last(), &path.root) {
        (Some(Field::Name(name)), _) => Some(name.to_string()),
        (None, Root::Global(global)) => global.rsplit("::").next().map(str::to_owned),
        _ => None,
    }
}

#[derive(Default)]
struct Tables {
    found: Vec<Table>,
    names: FxHashMap<Name, usize>,
}

impl Tables {
    fn add(&mut self, table: Table) {
        let at = *self.names.entry(table.name.clone()).or_insert(self.found.len());
        match self.found.get_mut(at) {
            // An index may add a key to a table that is declared elsewhere.
            Some(known) => {
                known.keys.extend(table.keys);
                if known.columns.is_empty() {
                    known.columns = table.columns;
                }
            }
            None => self.found.push(table),
        }
    }

    fn statements(&mut self, text: &str) {
        if text.len() <= LONGEST {
            tables_of(text).into_iter().for_each(|table| self.add(table));
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
                    // A table whose name is a constant goes by the name of that, as in the statements on it.
                    Term::Path(path) => last_name(path).unwrap_or_else(|| "x".to_owned()),
                    _ => "x".to_owned(),
                };
                let text: String = parts.iter().map(part).collect();
                let lower = text.to_ascii_lowercase();
                if lower.contains("table") || lower.contains("unique") {
                    self.statements(&text);
                }
            }
            Shape::Object(members) => members.iter().for_each(|(_, member)| self.texts(member)),
            Shape::List(items) => items.iter().for_each(|item| self.texts(item)),
            _ => {}
        }
    }

    /// A call that declares a model or a table.
    fn model(&mut self, eval: &Evaluator<'_, '_>, site: &Site) {
        let Some(callee) = &site.callee else { return };
        let [name, described, ..] = &*site.arguments else { return };
        let Some(name) = name.literal() else { return };
        let (columns, keys) = match eval.path(FunctionId(site.within), callee) {
            AbstractValue::Export(library, path)
                if library.starts_with("drizzle-orm/") && path.ends_with("Table") =>
            {
                (members(described), drizzle::keys(eval, site))
            }
            AbstractValue::Export(library, path) if &*library == "mongoose" && &*path == "model" => {
                self.schema(eval, site, described)
            }
            _ if matches!(callee.fields.last(), Some(Field::Name(last)) if &**last == "define") => {
                (members(described), unique_members(described))
            }
            _ => match described.shape {
                Shape::Function { function, .. } if knex::may_describe(site) => {
                    knex::described(eval, function)
                }
                _ => return,
            },
        };
        if !columns.is_empty() {
            self.add(Table { name: name.clone(), columns, keys });
        }
    }

    /// The fields of a Mongoose schema, written here or elsewhere, and its keys.
    fn schema(&self, eval: &Evaluator<'_, '_>, site: &Site, described: &Arg) -> (Vec<Name>, Vec<Vec<Name>>) {
        let made = match (&described.shape, &described.term) {
            (Shape::Call(made), _) => Some(*made),
            (_, Term::Path(path)) => eval
                .place_of(FunctionId(site.within), path)
                .and_then(|place| eval.index.variables(&place).next())
                .and_then(|variable| eval.flat.variables.get(variable))
                .and_then(|variable| match &variable.initial.as_ref()?.shape {
                    Shape::Call(made) => Some(*made),
                    _ => None,
                }),
            _ => None,
        };
        let Some(made) = made.and_then(|made| eval.flat.sites.get(made as usize)) else {
            return (vec![], vec![]);
        };
        let described = made.arguments.first();
        let mut columns = described.map(members).unwrap_or_default();
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
        (columns, described.map(unique_members).unwrap_or_default())
    }

    /// `model User { id Int @id … }`
    fn prisma(&mut self, schema: &str) {
        let mut open: Option<Table> = None;
        for line in schema.lines() {
            let mut words = line.split_whitespace();
            match (words.next(), &mut open) {
                (Some("model"), None) => {
                    open = words.next().map(|name| name.trim_end_matches('{').into()).map(|name| Table {
                        name,
                        columns: vec![],
                        keys: vec![],
                    });
                }
                (Some("}"), _) => {
                    if let Some(table) = open.take() {
                        self.add(table);
                    }
                }
                (Some(column), Some(table)) if !column.starts_with(['/', '@']) => {
                    table.columns.push(column.into());
                    if words.any(|word| word.starts_with("@id") || word.starts_with("@unique")) {
                        table.keys.push(vec![column.into()]);
                    }
                }
                // `@@unique([list, position])`
                (Some(word), Some(table)) if word.starts_with("@@id") || word.starts_with("@@unique") => {
                    let inside = line.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
                    if let Some((columns, _)) = inside {
                        table.keys.push(columns.split(',').map(|column| column.trim().into()).collect());
                    }
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

/// The members that say of themselves that no two have the same: `{ email: { type: String, unique: true } }`.
fn unique_members(arg: &Arg) -> Vec<Vec<Name>> {
    let Shape::Object(members) = &arg.shape else { return vec![] };
    let is_unique = |described: &Arg| {
        ["unique", "primaryKey"]
            .iter()
            .any(|name| described.member(name).is_some_and(|said| said.shape == Shape::Bool(true)))
    };
    members.iter().filter(|(_, described)| is_unique(described)).map(|(name, _)| vec![name.clone()]).collect()
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
