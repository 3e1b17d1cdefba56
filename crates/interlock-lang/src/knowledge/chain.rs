//! Statements that are put together call by call: `db.update(t).set(v).where(c)`.

use interlock_model::ir::{AccessPath, Aspect, Body, Comparator, Name, Root, Term, Via};

use crate::{Arg, Kind, Made, Shape};

use super::{
    filter,
    format::Clause,
    scene::Scene,
    sql::{self, Parameters},
    statement::{Conflict, Demand, Set, Statement, To, Verb},
};

/// Runs the statement that an object has become, and says what it gives.
pub(super) fn run(scene: &Scene<'_>, kind: &Kind, body: &mut Body<'_>) -> Option<Kind> {
    let (statement, via) = statement(scene, kind)?;
    let row = matches!(statement.verb, Verb::Read { .. } | Verb::Update | Verb::Insert);
    statement.emit(scene.call.surroundings, body, scene.take_into(), via);
    let rows = scene.knowledge.object(&kind.name)?.rows().filter(|_| row)?;
    Some(Kind { name: rows.into(), ..kind.clone() })
}

/// The statement that the calls on an object amount to, and which way it goes.
pub(super) fn statement(scene: &Scene<'_>, kind: &Kind) -> Option<(Statement, Option<Via>)> {
    let object = scene.knowledge.object(&kind.name)?;
    let object = object.found_by().and_then(|name| scene.knowledge.object(name)).unwrap_or(object);
    let table = kind.subject.clone().unwrap_or_else(|| scene.table());
    let mut chain = Chain {
        scene,
        statement: Statement::read(table),
        via: kind.via.clone(),
        greatest_first: false,
        one: false,
        totals: false,
        typed: false,
        object: None,
    };
    for made in &kind.made {
        if let Some(clause) = object.clause(&made.by) {
            chain.say(clause, &made.arguments);
        }
    }
    let is_grouped = kind.made.iter().any(|made| &*made.by == "groupBy");
    if chain.totals && !is_grouped {
        chain.look_at(Aspect::Total);
    }
    // The greatest of all is what the store makes of all rows at once.
    if chain.greatest_first && (chain.one || ONE.contains(&scene.name)) {
        chain.look_at(Aspect::Total);
    }
    Some((chain.statement, chain.via))
}

/// The calls that run a statement and give only the first row of it.
const ONE: [&str; 5] = ["get", "getOne", "getOneOrFail", "getRawOne", "executeTakeFirst"];

pub(super) struct Chain<'s, 'a> {
    pub(super) scene: &'s Scene<'a>,
    pub(super) statement: Statement,
    via: Option<Via>,
    /// Whether the greatest comes first.
    greatest_first: bool,
    /// Whether one row is all that is asked for.
    pub(super) one: bool,
    /// Whether each column that is asked for is a number that the store makes of all rows.
    totals: bool,
    /// Whether the type of an object has said which table it is.
    pub(super) typed: bool,
    /// The object that stands for the row.
    pub(super) object: Option<Arg>,
}

impl Chain<'_, '_> {
    pub(super) fn say(&mut self, clause: Clause, arguments: &[Arg]) {
        let (first, second) = (arguments.first(), arguments.get(1));
        match clause {
            Clause::Skip => {}
            Clause::Table => self.table(first),
            Clause::Entity => self.entity(first),
            Clause::EntityId => {
                self.entity(first);
                self.by_id(second);
            }
            Clause::WhereAll => arguments.iter().for_each(|one| self.filter(std::slice::from_ref(one))),
            Clause::Columns => self.columns(arguments),
            Clause::Where => self.filter(arguments),
            Clause::Equal => self.compare(first, Comparator::Equal, second),
            Clause::Different => self.compare(first, Comparator::Different, second),
            Clause::AtLeast => self.compare(first, Comparator::AtLeast, second),
            Clause::AtMost => self.compare(first, Comparator::AtMost, second),
            Clause::OtherWay => self.compare(first, Comparator::Other, None),
            Clause::UpdateTable => {
                self.statement.verb = Verb::Update;
                self.table(first);
            }
            Clause::InsertTable => {
                self.statement.verb = Verb::Insert;
                self.table(first);
            }
            Clause::RemoveTable => {
                self.statement.verb = Verb::Delete;
                self.table(first);
            }
            Clause::Values => self.values(first),
            Clause::Update => {
                self.statement.verb = Verb::Update;
                self.column_and_value(first, second);
                // `update(values, { where })`
                if let Some(filter) = second.and_then(|options| options.member("where")) {
                    self.filter(std::slice::from_ref(filter));
                }
            }
            Clause::Insert | Clause::Upsert => {
                self.statement.verb = Verb::Insert;
                self.values(first);
                if clause == Clause::Upsert {
                    self.statement.conflict = Conflict::Overwrite;
                }
            }
            Clause::Ensure => {
                self.statement.verb = Verb::Insert;
                self.statement.conflict = Conflict::Ignore;
                self.values(first);
            }
            Clause::Remove => self.statement.verb = Verb::Delete,
            Clause::Increment => {
                self.increment(first, second);
                if let Some(filter) = second.and_then(|options| options.member("where")) {
                    self.filter(std::slice::from_ref(filter));
                }
            }
            Clause::Lock => {
                if let Verb::Read { locking, .. } = &mut self.statement.verb {
                    *locking = true;
                }
            }
            Clause::Ignore => self.statement.conflict = Conflict::Ignore,
            Clause::Merge => self.merge(first),
            Clause::Total => self.look_at(Aspect::Total),
            Clause::Order => self.order(arguments),
            Clause::Limit => self.one |= first.is_none_or(is_one),
            Clause::First => {
                self.one = true;
                self.columns(arguments);
            }
            Clause::Find | Clause::FindOne | Clause::FindTotal | Clause::Exists => {
                match clause {
                    Clause::FindOne => self.one = true,
                    Clause::Exists => self.look_at(Aspect::Existence),
                    Clause::FindTotal => self.look_at(Aspect::Total),
                    _ => {}
                }
                self.find(first);
                self.columns(arguments.get(1..2).unwrap_or_default());
            }
            Clause::Constraints => {
                for constraint in arguments.iter().skip(1) {
                    let made = self.scene.kind_of(constraint).and_then(|kind| kind.made.last().cloned());
                    match made {
                        Some(Made { by, arguments }) if &*by == "where" => self.filter(&arguments),
                        // An order, a limit, a place to begin at.
                        Some(Made { by, .. }) if !matches!(&*by, "and" | "or") => {}
                        _ => self.statement.unreadable = true,
                    }
                }
            }
            Clause::FindId => {
                self.by_id(first);
                self.lock_as_told(second);
            }
            Clause::UpdateWhere | Clause::ReplaceWhere => {
                self.statement.verb = Verb::Update;
                self.filter(arguments.get(..1).unwrap_or_default());
                self.replacement(clause, second);
            }
            Clause::UpdateId => {
                self.statement.verb = Verb::Update;
                self.by_id(first);
                self.values(second);
            }
            Clause::RemoveWhere => {
                self.statement.verb = Verb::Delete;
                self.find(first);
            }
            Clause::RemoveId => {
                self.statement.verb = Verb::Delete;
                self.by_id(first);
            }
            Clause::Condition => self.condition(arguments),
            Clause::Object
            | Clause::OneObject
            | Clause::OwnObject
            | Clause::SaveObject
            | Clause::InsertObject
            | Clause::EnsureObject
            | Clause::RemoveObject => self.object(clause, arguments),
            Clause::SetText => self.set_text(arguments),
            Clause::OwnKey => self.own_key(),
            Clause::Told => arguments.iter().for_each(|told| self.told(told)),
            Clause::Connection => {
                if let Some(Term::Path(path)) = first.map(|arg| &arg.term) {
                    self.via = Some(Via::Client(path.clone()));
                }
            }
        }
    }

    fn order(&mut self, arguments: &[Arg]) {
        self.greatest_first |= arguments.iter().any(|arg| is_descending(self.scene, arg));
    }

    fn look_at(&mut self, side: Aspect) {
        if let Verb::Read { aspect, .. } = &mut self.statement.verb {
            *aspect = side;
        }
    }

    /// A filter, or an object with one in it: `{ where, lock, select }`.
    fn find(&mut self, arg: Option<&Arg>) {
        let Some(arg) = arg else { return };
        let known = self.scene.known(std::borrow::Cow::Borrowed(arg));
        let options = ["where", "lock", "select", "attributes", "relations", "transaction", "order"];
        if !options.iter().any(|option| known.member(option).is_some()) {
            self.filter(std::slice::from_ref(arg));
            return;
        }
        if let Some(filter) = known.member("where") {
            self.filter(std::slice::from_ref(filter));
        }
        if let Some(columns) = known.member("select").or_else(|| known.member("attributes")) {
            self.columns(std::slice::from_ref(columns));
        }
        if let Some(order) = known.member("order") {
            self.order(std::slice::from_ref(order));
        }
        self.one |= known.member("take").or_else(|| known.member("limit")).is_some_and(is_one);
        self.lock_as_told(Some(&known));
    }

    /// `{ lock: true }`, `{ lock: transaction.LOCK.UPDATE }`, `{ lock: { mode: "pessimistic_write" } }`.
    fn lock_as_told(&mut self, options: Option<&Arg>) {
        let lock = options.and_then(|options| options.member("lock"));
        if lock.is_some_and(|lock| !matches!(lock.shape, Shape::Bool(false) | Shape::Null)) {
            self.say(Clause::Lock, &[]);
        }
    }

    fn table(&mut self, arg: Option<&Arg>) {
        if let Some(arg) = arg {
            self.statement.table = self.scene.table_named_by(arg);
        }
    }

    /// A table, or the one that a column belongs to.
    fn entity(&mut self, arg: Option<&Arg>) {
        let Some(arg) = arg else { return };
        match &arg.term {
            Term::Path(AccessPath { root: Root::Global(name), fields }) if !fields.is_empty() => {
                let own = name.rsplit("::").next().unwrap_or(name);
                self.statement.table = Term::Literal(own.into());
            }
            _ => self.table(Some(arg)),
        }
    }

    fn columns(&mut self, arguments: &[Arg]) {
        for arg in arguments {
            if let Some(of) = filter::totals_of(self.scene, arg) {
                self.totals = true;
                self.statement.columns.extend(of);
                continue;
            }
            let named = filter::columns_of(self.scene, arg);
            if named.is_empty() {
                self.statement.columns.clear();
                return;
            }
            self.statement.columns.extend(named);
        }
    }

    /// An object, a condition, text with parameters, a column and a value, or a column, an operator and a value.
    pub(super) fn filter(&mut self, arguments: &[Arg]) {
        match arguments {
            [] => {}
            [only] => match filter::demands(self.scene, only) {
                Some(demands) => self.statement.demands.extend(demands),
                None => self.statement.unreadable = true,
            },
            [text, parameters] if text.literal().is_some_and(|text| text.contains([' ', '?', '='])) => {
                let Shape::Text(parts) = &text.shape else { return };
                let parameters = match &parameters.shape {
                    Shape::List(items) => {
                        Parameters { list: items.iter().collect(), ..Parameters::default() }
                    }
                    Shape::Object(_) => Parameters { named: Some(parameters), ..Parameters::default() },
                    _ => Parameters { list: vec![parameters], opaque: Some(parameters), named: None },
                };
                match sql::condition(parts, &parameters) {
                    Some(demands) => self.statement.demands.extend(demands),
                    None => self.statement.unreadable = true,
                }
            }
            [column, value] => self.compare(Some(column), Comparator::Equal, Some(value)),
            [column, how, value, ..] => {
                let how = filter::symbol(how).unwrap_or(Comparator::Other);
                self.compare(Some(column), how, Some(value));
            }
        }
    }

    fn compare(&mut self, column: Option<&Arg>, how: Comparator, with: Option<&Arg>) {
        let Some(column) = column.and_then(filter::column_of) else {
            self.statement.unreadable = true;
            return;
        };
        let with = with.map_or(Term::Unknown, |with| self.scene.name_of(with));
        self.statement.demands.push(Demand { column, how, with });
    }

    pub(super) fn by_id(&mut self, id: Option<&Arg>) {
        if let Some(id) = id {
            self.statement.demands.extend(filter::by_id(self.scene, id));
        }
    }

    pub(super) fn values(&mut self, arg: Option<&Arg>) {
        if let Some(arg) = arg {
            self.statement.sets.extend(filter::sets(self.scene, arg));
        }
    }

    fn column_and_value(&mut self, column: Option<&Arg>, value: Option<&Arg>) {
        match (column, value) {
            (Some(column), Some(value)) if column.literal().is_some() => {
                let name = filter::column_of(column);
                let set = Set::to_given(name, self.scene.name_of(value), value.values.clone());
                self.statement.sets.push(set);
            }
            (object, _) => self.values(object),
        }
    }

    fn replacement(&mut self, clause: Clause, with: Option<&Arg>) {
        if clause == Clause::ReplaceWhere {
            let values = with.map(|with| with.values.clone()).unwrap_or_default();
            self.statement.sets.push(Set { column: None, to: To::Absolute, term: Term::Unknown, values });
        } else {
            self.values(with);
        }
    }

    fn increment(&mut self, column: Option<&Arg>, by: Option<&Arg>) {
        self.statement.verb = Verb::Update;
        let by = by.map(|by| by.member("by").unwrap_or(by));
        let values = by.map(|by| by.values.clone()).unwrap_or_default();
        let columns: Vec<Option<Name>> = match column.map(|column| &column.shape) {
            Some(Shape::Object(members)) => members.iter().map(|(name, _)| Some(name.clone())).collect(),
            _ => vec![column.and_then(filter::column_of)],
        };
        let relative = |column| Set { column, to: To::Relative, term: Term::Unknown, values: values.clone() };
        self.statement.sets.extend(columns.into_iter().map(relative));
    }

    /// What an insert does to a row that is there.
    fn merge(&mut self, with: Option<&Arg>) {
        self.statement.conflict = Conflict::Overwrite;
        let Some(with) = with else { return };
        let set = with.member("set").unwrap_or(with);
        for set in filter::sets(self.scene, set).into_iter().filter(|set| set.to == To::Relative) {
            match self.statement.sets.iter_mut().find(|old| old.column == set.column) {
                Some(old) => old.to = To::Relative,
                None => self.statement.sets.push(set),
            }
        }
        if let Some(when) = with.member("where").or_else(|| with.member("setWhere")) {
            self.statement.on_conflict.extend(filter::demands(self.scene, when).unwrap_or_default());
        }
    }
}

/// Whether an order begins with the greatest: `"position", "desc"`, `"-position"`, `{ position: -1 }`, `{ ascending: false }`,
/// `[["position", "DESC"]]`, `desc(cards.position)`.
fn is_descending(scene: &Scene<'_>, arg: &Arg) -> bool {
    let says = |text: &str| {
        text.starts_with('-') || text.eq_ignore_ascii_case("desc") || text.eq_ignore_ascii_case("descending")
    };
    match &arg.shape {
        Shape::Object(members) => members.first().is_some_and(|(_, value)| {
            matches!(value.shape, Shape::Bool(false)) || is_descending(scene, value)
        }),
        Shape::List(items) => items.iter().any(|item| is_descending(scene, item)),
        Shape::Number(number) => *number < 0,
        Shape::Call(_) => {
            scene.kind_of(arg).is_some_and(|kind| kind.made.last().is_some_and(|made| &*made.by == "desc"))
        }
        _ => arg.literal().is_some_and(|text| says(text)),
    }
}

fn is_one(arg: &Arg) -> bool {
    matches!(arg.shape, Shape::Number(1))
}
