//! What the values of a function under expansion stand for: the functions that some of them hold.

use interlock_model::ir::{AccessPath, Function, FunctionId, Op, Origin, Root, Term, Value, ValueInfo};
use rustc_hash::FxHashMap;

use super::rename::Rename;

/// What is known of a value while calls are followed. It is copied wherever its function is, so it refers to the program instead of
/// holding a name.
#[derive(Clone, Copy)]
pub(super) struct Info<'p> {
    /// The value as its own function has it.
    pub(super) known: &'p ValueInfo,
    /// Where it comes from, in the function that it was copied into.
    pub(super) origin: Origin,
}

/// The values of a function under expansion.
pub(super) struct Values<'p> {
    pub(super) infos: Vec<Info<'p>>,
    /// Functions that were handed over as values, with what they take along.
    closures: FxHashMap<Value, (FunctionId, Vec<Term>)>,
    /// For each value that is another name for a value, the number of that one; [`NONE`] for the others.
    aliases: Vec<u32>,
    /// What was made here.
    made: Vec<bool>,
}

/// No other name.
const NONE: u32 = u32::MAX;

impl Info<'_> {
    /// The value as those see it to whom nothing is copied any more.
    pub(super) fn whole(&self) -> ValueInfo {
        ValueInfo { origin: self.origin, ..self.known.clone() }
    }
}

impl<'p> Values<'p> {
    pub(super) fn of(function: &'p Function) -> Self {
        Self::new(function.values.iter().map(|known| Info { known, origin: known.origin }).collect())
    }

    pub(super) fn new(infos: Vec<Info<'p>>) -> Self {
        Self {
            aliases: vec![NONE; infos.len()],
            made: vec![false; infos.len()],
            infos,
            closures: FxHashMap::default(),
        }
    }

    /// Adds the values of a function whose steps are copied in, and says by how much their numbers move. `bound` are its own captures.
    pub(super) fn adopt(&mut self, infos: &[Info<'p>], bound: &[Value]) -> u32 {
        let offset = u32::try_from(self.infos.len()).unwrap_or(u32::MAX);
        // Parameters and captures are bound to something of this function now. Who the caller is stays known, and that something was taken
        // along from a place that is not.
        let adopted = (0..).map(Value).zip(infos).map(|(value, info)| {
            let origin = match info.origin {
                Origin::Argument | Origin::Arguments => Origin::Step,
                Origin::Capture if bound.contains(&value) => Origin::Step,
                other => other,
            };
            Info { origin, known: info.known }
        });
        self.infos.extend(adopted);
        self.aliases.resize(self.infos.len(), NONE);
        self.made.resize(self.infos.len(), false);
        offset
    }

    /// Adds the values of a function that is put in, whose first values are called `ports` here, and says what they are called.
    pub(super) fn adopt_behind<'r>(
        &mut self,
        infos: &[Info<'p>],
        ports: &'r [Value],
        this: Option<&'r AccessPath>,
    ) -> Rename<'r> {
        let own = self.adopt(infos.get(ports.len()..).unwrap_or_default(), &[]);
        let offset = own.wrapping_sub(u32::try_from(ports.len()).unwrap_or(u32::MAX));
        Rename { ports, offset, this }
    }

    /// Notes that a value is taken along from a place that is not known, so that it is not known either who else has it.
    pub(super) fn capture(&mut self, value: Value) {
        if let Some(info) = self.infos.get_mut(value.0 as usize) {
            info.origin = Origin::Capture;
        }
    }

    pub(super) fn hold(&mut self, value: Value, function: FunctionId, captures: Vec<Term>) {
        self.closures.insert(value, (function, captures));
    }

    /// Notes what a step makes of values.
    pub(super) fn note(&mut self, op: &Op) {
        match op {
            Op::Derive { into, term, .. } => self.alias(*into, term),
            Op::New { into, .. } => self.make(*into),
            Op::Closure { into, function, captures } => self.hold(*into, *function, captures.clone()),
            _ => {}
        }
    }

    /// Notes that something is made here.
    fn make(&mut self, value: Value) {
        if let Some(made) = self.made.get_mut(value.0 as usize) {
            *made = true;
        }
    }

    /// Whether a value is something that was made here.
    pub(super) fn is_made(&self, value: Value) -> bool {
        self.made(value).is_some()
    }

    /// What was made here and is called by this value.
    pub(super) fn made(&self, value: Value) -> Option<Value> {
        let mut value = value;
        for _ in 0..64 {
            if self.made.get(value.0 as usize).is_some_and(|made| *made) {
                return Some(value);
            }
            value = Value(self.aliases.get(value.0 as usize).copied().filter(|other| *other != NONE)?);
        }
        None
    }

    pub(super) fn alias(&mut self, value: Value, term: &Term) {
        if let Term::Path(AccessPath { root: Root::Value(other), fields }) = term
            && fields.is_empty()
            && let Some(alias) = self.aliases.get_mut(value.0 as usize)
        {
            *alias = other.0;
        }
    }

    /// Whether it is known what a call of a value comes to.
    pub(super) fn is_bound(&self, value: Value) -> bool {
        self.function(value).is_some() || self.is_made(value)
    }

    /// The function that a value holds.
    pub(super) fn function(&self, value: Value) -> Option<&(FunctionId, Vec<Term>)> {
        let mut value = value;
        // Aliases form chains as long as the calls are deep.
        for _ in 0..64 {
            if let Some(found) = self.closures.get(&value) {
                return Some(found);
            }
            value = Value(self.aliases.get(value.0 as usize).copied().filter(|other| *other != NONE)?);
        }
        None
    }
}
