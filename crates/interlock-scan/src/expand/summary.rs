//! What is left of a function once its calls are followed.

use std::sync::{Arc, OnceLock};

use interlock_model::ir::{Block, FunctionId, Member, Value};

use super::{
    bind::{Info, Values},
    compact::Compact,
    later::{Done, Held},
    prune::{Pruned, is_silent, prune},
    renumber::Renumber,
    returns::{Returned, seen},
    work::Large,
};

/// A function whose calls were followed, in terms of its own parameters, captures and receiver.
pub(super) struct Summary<'p> {
    /// Its values, those first that a caller speaks of.
    pub(super) values: Vec<Info<'p>>,
    /// How many of its values a caller speaks of: parameters, captures, what it returns and what it has seen of the world.
    pub(super) ports: usize,
    pub(super) body: Arc<Block>,
    pub(super) parameters: Vec<Value>,
    pub(super) captures: Vec<Value>,
    /// The parameters and captures that do not matter.
    pub(super) idle: Vec<Value>,
    pub(super) returned: Option<Returned>,
    /// What its reads of files, rows and keys have seen.
    pub(super) seen: Vec<Value>,
    /// What it holds besides its steps.
    pub(super) held: Held,
    /// The functions that are put in later, each once.
    pub(super) later: Vec<FunctionId>,
    /// Whether nothing in it can matter to a rule but what it returns.
    pub(super) silent: bool,
    /// How many steps it has, with those that are put in later.
    pub(super) size: usize,
    /// The large functions that were followed inside.
    pub(super) large: Vec<Large>,
    /// What there was no room for.
    pub(super) cut: Vec<FunctionId>,
    /// What is left of it where it does not fit once more.
    pub(super) compact: OnceLock<Option<Compact<'p>>>,
}

/// Summaries by function, as far as there are any.
pub(super) type Summaries<'p> = Vec<OnceLock<Arc<Summary<'p>>>>;

impl<'p> Summary<'p> {
    /// What a function with these parameters, captures and values comes to, and with these members in what it puts together and returns.
    pub(super) fn new(
        parameters: &[Value],
        captures: &[Value],
        mut body: Block,
        values: &Values<'p>,
        members: &[Member],
        done: &impl Done<'p>,
    ) -> Self {
        let infos = &values.infos;
        let keep: Vec<Value> = parameters.iter().chain(captures).copied().collect();
        let Pruned { size, mut returned, live, .. } = prune(&mut body, values, &keep, done);
        if let Some(returned) = &mut returned {
            // Who hands on what another function has put together gives the same back.
            match returned.whole {
                Some(_) if members.is_empty() && !returned.members.is_empty() => {}
                Some(whole) if members.is_empty() => returned.hand_on(values.members(whole)),
                _ => returned.put_together(members),
            }
        }
        let mut renumber = Renumber::new(infos);
        let mut numbered = |values: &[Value]| {
            let mut values = values.to_vec();
            values.iter_mut().for_each(|value| renumber.value(value));
            values
        };
        let (parameters, captures) = (numbered(parameters), numbered(captures));
        let bound = keep.iter().zip(parameters.iter().chain(&captures));
        let idle = bound.filter(|(old, _)| !live.has(**old)).map(|(_, new)| *new).collect();
        let mut reads = vec![];
        seen(&body, done, &mut reads);
        let seen = numbered(&reads);
        returned.iter_mut().flat_map(Returned::values_mut).for_each(|value| renumber.value(value));
        let ports = renumber.infos.len();
        renumber.block(&mut body);
        let silent = is_silent(&body);
        let mut values = renumber.infos;
        values.shrink_to_fit();
        let mut later = vec![];
        let held = Held::by(&body, keep.len(), ports, &mut later, done);
        let body = Arc::new(body);
        Self {
            values,
            ports,
            body,
            parameters,
            captures,
            idle,
            returned,
            seen,
            held,
            later,
            silent,
            size,
            large: vec![],
            cut: vec![],
            compact: OnceLock::new(),
        }
    }

    /// What is left of it where it does not fit once more; `None` if nothing of that matters to a caller.
    pub(super) fn compact(&self, done: &impl Done<'p>) -> Option<&Compact<'p>> {
        self.compact.get_or_init(|| Compact::of(self, done)).as_ref()
    }
}
