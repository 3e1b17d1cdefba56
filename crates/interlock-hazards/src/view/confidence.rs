//! How sure a finding is: one function of who gets there and of what was guessed on the way.
//!
//! ```ts
//! server.tool("add", …, () => notes.add(…))     // high: a named tool, and every call on the way leads to one function
//! app.post("/notes", () => notes.add(…))        // medium: a request that is no tool
//! const store = flag ? new A() : new B();
//! server.tool("put", …, () => store.put(…))     // medium: one of several functions that `put` may be
//! ```
//!
//! What a rule guesses besides (a reader that may be another one, a row that may not be the same) it takes off by itself with
//! [`Issue::no_surer_than`](crate::Issue::no_surer_than).

use interlock_model::{
    Confidence, Span,
    ir::{Doubtful, Op},
};

use super::entry::{At, Entry, Runs};

/// What confidence goes by.
#[derive(Debug, Clone, Copy)]
struct Grounds {
    reached_by: ReachedBy,
    /// Whether a function on the way is only one of several that may be meant.
    is_alternative: bool,
    /// Whether it was guessed what an object is, from its name or its methods, or what a library makes of a function.
    is_guessed: bool,
    /// Whether a part of it may not run as it is read: its file does not parse, or nobody creates an object of its class.
    is_doubtful: bool,
}

/// Who gets there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReachedBy {
    /// A tool that is known by name.
    Tool,
    /// A request that is no tool: a route, a prompt, a resource.
    Request,
    /// A tool that does more than is seen in one piece.
    PartOfTool,
    /// An event, a timer or start-up that has something in common with what callers reach.
    BesideCalls,
    /// An event or start-up of something else, or nobody who is known.
    Nobody,
}

impl Grounds {
    const fn confidence(self) -> Confidence {
        match self {
            Self { reached_by: ReachedBy::Nobody, .. } | Self { is_doubtful: true, .. } => Confidence::Low,
            Self { reached_by: ReachedBy::Tool, is_alternative: false, is_guessed: false, .. } => {
                Confidence::High
            }
            Self { .. } => Confidence::Medium,
        }
    }
}

impl Entry<'_> {
    /// How sure one can be that callers get to some steps.
    #[must_use]
    pub fn confidence(&self, steps: &[At]) -> Confidence {
        let reached_by = match self.runs {
            Runs::Call(tools) if tools.is_empty() => ReachedBy::Request,
            Runs::Call(_) => ReachedBy::Tool,
            Runs::Part(_) => ReachedBy::PartOfTool,
            Runs::Event | Runs::StartUp if self.beside_calls => ReachedBy::BesideCalls,
            Runs::Event | Runs::StartUp | Runs::Unreached => ReachedBy::Nobody,
        };
        let is_alternative = steps.iter().any(|at| self.is_alternative(*at));
        let is_guessed = self.guessed(steps).is_some();
        Grounds { reached_by, is_alternative, is_guessed, is_doubtful: self.doubtful(steps).is_some() }
            .confidence()
    }

    /// Why it is doubtful that some steps, or the entry point itself, run as they are read.
    pub(crate) fn doubtful(&self, steps: &[At]) -> Option<Doubtful> {
        let doubts = &self.program.doubts;
        if doubts.is_empty() {
            return None;
        }
        let own = self.program.function(self.function).map(|function| function.span);
        let spans = || steps.iter().map(|at| self.span(*at)).chain(own);
        doubts.iter().find(|doubt| spans().any(|span| doubt.covers(span))).map(|doubt| doubt.why)
    }

    /// Whether a step stands in a function that is only one of several that a call on the way may mean. The linker puts a check on
    /// nothing around those, at the place of the call.
    fn is_alternative(&self, at: At) -> bool {
        self.calls_around(at).any(|(call, span)| {
            let chooses = |check: &At| {
                matches!(self.op(*check), Some(Op::Check { on, equal: None, .. }) if on.is_empty())
                    && self.span(*check) == span
            };
            self.control().control_dependences(call).iter().any(chooses)
        })
    }

    /// The calls whose functions a step stands in, innermost first, and where they are written.
    pub(super) fn calls_around(&self, at: At) -> impl Iterator<Item = (At, Span)> {
        let mut frame = self.frame_of(at);
        std::iter::from_fn(move || {
            let here = self.frames.get(frame).filter(|here| here.parent != frame)?;
            frame = here.parent;
            Some((here.at, here.call))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_named_tool_whose_calls_lead_to_one_function_each_is_sure() {
        use Confidence::{High, Low, Medium};
        for doubtful in [ReachedBy::Tool, ReachedBy::Request] {
            let grounds =
                Grounds { reached_by: doubtful, is_alternative: false, is_guessed: false, is_doubtful: true };
            assert_eq!(grounds.confidence(), Low, "{grounds:?}");
        }
        for (reached_by, is_alternative, is_guessed, expected) in [
            (ReachedBy::Tool, false, false, High),
            (ReachedBy::Tool, true, false, Medium),
            (ReachedBy::Tool, false, true, Medium),
            (ReachedBy::Request, false, false, Medium),
            (ReachedBy::Request, true, false, Medium),
            (ReachedBy::PartOfTool, false, false, Medium),
            (ReachedBy::BesideCalls, false, false, Medium),
            (ReachedBy::BesideCalls, true, true, Medium),
            (ReachedBy::Nobody, false, false, Low),
            (ReachedBy::Nobody, true, true, Low),
        ] {
            let grounds = Grounds { reached_by, is_alternative, is_guessed, is_doubtful: false };
            assert_eq!(grounds.confidence(), expected, "{grounds:?}");
        }
    }
}
