//! In which order functions are followed: whom they call first, components as one, and side by side what does not depend on each other.

use interlock_model::ir::FunctionId;

use super::calls::{Calls, Reached};

/// Functions that call each other in a circle, those first through which others get in; mostly one alone.
pub(super) type Circle = Vec<FunctionId>;

/// The components of some functions, in levels: a level only refers to those before it.
pub(super) fn levels(calls: &Calls, wanted: &Reached<'_>, functions: usize) -> Vec<Vec<Circle>> {
    let mut search = Search {
        calls,
        found: vec![0; functions],
        low: vec![0; functions],
        component: vec![None; functions],
        open: vec![],
        next: 1,
        components: vec![],
    };
    for id in (0..functions).filter_map(|id| u32::try_from(id).ok()).map(FunctionId) {
        if wanted.has(id) {
            search.from(id);
        }
    }
    search.levels()
}

/// Tarjan's search for components, with a stack of its own: a chain of calls may be as long as the program.
struct Search<'c> {
    calls: &'c Calls,
    /// In which order each function was found; 0 for not yet.
    found: Vec<u32>,
    /// The first found function that each gets back to.
    low: Vec<u32>,
    /// The component that each belongs to, once that is known.
    component: Vec<Option<usize>>,
    /// Found, and their component is not known yet.
    open: Vec<FunctionId>,
    next: u32,
    components: Vec<Circle>,
}

impl Search<'_> {
    fn from(&mut self, start: FunctionId) {
        if get(&self.found, start) != 0 {
            return;
        }
        // A function, and how many of those it refers to have been looked at.
        let mut path: Vec<(FunctionId, usize)> = vec![];
        self.enter(start, &mut path);
        while let Some((id, looked_at)) = path.last_mut() {
            let id = *id;
            let Some(callee) = self.calls.of(id).get(*looked_at).copied() else {
                path.pop();
                if let Some((caller, _)) = path.last() {
                    self.lower(*caller, get(&self.low, id));
                }
                self.close(id);
                continue;
            };
            *looked_at += 1;
            match get(&self.found, callee) {
                0 => self.enter(callee, &mut path),
                found if get(&self.component, callee).is_none() => self.lower(id, found),
                _ => {}
            }
        }
    }

    fn enter(&mut self, id: FunctionId, path: &mut Vec<(FunctionId, usize)>) {
        set(&mut self.found, id, self.next);
        set(&mut self.low, id, self.next);
        self.next = self.next.saturating_add(1);
        self.open.push(id);
        path.push((id, 0));
    }

    fn lower(&mut self, id: FunctionId, low: u32) {
        let least = get(&self.low, id).min(low);
        set(&mut self.low, id, least);
    }

    /// Everything that was found since a function that gets back to none before it is one component.
    fn close(&mut self, id: FunctionId) {
        if get(&self.low, id) != get(&self.found, id) {
            return;
        }
        let start = self.open.iter().rposition(|open| *open == id).unwrap_or_default();
        let mut component = self.open.split_off(start);
        component.sort_unstable();
        let number = self.components.len();
        for member in &component {
            set(&mut self.component, *member, Some(number));
        }
        self.components.push(component);
    }

    fn levels(mut self) -> Vec<Vec<Circle>> {
        // Circles were closed callees first, so that one pass knows how high each stands.
        let mut heights: Vec<usize> = vec![];
        let mut entered = vec![false; self.found.len()];
        for (number, component) in self.components.iter().enumerate() {
            let mut height = 0;
            for callee in component.iter().flat_map(|member| self.calls.of(*member)) {
                match get(&self.component, *callee) {
                    Some(other) if other != number => {
                        height = height.max(heights.get(other).map_or(0, |height| height + 1));
                        set(&mut entered, *callee, true);
                    }
                    _ => {}
                }
            }
            heights.push(height);
        }
        let mut levels: Vec<Vec<Circle>> = vec![];
        for (mut component, height) in std::mem::take(&mut self.components).into_iter().zip(heights) {
            // What a component is entered by sees all of it; the others come to an end where it closes.
            component.sort_by_key(|member| !get(&entered, *member));
            if levels.len() <= height {
                levels.resize_with(height + 1, Vec::new);
            }
            if let Some(level) = levels.get_mut(height) {
                level.push(component);
            }
        }
        levels
    }
}

fn get<T: Copy + Default>(list: &[T], id: FunctionId) -> T {
    list.get(id.0 as usize).copied().unwrap_or_default()
}

fn set<T>(list: &mut [T], id: FunctionId, value: T) {
    if let Some(place) = list.get_mut(id.0 as usize) {
        *place = value;
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use interlock_model::ir::{Callee, FunctionBuilder, Program};

    use super::*;

    /// Functions 0, 1, … by whom they call; the levels, a component in brackets.
    fn check(calls: &[&[u32]], roots: &[u32], expected: &Expect) {
        let mut program = Program::default();
        for to in calls {
            let function = FunctionBuilder::new("f").body([], |b, []| {
                for callee in *to {
                    b.call("x", Callee::Function(FunctionId(*callee)), []);
                }
            });
            program.add_function(function);
        }
        let calls = Calls::new(&program);
        let mut wanted = Reached::new(&calls);
        roots.iter().for_each(|root| wanted.from(FunctionId(*root)));
        let component =
            |component: &Circle| format!("{:?}", component.iter().map(|id| id.0).collect::<Vec<_>>());
        let level = |level: &Vec<Circle>| level.iter().map(component).collect::<Vec<_>>().join(" ");
        let levels = levels(&calls, &wanted, program.functions.len());
        expected.assert_eq(&levels.iter().map(level).collect::<Vec<_>>().join(" | "));
    }

    #[test]
    fn callees_come_before_callers_and_strangers_stand_side_by_side() {
        check(&[&[1, 2], &[2], &[], &[2]], &[0, 3], &expect!["[2] | [1] [3] | [0]"]);
    }

    #[test]
    fn a_circle_is_one_and_starts_where_others_get_in() {
        check(&[&[2], &[2, 3], &[1], &[]], &[0], &expect!["[3] | [2, 1] | [0]"]);
    }

    #[test]
    fn a_function_that_calls_itself_is_a_circle_alone() {
        check(&[&[0, 1], &[]], &[0], &expect!["[1] | [0]"]);
    }

    #[test]
    fn what_nobody_wants_is_left_out() {
        check(&[&[], &[0]], &[0], &expect!["[0]"]);
    }

    #[test]
    fn a_chain_as_long_as_the_program_needs_no_stack() {
        let length = 100_000;
        let to: Vec<Vec<u32>> = (1..=length).map(|callee| vec![callee % length]).collect();
        let of = to.iter().map(|to| to.iter().copied().map(FunctionId).collect()).collect();
        let calls = Calls { of, ..Calls::default() };
        let mut wanted = Reached::new(&calls);
        wanted.from(FunctionId(0));
        assert_eq!(levels(&calls, &wanted, length as usize).len(), 1);
    }
}
