//! Source positions: where to point in the function that holds a whole story together.

use std::ops::Range;

use interlock_model::{
    Span,
    ir::{FunctionId, Name},
};

use super::entry::{At, Entry, Frame};

impl Entry<'_> {
    /// Where a step is seen from the innermost function that has all of some steps inside: the step itself, or the call through
    /// which that function gets to it. A `load()` and a `save()` are reported where both are called, not where each is written.
    #[must_use]
    pub fn position(&self, at: At, together_with: &[At]) -> Span {
        let home = together_with
            .iter()
            .fold(self.frame_of(at), |home, other| self.common(home, self.frame_of(*other)));
        let mut span = self.steps.get(at).map(|step| step.effect.span).unwrap_or_default();
        let mut frame = self.frame_of(at);
        while frame != home {
            let Some(here) = self.frames.get(frame) else { break };
            span = here.call;
            frame = here.parent;
        }
        span
    }

    /// The function that has all of some steps inside.
    #[must_use]
    pub fn home(&self, steps: &[At]) -> FunctionId {
        let frames = steps.iter().map(|at| self.frame_of(*at));
        let home = frames.reduce(|home, other| self.common(home, other)).unwrap_or(0);
        self.frames.get(home).map_or(self.function, |frame| frame.function)
    }

    /// The functions that were called just where a step is written: what made the object that it keeps.
    pub fn called_at(&self, at: At) -> impl Iterator<Item = FunctionId> {
        let (span, own) = (self.span(at), self.frame_of(at));
        let here = move |frame: &&Frame| frame.parent == own && frame.call == span;
        self.frames.iter().filter(here).map(|frame| frame.function)
    }

    /// Where a step itself is written.
    #[must_use]
    pub fn span(&self, at: At) -> Span {
        self.steps.get(at).map(|step| step.effect.span).unwrap_or_default()
    }

    /// The name of a function, for people.
    #[must_use]
    pub fn function_name(&self, function: FunctionId) -> Name {
        self.program.function(function).map_or_else(|| "?".into(), |function| function.name.clone())
    }

    /// The number of the inlined call that a step is written in.
    pub(crate) fn frame_of(&self, at: At) -> usize {
        self.control().flow_facts(at).map_or(0, |here| here.frame)
    }

    /// Whether a step runs before the function is left that another one stands in.
    pub(crate) fn runs_inside_of(&self, one: At, at: At) -> bool {
        let inside = |frame: usize| {
            let call = self.frames.get(frame)?.at;
            Some((call..self.steps.get(call)?.until as usize).contains(&at))
        };
        match self.frame_of(one) {
            0 => true,
            frame => inside(frame).unwrap_or(true),
        }
    }

    /// The steps of the outermost inlined call that has one step inside and another one not.
    pub(crate) fn callee_apart(&self, at: At, other: At) -> Option<Range<At>> {
        let mut frame = self.frame_of(at);
        let home = self.common(frame, self.frame_of(other));
        let mut apart = None;
        while frame != home {
            let here = self.frames.get(frame)?;
            apart = Some(here.at..self.steps.get(here.at)?.until as usize);
            frame = here.parent;
        }
        apart
    }

    /// Whether the function that one step is written in has been called once more around another. Of a large function that is called
    /// again only a part may have been put in, so it is also asked what it calls elsewhere.
    pub(crate) fn is_called_again_around(&self, one: At, at: At) -> bool {
        let written = self.function_of(one);
        let calls_it = |function: FunctionId| {
            let of_it = self.frames.iter().filter(|frame| frame.function == written);
            let mut callers = of_it.map(|frame| frame.parent).filter_map(|parent| self.frames.get(parent));
            function == written || callers.any(|caller| self.is_inside_of(caller, function))
        };
        let mut frame = self.frame_of(at);
        let home = self.common(frame, self.frame_of(one));
        while frame != home {
            let Some(here) = self.frames.get(frame) else { return false };
            if calls_it(here.function) {
                return true;
            }
            frame = here.parent;
        }
        false
    }

    /// Whether a call, or one around it, is of a function.
    fn is_inside_of(&self, call: &Frame, function: FunctionId) -> bool {
        let mut call = call;
        while call.function != function {
            // The frame of the entry itself is its own parent.
            match self.frames.get(call.parent) {
                Some(outer) if outer.depth < call.depth => call = outer,
                _ => return false,
            }
        }
        true
    }

    fn common(&self, one: usize, other: usize) -> usize {
        let (mut one, mut other) = (one, other);
        while one != other {
            let depth = |frame: usize| self.frames.get(frame).map_or(0, |frame| frame.depth);
            let up = |frame: usize| self.frames.get(frame).map_or(0, |frame| frame.parent);
            if depth(one) >= depth(other) {
                one = up(one);
            } else {
                other = up(other);
            }
        }
        one
    }
}
