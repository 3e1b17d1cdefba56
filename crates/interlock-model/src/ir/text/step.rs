//! One step as a line.

use super::Printer;
use crate::ir::{
    Argument, Asked, Aspect, Backoff, Bound, Callee, Change, Exit, Finish, Hold, Isolation, LockKind, Op,
    Start, Term, WriteMode,
};

impl Printer<'_> {
    pub(super) fn op(self, op: &Op) -> String {
        match op {
            Op::Read { into, of, aspect, locking, unique, demands, via } => {
                let aspect = match aspect {
                    Aspect::Content => "",
                    Aspect::Existence => "existence of ",
                    Aspect::Metadata => "metadata of ",
                    Aspect::Target => "target of ",
                    Aspect::Total => "total of ",
                };
                let locking = if *locking { " for update" } else { "" };
                let unique = if *unique { " by its key" } else { "" };
                let mut columns: Vec<&str> = vec![];
                for demand in &demands.0 {
                    if !columns.contains(&&*demand.column) {
                        columns.push(&demand.column);
                    }
                }
                let demands = match columns.as_slice() {
                    [] => String::new(),
                    columns => format!(" demanding {}", columns.join(", ")),
                };
                format!(
                    "{}read {aspect}{}{unique}{demands}{locking}{}",
                    self.into(*into),
                    self.resource(of),
                    self.via(via.as_deref())
                )
            }
            Op::Write { to, from, mode, outcome, via } => {
                let (to, from) = (self.resource(to), self.list(" from ", from));
                let (outcome, mode, when) =
                    (self.maybe(*outcome), mode_name(mode), self.mode_condition(mode));
                format!("{outcome}write {mode} {to}{when}{from}{}", self.via(via.as_deref()))
            }
            Op::Delete { of, when, outcome, via } => {
                let when = match when {
                    Some(when) if when.0.is_empty() => " if it is there".into(),
                    Some(when) => self.condition(when),
                    None => String::new(),
                };
                format!(
                    "{}delete {}{when}{}",
                    self.maybe(*outcome),
                    self.resource(of),
                    self.via(via.as_deref())
                )
            }
            Op::Rename { from, to } => format!("rename {} to {}", self.resource(from), self.resource(to)),
            Op::Derive { into, from, term } => {
                let term = if *term == Term::Unknown { "derived".into() } else { self.term(term) };
                format!("{}{term}{}", self.into(*into), self.list(" from ", from))
            }
            Op::New { into, lock } => {
                let lock = match lock {
                    Some(LockKind::Mutex) => " mutex",
                    Some(LockKind::Semaphore) => " semaphore",
                    None => "",
                };
                format!("{}new{lock}", self.into(*into))
            }
            Op::Closure { into, function, captures } => {
                let closure = Argument::Closure { function: *function, captures: captures.clone() };
                format!("{}{}", self.into(*into), self.argument(&closure))
            }
            Op::Check { on, equal, asks, .. } => {
                let equal = equal.as_ref().map(|text| format!(" is {text:?}")).unwrap_or_default();
                let asked = |asked: &Asked| {
                    let open = if asked.enough { "" } else { " and more" };
                    format!(" if{} is one of {:?}{open}", self.list(" ", &asked.on), asked.texts)
                };
                let asks: String = asks.iter().map(asked).collect();
                format!("check{}{equal}{asks}", self.list(" ", on))
            }
            Op::Suspend => "suspend".into(),
            Op::Sleep { backoff, jitter } => {
                let backoff = match backoff {
                    Backoff::Fixed => "fixed",
                    Backoff::Growing => "growing",
                };
                format!("sleep {backoff}{}", if *jitter { " with jitter" } else { "" })
            }
            Op::Spawn { start, .. } => match start {
                Start::Now => "spawn".into(),
                Start::Timer => "spawn on timer".into(),
                Start::Event => "spawn on event".into(),
            },
            Op::Together { .. } => "together".into(),
            Op::Acquire { lock, hold, outcome } => {
                let hold = if *hold == Hold::Shared { "shared " } else { "" };
                format!("{}acquire {hold}{}", self.maybe(*outcome), self.lock(lock))
            }
            Op::Release { lock } => format!("release {}", self.lock(lock)),
            Op::Begin { transaction } => {
                let isolation = match transaction.isolation {
                    Isolation::ReadCommitted => "read-committed",
                    Isolation::FirstUpdaterWins => "first-updater-wins",
                    Isolation::SingleWriter => "single-writer",
                    Isolation::Serializable => "serializable",
                    Isolation::Unknown => "in unknown isolation",
                };
                format!("begin {isolation}{}", self.via(Some(&transaction.via)))
            }
            Op::End { via, finish } => {
                let finish = if *finish == Finish::Commit { "commit" } else { "rollback" };
                format!("{finish}{}", self.via(Some(via)))
            }
            Op::Open { handle } => format!("open {}", self.path(handle)),
            Op::Close { handle } => format!("close {}", self.path(handle)),
            Op::CountIn { group } => format!("count in {}", self.path(group)),
            Op::CountOut { group } => format!("count out {}", self.path(group)),
            Op::Drain { group } => format!("drain {}", self.path(group)),
            Op::External { into, service, change, from, idempotency, over } => {
                let verb = match change {
                    Change::None => "ask",
                    Change::Effect => "effect on",
                    Change::Settled => "settle at",
                    Change::Unknown => "send to",
                };
                let key = idempotency
                    .as_ref()
                    .map(|key| format!(" once per {}", self.term(key)))
                    .unwrap_or_default();
                let over = over.as_ref().map(|over| format!(" over {}", self.path(over))).unwrap_or_default();
                let sent =
                    if from.is_empty() { String::new() } else { format!(" with {}", self.values(from)) };
                format!("{}{verb} {}{sent}{key}{over}", self.maybe(*into), self.term(service))
            }
            Op::Call { into, callee, receiver, arguments, awaited } => {
                let arguments: Vec<_> = arguments.iter().map(|argument| self.argument(argument)).collect();
                let receiver =
                    receiver.as_ref().map(|path| format!(" on {}", self.path(path))).unwrap_or_default();
                let detached = if *awaited { "" } else { ", not awaited" };
                let (into, callee) = (self.maybe(*into), self.callee(callee));
                format!("{into}call {callee}({}){receiver}{detached}", arguments.join(", "))
            }
            Op::Inlined { function, .. } => {
                format!("inside {}", self.callee(&Callee::Function(*function)))
            }
            Op::Loop { bound, item, .. } => {
                let bound = match bound {
                    Bound::Each => "loop over each",
                    Bound::Limited => "loop a limited number of times",
                    Bound::Unlimited => "loop without limit",
                };
                bound.to_owned() + &item.map(|item| format!(" {}", self.value(item))).unwrap_or_default()
            }
            Op::Try { .. } => "try".into(),
            Op::Exit(Exit::Return(values)) => format!("return{}", self.list(" ", values)),
            Op::Exit(Exit::Throw) => "throw".into(),
            Op::Exit(Exit::Break) => "break".into(),
            Op::Exit(Exit::Continue) => "continue".into(),
        }
    }
}

fn mode_name(mode: &WriteMode) -> &'static str {
    match mode {
        WriteMode::Blind => "blind",
        WriteMode::Conditional(_) => "conditional",
        WriteMode::Exclusive => "exclusive",
        WriteMode::Ensure => "ensure",
        WriteMode::Append => "append",
        WriteMode::Pieces => "pieces",
        WriteMode::Atomic => "atomic",
        WriteMode::Expiry => "expiry",
    }
}
