//! The keys of a table that Drizzle describes: columns that say so of themselves, and keys of several columns that stand behind them.

use interlock_model::ir::{Field, FunctionId, Name, Root, Term};

use crate::{
    Arg, Shape,
    eval::{AbstractValue, Definition, Evaluator},
    module::Site,
};

/// How many calls a description is followed back through.
const LONGEST_CHAIN: usize = 16;

/// The keys that the description of a table declares.
pub(super) fn keys(eval: &Evaluator<'_, '_>, table: &Site) -> Vec<Vec<Name>> {
    let [_, columns, more @ ..] = &*table.arguments else { return vec![] };
    let Shape::Object(columns) = &columns.shape else { return vec![] };
    let says = |column: &Arg| {
        let links = chain(eval, column);
        links.iter().any(|link| matches!(method(link), Some("unique" | "primaryKey")))
    };
    let own = columns.iter().filter(|(_, column)| says(column)).map(|(name, _)| vec![name.clone()]);
    let further = match more.first().map(|more| &more.shape) {
        Some(Shape::Function { function, .. }) => eval.flat.about.get(function.0 as usize),
        _ => None,
    };
    let parts = further.into_iter().flat_map(|function| function.returned.iter().flat_map(parts));
    own.chain(parts.filter_map(|part| of_several(eval, part))).collect()
}

/// What stands in a list or an object.
fn parts(whole: &Arg) -> Vec<&Arg> {
    match &whole.shape {
        Shape::List(items) => items.iter().collect(),
        Shape::Object(members) => members.iter().map(|(_, member)| member).collect(),
        _ => vec![whole],
    }
}

/// `primaryKey({ columns: [t.list, t.position] })`, `uniqueIndex("by_place").on(t.list, t.position)`.
fn of_several(eval: &Evaluator<'_, '_>, part: &Arg) -> Option<Vec<Name>> {
    let links = chain(eval, part);
    let first = links.last()?;
    let made = match eval.path(FunctionId(first.within), first.callee.as_ref()?) {
        AbstractValue::Export(library, path) if library.starts_with("drizzle-orm/") => path,
        _ => return None,
    };
    let columns: &[Arg] = match &*made {
        "primaryKey" => match first.arguments.first()?.member("columns").map(|columns| &columns.shape) {
            Some(Shape::List(columns)) => columns,
            _ => &first.arguments,
        },
        // One that only some rows are kept by lets the others through.
        "unique" | "uniqueIndex" if links.iter().all(|link| method(link) != Some("where")) => {
            &links.iter().find(|link| method(link) == Some("on"))?.arguments
        }
        _ => return None,
    };
    let column = |arg: &Arg| match &arg.term {
        Term::Path(path) => match path.fields.last()? {
            Field::Name(name) => Some(name.clone()),
            Field::At(_) => None,
        },
        _ => None,
    };
    columns.iter().map(column).collect()
}

/// The calls that put a description together, the last one first.
fn chain<'m>(eval: &Evaluator<'_, 'm>, described: &Arg) -> Vec<&'m Site> {
    match described.shape {
        Shape::Call(site) => chain_to(eval, site),
        _ => vec![],
    }
}

/// A call, and those on whose results it is called, the last one first.
pub(super) fn chain_to<'m>(eval: &Evaluator<'_, 'm>, last: u32) -> Vec<&'m Site> {
    let sites = &eval.flat.sites;
    let mut links: Vec<&'m Site> = vec![];
    let mut next = Some(last);
    while let Some(site) = next.and_then(|number| sites.get(number as usize)) {
        if links.len() == LONGEST_CHAIN {
            break;
        }
        links.push(site);
        next = match site.callee.as_ref().map(|callee| &callee.root) {
            Some(Root::Value(value)) => match eval.definition(FunctionId(site.within), *value) {
                Some(Definition::Call(number)) => Some(*number),
                _ => None,
            },
            _ => None,
        };
    }
    links
}

/// What is called on what came before.
pub(super) fn method(site: &Site) -> Option<&str> {
    match site.callee.as_ref()?.fields.last()? {
        Field::Name(name) => Some(name),
        Field::At(_) => None,
    }
}
