//! Rows that are found by one thing and changed by another: who looks a voucher up by its code and then writes to the row with the id
//! that stood in it means the row that was read.

use interlock_model::ir::{AccessPath, Aspect, Field, Name, Op, Resource, Root, Term, Value};

use crate::{
    lexicon::{Lexicon, Topic},
    view::{Alias, At, Overlap, alias::resolve::is_some_entry, flow::def_use::Definition},
    words,
};

impl<'v, 'e> Alias<'v, 'e> {
    /// In how far one of two rows is called by the id that a read of the other one saw in it.
    pub(in crate::view) fn overlap_by_own_id(self, one: &Resource, other: &Resource) -> Option<Overlap> {
        self.called_by_own_id(one, other).or_else(|| self.called_by_own_id(other, one))
    }

    fn called_by_own_id(self, row: &Resource, seen: &Resource) -> Option<Overlap> {
        let (Resource::Row { table, key, .. }, Resource::Row { table: same, key: by, .. }) = (row, seen)
        else {
            return None;
        };
        let Term::Path(AccessPath { root: Root::Value(whole), fields }) = &**key else { return None };
        let (Field::Name(id), branch) = fields.split_last()? else { return None };
        // What a helper was handed to read with may be unknown (`find(repository, id)`); what it answers is changed by its own id.
        let is_unknown = **table == Term::Unknown || **same == Term::Unknown;
        let known = if **table == Term::Unknown { same } else { table };
        if **known == Term::Unknown
            || !(is_unknown || table.names_the_same_as(same))
            || !is_own_id(self.0.lexicon(), id, known)
            || !branch.iter().all(|field| self.is_wrapping(field))
        {
            return None;
        }
        let is_look = |at: &At| {
            matches!(self.0.op(*at), Some(Op::Read { aspect: Aspect::Content, .. }))
                && matches!(self.0.resource(*at), Some(Resource::Row { table: looked, key, .. })
                    if (looked == same || looked.names_the_same_as(same)) && key.names_the_same_as(by))
        };
        // What an object that is made here was given stands with its later forms: `{ ...row, text }`.
        let forms = self.forms_of(*whole);
        let sources = self.0.flow().sources_of(&forms);
        let read = sources.iter().copied().find(is_look)?;
        // The id of what several tables gave together is the id of any of them.
        let is_joined = |at: &At| {
            self.0.span(*at) == self.0.span(read)
                && matches!(self.0.resource(*at), Some(Resource::Row { table: joined, .. }) if joined != same && !joined.names_the_same_as(same))
        };
        if sources.iter().any(is_joined) {
            return None;
        }
        if matches!(self.0.op(read), Some(Op::Read { into, .. }) if into == whole) {
            return Some(if is_unknown { Overlap::Maybe } else { Overlap::Sure });
        }
        // What was put together anew may have got an id of its own.
        let mut parts = self.0.flow().backward_slice(&forms).into_iter();
        (!parts.any(|part| self.0.flow().is_drawn(part))).then_some(Overlap::Maybe)
    }

    /// A value, and where it is an object that is made here, the values that stand for it once something was put into it.
    pub(super) fn forms_of(self, object: Value) -> Vec<Value> {
        let flow = self.0.flow();
        let mut forms = vec![object];
        if matches!(flow.definition(object), Definition::New) {
            let count = u32::try_from(self.0.values.len()).unwrap_or(u32::MAX);
            forms.extend((0..count).map(Value).filter(|form| match flow.definition(*form) {
                Definition::Term(Term::Path(path)) => {
                    path.fields.is_empty() && path.root == Root::Value(object)
                }
                _ => false,
            }));
        }
        forms
    }

    /// Whether a step is on one of several rows that a read saw together, and goes by its id.
    #[must_use]
    pub fn is_one_of_many(self, read: At, act: At) -> bool {
        let (Some(Resource::Row { key: all, .. }), Some(Resource::Row { key, .. })) =
            (self.0.resource(read), self.0.resource(act))
        else {
            return false;
        };
        match &**key {
            Term::Path(path) if !key.names_the_same_as(all) => {
                is_some_entry(path) || is_some_entry(&self.resolve_path(path))
            }
            _ => false,
        }
    }
}

/// Whether a column names the row that it stands in: `id`, and `task_id` in a table of tasks.
fn is_own_id(lexicon: &Lexicon, column: &Name, table: &Term) -> bool {
    if lexicon.has(Topic::OwnId, column) {
        return true;
    }
    let Term::Literal(table) = table else { return false };
    let of_one = |words: &[String]| words.iter().map(|word| singular(word)).collect::<Vec<String>>();
    let columns = words(column);
    match columns.split_last() {
        // `order_id` in `order_items` names the order.
        Some((id, of)) => id == "id" && !of.is_empty() && of_one(&words(table)).ends_with(&of_one(of)),
        None => false,
    }
}

fn singular(word: &str) -> String {
    match word.strip_suffix("ies") {
        Some(stem) => format!("{stem}y"),
        None => word.trim_end_matches('s').to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_calls_itself_by_an_id_of_its_own() {
        let own = |column: &str, table: &str| {
            is_own_id(Lexicon::built_in(), &column.into(), &Term::Literal(table.into()))
        };
        assert!(own("id", "tasks") && own("_id", "tasks") && own("task_id", "tasks"));
        assert!(own("workflowExecutionId", "workflow_executions"));
        assert!(own("category_id", "categories") && own("item_id", "order_items"));
        assert!(!own("order_id", "order_items") && !own("user_id", "user_sessions"));
        assert!(!own("parent_id", "tasks") && !own("userId", "tasks") && !own("name", "tasks"));
        assert!(!is_own_id(Lexicon::built_in(), &"task_id".into(), &Term::Unknown));
    }
}
