//! Filters and updates that are written as objects, in the words of any of the libraries that use them: `{ balance: { $gte: 5 } }`,
//! `{ balance: { gte: 5 } }`, `{ balance: MoreThan(5) }`, `{ $inc: { balance: -5 } }`, `{ balance: { decrement: 5 } }`.

use std::borrow::Cow;

use interlock_model::ir::{Comparator, Name, Term};

use crate::{Arg, Shape};

use super::{
    scene::{Scene, term_of},
    sql::{self, Parameters},
    statement::{Demand, Set, To},
};

/// How deep objects in objects are followed.
const DEEPEST: usize = 12;

/// What a filter demands; `None` where it is not written out.
pub(super) fn demands(scene: &Scene<'_>, filter: &Arg) -> Option<Vec<Demand>> {
    let filter = scene.known(Cow::Borrowed(filter));
    let mut found = vec![];
    match &filter.shape {
        Shape::Object(members) => {
            object(scene, members, &mut found, 0);
            Some(found)
        }
        Shape::Null => Some(found),
        _ => {
            condition(scene, &filter, &mut found, 0)?;
            Some(found)
        }
    }
}

/// A row by its own id.
pub(super) fn by_id(scene: &Scene<'_>, id: &Arg) -> Vec<Demand> {
    vec![Demand { column: "id".into(), how: Comparator::Equal, with: scene.name_of(id) }]
}

fn object(scene: &Scene<'_>, members: &[(Name, Arg)], found: &mut Vec<Demand>, depth: usize) {
    if depth > DEEPEST {
        return;
    }
    for (name, value) in members {
        let value = scene.known(Cow::Borrowed(value));
        match (word(name).as_str(), &value.shape) {
            ("and", Shape::Object(inner)) => object(scene, inner, found, depth + 1),
            ("and", Shape::List(items)) => {
                for item in items {
                    if let Shape::Object(inner) = &item.shape {
                        object(scene, inner, found, depth + 1);
                    }
                }
            }
            ("must", Shape::Object(_) | Shape::List(_)) => clauses(scene, &value, found, depth + 1),
            ("should" | "mustnot" | "minshould", Shape::Object(_) | Shape::List(_)) => {
                found.push(other(name))
            }
            ("or" | "nor" | "not" | "expr", _) => found.push(other(name)),
            // What is spread in is not known.
            ("", _) => found.push(other("?")),
            (_, Shape::Object(inner)) if !inner.is_empty() => {
                // A computed name, as `[Op.gte]` is, has none that is known.
                let operators = inner.iter().all(|(name, _)| name.is_empty() || operator(name).is_some());
                if operators {
                    for (how, with) in inner {
                        let how = operator(how).unwrap_or(Comparator::Other);
                        found.push(Demand { column: name.clone(), how, with: scene.name_of(with) });
                    }
                } else {
                    // A compound key: `{ userId_day: { userId, day } }`.
                    object(scene, inner, found, depth + 1);
                }
            }
            _ => {
                let (how, with) = compared(scene, &value);
                found.push(Demand { column: name.clone(), how, with });
            }
        }
    }
}

/// Conditions that all hold, each of which names its column itself: `{ must: [{ key: "city", match: { value: city } }] }`.
fn clauses(scene: &Scene<'_>, clauses: &Arg, found: &mut Vec<Demand>, depth: usize) {
    let each = match &clauses.shape {
        Shape::List(items) => items.as_slice(),
        _ => std::slice::from_ref(clauses),
    };
    for clause in each {
        let clause = scene.known(Cow::Borrowed(clause));
        let column = clause.member("key").and_then(column_of);
        let equal = clause.member("match").and_then(|found| found.member("value"));
        match (column, equal, clause.member("has_id"), &clause.shape) {
            (Some(column), Some(with), ..) => {
                found.push(Demand { column, how: Comparator::Equal, with: scene.name_of(with) });
            }
            (Some(column), None, ..) => found.push(other(&column)),
            (None, _, Some(Arg { shape: Shape::List(ids), .. }), _) => match ids.as_slice() {
                [id] => found.extend(by_id(scene, id)),
                _ => found.push(other("id")),
            },
            (None, _, Some(_), _) => found.push(other("id")),
            (None, _, None, Shape::Object(inner)) if inner.iter().any(|(name, _)| &**name == "must") => {
                object(scene, inner, found, depth);
            }
            _ => found.push(other("?")),
        }
    }
}

fn other(column: &str) -> Demand {
    Demand { column: column.into(), how: Comparator::Other, with: Term::Unknown }
}

/// A value that a column is compared with, or the comparison that it stands for.
fn compared(scene: &Scene<'_>, value: &Arg) -> (Comparator, Term) {
    if let Some(kind) = scene.kind_of(value)
        && let Some(made) = kind.made.last()
        && let Some(how) = comparison(&made.by)
    {
        let with = made.arguments.first().map_or(Term::Unknown, |first| scene.name_of(first));
        return (how, with);
    }
    (Comparator::Equal, scene.name_of(value))
}

/// What a condition that was put together by functions demands: `and(eq(t.id, id), gte(t.stock, n))`. `None` if it is none.
pub(super) fn condition(scene: &Scene<'_>, arg: &Arg, found: &mut Vec<Demand>, depth: usize) -> Option<()> {
    if depth > DEEPEST {
        return None;
    }
    if let Shape::Text(parts) = &arg.shape {
        found.extend(sql::condition(parts, &Parameters::default())?);
        return Some(());
    }
    let kind = scene.kind_of(arg)?;
    let made = kind.made.last()?;
    match (word(&made.by).as_str(), made.arguments.as_slice()) {
        ("and", parts) => {
            for part in parts {
                if condition(scene, part, found, depth + 1).is_none() {
                    found.push(other("?"));
                }
            }
        }
        ("isnull", [column, ..]) => {
            let with = Term::Literal("null".into());
            found.push(Demand { column: column_of(column)?, how: Comparator::Equal, with });
        }
        ("sql" | "raw", [text, ..]) if matches!(text.shape, Shape::Text(_)) => {
            condition(scene, text, found, depth + 1)?;
        }
        (name, [column, with, ..]) => {
            let how = comparison(name).unwrap_or(Comparator::Other);
            found.push(Demand { column: column_of(column)?, how, with: scene.name_of(with) });
        }
        (_, [column]) => found.push(other(&column_of(column)?)),
        _ => return None,
    }
    Some(())
}

/// The column that an argument names: as text, or as a field of a table.
pub(super) fn column_of(arg: &Arg) -> Option<Name> {
    match (arg.literal(), &arg.term) {
        (Some(text), _) | (None, Term::Literal(text)) => text.rsplit('.').next().map(Name::from),
        (None, Term::Path(path)) => super::place::last_name(path),
        _ => None,
    }
}

/// The columns that an argument lists: as text, as a list, or as the members of an object.
pub(super) fn columns_of(scene: &Scene<'_>, arg: &Arg) -> Vec<Name> {
    let arg = scene.known(Cow::Borrowed(arg));
    match &arg.shape {
        Shape::Object(members) => {
            let wanted =
                members.iter().filter(|(_, arg)| !matches!(arg.shape, Shape::Bool(false) | Shape::Number(0)));
            wanted.map(|(name, _)| name.clone()).filter(|name| &**name != "...").collect()
        }
        Shape::List(items) => items.iter().filter_map(column_of).collect(),
        Shape::Text(_) => match arg.literal() {
            Some(text) => {
                let names = text.split([',', ' ']).map(str::trim).filter(|name| !name.is_empty());
                let names: Vec<Name> = names.map(Name::from).collect();
                // `*`, an embedded table or an excluded column: everything.
                if names.iter().all(|name| name.chars().all(|c| c.is_alphanumeric() || c == '_')) {
                    names
                } else {
                    vec![]
                }
            }
            None => vec![],
        },
        _ => vec![],
    }
}

/// The columns of which the members of an object are each one number of all rows: `{ last: max(cards.position) }`,
/// ``{ last: sql`MAX(${cards.position})` }``.
pub(super) fn totals_of(scene: &Scene<'_>, arg: &Arg) -> Option<Vec<Name>> {
    let arg = scene.known(Cow::Borrowed(arg));
    let Shape::Object(members) = &arg.shape else { return None };
    let each: Option<Vec<_>> = members.iter().map(|(_, value)| total_of(scene, value)).collect();
    each.filter(|each| !each.is_empty()).map(|each| each.into_iter().flatten().collect())
}

fn total_of(scene: &Scene<'_>, arg: &Arg) -> Option<Vec<Name>> {
    let kind = scene.kind_of(arg)?;
    let made = kind.made.first()?;
    match (word(&made.by).as_str(), made.arguments.as_slice()) {
        ("max" | "count", of) => Some(of.iter().filter_map(column_of).collect()),
        ("sql", [Arg { shape: Shape::Text(parts), .. }, ..]) => {
            let says = |part: &Term| matches!(part, Term::Literal(text) if makes_one_number(text));
            let column = |part: &Term| match part {
                Term::Path(path) => super::place::last_name(path),
                _ => None,
            };
            parts.iter().any(says).then(|| parts.iter().filter_map(column).collect())
        }
        _ => None,
    }
}

/// Whether a piece of SQL makes one number of all rows.
fn makes_one_number(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    ["max(", "count("].iter().any(|function| text.contains(function)) && !text.contains(" over")
}

/// What an update writes.
pub(super) fn sets(scene: &Scene<'_>, update: &Arg) -> Vec<Set> {
    let update = scene.known(Cow::Borrowed(update));
    match &update.shape {
        Shape::Object(members) => {
            members.iter().flat_map(|(name, value)| member(scene, name, value)).collect()
        }
        // A pipeline is computed by the store; a list of rows is not looked into further than its first.
        Shape::List(items) => match items.first().map(|first| &first.shape) {
            Some(Shape::Object(members)) if members.iter().any(|(name, _)| name.starts_with('$')) => {
                vec![Set {
                    column: None,
                    to: To::Relative,
                    term: Term::Unknown,
                    values: update.values.clone(),
                }]
            }
            Some(Shape::Object(_)) => {
                let mut found = items.first().map(|first| sets(scene, first)).unwrap_or_default();
                if let Some(first) = found.first_mut() {
                    first.values.extend(update.values.iter().copied());
                }
                found
            }
            _ => vec![Set::to_given(None, Term::Unknown, update.values.clone())],
        },
        _ => vec![Set::to_given(None, Term::Unknown, update.values.clone())],
    }
}

fn member(scene: &Scene<'_>, name: &Name, value: &Arg) -> Vec<Set> {
    let value = scene.known(Cow::Borrowed(value));
    if let Some(operator) = name.strip_prefix('$') {
        let to = match operator {
            "set" | "unset" | "rename" => None,
            "setOnInsert" => Some(To::Initial),
            "currentDate" => Some(To::Neutral),
            _ => Some(To::Relative),
        };
        return match &value.shape {
            Shape::Object(members) => members
                .iter()
                .map(|(name, value)| {
                    let set = Set::to_given(Some(name.clone()), scene.name_of(value), value.values.clone());
                    Set { to: to.unwrap_or(set.to), ..set }
                })
                .collect(),
            _ => vec![Set {
                column: None,
                to: to.unwrap_or(To::Absolute),
                term: Term::Unknown,
                values: value.values.clone(),
            }],
        };
    }
    if &**name == "..." {
        return vec![Set {
            column: None,
            to: To::Absolute,
            term: Term::Unknown,
            values: value.values.clone(),
        }];
    }
    let computed_by_store = match &value.shape {
        Shape::Object(members) => {
            let changes =
                ["increment", "decrement", "multiply", "divide", "push", "connect", "disconnect", "create"];
            !members.is_empty() && members.iter().all(|(name, _)| changes.contains(&&**name))
        }
        // `sql`…``, `raw("stock - 1")`: text for the store. What comes from a function of nothing is the time.
        Shape::Call(_) | Shape::Opaque | Shape::Choice(_) => scene.kind_of(&value).is_some_and(|kind| {
            kind.made.last().is_some_and(|made| {
                matches!(
                    word(&made.by).as_str(),
                    "sql" | "raw" | "literal" | "col" | "fn" | "increment" | "arrayunion" | "expr"
                )
            })
        }),
        Shape::Function { .. } => true,
        _ => false,
    };
    let term = match &value.shape {
        Shape::Object(_) | Shape::List(_) => Term::Unknown,
        _ => scene.name_of(&value),
    };
    let set = Set::to_given(Some(name.clone()), term, value.values.clone());
    vec![if computed_by_store { Set { to: To::Relative, term: Term::Unknown, ..set } } else { set }]
}

/// The word in a name, without what libraries put round it: `$gte`, `Op.gte`, `[Op.gte]`.
fn word(name: &str) -> String {
    let last = name.rsplit('.').next().unwrap_or(name);
    last.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase()
}

/// The comparison that a member of an object stands for.
fn operator(name: &str) -> Option<Comparator> {
    match word(name).as_str() {
        "eq" | "equals" | "is" => Some(Comparator::Equal),
        "ne" | "not" => Some(Comparator::Different),
        "gt" | "gte" => Some(Comparator::AtLeast),
        "lt" | "lte" => Some(Comparator::AtMost),
        "in" | "nin" | "notin" | "contains" | "startswith" | "endswith" | "exists" | "regex" | "options"
        | "like" | "ilike" | "between" | "elemmatch" | "size" | "all" | "has" | "hassome" | "hasevery"
        | "type" | "mod" | "mode" | "search" | "path" | "isnot" | "some" | "none" | "every" => {
            Some(Comparator::Other)
        }
        _ => None,
    }
}

/// The comparison that a function stands for.
pub(super) fn comparison(name: &str) -> Option<Comparator> {
    match word(name).as_str() {
        "eq" | "equal" | "is" => Some(Comparator::Equal),
        "ne" | "neq" | "not" => Some(Comparator::Different),
        "gt" | "gte" | "morethan" | "morethanorequal" => Some(Comparator::AtLeast),
        "lt" | "lte" | "lessthan" | "lessthanorequal" => Some(Comparator::AtMost),
        "in" | "inarray" | "notinarray" | "like" | "ilike" | "between" | "isnull" | "isnotnull" | "any"
        | "or" | "exists" | "notexists" => Some(Comparator::Other),
        _ => None,
    }
}

/// An operator that is written as text.
pub(super) fn symbol(text: &Arg) -> Option<Comparator> {
    let Term::Literal(text) = term_of(text) else { return None };
    match text.trim() {
        "=" | "==" | "is" => Some(Comparator::Equal),
        "!=" | "<>" => Some(Comparator::Different),
        ">" | ">=" => Some(Comparator::AtLeast),
        "<" | "<=" => Some(Comparator::AtMost),
        _ => Some(Comparator::Other),
    }
}
