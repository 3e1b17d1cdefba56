//! Retry loops: something is done again because it failed or lost.

use interlock_model::ir::{
    AccessPath, Argument, Bound, Effect, Exit, Field, Finish, Fresh, Op, Resource, Root, Term, Value,
};

use crate::{
    lexicon::Topic,
    view::{At, Control, Escape, Piece},
};

/// A loop that does something again because it failed or lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    /// The loop.
    pub head: At,
    /// What is tried.
    pub attempt: At,
    /// Whether a counter or a deadline ends it.
    pub bounded: bool,
}

impl<'v, 'e> Control<'v, 'e> {
    /// The retry that a step is part of, the innermost.
    #[must_use]
    pub fn retried_by(self, at: At) -> Option<Retry> {
        self.loops(at).iter().rev().find_map(|head| self.retry(*head))
    }

    /// What makes a loop a retry, if it is one: an attempt whose success leaves the loop and whose failure comes round again.
    #[must_use]
    pub fn retry(self, head: At) -> Option<Retry> {
        let Some(Op::Loop { bound: bound @ (Bound::Limited | Bound::Unlimited), .. }) = self.0.op(head)
        else {
            return None;
        };
        if self.goes_through(head) {
            return None;
        }
        let here = |at: &At| self.loops(*at).last() == Some(&head);
        let attempts = || self.inside(head).filter(|at| here(at) && self.can_fail(head, *at));
        let caught = || {
            attempts().find(|at| {
                let tries = |op: &Op| matches!(op, Op::Try { catch: Some(_), .. });
                self.around(*at, tries)
                    .is_some_and(|attempt| attempt > head && self.comes_round(head, attempt))
                    && !self.moves_on(*at)
            })
        };
        // Whether each turn is at another thing is the dearest question, so it is asked last.
        let judged = |at: &At| self.is_judged_again(head, *at) && !self.moves_on(*at);
        let attempt = attempts().find(judged).or_else(caught)?;
        let bounded = *bound == Bound::Limited || self.gives_up(head);
        Some(Retry { head, attempt, bounded })
    }

    /// Whether a loop asks an object at the beginning of each turn whether there is more, and ends where there is none: `for walker.Step()`,
    /// `while (rows.next())`. It goes through something, and each turn is at the next.
    fn goes_through(self, head: At) -> bool {
        let mut steps = self.inside(head).filter(|at| self.loops(*at).last() == Some(&head));
        let asks = |at: At| match self.0.op(at) {
            Some(Op::Check { on, then, otherwise, .. }) => {
                let [asked] = on.as_slice() else { return false };
                let ends = |block: &[Effect]| matches!(block, [Effect { op: Op::Exit(Exit::Break), .. }]);
                let site = self.0.flow().definition_site(*asked).filter(|site| *site > head && *site < at);
                let by_call = site.and_then(|site| self.0.op(site)).is_some_and(
                    |op| matches!(op, Op::Call { receiver: Some(_), arguments, .. } if arguments.is_empty()),
                );
                by_call && (then.is_empty() && ends(otherwise) || otherwise.is_empty() && ends(then))
            }
            _ => false,
        };
        let first = steps
            .find(|at| !matches!(self.0.op(*at), Some(Op::Derive { .. } | Op::Suspend | Op::Call { .. })));
        first.is_some_and(asks)
    }

    /// Whether each turn is at another thing: the next folder up, the next mirror.
    fn moves_on(self, at: At) -> bool {
        let name = match (self.0.op(at), self.0.resource(at)) {
            (Some(Op::External { service, .. }), _) => service,
            (Some(Op::Call { arguments, receiver, .. }), _) => {
                let given = arguments.iter().filter_map(|argument| match argument {
                    Argument::Term(term) => Some(term),
                    Argument::Closure { .. } => None,
                });
                let mut values: Vec<Value> = given.flat_map(|term| self.0.flow().values_in(term)).collect();
                if let Some(object) = receiver {
                    object.mention(&mut values);
                }
                return values.iter().any(|value| self.is_another_each_turn(*value));
            }
            (_, Some(Resource::File(name) | Resource::Key(name))) => name,
            (_, Some(Resource::Row { key, .. })) => key,
            _ => return false,
        };
        let values = self.0.flow().values_in(name);
        values.iter().any(|value| self.is_another_each_turn(*value) || self.is_made_of_item(at, *value))
    }

    /// Whether a value is made of what the loop around a step goes through: `note_{count}.md`.
    fn is_made_of_item(self, at: At, value: Value) -> bool {
        let head = self.loops(at).last().and_then(|head| self.0.op(*head));
        matches!(head, Some(Op::Loop { item: Some(item), .. }) if self.0.flow().depends_on(value, *item))
    }

    /// Whether a value is another one at each turn: it is computed on, or it is the next of a list by a number that is.
    fn is_another_each_turn(self, value: Value) -> bool {
        let flow = self.0.flow();
        let is_next = |value: &Value| match flow.definition_site(*value).and_then(|at| self.0.op(at)) {
            Some(Op::Read { of: Resource::Shared(path), .. }) => {
                let mut keys = vec![];
                path.mention(&mut keys);
                keys.iter().any(|key| flow.is_carried(*key))
            }
            _ => false,
        };
        let moves = |value: &Value| {
            flow.is_carried(*value) || is_next(value) || flow.backward_slice(&[*value]).iter().any(is_next)
        };
        // What somebody answers is as new as the address that was asked.
        let is_answer = |value: &Value| match flow.definition_site(*value).and_then(|at| self.0.op(at)) {
            Some(Op::External { service, .. }) => flow.values_in(service).iter().any(moves),
            _ => false,
        };
        moves(&value) || is_answer(&value)
    }

    fn can_fail(self, head: At, at: At) -> bool {
        // What the loop starts and does not wait for fails by itself; the whole loop may be such a thing.
        let waits = || self.detached(at) == self.detached(head);
        match self.0.op(at) {
            Some(Op::External { .. } | Op::Open { .. } | Op::End { finish: Finish::Commit, .. }) => waits(),
            // What is done in one go meets nobody: a text is parsed, a shape is checked.
            Some(Op::Call { awaited, .. }) => *awaited && waits(),
            Some(Op::Acquire { outcome, .. }) => outcome.is_some(),
            // Nobody keeps another from reading a file: who comes back for that waits for it to be there.
            Some(Op::Read { .. }) => {
                matches!(self.0.resource(at), Some(Resource::Row { .. } | Resource::Key(_)))
            }
            Some(Op::Rename { from: Resource::File(name), .. }) => !self.is_fresh_name(name),
            Some(Op::Write { .. } | Op::Delete { .. } | Op::Rename { .. }) => match self.0.resource(at) {
                Some(Resource::File(name)) => !self.is_fresh_name(name),
                Some(Resource::Row { .. } | Resource::Key(_)) => true,
                _ => false,
            },
            _ => false,
        }
    }

    /// Whether a name is drawn anew for each call, so that nobody else has it.
    fn is_fresh_name(self, name: &Term) -> bool {
        let drawn = |piece: &Piece| matches!(piece, Piece::Fresh(Fresh::Random));
        self.0.alias().pattern(name).0.iter().any(drawn)
            || self
                .0
                .flow()
                .values_in(name)
                .iter()
                .any(|value| self.0.flow().is_made_of_fresh(&[*value], Fresh::Random))
    }

    /// Whether its outcome is looked at, and one way leaves the loop while the other comes round.
    fn is_judged_again(self, head: At, at: At) -> bool {
        let answer = match self.0.op(at) {
            Some(
                Op::Write { outcome: Some(outcome), .. }
                | Op::Delete { outcome: Some(outcome), .. }
                | Op::Acquire { outcome: Some(outcome), .. },
            ) => *outcome,
            Some(Op::External { into: Some(into), .. }) => *into,
            _ => return false,
        };
        let is_request = matches!(self.0.op(at), Some(Op::External { .. }));
        self.inside(head).any(|check| {
            let Some(Op::Check { on, then, otherwise, .. }) = self.0.op(check) else { return false };
            let asks = |value: &Value| {
                self.0.flow().depends_on(*value, answer)
                    && (!is_request || self.says_whether_it_worked(*value, answer))
            };
            // Who leaves because of a failure does not try again: where failures are values, a no is one.
            let fails = !self.0.program.function(self.0.function_of(check)).is_none_or(|it| it.unwinds)
                && on.iter().any(|value| self.0.name_of(*value).to_ascii_lowercase().ends_with("err"));
            on.iter().any(asks)
                && [true, false].into_iter().filter(|yes| *yes || !fails).any(|yes| {
                    let (one, other) = (self.branch(check, yes), self.branch(check, !yes));
                    let throws = (if yes { then } else { otherwise }).last().is_some_and(is_throw);
                    // Giving up because of it is no success, even if somebody further out answers for that.
                    let gives_up = |at: At| match self.encloses(head, at) {
                        true => self.0.steps.get(at).is_some_and(|step| is_throw(step.effect)),
                        false => self.is_recovery(at) && !self.is_recovery(head),
                    };
                    let in_peace = self
                        .exits(one.clone(), gives_up)
                        .iter()
                        .any(|branch| matches!(branch, Escape::Return(_)));
                    !throws
                        && in_peace
                        && !self.gets_to(one, head, |_| false)
                        && self.gets_to(other, head, |_| false)
                })
        })
    }

    /// Waiting for a state to change is no retry; asking whether the request itself worked makes one.
    fn says_whether_it_worked(self, value: Value, answer: Value) -> bool {
        // Where failures are values, one comes beside the answer: `answer, err := get(address)`.
        let beside = self.0.flow().inputs(value) == [answer];
        if beside && self.0.lexicon().has_word_of(Topic::Failure, self.0.name_of(value)) {
            return true;
        }
        match self.0.alias().resolve(&Term::from(value)) {
            Term::Path(AccessPath { root: Root::Value(root), fields }) => {
                let reported = matches!(fields.as_slice(), [Field::Name(field)] if self.0.lexicon().has(Topic::RequestWorked, field));
                root == answer && reported
            }
            _ => false,
        }
    }

    /// Whether what is tried here leaves the loop when it works and comes round when it fails.
    fn comes_round(self, head: At, attempt: At) -> bool {
        let Some(Op::Try { catch: Some(catch), .. }) = self.0.op(attempt) else { return false };
        // The attempt may itself stand in the catch of another.
        let tried = |at: At| self.tried(attempt).is_some_and(|body| body.contains(&at));
        let in_catch = |at: At| self.encloses(attempt, at) && self.is_recovery(at) && !tried(at);
        if self.inside(attempt).any(in_catch) {
            let starts: Vec<At> = self.inside(attempt).find(|at| in_catch(*at)).into_iter().collect();
            return self.gets_to(starts, head, |_| false)
                && !self.gets_to(self.after(attempt).collect(), head, in_catch);
        }
        // Nothing stands in the catch, so the way on is the same for both; only leaving from inside is a success.
        catch.body.is_empty()
            && self
                .inside(attempt)
                .any(|at| self.leaves(head, at) && !self.waits_for_a_state(head, attempt, at))
    }

    /// Whether a step is only taken once what was asked for says so: whoever looks until an editor is ready has not failed before.
    fn waits_for_a_state(self, head: At, attempt: At, at: At) -> bool {
        let answers: Vec<Value> = self
            .inside(attempt)
            .filter_map(|asked| match self.0.op(asked) {
                Some(Op::Call { into, awaited: true, .. } | Op::External { into, .. }) => *into,
                Some(Op::Read { into, .. }) => Some(*into),
                _ => None,
            })
            .collect();
        let is_of_answer =
            |value: &Value| answers.iter().any(|answer| self.0.flow().depends_on(*value, *answer));
        let checks =
            || self.control_dependences(at).iter().copied().filter(|check| self.encloses(attempt, *check));
        let asked = |check: At| match self.0.op(check) {
            Some(Op::Check { on, .. }) => on.as_slice(),
            _ => &[],
        };
        let asks_for_state = |check: At| {
            let Some(yes) = self.answer(check, at) else { return false };
            let fails = |step: At| self.0.steps.get(step).is_some_and(|step| is_throw(step.effect));
            asked(check).iter().any(is_of_answer) && self.gets_to(self.branch(check, !yes), head, fails)
        };
        let is_of_success = |check: At| asked(check).iter().any(|value| self.tells_of_success(*value));
        !checks().any(is_of_success) && checks().any(asks_for_state)
    }

    fn tells_of_success(self, value: Value) -> bool {
        let field = self.0.alias().field_of(value);
        let says = |topic: Topic, field: &str| self.0.lexicon().has(topic, field);
        field.is_some_and(|field| says(Topic::RequestWorked, &field) || says(Topic::WentWell, &field))
    }

    /// Whether a step leaves the loop on purpose and in peace.
    fn leaves(self, head: At, at: At) -> bool {
        let same_frame = || {
            let frame = |at: At| self.flow_facts(at).map(|here| here.frame);
            frame(at) == frame(head)
        };
        match self.0.op(at) {
            Some(Op::Exit(Exit::Return(_))) => same_frame(),
            Some(Op::Exit(Exit::Break)) => self.loops(at).last() == Some(&head),
            _ => false,
        }
    }

    /// Whether something other than the attempt ends the loop: a counter, a clock.
    fn gives_up(self, head: At) -> bool {
        let errors = self.0.flow().errors();
        self.inside(head).any(|at| {
            let ends = self.leaves(head, at) || matches!(self.0.op(at), Some(Op::Exit(Exit::Throw)));
            let by = self.control_dependences(at).iter().rev().find(|check| self.encloses(head, **check));
            let counts = by.is_some_and(|check| match self.0.op(*check) {
                Some(Op::Check { on, .. }) => {
                    self.0.flow().is_time(on)
                        || self.0.flow().condition_sources(*check).is_empty()
                            && !on.iter().any(|value| {
                                errors.keys().any(|error| self.0.flow().depends_on(*value, *error))
                            })
                }
                _ => false,
            });
            ends && counts
        })
    }

    /// Whether control gets from a step of an attempt to one outside without a failure that the attempt catches.
    #[must_use]
    pub fn works_before(self, attempt: At, from: At, to: At) -> bool {
        let tried = |at: At| self.tried(attempt).is_some_and(|body| body.contains(&at));
        let failed = |at: At| self.encloses(attempt, at) && self.is_recovery(at) && !tried(at);
        // Where nothing stands in the catch, a failure leaves no trace on the way.
        let tells =
            matches!(self.0.op(attempt), Some(Op::Try { catch: Some(catch), .. }) if !catch.body.is_empty());
        tells && !failed(to) && self.gets_to(self.after(from).collect(), to, failed)
    }

    /// Whether control gets from some steps to another without coming by some.
    pub(in crate::view) fn gets_to(self, from: Vec<At>, to: At, not_by: impl Fn(At) -> bool) -> bool {
        let mut seen = vec![false; self.0.steps.len()];
        let mut pending = from;
        while let Some(at) = pending.pop() {
            if at == to {
                return true;
            }
            let Some(reached) = seen.get_mut(at) else { continue };
            if std::mem::replace(reached, true) || not_by(at) {
                continue;
            }
            pending.extend(self.after(at));
        }
        false
    }
}

fn is_throw(effect: &Effect) -> bool {
    matches!(effect.op, Op::Exit(Exit::Throw))
}
