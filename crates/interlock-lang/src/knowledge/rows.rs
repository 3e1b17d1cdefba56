//! Statements on rows: as text, as filters, or of an object that was read before.

use interlock_model::ir::{Block, Body, Comparator, Condition, Op, Origin, Term, Value, WriteMode};

use crate::{Arg, Shape};

use super::{
    act::{aspect, find, from, mode},
    chain, filter,
    format::{Do, Entry, Mode},
    guard, path,
    place::Place,
    scene::{Scene, text_of},
    sql::{self, Parameters, Said},
    statement::{Conflict, Demand, Set, Statement, To, Verb},
};

/// How many texts are told apart of which one is run.
const MOST_WAYS: usize = 8;

/// The text that an argument is, or that was made into it: a prepared or tagged statement.
fn text_in(scene: &Scene<'_>, arg: &Arg) -> Option<Arg> {
    match &arg.shape {
        Shape::Text(_) => Some(arg.clone()),
        Shape::Object(_) => ["sql", "text", "query"].iter().find_map(|name| arg.member(name)).cloned(),
        _ => {
            let kind = scene.kind_of(arg)?;
            kind.made.last()?.arguments.first().filter(|text| matches!(text.shape, Shape::Text(_))).cloned()
        }
    }
}

pub(super) fn sql(scene: &Scene<'_>, entry: &Entry, body: &mut Body<'_>) {
    let Some(arg) = find(scene, entry.at.as_ref()) else { return };
    let inside = ["values", "args", "params"].iter().find_map(|name| arg.member(name)).cloned();
    let given = inside.or_else(|| find(scene, entry.parameters.as_ref()));
    run_sql(scene, &arg, given.as_ref(), body);
}

/// Runs a text. Nothing is written down for what is no SQL.
pub(super) fn run_sql(scene: &Scene<'_>, arg: &Arg, given: Option<&Arg>, body: &mut Body<'_>) {
    if let Shape::Choice(ways) = &arg.shape
        && ways.iter().any(sql::looks_like_sql)
    {
        return run_one_of(scene, arg, ways, given, body);
    }
    let Some(text) = text_in(scene, arg) else { return };
    let Shape::Text(parts) = &text.shape else { return };
    let mut parameters = Parameters::default();
    match given.map(|given| (&given.shape, given)) {
        // `run(a, b)` and `run([a, b])` and `run({ a, b })`, each perhaps with a callback behind it.
        Some((Shape::List(items), _)) => {
            let items = items.iter().filter(|item| !matches!(item.shape, Shape::Function { .. }));
            let items: Vec<&Arg> = items.collect();
            match items.as_slice() {
                [Arg { shape: Shape::List(inner), .. }] => parameters.list = inner.iter().collect(),
                [object @ Arg { shape: Shape::Object(_), .. }] => parameters.named = Some(object),
                _ => parameters.list = items,
            }
            parameters.list = spread_out(parameters.list, || sql::count_marks(parts));
        }
        Some((Shape::Object(_), object)) => parameters.named = Some(object),
        other => parameters.opaque = other.map(|(_, given)| given),
    }
    let parts: Vec<Term> = parts.iter().map(|part| table_in(scene, part)).collect();
    let seen = scene.call.surroundings.seen();
    let Some(said) = sql::read(&parts, &parameters, scene.engine(), seen) else { return };
    let reads = said
        .iter()
        .filter(|said| matches!(said, Said::Statement(Statement { verb: Verb::Read { .. }, .. })))
        .count();
    let all = if reads > 1 { scene.take_into() } else { None };
    let mut seen = vec![];
    for said in said {
        match said {
            Said::Statement(statement) => {
                let is_read = matches!(statement.verb, Verb::Read { .. });
                let into = if is_read && all.is_some() {
                    let part = body.declare("rows", Origin::Step);
                    seen.push(part);
                    Some(part)
                } else {
                    scene.take_into()
                };
                statement.emit(scene.call.surroundings, body, into, scene.via());
            }
            said => guard::said(scene, said, body),
        }
    }
    if let Some(into) = all {
        body.push(Op::Derive { into, from: seen, term: Term::Unknown });
    }
}

/// The parameters with what stands for several of them as often as the text has marks for it: `(*columns, id)`.
fn spread_out(items: Vec<&Arg>, marks: impl Fn() -> usize) -> Vec<&Arg> {
    let is_spread = |item: &&Arg| matches!(&item.shape, Shape::Choice(ways) if ways.len() == 1);
    let mut spread = items.iter().enumerate().filter(|(_, item)| is_spread(item));
    let (Some((at, stands)), None) = (spread.next(), spread.next()) else { return items };
    let Some(times) = (marks() + 1).checked_sub(items.len()) else { return items };
    let (before, behind) = items.split_at(at);
    let between = std::iter::repeat_n(*stands, times);
    before.iter().copied().chain(between).chain(behind.iter().skip(1).copied()).collect()
}

/// Runs one of several texts, each behind what decides between them.
fn run_one_of(scene: &Scene<'_>, arg: &Arg, ways: &[Arg], given: Option<&Arg>, body: &mut Body<'_>) {
    let into = scene.take_into();
    let mut results = vec![];
    let mut steps: Vec<Block> = vec![];
    for way in ways.iter().filter(|way| sql::looks_like_sql(way)).take(MOST_WAYS) {
        let result = body.declare("rows", Origin::Step);
        scene.set_into(Some(result));
        let step = body.nested(|body| run_sql(scene, way, given, body));
        if scene.take_into().is_none() {
            results.push(result);
        }
        steps.push(step);
    }
    put_one_of(&arg.values, &mut steps.into_iter(), body);
    if let Some(into) = into {
        body.push(Op::Derive { into, from: results, term: Term::Unknown });
    }
}

fn put_one_of(on: &[Value], ways: &mut std::vec::IntoIter<Block>, body: &mut Body<'_>) {
    let Some(then) = ways.next() else { return };
    if ways.len() == 0 {
        then.into_iter().for_each(|step| body.push(step.op));
        return;
    }
    let otherwise = body.nested(|body| put_one_of(on, ways, body));
    body.push(Op::Check { on: on.to_vec(), equal: None, asks: vec![], then, otherwise });
}

/// A part of a text, with the name of a table in place of the table: `` sql`SELECT * FROM ${users}` ``.
fn table_in(scene: &Scene<'_>, part: &Term) -> Term {
    let Term::Path(path) = part else { return part.clone() };
    let known = scene.call.surroundings.kind(path).and_then(|kind| kind.subject);
    match known {
        Some(Term::Literal(name)) => Term::Literal(name),
        _ => part.clone(),
    }
}

/// A statement on the rows of the object's table.
pub(super) fn rows(scene: &Scene<'_>, entry: &Entry, body: &mut Body<'_>) {
    let table = match (find(scene, entry.table.as_ref()), find(scene, entry.subject.as_ref())) {
        (Some(arg), _) => scene.table_named_by(&arg),
        (None, Some(arg)) => text_of(&arg).map_or_else(|| scene.name_of(&arg), Term::Literal),
        (None, None) => scene.table(),
    };
    let verb = match entry.r#do {
        Do::Update | Do::UpdateId | Do::Replace => Verb::Update,
        Do::Insert => Verb::Insert,
        Do::Remove | Do::RemoveId => Verb::Delete,
        _ => Verb::Read { aspect: aspect(entry), locking: entry.locking },
    };
    let mut statement = Statement::new(verb, table);
    let named = path::named_by(scene, entry);
    if let Some(named) = &named {
        named.say(&mut statement);
        let set = find(scene, entry.set.as_ref());
        let paths = set.as_ref().map(|set| path::paths_in(entry, set)).unwrap_or_default();
        for (path, value) in &paths {
            let mut one = Statement::new(Verb::Update, Term::Unknown);
            let named = named.below(path);
            named.say(&mut one);
            one.sets.push(Set::to_given(None, Term::Unknown, value.values.clone()));
            named.narrow(&mut one);
            one.emit(scene.call.surroundings, body, scene.take_into(), scene.via());
        }
        // Of an update of the whole store nothing says what else it is about.
        if !paths.is_empty() || verb == Verb::Update && named.is_whole() {
            return;
        }
    }
    let by_id = matches!(entry.r#do, Do::FindId | Do::UpdateId | Do::RemoveId);
    statement.unique = entry.unique || by_id;
    match find(scene, entry.filter.as_ref()) {
        Some(id) if by_id && !matches!(id.shape, Shape::Object(_)) => {
            statement.demands = filter::by_id(scene, &id);
        }
        Some(arg) => match filter::demands(scene, &arg) {
            Some(demands) => statement.demands = demands,
            None => statement.unreadable = true,
        },
        None => {}
    }
    let unchanged =
        entry.unchanged.as_ref().and_then(|(field, place)| Some((field, find(scene, Some(place))?)));
    let is_guarded = unchanged.is_some();
    if let Some((field, was)) = unchanged {
        // A text says in the store's own words what must hold; anything else is what the field must still be.
        let (how, with) = match was.shape {
            Shape::Text(_) => (Comparator::Other, Term::Unknown),
            _ => (Comparator::Equal, scene.name_of(&was)),
        };
        statement.demands.push(Demand { column: field.as_str().into(), how, with });
    }
    if let Some(columns) = find(scene, entry.columns.as_ref()) {
        statement.columns = filter::columns_of(scene, &columns);
    }
    if let Some(set) = find(scene, entry.set.as_ref()) {
        statement.sets = if entry.r#do == Do::Replace {
            vec![Set { column: None, to: To::Absolute, term: Term::Unknown, values: set.values }]
        } else {
            filter::sets(scene, &set)
        };
    }
    // What a row is found by stays what it is, and is no condition on it where it is written along.
    if by_id {
        statement.sets.retain(|set| set.column.as_deref() != Some("id"));
    }
    if let Some(key) = find(scene, entry.key.as_ref()).filter(|_| verb == Verb::Insert) {
        statement.sets.retain(|set| set.column.as_deref() != Some("id"));
        let id = Set::to_given(Some("id".into()), scene.name_of(&key), key.values);
        statement.sets.insert(0, id);
    }
    if let Some(whole) = find(scene, entry.from.as_ref()).filter(|_| entry.mode != Some(Mode::Atomic)) {
        statement.sets.push(Set::to_given(None, Term::Unknown, whole.values));
    }
    if let Some(named) = &named {
        named.narrow(&mut statement);
    }
    if verb == Verb::Update && entry.mode == Some(Mode::Atomic) {
        let values = from(scene, entry);
        let relative = |column| Set { column, to: To::Relative, term: Term::Unknown, values: values.clone() };
        let columns = std::mem::take(&mut statement.columns);
        statement.sets = match columns.is_empty() {
            true => vec![relative(None)],
            false => columns.into_iter().map(|column| relative(Some(column))).collect(),
        };
    }
    let upserts = |place: &Place| find(scene, Some(place)).is_some_and(|arg| arg.shape != Shape::Bool(false));
    if verb == Verb::Insert && entry.upsert.as_ref().is_some_and(upserts) {
        statement.conflict = Conflict::Overwrite;
        statement.on_conflict = std::mem::take(&mut statement.demands);
        if entry.key.is_some() {
            statement.target = vec!["id".into()];
        }
    }
    if verb == Verb::Insert && entry.mode == Some(Mode::Ensure) {
        statement.conflict = Conflict::Ignore;
    }
    // One that names a row and nothing else fails only if there is no such row.
    let may_fail = entry.fails && (statement.demands.len() > 1 || is_guarded);
    let into = if may_fail { Some(scene.result(body, "outcome")) } else { scene.take_into() };
    let refused = into.filter(|_| may_fail);
    statement.emit(scene.call.surroundings, body, into, scene.via());
    if let Some(outcome) = refused {
        body.check([outcome], |_| {}, |body| body.throw());
    }
}

/// What a row that is written back must still be, where its class says that each write counts a version on.
fn version_of(scene: &Scene<'_>, statement: &Statement) -> Condition {
    let is_versioned = scene.object().and_then(|object| object.versioned()).is_some_and(|member| {
        matches!(&statement.table, Term::Literal(class) if scene.call.surroundings.says_of_class(class, member))
    });
    match is_versioned {
        true => Condition::on("version", Comparator::Equal, Term::Unknown),
        false => Condition::default(),
    }
}

/// Writes an object back to the row that it was read from, or makes the row if the object is new.
pub(super) fn save(scene: &Scene<'_>, entry: &Entry, body: &mut Body<'_>) {
    let given = find(scene, entry.at.as_ref());
    // Of what nothing is known it is not known where it goes, either.
    let stranger = |arg: &Arg| scene.kind_of(arg).is_none() && scene.table() == Term::Unknown;
    if given.as_ref().is_some_and(stranger) {
        return;
    }
    let kind = given.as_ref().map_or_else(|| scene.kind.cloned(), |arg| scene.kind_of(arg));
    let made = kind.as_ref().and_then(|kind| kind.made.last());
    let is_new = made.is_some_and(|made| matches!(&*made.by, "new" | "build" | "create"));
    let read = kind.as_ref().filter(|kind| !is_new && !kind.made.is_empty());
    let read = read.and_then(|kind| chain::statement(scene, kind));
    // Who keeps track of what was changed writes that alone, and what is told to be kept is not written by that.
    if let Some(set) = find(scene, entry.set.as_ref()) {
        if let Some((statement, _)) = read {
            let sets = filter::sets(scene, &set);
            let condition = version_of(scene, &statement);
            statement.change(sets, condition, scene.own_id(), body, scene.take_into(), scene.boxed_via());
        }
        return;
    }
    if entry.mode == Some(Mode::Exclusive) && read.is_some() {
        return;
    }
    let rows = match read {
        Some((statement, _)) => statement.rows(scene.own_id()),
        None => {
            let fields = made.and_then(|made| made.arguments.first()).or(given.as_ref());
            let own = kind.as_ref().and_then(|kind| kind.subject.clone());
            let mut statement = Statement::new(Verb::Insert, own.unwrap_or_else(|| scene.table()));
            statement.sets = fields.map(|fields| filter::sets(scene, fields)).unwrap_or_default();
            if is_new && entry.r#do == Do::Save {
                return statement.emit(scene.call.surroundings, body, scene.take_into(), scene.via());
            }
            statement.new_row()
        }
    };
    let (outcome, via) = (scene.take_into(), scene.boxed_via());
    if entry.r#do == Do::Destroy {
        body.push(Op::Delete { of: rows, when: None, outcome, via });
        return;
    }
    let mut values = match &given {
        Some(arg) => arg.values.clone(),
        None => scene.receiver.map(|path| scene.values_in(&path.clone().into())).unwrap_or_default(),
    };
    values.extend(from(scene, entry));
    let mode = entry.mode.map_or(WriteMode::Blind, mode);
    body.push(Op::Write { to: rows, from: values, mode, outcome, via });
}
