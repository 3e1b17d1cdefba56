//! What is left of a function once its calls are followed.

use std::sync::{Arc, OnceLock};

use interlock_model::ir::{Block, Function, FunctionId, Value, ValueInfo};

use super::{
    bind::Info,
    prune::{Pruned, is_silent, prune},
    renumber::Renumber,
    returns::Returned,
    work::Work,
};

/// A function whose calls were followed, in terms of its own parameters, captures and receiver.
pub(super) struct Summary<'p> {
    pub(super) values: Vec<Info<'p>>,
    pub(super) body: Arc<Block>,
    pub(super) parameters: Vec<Value>,
    pub(super) captures: Vec<Value>,
    pub(super) returned: Option<Returned>,
    /// Whether nothing in it can matter to a rule but what it returns.
    pub(super) silent: bool,
    pub(super) size: usize,
    /// The large functions that were followed inside.
    pub(super) large: Vec<FunctionId>,
}

/// Summaries by function, as far as there are any.
pub(super) type Summaries<'p> = Vec<OnceLock<Arc<Summary<'p>>>>;

impl<'p> Summary<'p> {
    /// What a function comes to after `work`.
    pub(super) fn new(function: &Function, mut body: Block, work: Work<'p>) -> Self {
        let infos = &work.values.infos;
        let keep: Vec<Value> = function.parameters.iter().chain(&function.captures).copied().collect();
        let Pruned { size, mut returned } = prune(&mut body, infos, &keep);
        let mut renumber = Renumber::new(infos);
        let mut numbered = |values: &[Value]| {
            let mut values = values.to_vec();
            values.iter_mut().for_each(|value| renumber.value(value));
            values
        };
        let (parameters, captures) = (numbered(&function.parameters), numbered(&function.captures));
        renumber.block(&mut body);
        returned.iter_mut().flat_map(Returned::values_mut).for_each(|value| renumber.value(value));
        let silent = is_silent(&body);
        let mut values = renumber.infos;
        values.shrink_to_fit();
        let large = work.large.into_iter().collect();
        Self { values, body: Arc::new(body), parameters, captures, returned, silent, size, large }
    }

    /// Its values as rules see them.
    pub(super) fn infos(&self) -> Arc<[ValueInfo]> {
        self.values.iter().map(Info::whole).collect()
    }
}
