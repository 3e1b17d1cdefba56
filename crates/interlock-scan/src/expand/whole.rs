//! An entry point of the program with everything in it.

use std::sync::Arc;

use interlock_model::ir::{Block, Value, ValueInfo};

use super::{
    bind::{Info, Values},
    decided::decided,
    follow::Follower,
    prune::{prune, prune_again},
    rename::Rename,
    renumber::Renumber,
    summary::Summary,
    work::Work,
};

/// A followed function with everything that was to be put in later.
pub(super) struct Whole<'p> {
    values: Vec<Info<'p>>,
    pub(super) body: Arc<Block>,
}

impl Whole<'_> {
    /// Its values as rules see them.
    pub(super) fn infos(&self) -> Arc<[ValueInfo]> {
        self.values.iter().map(Info::whole).collect()
    }
}

impl<'p> Follower<'p, '_> {
    /// Makes a followed function whole.
    pub(super) fn whole(&mut self, summary: &Summary<'p>) -> Whole<'p> {
        if summary.later.is_empty() && !summary.held.compact {
            let body = decided(&summary.body).map_or_else(|| summary.body.clone(), Arc::new);
            return Whole { values: summary.values.clone(), body };
        }
        let mut work = Work::new(Values::new(summary.values.clone()));
        work.whole = true;
        let rename = Rename { ports: &[], offset: 0, this: None, apart: None };
        let mut body = Block::with_capacity(summary.body.len());
        summary.body.iter().for_each(|effect| self.copy_step(effect, &rename, &mut work, &mut body));
        if let Some(decided) = decided(&body) {
            body = decided;
        }
        let infos = &work.values.infos;
        let mut keep: Vec<Value> = summary.parameters.iter().chain(&summary.captures).copied().collect();
        let pruned = prune(&mut body, &work.values, &keep, self);
        prune_again(&mut body, &pruned, infos.len(), self);
        let mut renumber = Renumber::new(infos);
        keep.iter_mut().for_each(|value| renumber.value(value));
        renumber.block(&mut body);
        Whole { values: renumber.infos, body: Arc::new(body) }
    }
}
