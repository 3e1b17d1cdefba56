//! From the parser's tree to what it says about rows.

use interlock_model::ir::{Aspect, Isolation, Name, Term};
use sqlparser::ast::{
    Assignment, AssignmentTarget, ConflictTarget, Expr, FromTable, GroupByExpr, Insert, LimitClause,
    LockType, OnConflictAction, OnInsert, OrderBy, OrderByKind, OrderBySort, Query, Select, SelectItem,
    Set as SetTree, SetExpr, SqliteOnConflict, Statement as Tree, TableFactor, TableObject, TableWithJoins,
    TransactionIsolationLevel, TransactionMode, TransactionModifier,
};

use super::{
    Parameters, Said,
    expression::{Made, Qualified, Reader, arguments, last_part},
    parse::{self, Text},
};
use crate::knowledge::{
    format::Engine,
    statement::{Conflict, Demand, Set, Statement, To, Verb, unique},
};

/// How deep queries in queries are followed.
const DEEPEST: usize = 20;

/// What the statements say, in order.
pub(super) fn lower(
    statements: &[Tree],
    text: &Text,
    parameters: &Parameters<'_>,
    engine: Option<Engine>,
) -> Vec<Said> {
    let mut lowering =
        Lowering { reader: Reader { text, parameters }, engine, said: vec![], known: vec![], depth: 0 };
    for statement in statements {
        lowering.statement(statement);
    }
    lowering.said
}

/// What a piece of a condition demands: `whereRaw("stock >= ?", [n])`.
pub(in crate::knowledge) fn condition(parts: &[Term], parameters: &Parameters<'_>) -> Option<Vec<Demand>> {
    let mut whole = vec![Term::Literal("SELECT 1 FROM t WHERE ".into())];
    whole.extend_from_slice(parts);
    let text = Text::of(&whole)?;
    let statements = parse::parse(&text, None)?;
    let said = lower(&statements, &text, parameters, None);
    said.into_iter().find_map(|said| match said {
        Said::Statement(statement) => Some(statement.demands),
        _ => None,
    })
}

/// What a piece of an update sets: `Set("stock = stock - ?", n)`.
pub(in crate::knowledge) fn assignments(parts: &[Term], parameters: &Parameters<'_>) -> Option<Vec<Set>> {
    let mut whole = vec![Term::Literal("UPDATE t SET ".into())];
    whole.extend_from_slice(parts);
    let text = Text::of(&whole)?;
    let statements = parse::parse(&text, None)?;
    let said = lower(&statements, &text, parameters, None);
    said.into_iter().find_map(|said| match said {
        Said::Statement(statement) => Some(statement.sets),
        _ => None,
    })
}

struct Lowering<'l> {
    reader: Reader<'l>,
    engine: Option<Engine>,
    said: Vec<Said>,
    /// The names of `WITH` queries, which are no tables.
    known: Vec<String>,
    depth: usize,
}

/// A table in a statement, and what else it is called there.
struct Source {
    table: Term,
    names: Vec<String>,
}

impl Lowering<'_> {
    fn statement(&mut self, tree: &Tree) {
        match tree {
            Tree::Query(query) => self.query(query, Aspect::Content, true),
            Tree::Update(update) => {
                let Some(source) = self.sources(std::slice::from_ref(&update.table)).into_iter().next()
                else {
                    return;
                };
                let mut statement = Statement::new(Verb::Update, source.table);
                statement.demands = self.filter(update.selection.as_ref());
                statement.sets = self.assignments(&update.assignments);
                self.said.push(Said::Statement(statement));
            }
            Tree::Delete(delete) => {
                let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &delete.from;
                let Some(source) = self.sources(from).into_iter().next() else { return };
                let mut statement = Statement::new(Verb::Delete, source.table);
                statement.demands = self.filter(delete.selection.as_ref());
                self.said.push(Said::Statement(statement));
            }
            Tree::Insert(insert) => self.insert(insert),
            Tree::StartTransaction { modes, modifier, .. } => {
                let isolation = self.isolation(modes, *modifier);
                self.said.push(Said::Begin(isolation));
            }
            Tree::Set(SetTree::SetTransaction { modes, .. }) if !modes.is_empty() => {
                let isolation = self.isolation(modes, None);
                self.said.push(Said::Begin(isolation));
            }
            Tree::Commit { .. } => self.said.push(Said::Commit),
            Tree::Rollback { savepoint: None, .. } => self.said.push(Said::Rollback),
            Tree::Merge(merge) => {
                if let TableFactor::Table { name, .. } = &merge.table {
                    let mut statement = Statement::new(Verb::Update, self.reader.table(name));
                    let to = To::Relative;
                    statement.sets.push(Set { column: None, to, term: Term::Unknown, values: vec![] });
                    self.said.push(Said::Statement(statement));
                }
            }
            Tree::Truncate(truncate) => {
                for target in &truncate.table_names {
                    let table = self.reader.table(&target.name);
                    self.said.push(Said::Statement(Statement::new(Verb::Delete, table)));
                }
            }
            _ => {}
        }
    }

    fn isolation(&self, modes: &[TransactionMode], modifier: Option<TransactionModifier>) -> Isolation {
        let level = modes.iter().find_map(|mode| match mode {
            TransactionMode::IsolationLevel(level) => Some(*level),
            TransactionMode::AccessMode(_) => None,
        });
        match (level, modifier) {
            (_, Some(TransactionModifier::Immediate | TransactionModifier::Exclusive)) => {
                Isolation::SingleWriter
            }
            (Some(level), _) => {
                let name = match level {
                    TransactionIsolationLevel::ReadUncommitted => "read uncommitted",
                    TransactionIsolationLevel::ReadCommitted => "read committed",
                    TransactionIsolationLevel::RepeatableRead => "repeatable read",
                    TransactionIsolationLevel::Serializable => "serializable",
                    TransactionIsolationLevel::Snapshot => "snapshot",
                };
                super::super::isolation::named(name, self.engine)
            }
            (None, _) => super::super::isolation::default_of(self.engine),
        }
    }

    fn query(&mut self, query: &Query, aspect: Aspect, top: bool) {
        if self.depth >= DEEPEST {
            return;
        }
        self.depth += 1;
        for cte in query.with.iter().flat_map(|with| &with.cte_tables) {
            self.known.push(cte.alias.name.value.clone());
            self.query(&cte.query, Aspect::Content, false);
        }
        let locking =
            query.locks.iter().any(|lock| matches!(lock.lock_type, LockType::Update | LockType::Share));
        let aspect = if aspect == Aspect::Content && is_greatest(query) { Aspect::Total } else { aspect };
        self.body(&query.body, aspect, locking, top);
        self.depth -= 1;
    }

    fn body(&mut self, body: &SetExpr, aspect: Aspect, locking: bool, top: bool) {
        match body {
            SetExpr::Select(select) => self.select(select, aspect, locking, top),
            SetExpr::Query(query) => self.query(query, aspect, top),
            SetExpr::SetOperation { left, right, .. } if self.depth < DEEPEST => {
                self.depth += 1;
                self.body(left, aspect, locking, false);
                self.body(right, aspect, locking, false);
                self.depth -= 1;
            }
            SetExpr::Insert(tree) | SetExpr::Update(tree) | SetExpr::Delete(tree) => self.statement(tree),
            _ => {}
        }
    }

    fn select(&mut self, select: &Select, aspect: Aspect, locking: bool, top: bool) {
        let sources = self.sources(&select.from);
        let mut demands: Vec<Qualified> = vec![];
        let mut inner = Made::default();
        if let Some(selection) = &select.selection {
            self.reader.demands(selection, &mut demands);
            self.reader.take_apart(selection, &mut inner);
        }
        let (mut columns, mut whole, mut constant) = (vec![], false, true);
        let mut total = matches!(&select.group_by, GroupByExpr::Expressions(by, _) if by.is_empty());
        for item in &select.projection {
            match item {
                SelectItem::UnnamedExpr(expr)
                | SelectItem::ExprWithAlias { expr, .. }
                | SelectItem::ExprWithAliases { expr, .. } => {
                    let mut made = Made::default();
                    self.reader.take_apart(expr, &mut made);
                    constant &= matches!(expr, Expr::Value(_));
                    total &= made.functions.iter().any(|function| is_total(function));
                    // `count(*)` looks at every row; a hole may be any column.
                    whole |= made.columns.is_empty() && !matches!(expr, Expr::Value(_));
                    columns.extend(made.columns);
                    let is_exists = matches!(expr, Expr::Exists { .. });
                    for query in made.queries {
                        let aspect = if is_exists { Aspect::Existence } else { Aspect::Content };
                        self.query(query, aspect, false);
                    }
                    made.functions.into_iter().for_each(|function| self.lock(function));
                }
                SelectItem::QualifiedWildcard(..) | SelectItem::Wildcard(_) => {
                    (constant, whole, total) = (false, true, false);
                }
            }
        }
        let aspect = match aspect {
            _ if constant && top => Aspect::Existence,
            Aspect::Content if total => Aspect::Total,
            aspect => aspect,
        };
        let several = sources.len() > 1;
        for (at, source) in sources.iter().enumerate() {
            let belongs = |qualifier: &Option<String>| match qualifier {
                Some(name) => source.names.iter().any(|own| own.eq_ignore_ascii_case(name)),
                None => at == 0,
            };
            let mut statement = Statement::new(Verb::Read { aspect, locking }, source.table.clone());
            let own = demands.iter().filter(|(qualifier, _)| !several || belongs(qualifier));
            statement.demands = own.map(|(_, demand)| demand.clone()).collect();
            if !whole && matches!(aspect, Aspect::Content | Aspect::Total) {
                let own = columns.iter().filter(|(qualifier, _)| !several || belongs(qualifier));
                statement.columns = unique(own.map(|(_, name)| name.clone()).collect());
            }
            self.said.push(Said::Statement(statement));
        }
        for query in inner.queries {
            self.query(query, Aspect::Content, false);
        }
    }

    /// The tables behind a `FROM`, first to last; queries in it are read for themselves.
    fn sources(&mut self, from: &[TableWithJoins]) -> Vec<Source> {
        let mut found = vec![];
        let factors = from.iter().flat_map(|from| {
            std::iter::once(&from.relation).chain(from.joins.iter().map(|join| &join.relation))
        });
        for factor in factors {
            match factor {
                TableFactor::Table { name, alias, args: None, .. } => {
                    let plain = last_part(name);
                    if self.known.contains(&plain) {
                        continue;
                    }
                    let alias = alias.as_ref().map(|alias| alias.name.value.clone());
                    let names = alias.into_iter().chain([plain]).collect();
                    found.push(Source { table: self.reader.table(name), names });
                }
                TableFactor::Derived { subquery, .. } => self.query(subquery, Aspect::Content, false),
                _ => {}
            }
        }
        found
    }

    fn filter(&mut self, selection: Option<&Expr>) -> Vec<Demand> {
        let mut demands = vec![];
        if let Some(selection) = selection {
            self.reader.demands(selection, &mut demands);
        }
        demands.into_iter().map(|(_, demand)| demand).collect()
    }

    fn assignments(&self, assignments: &[Assignment]) -> Vec<Set> {
        let one = |assignment: &Assignment| match (&assignment.target, &assignment.value) {
            (AssignmentTarget::ColumnName(name), value) => {
                vec![self.set(self.reader.column_name(&last_part(name)), value)]
            }
            (AssignmentTarget::Tuple(names), Expr::Tuple(values)) => {
                let set = |(name, value)| self.set(self.reader.column_name(&last_part(name)), value);
                names.iter().zip(values).map(set).collect()
            }
            (AssignmentTarget::Tuple(_), value) => vec![self.set(None, value)],
        };
        assignments.iter().flat_map(one).collect()
    }

    fn set(&self, column: Option<Name>, value: &Expr) -> Set {
        let mut made = Made::default();
        self.reader.take_apart(value, &mut made);
        let (term, _) = self.reader.operand(value);
        let stored = |qualifier: &Option<String>| {
            !qualifier.as_deref().is_some_and(|name| name.eq_ignore_ascii_case("excluded"))
        };
        // `COALESCE($2, body)` and `VALUES(body)` hand over what the caller has, or leave it as it is.
        let handed_over = made.functions.iter().any(|function| {
            let name = last_part(&function.name).to_ascii_lowercase();
            name == "values" || (made.given && matches!(name.as_str(), "coalesce" | "ifnull" | "nullif"))
        });
        let computed = made.columns.iter().any(|(qualifier, _)| stored(qualifier)) && !handed_over;
        if computed || !made.queries.is_empty() {
            return Set { column, to: To::Relative, term: Term::Unknown, values: unique(made.values) };
        }
        // `now()`, `DEFAULT`: nothing that the caller knows.
        if !made.functions.is_empty() && !made.given && !handed_over {
            return Set { column, to: To::Neutral, term: Term::Unknown, values: vec![] };
        }
        Set::to_given(column, term, unique(made.values))
    }

    fn insert(&mut self, insert: &Insert) {
        let TableObject::TableName(name) = &insert.table else { return };
        let mut statement = Statement::new(Verb::Insert, self.reader.table(name));
        // A column may be a hole, which is no name.
        let named: Vec<Option<Name>> =
            insert.columns.iter().map(|name| self.reader.column_name(&last_part(name))).collect();
        match insert.source.as_deref().map(|query| &*query.body) {
            Some(SetExpr::Values(values)) => {
                let mut rows = values.rows.iter();
                for (at, value) in rows.next().iter().flat_map(|row| &row.content).enumerate() {
                    statement.sets.push(self.set(named.get(at).cloned().flatten(), value));
                }
                // Further rows only add to what is written.
                let mut more = Made::default();
                rows.flat_map(|row| &row.content).for_each(|value| self.reader.take_apart(value, &mut more));
                if let Some(last) = statement.sets.last_mut() {
                    last.values.extend(more.values);
                }
            }
            Some(SetExpr::Select(select)) => {
                let item = |item: &SelectItem| match item {
                    SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => {
                        Some(expr.clone())
                    }
                    _ => None,
                };
                for (at, value) in select.projection.iter().filter_map(item).enumerate() {
                    let set = self.set(named.get(at).cloned().flatten(), &value);
                    statement.sets.push(Set { to: To::Absolute, ..set });
                }
                statement.demands = self.filter(select.selection.as_ref());
            }
            _ => statement.sets = self.assignments(&insert.assignments),
        }
        let replaces = insert.replace_into || matches!(insert.or, Some(SqliteOnConflict::Replace));
        let ignores = insert.ignore || matches!(insert.or, Some(SqliteOnConflict::Ignore));
        match (&insert.on, replaces, ignores) {
            (Some(OnInsert::OnConflict(on)), ..) => {
                if let Some(ConflictTarget::Columns(columns)) = &on.conflict_target {
                    let named = columns.iter().filter_map(|column| self.reader.column_name(&column.value));
                    statement.target = named.collect();
                }
                match &on.action {
                    OnConflictAction::DoNothing => statement.conflict = Conflict::Ignore,
                    OnConflictAction::DoUpdate(update) => {
                        self.overwrite(&mut statement, &update.assignments);
                        statement.on_conflict = self.filter(update.selection.as_ref());
                    }
                }
            }
            (Some(OnInsert::DuplicateKeyUpdate(assignments)), ..) => {
                self.overwrite(&mut statement, assignments)
            }
            (_, true, _) => statement.conflict = Conflict::Overwrite,
            (_, _, true) => statement.conflict = Conflict::Ignore,
            _ => {}
        }
        self.said.push(Said::Statement(statement));
    }

    /// What is written where a row is there already counts instead of what a new one would have got.
    fn overwrite(&self, statement: &mut Statement, assignments: &[Assignment]) {
        statement.conflict = Conflict::Overwrite;
        let assigned = self.assignments(assignments);
        for set in &mut statement.sets {
            if set.to == To::Absolute && !assigned.iter().any(|other| other.column == set.column) {
                set.to = To::Initial;
            }
        }
        for set in assigned {
            match statement.sets.iter_mut().find(|old| old.column.is_some() && old.column == set.column) {
                Some(old) => old.to = if set.to == To::Relative { To::Relative } else { old.to },
                None => statement.sets.push(set),
            }
        }
    }

    /// A lock that the database keeps by number or name.
    fn lock(&mut self, function: &sqlparser::ast::Function) {
        let name = last_part(&function.name).to_ascii_lowercase();
        let key =
            arguments(function).first().map_or(Term::Unknown, |first| match self.reader.operand(first) {
                (Term::Unknown, values) => values.first().map_or(Term::Unknown, |value| Term::from(*value)),
                (term, _) => term,
            });
        let lock = |name, tried| Said::Lock { name, key: key.clone(), tried };
        let said = match name.as_str() {
            "pg_advisory_xact_lock" => lock("pg_advisory_xact_lock", false),
            "pg_try_advisory_xact_lock" => lock("pg_advisory_xact_lock", true),
            "pg_advisory_lock" => lock("pg_advisory_lock", false),
            "pg_try_advisory_lock" => lock("pg_advisory_lock", true),
            "pg_advisory_unlock" => Said::Unlock { name: "pg_advisory_lock", key },
            "get_lock" => lock("get_lock", true),
            "release_lock" => Said::Unlock { name: "get_lock", key },
            _ => return,
        };
        self.said.push(said);
    }
}

/// Whether a function makes one number of all rows.
fn is_total(function: &sqlparser::ast::Function) -> bool {
    let name = last_part(&function.name);
    function.over.is_none() && ["max", "count"].iter().any(|total| name.eq_ignore_ascii_case(total))
}

/// Whether a query asks for the greatest of all rows: `ORDER BY position DESC LIMIT 1`.
fn is_greatest(query: &Query) -> bool {
    let descending = matches!(&query.order_by, Some(OrderBy { kind: OrderByKind::Expressions(by), .. }) if {
        by.first().is_some_and(|first| matches!(first.options.sort, Some(OrderBySort::Desc)))
    });
    let one = matches!(&query.limit_clause, Some(LimitClause::LimitOffset { limit: Some(limit), .. }) if limit.to_string() == "1");
    descending && one
}
