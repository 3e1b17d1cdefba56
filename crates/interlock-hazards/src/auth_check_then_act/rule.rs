//! Check-then-act on a permission: whose something is was read in one operation, and it is changed in another.
//!
//! Reported:
//! ```text
//! const doc = await db.get("SELECT * FROM docs WHERE id = ?", id);    // reported here
//! if (doc.owner !== user) throw new Error("forbidden");
//! await db.run("DELETE FROM docs WHERE id = ?", id);
//!
//! const role = await db.get("SELECT role FROM members WHERE space = ? AND user = ?", space, user);   // reported here, if somebody leaves
//! if (role !== "editor") throw new Error("forbidden");
//! await db.run("UPDATE pages SET public = 1 WHERE id = ? AND space = ?", id, space);
//! ```
//! Not reported:
//! ```text
//! await db.run("DELETE FROM docs WHERE id = ? AND owner = ?", id, user);   // the statement demands the owner
//! if (doc.createdBy !== user) throw …;              // and who made it never changes
//! ```
//!
//! It finds its pairs by itself, because an act may also be on what the record leads to; the table of claims only keeps other rules from telling them again.

use std::collections::{HashMap, HashSet};

use interlock_model::{
    Confidence, Lane, Reach, Span,
    ir::{Name, Op, Origin, Resource, Term, Value, WriteMode},
};

use crate::{
    Issue, Reason,
    check_act::CheckAct,
    decision::{needs, unless},
    fields::same_name,
    keys::key_of,
    lexicon::{Lexicon, Topic},
    view::{At, Entry, Kinds, View},
    words,
};

use super::HAZARD;

/// Whether a field says whose something is, or who may use it.
fn says_whose(lexicon: &Lexicon, field: &str) -> bool {
    let words = words(field);
    let (together, is_role) = (words.concat(), words.last().is_some_and(|last| last.starts_with("role")));
    words.iter().any(|word| lexicon.has(Topic::Owner, word))
        || lexicon.list(Topic::OwnerTogether).iter().any(|name| together.contains(&**name))
        || (is_role && words.iter().all(|word| lexicon.has(Topic::RoleHolder, word)))
}

/// Whether a field says what somebody may do, and not whose something is.
fn says_right(lexicon: &Lexicon, field: &str) -> bool {
    words(field).iter().any(|word| lexicon.has(Topic::Right, word))
}

pub(super) fn rule(view: &View<'_>) -> Vec<Issue> {
    let changed = Changed::of(view);
    let racing = view.entries_with(Kinds::CHANGES).filter(|entry| entry.runs_beside_itself());
    racing.flat_map(|entry| of_entry(view, &changed, entry)).collect()
}

fn of_entry(view: &View<'_>, changed: &Changed<'_>, entry: &Entry<'_>) -> Vec<Issue> {
    let mut issues = vec![];
    // A query for the owner alone has the answer under whatever name.
    let owner_alone =
        |at: At| asked_alone(entry, at).is_some_and(|column| says_whose(entry.lexicon(), column));
    let asks_for_owner = entry.steps_of(Kinds::READ).any(owner_alone);
    // Many acts share their checks, and hardly any check is about ownership.
    let mut control_dependences = vec![false; entry.steps.len()];
    let all =
        |act: At| entry.control().early_exits(act).iter().chain(entry.control().control_dependences(act));
    for judge in entry.steps_of(Kinds::CHANGES).flat_map(all) {
        if let Some(control_dependences) = control_dependences.get_mut(*judge) {
            *control_dependences = true;
        }
    }
    let owned: HashMap<At, Vec<(At, Name)>> = entry
        .steps_of(Kinds::CHECK)
        .filter(|check| control_dependences.get(*check) == Some(&true))
        .map(|check| (check, looks_for_owner(entry, check, asks_for_owner)))
        .filter(|(_, reads)| !reads.is_empty())
        .collect();
    if owned.is_empty() {
        return issues;
    }
    for act in entry.steps_of(Kinds::CHANGES) {
        let judged = deciding(entry, act).filter_map(|check| Some((*check, owned.get(check)?)));
        let judged = judged.filter(|(check, _)| !is_handed_over(entry, *check, act));
        for (read, field) in judged.flat_map(|(_, reads)| reads) {
            let judge = || {
                let own = concerns(entry, *read, act);
                let governed = || governs(entry, *read, act) && changed.is_withdrawn(entry, *read, field);
                needs(own || governed(), Reason::OutOfScope)?;
                unless(repeats(entry, act, field), Reason::RepeatsCheck)?;
                let reach = view.interference(entry, *read, act)?;
                unless(own && changed.is_settled(entry, *read, act, field), Reason::Immutable)?;
                let issue = issue(changed, entry, *read, act, field, reach);
                // That the right is about what is changed is seen only from what both are asked with.
                Ok(if own { issue } else { issue.no_surer_than(Confidence::Medium) })
            };
            issues.extend(entry.settle(&HAZARD.id, &[*read, act], judge()));
        }
    }
    issues
}

/// The checks that decide over an act, those included that not every way comes by: `if (!admin) { if (row.owner !== user) throw … }`.
fn deciding<'v>(entry: &'v Entry<'_>, act: At) -> impl Iterator<Item = &'v At> {
    let control = entry.control();
    // What is made of the old state has its own story.
    let is_made_of_it =
        entry.flow().data_dependences(act).iter().any(|from| entry.alias().overlap(*from, act).is_some());
    let further_in = if is_made_of_it { &[] } else { control.early_exits(act) };
    further_in.iter().chain(control.control_dependences(act))
}

/// Whether a pair is about permission, so that no other hazard speaks of it.
pub(crate) fn claims(_view: &View<'_>, pair: &CheckAct<'_, '_>) -> Result<(), Reason> {
    let entry = pair.entry;
    let field = pair
        .check
        .and_then(|check| judged_ownership(entry, check, pair.read, &owners(entry, check)))
        .ok_or(Reason::OutOfScope)?;
    needs(concerns(entry, pair.read, pair.act), Reason::OutOfScope)?;
    unless(pair.check.is_some_and(|check| is_handed_over(entry, check, pair.act)), Reason::OutOfScope)?;
    unless(repeats(entry, pair.act, &field), Reason::RepeatsCheck)
}

/// Whether who it is compared with becomes the owner where that is somebody else: `if (task.owner === owner) return`, then `owner` is written. That
/// nothing is to be done is no question of permission.
fn is_handed_over(entry: &Entry<'_>, check: At, act: At) -> bool {
    let (Some(Op::Check { on, equal: None, .. }), Some(Op::Write { from, .. })) =
        (entry.op(check), entry.op(act))
    else {
        return false;
    };
    let owners = owners(entry, check);
    let is_owner = |value: &Value| owners.iter().any(|(owner, _)| owner == value);
    let is_read = |value: &Value| is_owner(value) && !entry.flow().sources(*value).is_empty();
    let mut new = on.iter().filter(|value| !is_read(value));
    on.len() == 2
        && entry.control().answer(check, act) == Some(false)
        && new.any(|new| from.iter().any(|value| entry.flow().depends_on(*value, *new)))
}

/// The reads by which a check asks whose something is, and the fields that say it.
fn looks_for_owner(entry: &Entry<'_>, check: At, asks_for_owner: bool) -> Vec<(At, Name)> {
    let owners = owners(entry, check);
    if owners.is_empty() && !asks_for_owner {
        return vec![];
    }
    let asked = entry.flow().condition_sources(check).iter();
    let mut found: Vec<(At, Name)> = vec![];
    for (read, field) in
        asked.filter_map(|read| Some((*read, judged_ownership(entry, check, *read, &owners)?)))
    {
        // A member of what was found in memory before is the same story.
        let goes_on = |(before, _): &(At, Name)| {
            let of_memory = |at: At| matches!(entry.resource(at), Some(Resource::Shared(_)));
            of_memory(*before) && of_memory(read) && entry.alias().overlap(*before, read).is_some()
        };
        if !found.iter().any(goes_on) {
            found.push((read, field));
        }
    }
    found
}

/// The values that a check compares and that are called like something that says whose a thing is.
fn owners(entry: &Entry<'_>, check: At) -> Vec<(Value, Name)> {
    let Some(Op::Check { on, .. }) = entry.op(check) else { return vec![] };
    let owner = |value: &Value| {
        // How many members there are does not say who they are.
        let name = entry.name_of(*value).split('.').next();
        if matches!(name, Some("length" | "size" | "count")) {
            return None;
        }
        let field = entry.alias().field_of(*value).filter(|field| says_whose(entry.lexicon(), field))?;
        Some((*value, field))
    };
    on.iter().filter_map(owner).collect()
}

/// The field of what was read that says whose it is, if that is what a check compares.
fn judged_ownership(entry: &Entry<'_>, check: At, read: At, owners: &[(Value, Name)]) -> Option<Name> {
    let (Some(Op::Read { .. }), Some(Op::Check { on, equal, .. })) = (entry.op(read), entry.op(check)) else {
        return None;
    };
    // Whether it has an owner at all is no question of who that is.
    if let ([only], None) = (on.as_slice(), equal)
        && entry.alias().field_of(*only).is_some_and(|field| says_whose(entry.lexicon(), &field))
    {
        return None;
    }
    match entry.resource(read)? {
        Resource::Row { .. } | Resource::File(_) | Resource::Key(_) => {}
        // Who sent a request stays who sent it.
        Resource::Shared(path) if entry.alias().is_shared(path) => {}
        _ => return None,
    }
    // What was found out by way of a connection or a tool in memory says nothing of whose that is.
    let in_memory = matches!(entry.resource(read), Some(Resource::Shared(_)));
    let is_about = |value: Value| match in_memory {
        true => entry.flow().is_part_of(value, read),
        false => !entry.flow().is_opaque_result(value, read),
    };
    let from_look = |value: &Value| entry.flow().sources(*value).contains(&read) && is_about(*value);
    let field = owners.iter().find(|(value, _)| from_look(value)).map(|(_, field)| field.clone());
    // Whoever asks for the owner alone compares it under whatever name.
    field.or_else(|| {
        let column = asked_alone(entry, read)?;
        (on.iter().any(from_look) && says_whose(entry.lexicon(), column)).then(|| column.clone())
    })
}

/// The only column that a query asks for, besides those by which it finds the row.
fn asked_alone<'v>(entry: &'v Entry<'_>, read: At) -> Option<&'v Name> {
    let columns = entry.alias().columns(read)?;
    let demands = match entry.op(read) {
        Some(Op::Read { demands, .. }) => demands.0.as_slice(),
        _ => &[],
    };
    let is_asked = |column: &&Name| !demands.iter().any(|demand| demand.column == **column);
    let mut asked = columns.iter().filter(is_asked);
    match (columns, asked.next(), asked.next()) {
        ([only], ..) => Some(only),
        (_, only, None) => only,
        _ => None,
    }
}

/// Whether a step changes or removes something that is there.
fn changes(entry: &Entry<'_>, act: At) -> bool {
    match entry.op(act) {
        Some(Op::Write { mode, .. }) => {
            !matches!(mode, WriteMode::Append | WriteMode::Ensure | WriteMode::Expiry | WriteMode::Exclusive)
        }
        _ => true,
    }
}

/// Whether the right stands in another table than the record, and both are asked for with the same thing of the caller's: the space whose
/// member one must be to change a page of it.
fn governs(entry: &Entry<'_>, read: At, act: At) -> bool {
    let (Some(Resource::Row { table, .. }), Some(Resource::Row { table: other, key, .. })) =
        (entry.resource(read), entry.resource(act))
    else {
        return false;
    };
    let mut on = entry.flow().values_in(key);
    if let Some(
        Op::Write { mode: WriteMode::Conditional(condition), .. } | Op::Delete { when: Some(condition), .. },
    ) = entry.op(act)
    {
        condition.0.iter().for_each(|demand| demand.with.mention(&mut on));
    }
    let of_caller = |value: &Value| entry.flow().origin(*value).is_some_and(Origin::is_argument);
    let asked = entry.flow().asked_with(read);
    changes(entry, act)
        && !table.names_the_same_as(other)
        && asked.iter().any(|value| of_caller(value) && on.contains(value))
}

/// Whether the act is on what was checked, or on something that the record led to.
fn concerns(entry: &Entry<'_>, read: At, act: At) -> bool {
    let led_to = || match entry.resource(act) {
        Some(Resource::File(path)) => {
            entry.flow().values_in(path).iter().any(|value| entry.flow().sources(*value).contains(&read))
        }
        _ => false,
    };
    changes(entry, act) && (entry.alias().meets(read, act).is_some() || led_to())
}

/// Whether the statement itself demands the owner.
fn repeats(entry: &Entry<'_>, act: At, field: &str) -> bool {
    let condition = match entry.op(act) {
        Some(Op::Write { mode: WriteMode::Conditional(condition), .. }) => condition,
        Some(Op::Delete { when: Some(condition), .. }) => condition,
        _ => return false,
    };
    condition
        .0
        .iter()
        .any(|demand| same_name(&demand.column, field) || says_whose(entry.lexicon(), &demand.column))
}

/// What a step touches, in words; of two rows of one table each by what names it.
fn row(entry: &Entry<'_>, at: At, beside: At) -> String {
    let thing = entry.thing(at);
    match (entry.resource(at), entry.resource(beside)) {
        (Some(Resource::Row { key, .. }), Some(Resource::Row { key: other, .. }))
            if thing == entry.thing(beside) && !key.names_the_same_as(other) && !entry.has_no_name(key) =>
        {
            format!("{thing} for {}", entry.quoted(key))
        }
        _ => thing,
    }
}

fn issue(changed: &Changed<'_>, entry: &Entry<'_>, read: At, act: At, field: &str, reach: Reach) -> Issue {
    let (thing, target) = (row(entry, read, act), row(entry, act, read));
    // Who may do something by a role does not own it.
    let (passes, loses, acts) = if says_right(entry.lexicon(), field) {
        (
            format!("reads {thing}: `{field}` allows it"),
            format!("takes that right away: changes {thing}"),
            format!("changes {target} all the same"),
        )
    } else {
        (
            format!("reads {thing}: `{field}` is the caller"),
            format!("gives {thing} to somebody else"),
            format!("acts on {target}, which is no longer the caller's"),
        )
    };
    let message = format!(
        "`{field}` of {thing} is checked in one operation and the act runs in another, so a caller who has just lost the right \
         still gets through"
    );
    let (seen, done) = (entry.position(read, &[act]), entry.position(act, &[read]));
    let mut issue = Issue::at(entry, read, &[act], reach, message)
        .step(Lane::A, seen, passes)
        .step(Lane::B, seen, loses)
        .step(Lane::A, done, acts);
    if !changed.by_somebody(entry, read, field) {
        issue = issue.no_surer_than(Confidence::Low);
    }
    issue.keys = entry.resource(act).and_then(|resource| key_of(entry, resource)).into_iter().collect();
    issue
}

/// What any code of the program ever changes, by table, and the tables that it takes rows from.
struct Changed<'v>(HashMap<&'v Term, Vec<Change<'v>>>, HashSet<&'v Term>);

#[derive(PartialEq)]
struct Change<'v> {
    /// An empty list is a change of the whole row.
    columns: &'v [Name],
    location: Span,
}

impl<'v> Changed<'v> {
    fn of(view: &'v View<'_>) -> Self {
        let mut changed: HashMap<&Term, Vec<Change<'_>>> = HashMap::new();
        for entry in view.entries_with(Kinds::WRITE) {
            let changes = |op: &Op| matches!(op, Op::Write { mode, .. } if *mode != WriteMode::Exclusive);
            for write in entry.all(Kinds::WRITE, changes) {
                if let Some(Resource::Row { table, columns, .. }) = entry.resource(write) {
                    let known = changed.entry(&**table).or_default();
                    let change = Change { columns, location: entry.span(write) };
                    if !known.contains(&change) {
                        known.push(change);
                    }
                }
            }
        }
        let mut emptied = HashSet::new();
        for entry in view.entries_with(Kinds::CHANGES) {
            for delete in entry.all(Kinds::CHANGES, |op| matches!(op, Op::Delete { .. })) {
                if let Some(Resource::Row { table, .. }) = entry.resource(delete) {
                    emptied.insert(&**table);
                }
            }
        }
        Self(changed, emptied)
    }

    /// Whether somebody takes the right away: removes such rows, or changes just that field of them.
    fn is_withdrawn(&self, entry: &Entry<'_>, read: At, field: &str) -> bool {
        let Some(Resource::Row { table, .. }) = entry.resource(read) else { return false };
        let mut changes = self.0.get(&**table).into_iter().flatten();
        let is_it = |change: &Change<'_>| change.columns.iter().any(|column| same_name(column, field));
        self.1.contains(&**table) || changes.any(is_it)
    }

    /// Whether nobody ever changes a field, although somebody else changes rows like that one, or it says who made them: whose they are
    /// stays as it is.
    fn is_settled(&self, entry: &Entry<'_>, read: At, act: At, field: &str) -> bool {
        let words = words(field).concat();
        let says_who_made_it =
            entry.lexicon().list(Topic::Maker).iter().any(|made| words.starts_with(&**made));
        let Some(Resource::Row { table, .. }) = entry.resource(read) else { return false };
        let mut changes = self.0.get(&**table).into_iter().flatten();
        let is_other = |change: &Change<'_>| change.location != entry.span(act);
        !self.by_somebody(entry, read, field) && (says_who_made_it || changes.any(is_other))
    }

    /// Whether anybody changes a field of what was looked at.
    fn by_somebody(&self, entry: &Entry<'_>, read: At, field: &str) -> bool {
        let Some(Resource::Row { table, .. }) = entry.resource(read) else { return true };
        let mut changes = self.0.get(&**table).into_iter().flatten();
        changes.any(|Change { columns, .. }| {
            columns.is_empty() || columns.iter().any(|column| same_name(column, field))
        })
    }
}
