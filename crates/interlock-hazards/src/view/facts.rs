//! Whole-program facts that every entry asks for, found once: a tree may have as many locks and limits as entries.

use std::{
    collections::{HashMap, HashSet},
    sync::OnceLock,
};

use interlock_model::{
    Span,
    ir::{
        AccessPath, Field, Fields, FunctionId, Name, Op, Program, Resource, Root, Term, UnresolvedReason,
        ValueInfo,
    },
};

use super::entry::{At, Entry};
use crate::{Lexicon, decision::Recorder};

/// What every entry asks of the whole program.
#[derive(Debug)]
pub struct Facts {
    /// The first function of each file, by the file's path.
    first: HashMap<Name, usize>,
    /// Where the locks are found that the tree builds itself.
    pub(super) hand_made: Locations,
    /// The same for those of them that keep nobody out.
    pub(super) worthless: Locations,
    /// The shared maps and lists that do not grow with every key.
    pub(super) limited: Locations,
    /// The calls of which it was guessed what they do, and how they are written.
    guessed: HashMap<Span, Name>,
    /// What rules decide, where somebody asks for that.
    pub(crate) decisions: Recorder,
    /// What names say, where a project has words of its own.
    lexicon: Option<Lexicon>,
    /// The globals that somebody changes, or a part of them, once somebody asks.
    set: OnceLock<HashSet<Name>>,
}

/// Places, for entries to ask whether one of theirs is among them.
#[derive(Debug, Default)]
pub(super) struct Locations {
    /// What goes by the same name in every entry.
    pub(super) fixed: HashSet<AccessPath>,
    /// The fields of those.
    pub(super) fields: HashSet<Fields>,
    /// The fields that lead to one from the object that has it, wherever that object is kept.
    pub(super) tails: HashSet<Vec<Field>>,
    /// What is called differently from entry to entry.
    pub(super) others: Vec<AccessPath>,
}

impl Facts {
    /// What there is to know of a program.
    #[must_use]
    pub fn of(program: &Program) -> Self {
        let mut first = HashMap::new();
        let mut last = None;
        for (number, function) in program.functions.iter().enumerate() {
            // Those of one file mostly stand together.
            if last.replace(function.span.file) == Some(function.span.file) {
                continue;
            }
            if let Some(file) = program.files.get(function.span.file.0 as usize) {
                first.entry(file.clone()).or_insert(number);
            }
        }
        let hand_made = || program.hand_made.iter();
        Self {
            first,
            hand_made: Locations::new(hand_made().map(|made| &made.path)),
            worthless: Locations::new(hand_made().filter(|made| !made.exclusive).map(|made| &made.path)),
            limited: Locations::new(program.limited.iter().map(|limited| &limited.path)),
            guessed: guessed(program).collect(),
            decisions: Recorder::default(),
            lexicon: Lexicon::extended(&program.words),
            set: OnceLock::new(),
        }
    }

    /// The same, for entries whose rules are to say what they decide: see [`View::explain`](super::View::explain).
    #[must_use]
    pub fn explaining(program: &Program) -> Self {
        Self { decisions: Recorder::on(), ..Self::of(program) }
    }
}

impl Locations {
    fn new<'p>(paths: impl Iterator<Item = &'p AccessPath>) -> Self {
        let mut locations = Self::default();
        for path in paths {
            if path.root == Root::This {
                locations.tails.insert(path.fields.to_vec());
            }
            if !is_fixed(path) {
                locations.others.push(path.clone());
            } else if locations.fixed.insert(path.clone()) {
                locations.fields.insert(path.fields.clone());
            }
        }
        locations
    }
}

/// The calls of which it was guessed what they do.
fn guessed(program: &Program) -> impl Iterator<Item = (Span, Name)> {
    let unresolved = program.unresolved.iter();
    let guessed = unresolved.filter(|unresolved| unresolved.reason == UnresolvedReason::Guessed);
    guessed.map(|unresolved| (unresolved.span, unresolved.callee.clone()))
}

/// Whether a path is what it is under the names of any entry.
fn is_fixed(path: &AccessPath) -> bool {
    let fixed = |field: &Field| {
        matches!(field, Field::Name(_) | Field::At(Term::Literal(_) | Term::Any | Term::Unknown))
    };
    !matches!(path.root, Root::Value(_)) && path.fields.iter().all(fixed)
}

impl Entry<'_> {
    /// The object of a call among some steps, or on the way to them, of which it was guessed what it is, as it is written.
    pub(crate) fn guessed(&self, steps: &[At]) -> Option<&str> {
        let guessed = |span: Span| self.facts.guessed.get(&span);
        let on_the_way = |at: &At| self.calls_around(*at).find_map(|(_, span)| guessed(span));
        let of_step = steps.iter().find_map(|at| guessed(self.span(*at)));
        let written = of_step.or_else(|| steps.iter().find_map(on_the_way))?;
        Some(written.rsplit_once('.').map_or(&**written, |(object, _)| object))
    }

    /// Whether something global is never changed in the whole program, as far as one can see: what a constant holds.
    pub(crate) fn is_never_set(&self, path: &AccessPath) -> bool {
        let Root::Global(_) = &path.root else { return false };
        let set = self.facts.set.get_or_init(|| {
            let effects = self.program.functions.iter().flat_map(|function| function.effects());
            let set = effects.filter_map(|effect| match &effect.op {
                Op::Write { to: Resource::Shared(path), .. }
                | Op::Delete { of: Resource::Shared(path), .. } => match &path.root {
                    Root::Global(name) => Some(name.clone()),
                    _ => None,
                },
                _ => None,
            });
            set.collect()
        });
        matches!(&path.root, Root::Global(name) if !set.contains(name))
    }

    /// What names say.
    pub(crate) fn lexicon(&self) -> &Lexicon {
        self.facts.lexicon.as_ref().unwrap_or_else(|| Lexicon::built_in())
    }

    /// A value of a function, by the function's number in its file.
    pub(super) fn value_in_file(&self, file: &str, function: usize, value: usize) -> Option<&ValueInfo> {
        let function = self.program.function(self.function_in_file(file, function)?)?;
        function.values.get(value)
    }

    /// A function by its number in its file.
    pub(super) fn function_in_file(&self, file: &str, function: usize) -> Option<FunctionId> {
        let number = self.facts.first.get(file)?.checked_add(function)?;
        let path = self.program.files.get(self.program.functions.get(number)?.span.file.0 as usize)?;
        (**path == *file).then(|| u32::try_from(number).ok().map(FunctionId)).flatten()
    }
}
