//! The names that functions of the language make: paths, times, what nobody else has. Which function makes what says the language's table.

use interlock_model::ir::{AccessPath, Field, Fresh, Root, Term};

use crate::{
    Arg, Shape,
    tables::{Builtins, Makes},
};

/// What a function of the language or of one of its small libraries yields, where it is one that only makes a name.
pub(crate) fn name(builtins: &Builtins, library: &str, path: &str, arguments: &[Arg]) -> Option<Term> {
    let first = || arguments.first().map_or(Term::Unknown, term);
    Some(match builtins.makes(library, path)? {
        Makes::Joined => joined(arguments),
        Makes::Parent => Term::Parent(Box::new(first())),
        Makes::TempDir => Term::TempDir,
        Makes::Itself if library.is_empty() => {
            let mut names = path.split('.');
            let root = AccessPath::global(names.next().unwrap_or_default());
            names.fold(root, |path, name| path.field(name)).into()
        }
        Makes::Itself => AccessPath::global(format!("{library}::{path}")).into(),
        Makes::Random => Term::Fresh(Fresh::Random),
        Makes::Time if arguments.is_empty() => Term::Fresh(Fresh::Time),
        Makes::Time | Makes::First => first(),
        Makes::Assigned | Makes::Keys | Makes::Values | Makes::Pairs | Makes::Copied | Makes::Text => {
            return None;
        }
    })
}

/// What an argument is called.
pub(crate) fn term(arg: &Arg) -> Term {
    match (&arg.term, &arg.shape) {
        (Term::Unknown, Shape::Text(parts)) => match parts.as_slice() {
            [] => "".into(),
            [part] => part.clone(),
            parts => Term::Join(parts.to_vec()),
        },
        (Term::Unknown, Shape::Number(number)) => Term::Literal(number.to_string().into()),
        (term, _) => term.clone(),
    }
}

/// A path that is put together, a slash between its parts.
fn joined(arguments: &[Arg]) -> Term {
    let mut parts = vec![];
    for (number, argument) in arguments.iter().enumerate() {
        let part = match term(argument) {
            // What a list spread into the call adds is not known.
            Term::Literal(text) if number > 0 => Term::Literal(text.trim_start_matches("./").into()),
            part => part,
        };
        if number > 0 {
            parts.push("/".into());
        }
        match part {
            Term::Join(inner) => parts.extend(inner),
            part => parts.push(part),
        }
    }
    match parts.len() {
        0 => Term::Unknown,
        1 => parts.pop().unwrap_or(Term::Unknown),
        _ => Term::Join(parts),
    }
}

/// A name that the language has for what differs from process to process.
pub(crate) fn fresh(builtins: &Builtins, path: &AccessPath) -> Option<Term> {
    let Root::Global(root) = &path.root else { return None };
    let is_process_id = match path.fields.as_slice() {
        [] => builtins.process_ids.contains(&**root),
        [Field::Name(field)] => builtins
            .process_ids
            .iter()
            .any(|known| known.strip_prefix(&**root).and_then(|rest| rest.strip_prefix('.')) == Some(field)),
        _ => false,
    };
    is_process_id.then_some(Term::Fresh(Fresh::ProcessId))
}
