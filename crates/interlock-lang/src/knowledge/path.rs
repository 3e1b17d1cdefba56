//! Records that are named by a path: `db.ref("notes").child(id)`, `db.collection("notes").doc(id)`, `doc(db, "notes", id)`.
//!
//! The path is put together as the reference is, part by part, and is the subject of it. A statement on the reference is one on a row:
//!
//! ```text
//! notes/${id}                 row notes[id]
//! notes/${id}/title           row notes[id].{title}
//! users/${user}/notes/${id}   row users/${user}/notes[id]
//! settings/theme              row settings[theme]
//! notes                       row notes[*]
//! ```
//!
//! What a reference of the whole store is told is left out where nothing says which path it is about.

use interlock_model::ir::{Comparator, Name, Term, Value};

use crate::{Arg, Shape};

use super::{
    act::find,
    format::{Do, Entry, PathForm},
    scene::{Scene, term_of},
    statement::{Demand, Set, Statement, To, Verb, unique},
};

/// What stands between the parts of a path.
const BETWEEN: char = '/';
/// The table of a document of which only one name is known.
const DOCUMENTS: &str = "documents";
/// Everything that a store holds.
const WHOLE: &str = "/";

/// Which record a path names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Named {
    table: Term,
    /// The row; all of them where there is none.
    row: Option<Term>,
    /// The column of it.
    column: Option<Name>,
    /// The whole path.
    path: Option<Term>,
    form: PathForm,
}

/// What the result of a call stands for that names a part of what its object, or another thing, stands for.
pub(super) fn below(scene: &Scene<'_>, entry: &Entry) -> Option<Term> {
    let base = match find(scene, entry.subject.as_ref()) {
        Some(arg) => scene.kind_of(&arg).and_then(|kind| kind.subject),
        None => scene.kind.and_then(|kind| kind.subject.clone()),
    };
    let Some(under) = find(scene, entry.under.as_ref()) else { return base };
    let parts = match &under.shape {
        Shape::List(parts) => parts.iter().map(|part| name_of(scene, part)).collect(),
        _ => vec![name_of(scene, &under)],
    };
    join(base.into_iter().chain(parts))
}

fn name_of(scene: &Scene<'_>, part: &Arg) -> Term {
    let part = scene.known(std::borrow::Cow::Borrowed(part));
    match (&part.shape, scene.name_of(&part)) {
        (Shape::Text(_), Term::Path(_)) => term_of(&Arg { term: Term::Unknown, ..part.into_owned() }),
        (_, name) => name,
    }
}

/// Paths one below the other.
fn join(paths: impl IntoIterator<Item = Term>) -> Option<Term> {
    let parts: Vec<Vec<Term>> = paths.into_iter().flat_map(|path| parts_of(&path)).collect();
    together(&parts)
}

/// The parts of a path, each made of what stands between two slashes.
fn parts_of(path: &Term) -> Vec<Vec<Term>> {
    fn add(term: &Term, parts: &mut Vec<Vec<Term>>) {
        match term {
            Term::Join(inner) => inner.iter().for_each(|term| add(term, parts)),
            Term::Literal(text) => {
                for (at, piece) in text.split(BETWEEN).enumerate() {
                    if at > 0 {
                        parts.push(vec![]);
                    }
                    if let Some(last) = parts.last_mut().filter(|_| !piece.is_empty()) {
                        last.push(Term::Literal(piece.into()));
                    }
                }
            }
            other => {
                if let Some(last) = parts.last_mut() {
                    last.push(other.clone());
                }
            }
        }
    }
    let mut parts = vec![vec![]];
    add(path, &mut parts);
    parts.retain(|part| !part.is_empty());
    parts
}

/// The path that has these parts.
fn together(parts: &[Vec<Term>]) -> Option<Term> {
    let mut terms: Vec<Term> = vec![];
    for (at, part) in parts.iter().enumerate() {
        let between = (at > 0).then(|| Term::Literal(BETWEEN.to_string().into()));
        for term in between.iter().chain(part) {
            match (terms.last_mut(), term) {
                (Some(Term::Literal(before)), Term::Literal(text)) => {
                    *before = [&**before, &**text].concat().into();
                }
                _ => terms.push(term.clone()),
            }
        }
    }
    match terms.len() {
        0 => None,
        1 => terms.pop(),
        _ => Some(Term::Join(terms)),
    }
}

/// Which record the object of a call is, where it is named by a path and the call does not say otherwise.
pub(super) fn named_by(scene: &Scene<'_>, entry: &Entry) -> Option<Named> {
    let form = scene.object()?.path().filter(|_| entry.table.is_none() && entry.subject.is_none())?;
    Some(Named::of(form, scene.kind?.subject.clone()))
}

impl Named {
    fn of(form: PathForm, path: Option<Term>) -> Self {
        let parts = path.as_ref().map(parts_of).unwrap_or_default();
        let is_written = |part: &Vec<Term>| part.iter().all(|term| matches!(term, Term::Literal(_)));
        // The last part that is not written out names the row, unless it is all that is known of the path.
        let open = parts.iter().rposition(|part| !is_written(part)).filter(|at| *at > 0);
        let at = match form {
            PathForm::Document => parts.len().checked_sub(1),
            PathForm::Tree => open.or_else(|| parts.len().checked_sub(1).filter(|at| *at > 0)),
        };
        let (before, row, behind) = match at {
            Some(at) => {
                let (before, rest) = parts.split_at(at);
                let row = rest.first().and_then(|part| together(std::slice::from_ref(part)));
                (before, row, rest.get(1..).unwrap_or_default())
            }
            None => (parts.as_slice(), None, [].as_slice()),
        };
        let usual = if row.is_some() { DOCUMENTS } else { WHOLE };
        let table = together(before).unwrap_or_else(|| Term::Literal(usual.into()));
        let column = behind.first().and_then(|part| match together(std::slice::from_ref(part)) {
            Some(Term::Literal(name)) => Some(name),
            _ => None,
        });
        Self { table, row, column, path, form }
    }

    /// A statement on another record that lies below this one.
    pub(super) fn below(&self, name: &str) -> Self {
        Self::of(self.form, join(self.path.iter().cloned().chain([Term::Literal(name.into())])))
    }

    /// Whether it is all that the store holds.
    pub(super) const fn is_whole(&self) -> bool {
        self.path.is_none()
    }

    /// Says in a statement which rows it is about.
    pub(super) fn say(&self, statement: &mut Statement) {
        statement.table = self.table.clone();
        let Some(row) = &self.row else { return };
        // A row that is made has its name among what it is made of.
        if statement.verb == Verb::Insert && self.column.is_none() {
            return;
        }
        statement.unique = true;
        statement.demands.push(Demand { column: "id".into(), how: Comparator::Equal, with: row.clone() });
    }

    /// Narrows a statement, of which all else is said, down to the column that the path leads to.
    pub(super) fn narrow(&self, statement: &mut Statement) {
        let Some(column) = &self.column else {
            if let (Verb::Insert, Some(row)) = (statement.verb, &self.row) {
                statement.sets.insert(0, Set::to_given(Some("id".into()), row.clone(), vec![]));
            }
            return;
        };
        statement.columns = vec![column.clone()];
        if matches!(statement.verb, Verb::Read { .. }) {
            return;
        }
        // What is added below a column leaves alone what is there.
        let computed = statement.verb == Verb::Insert
            || !statement.sets.is_empty() && statement.sets.iter().all(|set| set.to == To::Relative);
        let values: Vec<Value> =
            unique(statement.sets.iter().flat_map(|set| set.values.iter().copied()).collect());
        statement.verb = Verb::Update;
        let set = Set::to_given(Some(column.clone()), Term::Unknown, values);
        statement.sets = vec![if computed { Set { to: To::Relative, ..set } } else { set }];
    }
}

/// The members of what an update sets that name a path of their own: `{ "notes/1/title": title }`. All of them take effect together.
pub(super) fn paths_in(entry: &Entry, set: &Arg) -> Vec<(Name, Arg)> {
    match &set.shape {
        Shape::Object(members) if matches!(entry.r#do, Do::Update | Do::UpdateId) => {
            members.iter().filter(|(name, _)| name.contains(BETWEEN)).cloned().collect()
        }
        _ => vec![],
    }
}

#[cfg(test)]
mod tests {
    use interlock_model::ir::{AccessPath, Root};

    use super::*;

    /// `{x}` is a variable.
    fn path(text: &str) -> Term {
        let mut terms = vec![];
        for (at, piece) in text.split(['{', '}']).enumerate() {
            let variable = at % 2 == 1;
            terms.push(if variable { AccessPath::global(piece).into() } else { Term::Literal(piece.into()) });
        }
        Term::Join(terms)
    }

    fn show(term: &Term) -> String {
        match term {
            Term::Join(parts) => parts.iter().map(show).collect(),
            Term::Literal(text) => text.to_string(),
            Term::Path(AccessPath { root: Root::Global(name), .. }) => format!("{{{name}}}"),
            other => panic!("{other:?}"),
        }
    }

    fn check(form: PathForm, text: &str, expected: &str) {
        let named = Named::of(form, Some(path(text)));
        let row = named.row.as_ref().map_or("*".to_owned(), show);
        let column = named.column.as_ref().map_or(String::new(), |column| format!(".{column}"));
        assert_eq!(format!("{}[{row}]{column}", show(&named.table)), expected, "{text}");
    }

    #[test]
    fn in_a_tree_the_last_part_that_is_open_names_the_row() {
        for (text, expected) in [
            ("notes/{id}", "notes[{id}]"),
            ("/notes/{id}/", "notes[{id}]"),
            ("notes/{id}/title", "notes[{id}].title"),
            ("notes/{id}/meta/by", "notes[{id}].meta"),
            ("users/{user}/notes/{id}", "users/{user}/notes[{id}]"),
            ("notes/n-{id}", "notes[n-{id}]"),
            ("settings/theme", "settings[theme]"),
            ("notes", "notes[*]"),
            ("{path}", "{path}[*]"),
            ("{base}/{id}", "{base}[{id}]"),
            ("", "/[*]"),
        ] {
            check(PathForm::Tree, text, expected);
        }
    }

    #[test]
    fn of_documents_the_last_part_names_the_row() {
        for (text, expected) in [
            ("notes/{id}", "notes[{id}]"),
            ("users/{user}/notes/first", "users/{user}/notes[first]"),
            ("{path}", "documents[{path}]"),
        ] {
            check(PathForm::Document, text, expected);
        }
    }
}
